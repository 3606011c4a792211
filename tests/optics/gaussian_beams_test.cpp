// Propagation against the closed form of Gaussian beams; the benchmarks check themselves on the same case.
#include <cstdio>
#include <gtest/gtest.h>
#include <holotone/core/device.hpp>
#include <holotone/optics/propagation.hpp>
#include <tests/cases/propagation.hpp>

namespace {

using holotone::Array;
using holotone::Complex;
using holotone::Device;

TEST(Propagation, GaussianBeamsSpreadAsTheyShould) {
  // The closed form is paraxial: its error is k z theta^4 / 8 at its 1/e angle theta = lambda / (pi w0), 2.5e-6 rad at
  // 0.2 m. It is several times that in the beam's skirts, where the square of r^2 grows.
  constexpr double bound = 1e-5;
  for (const auto device : holotone::devices()) {
    for (const double distance_m : {0.02, 0.1, 0.2, -0.15}) {
      cases::GaussianBeams c;
      c.grid = {512, 448, 8e-6, 532e-9};
      c.distance_m = distance_m;
      c.spread = 0.2;
      const holotone::Queue queue(device);
      const auto host = c.input();
      const auto input = copy_of(holotone::View<const Complex, 2>(host.data(), c.grid.shape()), device);
      Array<Complex, 2> output(c.grid.shape(), queue);
      holotone::PropagationPlan plan({.grid = c.grid, .method = holotone::PropagationMethod::angular_spectrum}, queue);
      plan.execute(input.view(), output.view(), distance_m);
      queue.synchronize();
      const double error = c.relative_error(output.to(Device{}).data(), 2000);
      EXPECT_LE(error, bound);
      std::printf("  %s, %.2f m: relative error %.1e (%.0f %% of the bound)\n", to_string(device).c_str(), distance_m,
                  error, 100 * error / bound);
    }
  }
}

}  // namespace
