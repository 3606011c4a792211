// Shears of components by disparity between views.
#include <algorithm>
#include <cmath>
#include <holotone/core/parallel.hpp>
#include <holotone/smoe/fit/steps.hpp>

namespace holotone::smoe {
namespace {

/// Pixels on each side of a component's centre in the compared window.
constexpr std::int64_t reach = 3;
/// Largest disparity between the middle and the outermost view, as a fraction of the picture's shorter side.
constexpr double farthest = 0.1;
/// Initial standard deviation of a component in u and v: all views, with room to fall off.
constexpr double view_width = 1.5;

/// Squared difference of a window around (row, column) and one moved by (dx, dy) in another picture. Both pictures are
/// extended by their edge pixels.
double difference(View<const float, 3> a, View<const float, 3> b, std::int64_t row, std::int64_t column, double dx,
                  double dy) {
  const auto& [ny, nx, channels] = a.shape();
  const auto shift_x = static_cast<std::int64_t>(std::lround(dx));
  const auto shift_y = static_cast<std::int64_t>(std::lround(dy));
  double sum = 0;
  for (std::int64_t y = row - reach; y <= row + reach; ++y) {
    for (std::int64_t x = column - reach; x <= column + reach; ++x) {
      const std::int64_t ay = std::clamp<std::int64_t>(y, 0, ny - 1);
      const std::int64_t ax = std::clamp<std::int64_t>(x, 0, nx - 1);
      const std::int64_t by = std::clamp<std::int64_t>(y + shift_y, 0, ny - 1);
      const std::int64_t bx = std::clamp<std::int64_t>(x + shift_x, 0, nx - 1);
      for (std::int64_t c = 0; c < channels; ++c) {
        const double off = static_cast<double>(a(ay, ax, c)) - static_cast<double>(b(by, bx, c));
        sum += off * off;
      }
    }
  }
  return sum;
}

}  // namespace

void find_shears(FitComponents& components, View<const float, 3> middle, const ViewPoint& at,
                 std::span<const View<const float, 3>> others, std::span<const ViewPoint> places,
                 const ViewPoint& extent) {
  const auto& [ny, nx, channels] = middle.shape();
  const auto most = static_cast<std::int64_t>(std::ceil(farthest * static_cast<double>(std::min(ny, nx))));
  parallel_for(0, std::ssize(components), [&](std::int64_t j) {
    FitComponent& component = components[static_cast<std::size_t>(j)];
    const auto& shape = middle.shape();
    const auto row = std::clamp<std::int64_t>(std::lround(component.centre[1]), 0, shape[0] - 1);
    const auto column = std::clamp<std::int64_t>(std::lround(component.centre[0]), 0, shape[1] - 1);
    double best = INFINITY;
    std::int64_t moved = 0;
    // In order of increasing disparity: ties go to the smallest.
    for (std::int64_t i = 0; i <= 2 * most; ++i) {
      const std::int64_t pixels = (i % 2 ? -1 : 1) * ((i + 1) / 2);
      double sum = 0;
      for (std::size_t k = 0; k < others.size() && sum < best; ++k) {
        sum +=
            difference(middle, others[k], row, column, static_cast<double>(pixels) * extent[0] * (places[k][0] - at[0]),
                       static_cast<double>(pixels) * extent[1] * (places[k][1] - at[1]));
      }
      if (sum < best) {
        best = sum;
        moved = pixels;
      }
    }
    component.centre[2] = at[0];
    component.centre[3] = at[1];
    component.views = {1 / view_width, 0, extent[1] > 0 ? 1 / view_width : 1};
    const double x = static_cast<double>(moved) * extent[0];
    const double y = static_cast<double>(moved) * extent[1];
    const auto by_u = component.pixels.times(-x, 0);
    const auto by_v = component.pixels.times(0, -y);
    component.shear = {{{by_u[0], by_v[0]}, {by_u[1], by_v[1]}}};
    for (auto& slope : component.slope) {
      slope[2] = -slope[0] * x;
      slope[3] = -slope[1] * y;
    }
  });
}

}  // namespace holotone::smoe
