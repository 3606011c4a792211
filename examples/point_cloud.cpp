// Points in space to the 8-bit phase hologram of a light modulator: a helix 20 cm behind a Holoeye PLUTO-2.1. Writes
// helix.png. Numerical reconstruction: `holotone reconstruct helix.png -o focus.png`.
#include <cmath>
#include <cstdio>
#include <holotone/core/error.hpp>
#include <holotone/hologram/encode.hpp>
#include <holotone/hologram/point_cloud.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/optics/panel.hpp>
#include <numbers>
#include <vector>

int main() try {
  using namespace holotone;
  const Device device = parse_device("auto");  // the first GPU, else the CPU
  const Panel& panel = find_panel("holoeye-pluto-2");
  constexpr double wavelength_m = 532e-9;
  constexpr double distance_m = 0.2;

  // Metres; x right, y up, z toward the viewer. The panel is at z = 0, so points behind it have z < 0.
  constexpr std::int64_t count = 2000;
  Array<float, 2> position({count, 3});
  Array<float, 1> amplitude({count});
  for (std::int64_t j = 0; j < count; ++j) {
    const double turns = 3.0 * static_cast<double>(j) / count;
    const double angle = 2 * std::numbers::pi * turns;
    position(j, 0) = static_cast<float>(3e-3 * std::cos(angle));
    position(j, 1) = static_cast<float>(2e-3 * (turns - 1.5));
    position(j, 2) = static_cast<float>(3e-3 * std::sin(angle) - distance_m);
    amplitude(j) = 1;
  }

  // A plan checks and allocates once; set_points and execute may follow for every frame.
  PointCloudPlan plan(
      {.wavelength_m = wavelength_m, .pitch_m = panel.pitch_m, .shape = {panel.ny, panel.nx}, .tolerance = 1e-3},
      device);
  plan.set_points({.position_m = position.view(), .amplitude = amplitude.view()});
  Array<Complex, 2> field({panel.ny, panel.nx}, device);
  plan.execute({.field = field.view()});
  std::printf("%s: %s, %s, relative error at most %.1e\n", describe(device).name.c_str(),
              std::string(to_string(plan.info().method)).c_str(), plan.info().arithmetic.c_str(),
              plan.info().expected_error);

  // Encode the field, and write the codes with the metadata for reconstruction.
  const FieldGrid grid{panel.nx, panel.ny, panel.pitch_m, wavelength_m};
  const auto codes = encode(field.view(), {.encoding = Encoding::phase, .bits = 8}, grid);
  Array<std::uint8_t, 3> pixels({panel.ny, panel.nx, 1});
  for (std::size_t i = 0; i < pixels.host().size(); ++i) pixels.host()[i] = static_cast<std::uint8_t>(codes.host()[i]);
  write_image("helix.png", {.pixels = std::move(pixels),
                            .metadata = {{"wavelength_m", "532e-9"},
                                         {"pitch_m", "8e-6"},
                                         {"distance_m", "0.2"},
                                         {"encoding", "phase"},
                                         {"bits", "8"}}});
  return 0;
} catch (const holotone::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
