#include <cmath>
#include <holotone/core/parallel.hpp>
#include <holotone/retrieval/vortices.hpp>
#include <numbers>

namespace holotone::retrieval {

Array<std::uint8_t, 2> lit_pixels(View<const float, 2> amplitude, const SignalRegion& region, double peak) {
  constexpr double min_amplitude = 0.1;
  Array<std::uint8_t, 2> lit({region.rows, region.columns});
  const auto least = static_cast<float>(min_amplitude * peak);
  for (std::int64_t row = 0; row < region.rows; ++row) {
    for (std::int64_t column = 0; column < region.columns; ++column) {
      lit(row, column) = amplitude(region.row + row, region.column + column) > least ? 1 : 0;
    }
  }
  return lit;
}

std::int64_t count_vortices(const PositionWaves& waves, View<const std::uint8_t, 2> lit) {
  const auto [rows, columns] = lit.shape();
  const auto phase = [&](std::int64_t y, std::int64_t x) {
    return std::arg(waves[static_cast<std::size_t>(2 * (y % 2) + x % 2)](y / 2, x / 2));
  };
  const auto step = [](float from, float to) { return std::remainder(to - from, 2 * std::numbers::pi_v<float>); };
  std::vector<std::int64_t> counts(static_cast<std::size_t>(rows));
  parallel_for(0, rows, [&, columns = columns, rows = rows](std::int64_t row) {
    std::int64_t count = 0;
    for (std::int64_t y = 2 * row; y < std::min(2 * row + 2, 2 * rows - 1); ++y) {
      for (std::int64_t x = 0; x + 1 < 2 * columns; ++x) {
        if (lit(row, x / 2) == 0) continue;
        const float a = phase(y, x);
        const float b = phase(y, x + 1);
        const float c = phase(y + 1, x + 1);
        const float d = phase(y + 1, x);
        const float around = step(a, b) + step(b, c) + step(c, d) + step(d, a);
        count += std::abs(around) > std::numbers::pi_v<float> ? 1 : 0;
      }
    }
    counts[static_cast<std::size_t>(row)] = count;
  });
  std::int64_t all = 0;
  for (const auto count : counts) all += count;
  return all;
}

}  // namespace holotone::retrieval
