#pragma once
// A stereogram of Lagrange et al. 2024, Table 1 and 2, of a synthetic light field of 7 x 7 views of 626 x 434 pixels.
#include <cmath>
#include <cstdint>
#include <holotone/core/random.hpp>
#include <holotone/hologram/stereogram.hpp>
#include <holotone/hologram/view_grid.hpp>
#include <tests/reference/stereogram.hpp>
#include <vector>

namespace cases {

struct StereogramCase {
  holotone::StereogramOptions options{.grid = {24576, 24576, 750e-9, 635e-9},
                                      .hogel_px = 2048,
                                      .fringe_m = 1.5e-6,
                                      .viewer = holotone::Viewer{9.2e-3, 9.2e-3, 36e-3, 0, 0},
                                      .method = holotone::StereogramMethod::layered,
                                      .seed = 7};
  holotone::ViewGridOptions geometry{36e-3, 9.2e-3 / 6, 91e-3, 65e-3};

  /// Waves that shift between views, with dark areas between them.
  [[nodiscard]] static holotone::Array<float, 5> views() {
    constexpr std::int64_t ny = 434;
    constexpr std::int64_t nx = 626;
    holotone::Array<float, 5> all({7, 7, ny, nx, 1});
#pragma omp parallel for
    for (std::int64_t i = 0; i < all.size(); ++i) {
      const auto x = static_cast<double>(i % nx);
      const auto y = static_cast<double>(i / nx % ny);
      const auto u = static_cast<double>(i / (nx * ny) % 7 - 3);
      const auto v = static_cast<double>(i / (nx * ny * 7) - 3);
      const double wave =
          std::sin(0.05 * x + 0.4 * u) * std::cos(0.07 * y - 0.3 * v) + 0.3 * std::sin(0.4 * x - 0.31 * y);
      all.data()[i] = static_cast<float>(std::max(0.0, 0.6 + wave));
    }
    return all;
  }

  /// ||got - expected|| / ||expected|| at `samples` pixels of one hogel of a row, in float64 from the source's rays.
  /// `row` is {N, nx} in host memory: the whole hogel row `hogel_row`, flat (one layer).
  [[nodiscard]] double relative_error(const holotone::ViewSource& source, const std::complex<float>* row,
                                      std::int64_t hogel_row, std::int64_t hogel_column, int samples) const {
    const auto& grid = options.grid;
    const std::int64_t n = options.hogel_px;
    const double side = static_cast<double>(n) * grid.pitch_m;
    const double step = grid.wavelength_m / side;
    const auto most = static_cast<std::int64_t>(
        std::min(static_cast<double>((n - 1) / 2), std::floor(side / options.fringe_m + 1e-9)));
    const double x = (static_cast<double>(hogel_column * n) + 0.5 * static_cast<double>(n - grid.nx)) * grid.pitch_m;
    const double y = -(static_cast<double>(hogel_row * n) + 0.5 * static_cast<double>(n - grid.ny)) * grid.pitch_m;
    const std::int64_t count = 2 * most + 1;
    holotone::Array<float, 2> light({count, count});
    source.look({x, y, -static_cast<double>(most) * step, static_cast<double>(most) * step, step, {count, count}}, 0,
                light.view(), {});

    const double reach = side / 2 + step * options.viewer->distance_m / 2;
    std::vector<reference::HogelWave> waves;
    double low = 1e30;
    double high = -1e30;
    const std::int64_t number = hogel_row * ((grid.nx + n - 1) / n) + hogel_column;
    for (std::int64_t ky = -most; ky <= most; ++ky) {
      for (std::int64_t kx = -most; kx <= most; ++kx) {
        const double cx = static_cast<double>(kx) * step;
        const double cy = static_cast<double>(ky) * step;
        const double cz = std::sqrt(1 - cx * cx - cy * cy);
        const auto& viewer = *options.viewer;
        const bool wanted = std::abs(x + cx / cz * viewer.distance_m - viewer.x_m) <= viewer.width_m / 2 + reach &&
                            std::abs(y + cy / cz * viewer.distance_m - viewer.y_m) <= viewer.height_m / 2 + reach;
        const auto intensity = static_cast<double>(light(most - ky, kx + most));
        if (!wanted || intensity <= 0) continue;
        const auto two = reference::curvatures_of(cx, cy, geometry.distance_m);
        const double curvature = (two.along + two.across) / 2;
        const double spread =
            static_cast<double>(std::max(std::abs(kx), std::abs(ky))) / side + curvature * side / 2 / grid.wavelength_m;
        if (spread > 1 / (2 * grid.pitch_m)) continue;
        const auto counter = static_cast<std::uint64_t>((number * n + ky + n / 2) * n + kx + n / 2);
        const double turns = static_cast<double>(holotone::random_uniform(options.seed, counter)) - 0.5;
        waves.push_back({std::sqrt(intensity), 2 * 3.14159265358979323846 * turns, cx, cy, curvature});
        low = std::min(low, curvature);
        high = std::max(high, curvature);
      }
    }
    sort_into_layers(waves, low, high);
    double error = 0;
    double norm = 0;
    for (int i = 0; i < samples; ++i) {
      const auto pick = [&](int k) {
        return static_cast<std::int64_t>(holotone::random_uniform64(5, static_cast<std::uint64_t>(2 * i + k)) *
                                         static_cast<double>(n));
      };
      const std::int64_t m = pick(0);
      const std::int64_t column = pick(1);
      const auto expected = reference::hogel_pixel(waves, n, grid.pitch_m, grid.wavelength_m, m, column);
      error += std::norm(std::complex<double>(row[m * grid.nx + hogel_column * n + column]) - expected);
      norm += std::norm(expected);
    }
    return std::sqrt(error / norm);
  }

 private:
  void sort_into_layers(std::vector<reference::HogelWave>& waves, double low, double high) const {
    const double side = static_cast<double>(options.hogel_px) * options.grid.pitch_m;
    const double enough = options.grid.wavelength_m / (2 * side * side);
    const double count = std::clamp(std::ceil((high - low) / enough), 1.0, static_cast<double>(options.layers));
    const double width = (high - low) / count;
    for (auto& wave : waves) {
      wave.curvature = low + (std::min(std::floor((wave.curvature - low) / width), count - 1) + 0.5) * width;
    }
  }
};

}  // namespace cases
