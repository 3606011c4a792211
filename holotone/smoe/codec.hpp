#pragma once
#include <array>
#include <cstddef>
#include <holotone/smoe/model.hpp>
#include <span>
#include <string_view>
#include <vector>

namespace holotone {

/// What a stored number is a whole multiple of. With R = U U^T, U upper triangular, component j stores
///   centre                             in multiples of `centre`, from the middle of the first step above the box's lower corner
///   log2 U_ii                          in multiples of `shape`
///   U_ik / U_ii for k > i              in multiples of `skew`
///   ln pi                              in multiples of `weight`
///   colour at the centre               in multiples of `colour` (first channel, or the mean of three) and `chroma`
///   slope U, the colour's change over one standard deviation     in multiples of `slope` and `slope_chroma`
/// Three channels or the first three of four are stored as (R+G+B)/sqrt(3), (R-B)/sqrt(2), (R-2G+B)/sqrt(6), which leaves squared errors what
/// they are. The steps of colours and slopes are those of a median component; those of others are divided by the power of 2 nearest to
/// the square root of (their pi sqrt(det R) over the median one)^area_gain, about the pixels on which their error is seen.
/// The defaults, found by trying on fits with experts solved for again, are about what gives the best PSNR for its bytes.
struct SmoeSteps {
  std::array<double, most_smoe_dimensions> centre{};  ///< in the model's coordinates
  double shape = 0.11;
  double skew = 0.12;
  double weight = 0.5;
  double colour = 0.022;
  double chroma = 0.018;
  double slope = 0.014;
  double slope_chroma = 0.036;
  double area_gain = 0.4;  ///< 0 to 1
};

/// Steps of a model's box for a quality of 0 to 100, each a factor 2^-0.1 finer than the one before. Throws invalid_argument.
SmoeSteps smoe_steps(const SmoeModel& model, double quality);

/// The finest of `smoe_steps`, coarsest at 0.
inline constexpr double best_smoe_quality = 100;

struct SmoeCodecOptions {
  bool lossless = false;  ///< every float as it is, in the model's order; `steps` do not matter
  SmoeSteps steps;        ///< > 0 and finite; kept as float32
};

/// A model as the bytes of a .smoe file (docs/smoe_format.md): quantised, along a Hilbert curve through the first two
/// coordinates, predicted from neighbours, and coded by an adaptive range coder.
///
/// The same model and options give the same bytes on any number of threads. Steps of colours
/// and slopes are wider than asked for where a number would have more than 2^22 of them, other numbers are cut off there; so are standard deviations beyond 2^-40 and 2^40 and ratios U_ik / U_ii beyond 256, or as many as float32 has room for. Throws
/// invalid_argument for a model that require_model refuses and for steps out of range. Cost O(K log K).
std::vector<std::byte> encode_smoe(const SmoeModel& model, const SmoeCodecOptions& options);

/// The model in the bytes of a .smoe file. Every bit of it is the same on every machine: integers, then IEEE float64 additions,
/// multiplications, divisions and square roots in a fixed order, rounded to float32.
///
/// `name` is that of the file in errors. Throws io for bytes that encode_smoe cannot have written or whose model require_model refuses.
/// The checksum is looked at first. Takes at most some 500 bytes of memory for each component, of which a file has no more than
/// the larger of 65536 and its bytes. Cost as encode_smoe.
SmoeModel decode_smoe(std::span<const std::byte> bytes, std::string_view name);

/// What a .smoe file says of itself.
struct SmoeFileInfo {
  int version = 1;
  bool lossless = false;
  int dimensions = 0;
  int channels = 0;
  bool linear = false;
  std::int64_t count = 0;
  std::array<double, most_smoe_dimensions> low{};
  std::array<double, most_smoe_dimensions> high{};
  SmoeSteps steps;  ///< not of lossless files
};

/// The header alone, checked as decode_smoe checks it. Throws io.
SmoeFileInfo smoe_file_info(std::span<const std::byte> bytes, std::string_view name);

/// Whether the bytes begin as a .smoe file does.
bool is_smoe(std::span<const std::byte> bytes);

/// Exactly the model that decode_smoe(encode_smoe(model, options)) gives, without the bytes. Throws as encode_smoe.
SmoeModel quantised(const SmoeModel& model, const SmoeCodecOptions& options);

/// Bytes and how they were made.
struct SmoeEncoded {
  std::vector<std::byte> bytes;
  double quality = 0;
};

/// The file of best quality (in steps of 1/16) that has at most `most_bytes`, by bisection. `store_smoe` makes better ones where the pictures
/// that the model was fitted to are at hand. Throws invalid_argument if quality 0 takes more, saying how many, and as encode_smoe. Cost: some
/// 11 encodings.
SmoeEncoded encode_smoe_bytes(const SmoeModel& model, std::int64_t most_bytes);

}  // namespace holotone
