#pragma once
#include <cli/common/console.hpp>
#include <cli/common/smoe_views.hpp>
#include <cli/common/values.hpp>
#include <holotone/core/device.hpp>
#include <holotone/smoe/fit.hpp>
#include <optional>
#include <string>
#include <vector>

namespace holotone::cli {

/// Margin of a fit's PSNR over that of the stored file, dB. Kilobytes for 37 and 34 dB of kodim23 and for 27 dB of
/// kodim05: 16.2, 9.8 and 26.6 with a margin of 0.5; 16.6, 9.2 and 27.4 with 1.2; 19.1, 8.9 and 31.3 with 2.
inline constexpr double psnr_to_spare = 1.2;

/// Minimum pixels per component; more components do not improve a picture.
inline constexpr std::int64_t least_pixels_a_component = 4;

inline constexpr Range components_range = count_range(1, 1 << 24);
inline constexpr Range psnr_range = number_range(1, 100);
inline constexpr Range time_range = number_range(0.1, 1e6);
inline constexpr Range steps_range = count_range(0, 1'000'000);

/// Arguments of `holotone smoe fit`, as typed.
struct SmoeFitArguments {
  std::string input;
  std::string output;
  std::string components;
  std::string psnr;
  std::string bytes;
  std::string quality;
  bool lossless = false;
  std::string method = "gradient";
  std::string iterations;
  std::string time;
  std::string seed = "1";
  std::string resume;
  std::string rows = "auto";
  std::vector<std::string> left_out;
  std::string device = "auto";
  bool linear = false;
  ConsoleOptions console;
};

/// A fit job, validated as far as possible before pictures are read.
struct SmoeFitJob {
  std::string input;
  std::string output;
  std::string resume;
  SmoeFitOptions options;  ///< `psnr_db`: target of the fit before storing
  Device device;
  double psnr_db = 0;                 ///< target of the stored file; 0: none
  std::optional<std::int64_t> bytes;  ///< maximum
  std::optional<double> quality;
  bool lossless = false;  ///< every float is kept, as in JSON and NPZ
  double time_s = 0;      ///< for the whole job; 0: no limit
  bool counted = false;   ///< --components was given
  ViewRows rows = ViewRows::by_parallax;
  std::vector<ViewNumbers> left_out;
  ConsoleOptions console;
};

/// Throws invalid_argument or io naming the option.
SmoeFitJob smoe_fit_job(const SmoeFitArguments& arguments);

/// Sets what depends on the pictures: components from bytes and from the pixel count, and the PSNR target of the fit.
/// Throws invalid_argument for --bytes below the minimum of a file, out_of_memory for --components. Returns remarks.
std::vector<std::string> settle(SmoeFitJob& job, const FitPictures& pictures);

}  // namespace holotone::cli
