#pragma once
#include <cli/common/code_levels.hpp>
#include <cli/common/console.hpp>
#include <cli/common/hologram_overrides.hpp>
#include <cli/options/option_table.hpp>
#include <cli/options/values.hpp>
#include <cstdint>
#include <holotone/core/device.hpp>
#include <holotone/core/enum_names.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/optics/field.hpp>
#include <holotone/optics/reference_beam.hpp>
#include <holotone/quantize/diffusion_weights.hpp>
#include <holotone/quantize/error_diffusion.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace holotone::cli {

enum class QuantizeMethod { truncate, floyd_steinberg, swed, vded };

}  // namespace holotone::cli

namespace holotone {

template <>
inline constexpr auto enum_names<cli::QuantizeMethod> =
    std::array{EnumName<cli::QuantizeMethod>{cli::QuantizeMethod::truncate, "truncate"},
               EnumName<cli::QuantizeMethod>{cli::QuantizeMethod::floyd_steinberg, "floyd-steinberg"},
               EnumName<cli::QuantizeMethod>{cli::QuantizeMethod::swed, "swed"},
               EnumName<cli::QuantizeMethod>{cli::QuantizeMethod::vded, "vded"}};

}  // namespace holotone

namespace holotone::cli {

/// True for methods whose weights keep noise out of a viewing window.
constexpr bool has_windows(QuantizeMethod method) {
  return method == QuantizeMethod::swed || method == QuantizeMethod::vded;
}

/// Quantization of one field.
struct QuantizeTask {
  std::string input;
  std::string output;
  std::string channel;          ///< "r", "g", "b"; empty for a single hologram
  HologramOverrides overrides;  ///< of this file
};

/// A quantization job, validated as far as possible before files are read.
struct QuantizeJob {
  std::vector<std::string> inputs;
  std::string output;
  std::optional<QuantizeMethod> stated_method;  ///< by --method
  std::optional<Modulation> modulation;         ///< by --encode
  std::optional<int> bits;                      ///< by --bits
  std::string device_name = "auto";
  std::vector<QuantizeTask> tasks;
  QuantizeMethod method = QuantizeMethod::floyd_steinberg;
  bool method_chosen = false;  ///< `method` and `viewer` are final
  std::optional<Viewer> viewer;
  bool viewer_stated = false;  ///< by the first file, not typed
  WeightOptions weights{.rule = WeightRule::least_squares};
  ErrorDiffusionOptions diffusion;       ///< hogel_px: see `hogel_px`
  double scale = 0;                      ///< from --scale; 0: by diffusion.clip
  std::optional<std::int64_t> hogel_px;  ///< from --hogel; 0: the panel
  std::optional<double> distance_m;
  std::optional<ReferenceBeam> beam = ReferenceBeam{};  ///< empty: off_axis_beam
  std::string lut;
  PhaseUnit lut_unit = PhaseUnit::automatic;
  int panel_bits = 0;           ///< of --panel; 0: not given
  Device device;                ///< the first of `devices`
  std::vector<Device> devices;  ///< several only for files that are written by rows in any order
  HologramOverrides overrides;
  bool scale_codes = false;  ///< codes are written from black to white
  ImageWriteOptions writing;
  ConsoleOptions console;
};

/// Options of the command, bound to the job.
std::vector<OptionGroup> quantize_options(QuantizeJob& job);

/// The method: stated, or by the viewing window, which the first file may state. Reads that file once.
QuantizeMethod chosen_method(QuantizeJob& job);

/// Checks what options and files say together, and chooses method and devices. Throws invalid_argument or io naming the
/// option.
void complete(QuantizeJob& job);

}  // namespace holotone::cli
