// A pattern added to holograms: codes against phases summed by hand.
#include <cmath>
#include <gtest/gtest.h>
#include <holotone/recipes/codes/phase_sum_detail.hpp>

namespace holotone {
namespace {

constexpr FieldGrid grid{7, 5, 8e-6, 532e-9};

/// Eighths of a turn of the pattern and of a hologram at a pixel.
int pattern_at(std::int64_t row, std::int64_t column) { return static_cast<int>((3 * row + column) % 8); }
int hologram_at(std::int64_t row, std::int64_t column) { return static_cast<int>((row + 5 * column) % 8); }

TEST(PhaseSum, AddsPhasesModuloATurn) {
  const auto pattern = [](const FieldGrid& of, const RowRange& rows) {
    Array<float, 2> turns({rows.rows, of.nx});
    for (std::int64_t y = 0; y < rows.rows; ++y) {
      for (std::int64_t x = 0; x < of.nx; ++x) {
        turns.view()(y, x) = static_cast<float>(pattern_at(rows.first_row + y, x)) / 8;
      }
    }
    return turns;
  };
  const auto hologram = [](std::int64_t first_row, View<Complex, 2> rows) {
    for (std::int64_t y = 0; y < rows.shape()[0]; ++y) {
      for (std::int64_t x = 0; x < grid.nx; ++x) {
        rows(y, x) = Complex(std::polar(1.0, 2 * M_PI * hologram_at(first_row + y, x) / 8));
      }
    }
  };
  for (const std::size_t holograms : {0U, 1U, 2U}) {
    PhaseSum sum({.bits = 3}, grid, pattern, std::vector<PhaseSum::Added>(holograms, hologram));
    for (const RowRange rows : {RowRange{0, 3}, RowRange{3, 2}}) {
      const auto codes = sum.codes(rows);
      for (std::int64_t y = 0; y < rows.rows; ++y) {
        for (std::int64_t x = 0; x < grid.nx; ++x) {
          const std::int64_t row = rows.first_row + y;
          const int expected = (pattern_at(row, x) + static_cast<int>(holograms) * hologram_at(row, x)) % 8;
          EXPECT_EQ(codes.view()(y, x), expected) << row << " " << x;
        }
      }
    }
  }
}

}  // namespace
}  // namespace holotone
