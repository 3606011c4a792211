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

/// A fit is this much nearer than the file that is to be made of it, dB. Bytes for 37 and 34 dB of kodim23 and for 27
/// dB of kodim05: with 0.5
/// 16.2, 9.8 and 26.6 k, with 1.2 16.6, 9.2 and 27.4 k, with 2 19.1, 8.9 and 31.3 k.
inline constexpr double psnr_to_spare = 1.2;

/// Components of a picture that more do not help: one for so many pixels.
inline constexpr std::int64_t least_pixels_a_component = 4;

inline constexpr Range components_range = count_range(1, 1 << 24);
inline constexpr Range psnr_range = number_range(1, 100);
inline constexpr Range time_range = number_range(0.1, 1e6);
inline constexpr Range steps_range = count_range(0, 1'000'000);

/// What follows `holotone smoe fit`, as typed.
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

/// What is to be done, checked as far as it can be before pictures are read.
struct SmoeFitJob {
  std::string input;
  std::string output;
  std::string resume;
  SmoeFitOptions options;  ///< `psnr_db`: what the fit has to reach before it is stored
  Device device;
  double psnr_db = 0;                 ///< of what is stored, as asked for; 0: nothing
  std::optional<std::int64_t> bytes;  ///< at most
  std::optional<double> quality;
  bool lossless = false;  ///< every float is kept: also of JSON and NPZ
  double time_s = 0;      ///< of all; 0: no limit
  bool counted = false;   ///< --components was given
  ViewRows rows = ViewRows::by_parallax;
  std::vector<ViewNumbers> left_out;
  ConsoleOptions console;
};

/// Throws invalid_argument or io naming the option.
SmoeFitJob smoe_fit_job(const SmoeFitArguments& arguments);

/// What depends on the pictures: components by bytes and by what pixels can use, the PSNR that the fit needs. Throws
/// invalid_argument for
/// --bytes that no file can have, out_of_memory for --components. Returns what there is to say of it.
std::vector<std::string> settle(SmoeFitJob& job, const FitPictures& pictures);

}  // namespace holotone::cli
