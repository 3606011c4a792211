// Fields that the image makes once and dots look up.
#include <cmath>
#include <holotone/core/simd.hpp>
#include <holotone/halftone/electrostatic_cpu.hpp>

namespace holotone::electrostatic {
namespace {

/// The cubic B-spline's four values about a place; returns the first of its coefficients' numbers.
HOLOTONE_ALWAYS_INLINE std::int64_t spline_weights(float coordinate, float* weight) {
  const float place = coordinate - 0.5F;
  const float whole = std::floor(place);
  const float t = place - whole;
  const float left = 1 - t;
  weight[0] = left * left * left / 6;
  weight[1] = ((0.5F * t - 1) * t * t) + 2.0F / 3;
  weight[2] = ((0.5F * left - 1) * left * left) + 2.0F / 3;
  weight[3] = t * t * t / 6;
  return static_cast<std::int64_t>(whole) - 1;
}

HOLOTONE_SIMD_CLONES void add_spline(const float* table, std::int64_t width, const float* x, const float* y,
                                     std::int64_t count, float charge, float* force_x, float* force_y) {
  constexpr std::int64_t border = 2;
  for (std::int64_t i = 0; i < count; ++i) {
    float across[4];
    float down[4];
    const std::int64_t column = spline_weights(x[i], across) + border;
    const std::int64_t row = spline_weights(y[i], down) + border;
    const float* const corner = table + (row * width + column) * 2;
    float line[8] = {};
    for (int j = 0; j < 4; ++j) {
      const float* const from = corner + j * width * 2;
      for (int k = 0; k < 8; ++k) line[k] += down[j] * from[k];
    }
    float sum_x = 0;
    float sum_y = 0;
    for (int k = 0; k < 4; ++k) {
      sum_x += across[k] * line[2 * k];
      sum_y += across[k] * line[2 * k + 1];
    }
    force_x[i] += charge * sum_x;
    force_y[i] += charge * sum_y;
  }
}

}  // namespace

void SplineField::add(const DotList& dots, std::int64_t begin, std::int64_t end, float charge, float* force_x,
                      float* force_y) const {
  add_spline(table_.data(), page_[1] + 4, dots.x.data() + begin, dots.y.data() + begin, end - begin, charge,
             force_x + begin, force_y + begin);
}

InkDensity::InkDensity(const Setup& setup)
    : page_(setup.page),
      step_(std::max(1.0, setup.spacing_px)),
      rows_(static_cast<std::int64_t>(std::ceil(static_cast<double>(page_[0]) / step_)) + 1),
      columns_(static_cast<std::int64_t>(std::ceil(static_cast<double>(page_[1]) / step_)) + 1) {}

void InkDensity::set_ink(const float* ink, double total) {
  const auto cells = static_cast<std::size_t>(rows_ * columns_);
  std::vector<double> charge(cells);
  std::vector<double> area(cells);
  for (std::int64_t y = 0; y < page_[0]; ++y) {
    const double place_y = (static_cast<double>(y) + 0.5) / step_;
    const auto row = static_cast<std::int64_t>(place_y);
    for (std::int64_t x = 0; x < page_[1]; ++x) {
      const double place_x = (static_cast<double>(x) + 0.5) / step_;
      const auto column = static_cast<std::int64_t>(place_x);
      for (const std::int64_t j : {0, 1}) {
        for (const std::int64_t i : {0, 1}) {
          const double weight = (1 - std::abs(place_y - static_cast<double>(row + j))) *
                                (1 - std::abs(place_x - static_cast<double>(column + i)));
          const auto node = static_cast<std::size_t>((row + j) * columns_ + column + i);
          charge[node] += weight * static_cast<double>(ink[y * page_[1] + x]);
          area[node] += weight;
        }
      }
    }
  }
  const double least = least_density / static_cast<double>(element_count(page_));
  density_.resize(cells);
  for (std::size_t i = 0; i < cells; ++i) {
    density_[i] = static_cast<float>(std::max(least, area[i] > 0 ? charge[i] / (area[i] * total) : 0));
  }
}

void InkDensity::at(const DotList& dots, std::int64_t begin, std::int64_t end, float* density) const {
  const auto nodes_a_px = static_cast<float>(1 / step_);
  for (std::int64_t i = begin; i < end; ++i) {
    const auto own = static_cast<std::size_t>(i);
    const auto node = [&](float coordinate, std::int64_t count) {
      return std::min(static_cast<std::int64_t>(coordinate * nodes_a_px + 0.5F), count - 1);
    };
    density[i - begin] =
        density_[static_cast<std::size_t>(node(dots.y[own], rows_) * columns_ + node(dots.x[own], columns_))];
  }
}

}  // namespace holotone::electrostatic
