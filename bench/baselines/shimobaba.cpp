#include <algorithm>
#include <bench/baselines/shimobaba.hpp>
#include <cmath>
#include <holotone/core/parallel.hpp>
#include <numbers>
#include <tests/reference/point_cloud.hpp>

namespace bench {

using holotone::Array;
using holotone::View;

Array<float, 2> shimobaba_points(const reference::PointWaves& points, const holotone::PointCloudOptions& options) {
  const auto count = std::ssize(points.amplitude);
  const double middle_x = 0.5 * static_cast<double>(options.shape[1] - 1);
  const double middle_y = 0.5 * static_cast<double>(options.shape[0] - 1);
  const double pitch = options.pitch_m;
  Array<float, 2> records({count, 4});
  for (std::int64_t j = 0; j < count; ++j) {
    const auto at = static_cast<std::size_t>(j);
    const auto [x, y, z] = points.position_m[at];
    records(j, 0) = static_cast<float>(middle_x + static_cast<double>(x) / pitch);
    records(j, 1) = static_cast<float>(middle_y - static_cast<double>(y) / pitch);
    records(j, 2) =
        static_cast<float>(std::numbers::pi * pitch * pitch / (options.wavelength_m * -static_cast<double>(z)));
    records(j, 3) = points.amplitude[at];
  }
  return records;
}

void shimobaba_cpu(View<const float, 2> points, View<float, 2> intensity) {
  const auto [ny, nx] = intensity.shape();
  holotone::parallel_for(0, ny, [&, nx = nx](std::int64_t row) {
    float* row_light = intensity.data() + row * nx;
    std::fill_n(row_light, nx, 0.0F);
    for (std::int64_t j = 0; j < points.shape()[0]; ++j) {
      const double x = points(j, 0);
      const double y = static_cast<double>(row) - static_cast<double>(points(j, 1));
      const double rate = points(j, 2);
      const float amplitude = points(j, 3);
      double gamma = rate * (x * x + y * y);
      double delta = rate * (1 - 2 * x);
      for (std::int64_t i = 0; i < nx; ++i) {
        row_light[i] += amplitude * std::cos(static_cast<float>(gamma));
        gamma += delta;
        delta += 2 * rate;
      }
    }
  });
}

}  // namespace bench
