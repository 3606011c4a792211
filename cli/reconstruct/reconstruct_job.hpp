#pragma once
#include <array>
#include <cli/common/console.hpp>
#include <cli/common/hologram_file.hpp>
#include <cli/common/hologram_inputs.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/values.hpp>
#include <holotone/core/device.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/optics/eye.hpp>
#include <holotone/optics/reconstruction.hpp>
#include <optional>
#include <string>
#include <vector>

namespace holotone::cli {

inline constexpr Range tile_range = count_range(32, 65536);
inline constexpr Range decades_range = number_range(0.1, 40);

/// Arguments of `holotone reconstruct`, as typed.
struct ReconstructArguments {
  std::vector<std::string> inputs;
  std::string output;
  std::string distance;
  std::string sweep;
  std::string aperture;
  std::string viewer;
  std::string sweep_viewer;
  std::string pupil_shape;
  std::string output_pitch;
  std::string picture_size;
  std::string method = "auto";
  std::string device = "auto";
  std::string compression = "auto";
  std::string frames;
  std::string against;
  std::string difference;
  std::string region;
  std::string tile_width = "480";
  std::string white;
  std::string gamma = "1";
  std::string decades;
  std::string show = "intensity";
  bool linear = false;
  HologramOverrides overrides;
  ConsoleOptions console;
};

/// Rule for the intensity of white unless it is given.
enum class WhiteRule { percentile, mean_and_deviation };

/// What pictures show of the light in focus; the spectrum is that of the light at the panel.
enum class Shown { intensity, amplitude, phase, spectrum };

/// A reconstruction job, validated as far as possible before files are read.
struct ReconstructJob {
  std::vector<std::string> inputs;      ///< one, or red, green and blue
  std::vector<SequenceFrame> sequence;  ///< numbered holograms instead of `inputs`, which then are the first's
  std::vector<std::vector<std::string>> subframes;  ///< whose light adds; `inputs` are the first; empty: one
  std::string sheet;                                ///< one picture or a contact sheet; empty: frames alone
  bool contact_sheet = false;                       ///< `sheet` is a contact sheet, for a sweep
  std::optional<FramePattern> frames;
  std::string against;                      ///< picture with which the light is compared; empty: none
  std::string region;                       ///< of the picture compared with; empty: as the file states
  std::string difference;                   ///< difference picture of one; empty: none, or of several
  std::optional<FramePattern> differences;  ///< difference pictures of several
  std::vector<double> distances_m;          ///< empty: as the file states
  bool any_distance = false;                ///< further distances follow
  std::optional<Aperture> aperture;
  std::vector<EyePupil> pupils;            ///< one, or one per frame; none: no eye
  double output_pitch_m = 0;               ///< of an eye's pictures; 0: default of EyeOptions
  std::array<double, 2> picture_size_m{};  ///< width and height of an eye's pictures; 0: the panel's
  PropagationMethod method = PropagationMethod::automatic;
  std::string device_name;      ///< as typed
  Device device;                ///< the first of `devices`
  std::vector<Device> devices;  ///< several for an eye of several frames only
  std::int64_t tile_width = 480;
  double white = 0;  ///< linear intensity shown as white; 0: from the rule
  WhiteRule white_rule = WhiteRule::percentile;
  double gamma = 1;
  double decades = 0;  ///< of a logarithmic tone curve; 0: none
  Shown show = Shown::intensity;
  bool linear = false;  ///< float32 values (TIFF, NPY) instead of the tone curve
  HologramOverrides overrides;
  ImageWriteOptions writing;
  ConsoleOptions console;
};

/// Number of pictures of each hologram.
std::size_t frame_count(const ReconstructJob& job);

/// Pupil of a frame.
const EyePupil& pupil_of(const ReconstructJob& job, std::size_t frame);

/// The job without its outputs: what light is seen, and how. Throws invalid_argument or io naming the option.
ReconstructJob light_job(const ReconstructArguments& arguments);

/// Throws as light_job.
ReconstructJob reconstruct_job(const ReconstructArguments& arguments);

}  // namespace holotone::cli
