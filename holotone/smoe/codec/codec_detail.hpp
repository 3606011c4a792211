#pragma once
// A model as whole numbers of steps, and those as bits. Not for users.
#include <cstdint>
#include <holotone/smoe/codec.hpp>
#include <holotone/smoe/model/small_matrix.hpp>

namespace holotone::smoe {

/// Where a component's numbers are: centre {d}, weight, shape {d (d + 1) / 2}, colour {q}, slope {q, d}.
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

/// Largest magnitude of a coded number that is no centre.
inline constexpr std::int32_t most_steps = (std::int32_t{1} << 22) - 1;
/// Largest magnitude of CodedModel::median_size.
inline constexpr double most_median_size = 256e6;

/// A model in whole numbers of steps, in the file's order.
struct CodedModel {
  SmoeFileInfo info;                     ///< with the steps as float32 keeps them
  int curve_bits = 0;                    ///< of a coordinate on the curve: 0 to 23
  std::array<std::int32_t, 2> origin{};  ///< the smallest of the centres' first two coordinates
  int median_size = 0;                   ///< see size_exponent, in 2^-8
  int weight_of_shape = 0;               ///< what the sum of log2 U_ii foretells of the weight, in 2^-8 steps a step
  std::vector<std::uint8_t> trust;       ///< for each number: how far neighbours foretell it, in 1/16
  std::vector<std::int32_t> values;      ///< {K, layout.size()}; in lossless files {K, floats of a component}

  [[nodiscard]] CodedLayout layout() const { return {info.dimensions, info.channels}; }
};

/// The nearest power of 2 to the square root of a component's (pi sqrt(det R))^area_gain over the median one, -8 to 8:
/// its colours' steps are so
/// much finer.
int size_exponent(const CodedModel& coded, const std::int32_t* values);

using Channels = std::array<double, most_smoe_channels>;

/// Three channels to their mean and differences, orthonormally; others as they are.
Channels decorrelated(const Channels& c, int channels);

/// What the numbers of a component's expert count: colours and slopes of each stored channel, slopes over the columns
/// of U.
struct ExpertFrame {
  Matrix u{};
  Channels colour{};  ///< steps
  Channels slope{};
};
ExpertFrame expert_frame(const CodedModel& coded, const std::int32_t* values);

/// The place of a component on the curve: 0 <= place < 2^46.
std::uint64_t curve_place(const CodedModel& coded, const std::int32_t* values);
/// The first coordinates of a place, without the origin.
std::array<std::uint32_t, 2> curve_point(const CodedModel& coded, std::uint64_t place);

/// What encode_smoe says it throws. `floats` receives the model whose experts are not quantised, if asked for.
CodedModel quantise(const SmoeModel& model, const SmoeSteps& steps, SmoeModel* floats = nullptr);
/// The model with the gates that its file will have, and its experts as they were: the same planes, seen from the moved
/// centres. In the model's own order; quantising it again leaves the gates as they are.
SmoeModel quantised_gates(const SmoeModel& model, const SmoeSteps& steps);
/// Not validated: numbers of hostile files give what they give.
SmoeModel dequantise(const CodedModel& coded);

/// A model of that many components, all zero.
SmoeModel empty_model(const SmoeFileInfo& info);
/// What a file says of a model before its numbers; no steps.
SmoeFileInfo info_of(const SmoeModel& model);

/// The model's floats as whole numbers that compare as they do, and back.
CodedModel exact_numbers(const SmoeModel& model);
SmoeModel exact_floats(const CodedModel& coded);

/// Sets weight_of_shape and trust by least squares over the numbers, which do not change.
void choose_predictors(CodedModel& coded);
/// What every number is expected to be, {K, layout.size()}, by those before it; 0 where a curve's gap is coded instead.
std::vector<std::int64_t> expected_numbers(const CodedModel& coded);
/// The file, its predictors chosen. Cost O(K).
std::vector<std::byte> file_bytes(CodedModel& coded);
/// The numbers as bytes of a range coder. Cost O(K).
std::vector<std::byte> write_numbers(const CodedModel& coded);
/// Fills coded.values, all else of which is set, with info.count components. Throws io naming `name`.
void read_numbers(CodedModel& coded, std::span<const std::byte> bytes, std::string_view name);

/// 2^x by additions and multiplications in a fixed order, within 1e-15. |x| <= 1000.
double exact_exp2(double x);

}  // namespace holotone::smoe
