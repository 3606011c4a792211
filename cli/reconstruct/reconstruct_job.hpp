#pragma once
#include <array>
#include <cli/common/console.hpp>
#include <cli/common/hologram_file.hpp>
#include <cli/common/hologram_inputs.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/values.hpp>
#include <holotone/core/device.hpp>
#include <holotone/optics/eye.hpp>
#include <holotone/optics/reconstruction.hpp>
#include <optional>
#include <string>
#include <vector>

namespace holotone::cli {

inline constexpr Range tile_range = count_range(32, 65536);

/// What follows `holotone reconstruct`, as typed.
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
  std::string frames;
  std::string tile_width = "480";
  std::string white;
  std::string gamma = "1";
  bool linear = false;
  HologramOverrides overrides;
  ConsoleOptions console;
};

/// What is shown white unless an intensity is given.
enum class WhiteRule { percentile, mean_and_deviation };

/// What is to be done, checked as far as it can be before a file is read.
struct ReconstructJob {
  std::vector<std::string> inputs;      ///< one, or red, green and blue
  std::vector<SequenceFrame> sequence;  ///< numbered holograms instead of `inputs`, which are then the first's
  std::string sheet;                    ///< one picture or a contact sheet; empty: frames alone
  bool contact_sheet = false;           ///< `sheet` is one: a sweep was asked for
  std::optional<FramePattern> frames;
  std::vector<double> distances_m;  ///< empty: the file's own
  std::optional<Aperture> aperture;
  std::vector<EyePupil> pupils;            ///< of the eye: one, or one a frame; none: not through an eye
  double output_pitch_m = 0;               ///< of an eye's pictures; 0: as EyeOptions says
  std::array<double, 2> picture_size_m{};  ///< width and height of an eye's pictures; 0: the panel's
  PropagationMethod method = PropagationMethod::automatic;
  Device device;
  std::int64_t tile_width = 480;
  double white = 0;  ///< linear intensity shown as white; 0: by the rule
  WhiteRule white_rule = WhiteRule::percentile;
  double gamma = 1;
  bool linear = false;  ///< the intensity itself in float32 (TIFF, NPY) instead of the tone curve
  HologramOverrides overrides;
  ConsoleOptions console;
};

/// Pictures of each hologram.
std::size_t frame_count(const ReconstructJob& job);

/// The eye that a frame is seen by.
const EyePupil& pupil_of(const ReconstructJob& job, std::size_t frame);

/// Throws invalid_argument or io naming the option.
ReconstructJob reconstruct_job(const ReconstructArguments& arguments);

}  // namespace holotone::cli
