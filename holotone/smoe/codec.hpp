#pragma once
#include <array>
#include <cstddef>
#include <holotone/smoe/model.hpp>
#include <span>
#include <string_view>
#include <vector>

namespace holotone {

/// Quantization steps of stored numbers. With R = U U^T, U upper triangular, component j stores
///   centre                             in multiples of `centre`, from half a step above the box's low corner
///   log2 U_ii                          in multiples of `shape`
///   U_ik / U_ii for k > i              in multiples of `skew`
///   ln pi                              in multiples of `weight`
///   colour at the centre               in multiples of `colour` (first channel, or the mean of three) and `chroma`
///   slope U, the colour's change over one standard deviation     in multiples of `slope` and `slope_chroma`
/// Three channels or the first three of four are stored as (R+G+B)/sqrt(3), (R-B)/sqrt(2), (R-2G+B)/sqrt(6), which
/// preserves squared errors. The steps of colours and slopes apply to a median component. Those of other components
/// are divided by the power of 2 nearest to the square root of (their pi sqrt(det R) over the median one)^area_gain.
/// pi sqrt(det R) is about the number of pixels that an error affects. The defaults result from trials on fits whose
/// experts were solved for again; they give about the best PSNR for the bytes.
struct SmoeSteps {
  std::array<double, max_smoe_dimensions> centre{};  ///< steps in the model's coordinates
  double shape = 0.11;
  double skew = 0.12;
  double weight = 0.5;
  double colour = 0.022;
  double chroma = 0.018;
  double slope = 0.014;
  double slope_chroma = 0.036;
  double area_gain = 0.4;  ///< 0 to 1
};

/// Steps of a model's box for a quality of 0 to 100, each a factor 2^-0.1 finer than the one before. Throws
/// invalid_argument.
SmoeSteps smoe_steps(const SmoeModel& model, double quality);

/// Quality with the finest `smoe_steps`; the coarsest is 0.
inline constexpr double best_smoe_quality = 100;

struct SmoeCodecOptions {
  bool lossless = false;  ///< true: stores every float exactly, in the model's order; ignores `steps`
  SmoeSteps steps;        ///< smoe_steps(model, quality), or others > 0, finite; stored as float32
};

/// Encodes a model as a .smoe file (holotone/smoe/codec/FORMAT.md): quantized, ordered along a Hilbert curve through
/// the first two coordinates, predicted from neighbours, and coded by an adaptive range coder.
///
/// The same model and options give the same bytes on any number of threads. Steps of colours and slopes become wider
/// if a number would exceed 2^22 of them; other numbers are clamped there. Standard deviations are clamped to 2^-40
/// and 2^40, and ratios U_ik / U_ii to 256, or to the range of float32. Throws invalid_argument for a model that
/// require_model rejects and for steps out of range. Cost O(K log K).
std::vector<std::byte> encode_smoe(const SmoeModel& model, const SmoeCodecOptions& options);

/// Decodes the model of a .smoe file. Its bits are the same on every machine: integers, then IEEE float64 additions,
/// multiplications, divisions and square roots in a fixed order, rounded to float32.
///
/// `name` is the file's name in errors. Throws io for bytes that encode_smoe cannot have written, or a model that
/// require_model rejects; checks the checksum first. Memory at most about 500 bytes for each component; a file has no
/// more components than the larger of 65536 and its bytes. Cost as encode_smoe.
SmoeModel decode_smoe(std::span<const std::byte> bytes, std::string_view name);

/// Header of a .smoe file.
struct SmoeFileInfo {
  int version = 1;
  bool lossless = false;
  int dimensions = 0;
  int channels = 0;
  bool linear = false;
  std::int64_t count = 0;
  std::array<double, max_smoe_dimensions> low{};
  std::array<double, max_smoe_dimensions> high{};
  SmoeSteps steps;  ///< undefined for lossless files
};

/// Reads only the header, with the checks of decode_smoe. Throws io.
SmoeFileInfo smoe_file_info(std::span<const std::byte> bytes, std::string_view name);

/// True if the bytes begin like a .smoe file.
bool is_smoe(std::span<const std::byte> bytes);

/// Returns exactly the model of decode_smoe(encode_smoe(model, options)), without coding it. Throws as encode_smoe.
SmoeModel quantised(const SmoeModel& model, const SmoeCodecOptions& options);

/// Bytes of a file and its quality.
struct SmoeEncoded {
  std::vector<std::byte> bytes;
  double quality = 0;
};

/// Returns the file of best quality (in steps of 1/16) of at most `max_bytes`, by bisection. If the fitted pictures
/// are available, store_smoe makes better files. Throws invalid_argument if quality 0 needs more bytes (with their
/// number), and as encode_smoe. Cost: about 11 encodings.
SmoeEncoded encode_smoe_bytes(const SmoeModel& model, std::int64_t max_bytes);

}  // namespace holotone
