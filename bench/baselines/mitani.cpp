#include <algorithm>
#include <bench/baselines/mitani.hpp>
#include <cmath>
#include <holotone/core/parallel.hpp>
#include <holotone/core/simd.hpp>
#include <numbers>
#include <vector>

namespace bench {

using holotone::View;

namespace {

struct Factors {
  std::vector<float> cosine;
  std::vector<float> sine;
};

/// Factors of points first to last - 1 along an axis of `size` pixels, one point after another.
Factors compute_factors(View<const float, 2> points, std::int64_t first, std::int64_t last, std::int64_t axis,
                        std::int64_t size) {
  const auto count = static_cast<std::size_t>((last - first) * size);
  Factors factors{std::vector<float>(count), std::vector<float>(count)};
  holotone::parallel_for(first, last, [&](std::int64_t j) {
    const float amplitude = axis == 0 ? points(j, 3) : 1;
    for (std::int64_t i = 0; i < size; ++i) {
      const float distance = static_cast<float>(i) - points(j, axis);
      const float angle = points(j, 2) * (distance * distance);
      const auto at = static_cast<std::size_t>((j - first) * size + i);
      factors.cosine[at] = amplitude * std::cos(angle);
      factors.sine[at] = amplitude * std::sin(angle);
    }
  });
  return factors;
}

HOLOTONE_SIMD_CLONES
void add_point(const float* cos_x, const float* sin_x, float cos_y, float sin_y, std::int64_t count,
               float* __restrict re, float* __restrict im) {
  for (std::int64_t i = 0; i < count; ++i) {
    re[i] += cos_x[i] * cos_y - sin_x[i] * sin_y;
    im[i] += sin_x[i] * cos_y + cos_x[i] * sin_y;
  }
}

}  // namespace

void mitani_new_cpu(View<const float, 2> points, View<std::complex<float>, 2> field, View<std::uint8_t, 2> phase) {
  constexpr std::int64_t batch = 256;
  const std::int64_t ny = field.shape()[0];
  const std::int64_t nx = field.shape()[1];
  std::vector<float> re(static_cast<std::size_t>(ny * nx));
  std::vector<float> im(re.size());
  for (std::int64_t first = 0; first < points.shape()[0]; first += batch) {
    const auto last = std::min(first + batch, points.shape()[0]);
    const Factors x = compute_factors(points, first, last, 0, nx);
    const Factors y = compute_factors(points, first, last, 1, ny);
    holotone::parallel_for(0, ny, [&](std::int64_t row) {
      for (std::int64_t j = 0; j < last - first; ++j) {
        const auto at = static_cast<std::size_t>(j * ny + row);
        add_point(x.cosine.data() + j * nx, x.sine.data() + j * nx, y.cosine[at], y.sine[at], nx, re.data() + row * nx,
                  im.data() + row * nx);
      }
    });
  }
  holotone::parallel_for(0, ny, [&](std::int64_t row) {
    for (std::int64_t i = row * nx; i < (row + 1) * nx; ++i) {
      const auto at = static_cast<std::size_t>(i);
      field.data()[i] = {re[at], im[at]};
      const float turns = std::atan2(im[at], re[at]) / (2 * std::numbers::pi_v<float>);
      phase.data()[i] = static_cast<std::uint8_t>(std::lround(256 * turns) & 255);
    }
  });
}

}  // namespace bench
