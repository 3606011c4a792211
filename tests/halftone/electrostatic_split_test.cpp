// Closed forms of the Ewald split, its error model and the influence table.
#include <cmath>
#include <gtest/gtest.h>
#include <holotone/core/random.hpp>
#include <holotone/halftone/electrostatic/settings.hpp>
#include <holotone/halftone/electrostatic/transform_cpu.hpp>
#include <numbers>
#include <tests/support/on_each_device.hpp>

namespace {

using namespace holotone::electrostatic;
using holotone::random_uniform64;
constexpr double pi = std::numbers::pi;

/// The cloud's density.
double blob(const ForceSplit& split, double r) {
  const double t2 = 1 - std::pow(r / split.cutoff, 2);
  if (t2 <= 0) return 0;
  return split.beta * std::cyl_bessel_i(0.0, split.beta * std::sqrt(t2)) /
         (2 * pi * split.cutoff * split.cutoff * std::cyl_bessel_i(1.0, split.beta));
}

TEST(ElectrostaticSplit, near_share_is_the_charge_not_yet_enclosed) {
  const ForceSplit split{7.5, 3.2};
  EXPECT_DOUBLE_EQ(near_share(split, 0), 1);
  EXPECT_EQ(near_share(split, 3.2), 0);
  EXPECT_EQ(near_share(split, 5), 0);
  double enclosed = 0;
  constexpr int steps = 6400;
  double worst = 0;
  for (int i = 0; i < steps; ++i) {
    const double step = split.cutoff / steps;
    enclosed += 2 * pi * (i + 0.5) * step * blob(split, (i + 0.5) * step) * step;
    worst = std::max(worst, std::abs(near_share(split, (i + 1) * step) - (1 - enclosed)));
  }
  support::expect_within("share against Gauss' law", worst,
                         2e-6);  // midpoint rule: (steps)^-2 times a second derivative
}

TEST(ElectrostaticSplit, cloud_transform_is_the_hankel_transform_of_the_cloud) {
  const ForceSplit split{7, 2.7};
  const CloudTable table(split.beta, 3 * split.cutoff, 0.01);
  double worst = 0;
  double worst_table = 0;
  for (const double f : {0.0, 0.05, 0.2, 0.4127, 0.6, 1.1, 2.5}) {
    double sum = 0;
    constexpr int steps = 4000;
    for (int i = 0; i < steps; ++i) {
      const double step = split.cutoff / steps;
      const double r = (i + 0.5) * step;
      sum += 2 * pi * r * blob(split, r) * std::cyl_bessel_j(0.0, 2 * pi * f * r) * step;
    }
    worst = std::max(worst, std::abs(cloud_transform(split, f) - sum));
    worst_table = std::max(worst_table, std::abs(cloud_transform(split, f) - table(f * split.cutoff)));
  }
  support::expect_within("B(f) against quadrature", worst, 2e-6);
  support::expect_within("B(f) from a table", worst_table, 2 * std::pow(0.01, 4) + 1e-12);
}

TEST(ElectrostaticSplit, near_polynomial_is_close_to_the_share) {
  for (const auto& [beta, terms, tolerance] :
       {std::tuple(7.0, 6, 3e-5), std::tuple(7.0, 7, 1.5e-6), std::tuple(10.0, 8, 3e-6), std::tuple(12.0, 9, 1.5e-6)}) {
    const ForceSplit split{beta, 2.5};
    const auto coefficient = near_polynomial(split, terms);
    double worst = 0;
    for (int i = 0; i <= 500; ++i) {
      const double r = split.cutoff * i / 500;
      const double s = 1 - std::pow(r / split.cutoff, 2);
      double sum = 0;
      for (int k = terms - 1; k >= 0; --k) sum = (sum + coefficient[static_cast<std::size_t>(k)]) * s;
      worst = std::max(worst, std::abs(sum - near_share(split, r)));
    }
    support::expect_within("share, beta " + std::to_string(beta) + ", " + std::to_string(terms) + " terms", worst,
                           tolerance);
  }
}

/// Integral over the plane of the pair-force error, with the far part from the plan's table in float64.
double simulated_error(const Setup& setup, int sources, int targets) {
  const auto table = far_spectrum(setup);
  const std::int64_t ny = setup.grid[0];
  const std::int64_t nx = setup.grid[1];
  const int width = setup.window.width;
  const ForceSplit split{setup.split_beta, setup.cutoff};
  const auto window_at = [&](double place, double(&value)[16]) {
    const double first = std::ceil(place - 0.5 * width);
    for (int i = 0; i < width; ++i) value[i] = holotone::window_value(setup.window, first + i - place);
    return static_cast<std::int64_t>(first);
  };
  double sum = 0;
  std::uint64_t draw = 0;
  double across[16];
  double down[16];
  const double reach = setup.cutoff + 5 * setup.step_x;
  for (int s = 0; s < sources; ++s) {
    const double x = static_cast<double>(setup.page[1]) * 0.5 + 3 * setup.step_x * random_uniform64(3, draw++);
    const double y = static_cast<double>(setup.page[0]) * 0.5 + 3 * setup.step_y * random_uniform64(3, draw++);
    std::vector<std::complex<double>> grid(static_cast<std::size_t>(nx * ny));
    const auto i0 = window_at(x / setup.step_x + static_cast<double>(setup.margin), across);
    const auto j0 = window_at(y / setup.step_y + static_cast<double>(setup.margin), down);
    for (int j = 0; j < width; ++j) {
      for (int i = 0; i < width; ++i) grid[static_cast<std::size_t>((j0 + j) * nx + i0 + i)] = across[i] * down[j];
    }
    transform_2d(grid.data(), ny, nx, holotone::FftDirection::forward);
    for (std::int64_t ky = 0; ky < ny; ++ky) {
      for (std::int64_t kx = 0; kx < nx; ++kx) {
        const std::int64_t ay = std::min(ky, ny - ky);
        const std::int64_t ax = std::min(kx, nx - kx);
        const double* g = table.data() + (ay * (nx / 2 + 1) + ax) * 2;
        const double gx = kx > nx / 2 ? -g[0] : g[0];
        const double gy = ky > ny / 2 ? -g[1] : g[1];
        grid[static_cast<std::size_t>(ky * nx + kx)] *= std::complex<double>(gy, -gx);
      }
    }
    transform_2d(grid.data(), ny, nx, holotone::FftDirection::inverse);
    for (int t = 0; t < targets; ++t) {
      const double dx = (2 * random_uniform64(3, draw++) - 1) * reach;
      const double dy = (2 * random_uniform64(3, draw++) - 1) * reach;
      const auto i1 = window_at((x + dx) / setup.step_x + static_cast<double>(setup.margin), across);
      const auto j1 = window_at((y + dy) / setup.step_y + static_cast<double>(setup.margin), down);
      std::complex<double> force = 0;
      for (int j = 0; j < width; ++j) {
        for (int i = 0; i < width; ++i) {
          force += across[i] * down[j] * grid[static_cast<std::size_t>((j1 + j) * nx + i1 + i)];
        }
      }
      const double r2 = dx * dx + dy * dy;
      const double left = (near_share(split, std::sqrt(r2)) - 1) / r2;
      sum += std::norm(force + std::complex<double>(dx, dy) * left);
    }
  }
  return sum / sources / targets * 4 * reach * reach;
}

TEST(ElectrostaticSplit, pairs_have_the_error_that_the_plan_expects) {
  for (const double tolerance : {1e-2, 5e-4, 2e-5}) {
    holotone::ElectrostaticOptions options;
    options.tolerance = tolerance;
    const auto setup = make_setup({41, 67}, 1500, options);
    // The expected error is relative to the net force of uncorrelated dots, squared over their density.
    const double net = 2 * pi * 0.5 * std::log(1500.0);
    const double error = std::sqrt(simulated_error(setup, 6, 400) / net);
    std::printf("window %d, beta %.2f, cut-off %.2f px, step %.3f x %.3f px, grid %lld x %lld\n", setup.window.width,
                setup.split_beta, setup.cutoff, setup.step_x, setup.step_y, static_cast<long long>(setup.grid[1]),
                static_cast<long long>(setup.grid[0]));
    support::expect_within("pairs, tolerance " + std::to_string(tolerance), error, tolerance);
    EXPECT_LE(setup.expected_error, tolerance);
    EXPECT_NEAR(error / setup.expected_error, 1, 0.4);
  }
}

}  // namespace
