// Numerical reconstruction of a field at two distances: one point 20 cm and one 21 cm behind the panel. Each is bright
// in its own plane of focus and a faint disc in the other.
#include <cstdio>
#include <holotone/core/error.hpp>
#include <holotone/hologram/point_cloud.hpp>
#include <holotone/optics/reconstruction.hpp>

int main() try {
  using namespace holotone;
  const Device device = parse_device("auto");
  const FieldGrid grid{.nx = 960, .ny = 960, .pitch_m = 8e-6, .wavelength_m = 532e-9};

  Array<float, 2> position({2, 3});
  const float points[2][3] = {{-1e-3F, 0, -0.20F}, {1e-3F, 0, -0.21F}};
  for (std::int64_t j = 0; j < 2; ++j) {
    for (std::int64_t axis = 0; axis < 3; ++axis) position(j, axis) = points[j][axis];
  }
  Array<float, 1> amplitude({2});
  amplitude(0) = amplitude(1) = 1;
  const auto field =
      point_cloud_field({.position_m = position.view(), .amplitude = amplitude.view()},
                        {.wavelength_m = grid.wavelength_m, .pitch_m = grid.pitch_m, .shape = grid.shape()}, device);

  ReconstructionPlan camera({.grid = grid}, device);
  camera.set_field(field.view());
  Array<float, 2> intensity(grid.shape(), device);
  for (const double distance_m : {0.20, 0.21}) {
    camera.execute(distance_m, intensity.view());
    const auto picture = intensity.to(Device{});
    double brightest[2] = {0, 0};  // left and right half: the nearer and the farther point
    for (std::int64_t row = 0; row < grid.ny; ++row) {
      for (std::int64_t col = 0; col < grid.nx; ++col) {
        double& most = brightest[col < grid.nx / 2 ? 0 : 1];
        if (picture(row, col) > most) most = picture(row, col);
      }
    }
    std::printf("focus at %.0f cm: near point %.3g, far point %.3g\n", distance_m * 100, brightest[0], brightest[1]);
    if ((brightest[0] > brightest[1]) != (distance_m < 0.205)) return 1;
  }
  return 0;
} catch (const holotone::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
