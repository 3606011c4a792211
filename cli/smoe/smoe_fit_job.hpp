#pragma once
#include <cli/common/console.hpp>
#include <cli/common/option_table.hpp>
#include <cli/common/smoe_views.hpp>
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

/// A fit job. The command's options are bound to its members.
struct SmoeFitJob {
  std::string input;
  std::string output;
  std::string resume;
  SmoeFitOptions options;  ///< `psnr_db`: target of the fit before storing; without `components` and `time_s`
  std::optional<std::int64_t> components;
  std::optional<double> psnr_db;      ///< minimum of the stored file
  std::optional<std::int64_t> bytes;  ///< maximum
  std::optional<double> quality;
  bool lossless = false;         ///< every float is kept, as in JSON and NPZ
  std::optional<double> time_s;  ///< for the whole job
  ViewRows rows = ViewRows::by_parallax;
  std::vector<std::string> left_out_texts;  ///< views to hold out, as typed
  std::vector<ViewNumbers> left_out;
  std::string device_name = "auto";
  Device device;
  ConsoleOptions console;
};

/// Options of the command, bound to the job.
std::vector<OptionGroup> smoe_fit_options(SmoeFitJob& job);

/// Checks what options and files say together, and chooses the device. Throws invalid_argument or io naming the option.
void complete(SmoeFitJob& job);

/// Sets what depends on the pictures: components from bytes and from the pixel count, and the PSNR target of the fit.
/// Throws invalid_argument for --bytes below the minimum of a file, out_of_memory for --components. Returns remarks.
std::vector<std::string> settle(SmoeFitJob& job, const FitPictures& pictures);

}  // namespace holotone::cli
