#pragma once
#include <array>
#include <cli/common/console.hpp>
#include <cli/common/paths.hpp>
#include <cli/options/option_table.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/smoe/aperture.hpp>
#include <optional>
#include <string>
#include <vector>

namespace holotone::cli {

/// A rendering job. The command's options are bound to its members.
struct SmoeRenderJob {
  std::string input;
  std::string output;
  std::optional<FramePattern> frames;                       ///< of `output`, with a sweep
  std::optional<std::int64_t> sweep;                        ///< number of views; none: one picture
  std::optional<std::array<std::int64_t, 2>> size;          ///< {nx, ny}
  std::optional<std::array<double, 4>> crop;                ///< x, y, width, height in the model's pixels
  std::optional<double> epipolar;                           ///< y in the model's pixels, of an epipolar-plane image
  std::optional<double> diameter;                           ///< of `aperture`; none: a pinhole
  SmoeAperture aperture;                                    ///< of a camera
  std::vector<double> view;                                 ///< coordinates beyond x and y; empty: the middle
  std::optional<std::array<std::vector<double>, 2>> along;  ///< first and last view of a sweep; none: the outermost
  int bits = 8;
  bool floats = false;
  SmoeRenderOptions options;
  ImageWriteOptions writing;
  std::string device_name = "auto";
  Device device;
  ConsoleOptions console;
};

/// Options of the command, bound to the job.
std::vector<OptionGroup> smoe_render_options(SmoeRenderJob& job);

/// Checks what options and files say together, and chooses the device. Throws invalid_argument or io naming the option.
void complete(SmoeRenderJob& job);

}  // namespace holotone::cli
