// Writes a hologram file in one call and looks at it: a square of points 10 cm behind the panel, as phase codes and as
// a complex field.
#include <cmath>
#include <cstdio>
#include <holotone/holotone.hpp>

int main() try {
  using namespace holotone;
  const FieldGrid grid{.nx = 512, .ny = 512, .pitch_m = 8e-6, .wavelength_m = 532e-9};
  Array<float, 2> position({4, 3});
  Array<float, 1> amplitude({4});
  for (std::int64_t i = 0; i < 4; ++i) {
    position(i, 0) = i % 2 == 0 ? -0.4e-3F : 0.4e-3F;
    position(i, 1) = i < 2 ? -0.4e-3F : 0.4e-3F;
    position(i, 2) = -0.10F;
    amplitude(i) = 1;
  }
  const Field field{
      point_cloud_field({.position_m = position.view(), .amplitude = amplitude.view()},
                        {.wavelength_m = grid.wavelength_m, .pitch_m = grid.pitch_m, .shape = grid.shape()}),
      grid};

  write_hologram("square.png", field, {.encoding = Encoding::phase}, {.metadata = {{"distance_m", "0.1"}}});
  write_hologram("square.npy", field);

  const HologramLight light = read_hologram("square.png");
  ReconstructionPlan camera({.grid = light.grid});
  camera.set_field(light.field.view());
  Array<float, 2> intensity(grid.shape());
  camera.execute(0.10, intensity.view());
  const auto at = [&](double x_m) { return static_cast<std::int64_t>(std::lround(x_m / grid.pitch_m + 255.5)); };
  const float corner = intensity(at(0.4e-3), at(0.4e-3));
  const float middle = intensity(at(0), at(0));
  std::printf("%s: %s, a corner of the square is %.0f times as bright as its middle\n", light.path.c_str(),
              light.encoding.c_str(), static_cast<double>(corner / middle));
  return corner > 10 * middle ? 0 : 1;
} catch (const holotone::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
