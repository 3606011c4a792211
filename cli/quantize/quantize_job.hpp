#pragma once
#include <cli/common/code_levels.hpp>
#include <cli/common/console.hpp>
#include <cli/common/hologram_overrides.hpp>
#include <cli/common/values.hpp>
#include <cstdint>
#include <holotone/core/device.hpp>
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

inline constexpr Range weights_range = count_range(1, 612);  // of a free p; diffusion_weights has fewer for
                                                             // larger p
inline constexpr Range lead_range = count_range(1, 24);
inline constexpr Range kappa_range = number_range(0.1, 1);
inline constexpr Range sum_range = number_range(0.1, 4);
inline constexpr Range hogel_range = count_range(1, largest_picture_side);
inline constexpr Range clip_range = number_range(0.01, 1);

/// Arguments of `holotone quantize`, as typed.
struct QuantizeArguments {
  std::vector<std::string> inputs;
  std::string output;
  std::string method;
  std::string viewer;
  std::string encoding;
  std::string bits;
  std::string lut;
  std::string hogel;
  std::string weights;
  std::string kept;
  std::string p;
  std::string rule;
  std::string normalize;
  std::string kappa;
  std::string most_sum;
  std::string clip = "0.999";
  std::string scale;
  std::string reference_angle;
  std::string order = "raster";
  std::string borders;
  std::string distance;
  std::string device = "auto";
  std::string compression = "auto";
  HologramOverrides overrides;  ///< --wavelength, --pitch and --panel alone
  ConsoleOptions console;
};

enum class QuantizeMethod { truncate, floyd_steinberg, swed, vded };
std::string_view to_string(QuantizeMethod method);

/// True for methods whose weights keep noise out of a viewing window.
constexpr bool has_windows(QuantizeMethod method) {
  return method == QuantizeMethod::swed || method == QuantizeMethod::vded;
}

/// Quantization of one field.
struct QuantizeTask {
  std::string input;
  std::string output;
  std::string channel;     ///< "r", "g", "b"; empty for a single hologram
  std::string wavelength;  ///< as typed; empty: the file's
};

/// A quantization job, validated as far as possible before files are read.
struct QuantizeJob {
  std::vector<QuantizeTask> tasks;
  QuantizeMethod method = QuantizeMethod::floyd_steinberg;
  std::optional<Viewer> viewer;
  bool viewer_stated = false;  ///< by the first file, not typed
  WeightOptions weights;
  ErrorDiffusionOptions diffusion;       ///< hogel_px: see `hogel_px`
  double scale = 0;                      ///< from --scale; 0: by diffusion.clip
  std::optional<std::int64_t> hogel_px;  ///< from --hogel; 0: the panel
  std::optional<double> distance_m;
  std::optional<ReferenceBeam> beam = ReferenceBeam{};  ///< empty: off_axis_beam
  std::string lut;
  int panel_bits = 0;           ///< of --panel; 0: not given
  Device device;                ///< the first of `devices`
  std::vector<Device> devices;  ///< several only for files that are written by rows in any order
  HologramOverrides overrides;
  ImageWriteOptions writing;
  ConsoleOptions console;
};

/// Throws invalid_argument or io naming the option.
QuantizeJob quantize_job(const QuantizeArguments& arguments);

}  // namespace holotone::cli
