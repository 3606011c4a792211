// Writes and reads a hologram file. The phase codes of one point are written to a PNG with their encoding as metadata
// and read back as a field. The reconstruction at the distance stated in the file shows the point again.
#include <algorithm>
#include <cstdio>
#include <holotone/core/error.hpp>
#include <holotone/hologram/encode.hpp>
#include <holotone/hologram/point_cloud.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/optics/reconstruction.hpp>
#include <holotone/recipes/hologram_file.hpp>
#include <holotone/recipes/metadata_keys.hpp>

int main() try {
  using namespace holotone;
  const FieldGrid grid{.nx = 480, .ny = 480, .pitch_m = 8e-6, .wavelength_m = 532e-9};
  const float place[3] = {0.4e-3F, 0, -0.10F};
  const float amplitude = 1;
  const auto field = point_cloud_field(
      {.position_m = View<const float, 2>(place, {1, 3}), .amplitude = View<const float, 1>(&amplitude, {1})},
      {.wavelength_m = grid.wavelength_m, .pitch_m = grid.pitch_m, .shape = grid.shape()});

  EncodeOptions options;
  EncodeReport report;
  const auto codes = encode(field.view(), options, grid, &report);
  Array<std::uint8_t, 3> pixels({grid.ny, grid.nx, 1});
  std::transform(codes.data(), codes.data() + codes.size(), pixels.data(),
                 [](std::uint16_t code) { return static_cast<std::uint8_t>(code); });
  Image picture{std::move(pixels), {}};
  set_metadata(picture.metadata, "pitch_m", grid.pitch_m);
  set_metadata(picture.metadata, "wavelength_m", grid.wavelength_m);
  set_metadata(picture.metadata, "distance_m", 0.10);
  describe_encoding(picture.metadata, options, report, false);
  write_image("point.png", picture);

  const HologramLight light = read_hologram("point.png");
  const double distance_m = checked_number(light.path, light.metadata, "distance_m").value();
  ReconstructionPlan camera({.grid = light.grid}, Device{});
  camera.set_field(light.field.view());
  Array<float, 2> intensity(light.grid.shape());
  camera.execute(distance_m, intensity.view());
  const auto brightest = std::max_element(intensity.data(), intensity.data() + intensity.size()) - intensity.data();
  const double column = static_cast<double>(brightest % grid.nx) - 0.5 * static_cast<double>(grid.nx - 1);
  std::printf("%s: %s, in focus at %.0f cm, brightest %.2f mm right of the middle\n", light.path.c_str(),
              light.encoding.c_str(), 100 * distance_m, 1e3 * column * grid.pitch_m);
  return column * grid.pitch_m > 0.39e-3 && column * grid.pitch_m < 0.41e-3 ? 0 : 1;
} catch (const holotone::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
