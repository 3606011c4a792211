// A picture in colour of three holograms: a red, a green and a blue point behind a panel; phase codes of each colour in
// a file of its own; what a camera sees in their plane. Writes seen.png.
#include <algorithm>
#include <cstdio>
#include <holotone/core/error.hpp>
#include <holotone/hologram/encode.hpp>
#include <holotone/hologram/point_cloud.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/optics/tone.hpp>
#include <holotone/recipes/hologram_file.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <holotone/recipes/viewing.hpp>

int main() try {
  using namespace holotone;
  constexpr std::int64_t n = 256;
  constexpr double distance_m = 0.05;
  const std::vector<std::string> files{"point_r.png", "point_g.png", "point_b.png"};
  constexpr double wavelength_m[3] = {638e-9, 520e-9, 450e-9};
  for (std::size_t c = 0; c < 3; ++c) {
    const FieldGrid grid{n, n, 8e-6, wavelength_m[c]};
    const float place[3] = {(static_cast<float>(c) - 1) * 0.4e-3F, 0, -static_cast<float>(distance_m)};
    const float amplitude = 1;
    const auto field = point_cloud_field(
        {.position_m = View<const float, 2>(place, {1, 3}), .amplitude = View<const float, 1>(&amplitude, {1})},
        {.wavelength_m = grid.wavelength_m, .pitch_m = grid.pitch_m, .shape = grid.shape()});
    EncodeReport report;
    const auto codes = encode(field.view(), {}, grid, &report);
    Array<std::uint8_t, 3> pixels({n, n, 1});
    std::transform(codes.data(), codes.data() + codes.size(), pixels.data(),
                   [](std::uint16_t code) { return static_cast<std::uint8_t>(code); });
    Image picture{std::move(pixels), {}};
    set_metadata(picture.metadata, "pitch_m", grid.pitch_m);
    set_metadata(picture.metadata, "wavelength_m", grid.wavelength_m);
    set_metadata(picture.metadata, "distance_m", distance_m);
    set_metadata(picture.metadata, "object_energy", 1.0);  // equally bright
    describe_encoding(picture.metadata, {}, report, false);
    write_image(files[c], picture);
  }

  const Viewing seen = view_holograms(files);
  Array<std::uint8_t, 3> pixels({n, n, 3});
  bool right = true;
  for (std::int64_t c = 0; c < 3; ++c) {
    Array<float, 2> channel({n, n});
    for (std::int64_t i = 0; i < n * n; ++i) channel.data()[i] = seen.intensity.data()[3 * i + c];
    const auto codes = tone_map(channel.view(), {.reference = static_cast<float>(seen.white / seen.unit)});
    for (std::int64_t i = 0; i < n * n; ++i) pixels.data()[3 * i + c] = codes.data()[i];
    const auto best = std::max_element(channel.data(), channel.data() + n * n) - channel.data();
    const double x_mm = 8e-3 * (static_cast<double>(best % n) - 0.5 * (n - 1));
    std::printf("%.0f nm: brightest %.2f mm right of the middle\n",
                1e9 * seen.wavelengths_m[static_cast<std::size_t>(c)], x_mm);
    right = right && x_mm > 0.4 * static_cast<double>(c - 1) - 0.01 && x_mm < 0.4 * static_cast<double>(c - 1) + 0.01;
  }
  write_image("seen.png", {std::move(pixels), {}});
  return right ? 0 : 1;
} catch (const holotone::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
