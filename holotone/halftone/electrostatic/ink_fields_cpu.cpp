// Fields computed once from the ink and interpolated at dots, on the CPU: attraction, correction at edges, density.
#include <cmath>
#include <holotone/core/simd.hpp>
#include <holotone/halftone/electrostatic/engine_cpu.hpp>

namespace holotone::electrostatic {
namespace {

/// Computes the four weights of a cubic B-spline at a coordinate. Returns the index of the first coefficient.
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

void add_linear(const float* table, std::int64_t width, const float* x, const float* y, std::int64_t count,
                float charge, float* force_x, float* force_y) {
  constexpr std::int64_t border = 2;
  for (std::int64_t i = 0; i < count; ++i) {
    const float column = std::floor(x[i] - 0.5F);
    const float row = std::floor(y[i] - 0.5F);
    const float across = x[i] - 0.5F - column;
    const float down = y[i] - 0.5F - row;
    const float* const upper =
        table + ((static_cast<std::int64_t>(row) + border) * width + static_cast<std::int64_t>(column) + border) * 2;
    const float* const lower = upper + width * 2;
    const auto between = [&](int axis) {
      const float above = (1 - across) * upper[axis] + across * upper[2 + axis];
      const float below = (1 - across) * lower[axis] + across * lower[2 + axis];
      return (1 - down) * above + down * below;
    };
    force_x[i] += charge * between(0);
    force_y[i] += charge * between(1);
  }
}

}  // namespace

void ForceField::set_attraction(const Setup& setup, const float* ink) {
  const auto table = attraction_table(setup.page, ink, setup.options.image);
  set(setup.page, {table.begin(), table.end()},
      setup.options.image == ImageForce::points ? Between::linear : Between::spline);
}

void ForceField::add(const DotList& dots, std::int64_t begin, std::int64_t end, float charge, float* force_x,
                     float* force_y) const {
  if (table_.empty()) return;
  const auto add = between_ == Between::linear ? add_linear : add_spline;
  add(table_.data(), page_[1] + 4, dots.x.data() + begin, dots.y.data() + begin, end - begin, charge, force_x + begin,
      force_y + begin);
}

void InkDensity::set_ink(const float* ink, double total) { nodes_ = ink_nodes(setup_, ink, total); }

void InkDensity::at(const DotList& dots, std::int64_t begin, std::int64_t end, float* density) const {
  const auto nodes_a_px = static_cast<float>(1 / nodes_.step);
  for (std::int64_t i = begin; i < end; ++i) {
    const auto dot = static_cast<std::size_t>(i);
    const auto node = [&](float coordinate, std::int64_t count) {
      return std::min(static_cast<std::int64_t>(coordinate * nodes_a_px + 0.5F), count - 1);
    };
    density[i - begin] = nodes_.density[static_cast<std::size_t>(node(dots.y[dot], nodes_.rows) * nodes_.columns +
                                                                 node(dots.x[dot], nodes_.columns))];
  }
}

}  // namespace holotone::electrostatic
