#pragma once
// Quantized models and the coding of their numbers as bits. Not for users.
#include <cstdint>
#include <holotone/smoe/codec.hpp>
#include <holotone/smoe/model/small_matrix.hpp>

namespace holotone::smoe {

/// Offsets of a component's numbers: centre {d}, weight, shape {d (d + 1) / 2}, colour {q}, slope {q, d}.
struct CodedLayout {
  int dimensions;
  int channels;
  [[nodiscard]] int weight() const { return dimensions; }
  [[nodiscard]] int shape() const { return dimensions + 1; }
  /// U_ik, k >= i: row by row from the last one up, each from its diagonal to the right.
  [[nodiscard]] int shape(int row, int column) const {
    const int rows_below = dimensions - 1 - row;
    return shape() + triangle_size(rows_below) + column - row;
  }
  [[nodiscard]] int colour() const { return shape() + triangle_size(dimensions); }
  [[nodiscard]] int slope() const { return colour() + channels; }
  [[nodiscard]] int size() const { return slope() + channels * dimensions; }
};

/// Largest magnitude of a coded number other than a centre.
inline constexpr std::int32_t max_steps = (std::int32_t{1} << 22) - 1;
/// Largest magnitude of CodedModel::median_size.
inline constexpr double max_median_size = 256e6;

/// Quantized model: whole numbers of steps, in the file's order.
struct CodedModel {
  SmoeFileInfo info;                     ///< steps rounded to float32
  int curve_bits = 0;                    ///< bits of a coordinate on the Hilbert curve: 0 to 23
  std::array<std::int32_t, 2> origin{};  ///< minima of the centres' first two coordinates
  int median_size = 0;                   ///< median of the components' log2 sizes (size_exponent), in 2^-8
  int weight_of_shape = 0;               ///< regression slope of weights on the sum of log2 U_ii, in steps, in 2^-8
  std::vector<std::uint8_t> trust;       ///< for each number: weight of the neighbours' mean in its prediction, in 1/16
  std::vector<std::int32_t> values;      ///< {K, layout.size()}; in lossless files {K, floats of a component}

  [[nodiscard]] CodedLayout layout() const { return {info.dimensions, info.channels}; }
};

/// Exponent n, -8 to 8, of the factor 2^n by which the steps of a component's colours are finer. 2^n is the power of 2
/// nearest to the square root of (pi sqrt(det R))^area_gain over the median one.
int size_exponent(const CodedModel& coded, const std::int32_t* values);

using Channels = std::array<double, max_smoe_channels>;

/// Orthonormal mean and differences of the first three channels (SmoeSteps). The fourth channel, and one or two
/// channels, are unchanged.
Channels decorrelated(const Channels& c, int channels);

/// Units of the numbers of a component's expert: steps of colours and slopes for each stored channel. Slopes are over
/// the columns of U.
struct ExpertFrame {
  Matrix u{};
  Channels colour{};  ///< steps
  Channels slope{};
};
ExpertFrame expert_frame(const CodedModel& coded, const std::int32_t* values);

/// Position of a component on the Hilbert curve: 0 <= place < 2^46.
std::uint64_t curve_place(const CodedModel& coded, const std::int32_t* values);
/// First two coordinates of a position on the curve, without the origin.
std::array<std::uint32_t, 2> curve_point(const CodedModel& coded, std::uint64_t place);

/// Quantizes a model; throws as encode_smoe. `floats`, unless null, receives the model with quantized gates and
/// unquantized experts, in the file's order.
CodedModel quantise(const SmoeModel& model, const SmoeSteps& steps, SmoeModel* floats = nullptr);
/// The model with quantized gates and its own experts: the same planes, evaluated at the moved centres. In the model's
/// order. Quantizing the result again leaves the gates unchanged.
SmoeModel quantised_gates(const SmoeModel& model, const SmoeSteps& steps);
/// Reconstructs a model. The numbers are not validated: hostile files may give an invalid model.
SmoeModel dequantise(const CodedModel& coded);

/// Model of info.count components, all zero.
SmoeModel empty_model(const SmoeFileInfo& info);
/// File header of a model, without steps.
SmoeFileInfo make_info(const SmoeModel& model);

/// Converts the model's floats to whole numbers of the same order, and back.
CodedModel exact_numbers(const SmoeModel& model);
SmoeModel exact_floats(const CodedModel& coded);

/// Sets weight_of_shape and trust by least squares over the numbers, which do not change.
void choose_predictors(CodedModel& coded);
/// Prediction of every number from those before it, {K, layout.size()}; 0 for coordinates coded as a gap on the curve.
std::vector<std::int64_t> expected_numbers(const CodedModel& coded);
/// Chooses the predictors and encodes the file. Cost O(K).
std::vector<std::byte> file_bytes(CodedModel& coded);
/// Encodes the numbers by the range coder. Cost O(K).
std::vector<std::byte> write_numbers(const CodedModel& coded);
/// Decodes info.count components into coded.values; all other members are set. Throws io naming `name`.
void read_numbers(CodedModel& coded, std::span<const std::byte> bytes, std::string_view name);

/// 2^x by additions and multiplications in a fixed order, within 1e-15. |x| <= 1000.
double exact_exp2(double x);

}  // namespace holotone::smoe
