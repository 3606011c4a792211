#include <complex>
#include <holotone/core/parallel.hpp>
#include <holotone/recipes/codes/phase_sum_detail.hpp>
#include <numbers>
#include <utility>

namespace holotone {

PhaseSum::PhaseSum(const EncodeOptions& options, const FieldGrid& grid, Pattern pattern, std::vector<Added> added)
    : plan_(options, grid), grid_(grid), pattern_(std::move(pattern)), added_(std::move(added)) {}

Array<std::uint16_t, 2> PhaseSum::codes(const RowRange& rows) {
  const auto turns = pattern_(grid_, rows);
  Array<Complex, 2> sum(turns.shape());
  const auto each_pixel = [&](const auto& body) {
    const std::int64_t nx = sum.shape()[1];
    parallel_for(0, rows.rows, [&](std::int64_t row) {
      for (std::int64_t i = row * nx; i < (row + 1) * nx; ++i) body(i);
    });
  };
  each_pixel([&](std::int64_t i) {
    sum.data()[i] = Complex(std::polar(1.0, 2 * std::numbers::pi * static_cast<double>(turns.data()[i])));
  });
  Array<Complex, 2> other(added_.empty() ? Shape<2>{} : turns.shape());
  for (const auto& add : added_) {
    add(rows.first_row, other.view());
    each_pixel([&](std::int64_t i) { sum.data()[i] *= other.data()[i]; });
  }
  Array<std::uint16_t, 2> codes(turns.shape());
  plan_.execute(rows, sum.view(), codes.view());
  return codes;
}

}  // namespace holotone
