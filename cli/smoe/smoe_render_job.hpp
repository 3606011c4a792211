#pragma once
#include <array>
#include <cli/common/console.hpp>
#include <cli/common/paths.hpp>
#include <cli/common/values.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/smoe/aperture.hpp>
#include <optional>
#include <string>

namespace holotone::cli {

inline constexpr Range sweep_range = count_range(1, 100'000);
inline constexpr Range colour_error_range = number_range(1e-7, 1);
inline constexpr Range aperture_range = number_range(1e-3, 100);
inline constexpr Range disparity_range = number_range(-1e6, 1e6);
inline constexpr Range window_range = number_range(0, 65536);
inline constexpr Range window_block_range = count_range(16, 65536);

/// Arguments of `holotone smoe render`, as typed.
struct SmoeRenderArguments {
  std::string input;
  std::string output;
  std::string size;
  std::string crop;
  std::string view;
  std::string sweep;
  std::string along;
  std::string epipolar;
  std::string aperture;
  std::string disparity;
  std::string bits = "8";
  std::string tolerance;
  std::string selection = "bounded";
  std::string window;
  std::string window_block;
  std::string precision = "fast";
  std::string device = "auto";
  std::string compression = "auto";
  bool floats = false;
  ConsoleOptions console;
};

/// A rendering job, validated as far as possible before the model is read.
struct SmoeRenderJob {
  std::string input;
  std::string output;
  std::optional<FramePattern> frames;               ///< of a sweep
  std::int64_t sweep = 0;                           ///< views; 0: one picture
  std::optional<std::array<std::int64_t, 2>> size;  ///< {nx, ny}
  std::optional<std::array<double, 4>> crop;        ///< x, y, width, height in the model's pixels
  std::optional<double> epipolar;                   ///< y in the model's pixels, of an epipolar-plane image
  std::optional<SmoeAperture> aperture;             ///< of a camera; none: a pinhole
  std::string view;                                 ///< as typed: its valid form depends on the model
  std::array<std::string, 2> along;                 ///< first and last view of a sweep, likewise; empty: the outermost
  int bits = 8;                                     ///< 0: float32
  std::string selection;                            ///< name of `options.selection`, as typed
  SmoeRenderOptions options;
  ImageWriteOptions writing;
  Device device;
  ConsoleOptions console;
};

/// Throws invalid_argument or io naming the option.
SmoeRenderJob smoe_render_job(const SmoeRenderArguments& arguments);

}  // namespace holotone::cli
