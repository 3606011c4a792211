// An eye moves past a hologram: of a picture 2 cm behind the panel, what its pupil sees at five positions, and how near
// that comes to the picture.
#include <cmath>
#include <cstdio>
#include <holotone/core/error.hpp>
#include <holotone/io/fields/field_file.hpp>
#include <holotone/metrics/light_comparison.hpp>
#include <holotone/optics/propagation.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <holotone/recipes/viewing.hpp>

int main() try {
  using namespace holotone;
  constexpr std::int64_t n = 192;
  constexpr double depth_m = 0.02;
  const FieldGrid grid{n, n, 8e-6, 532e-9};

  // Rings whose light leaves along the axis, propagated to the panel.
  Array<float, 2> wanted({n, n});
  Array<Complex, 2> object({n, n});
  for (std::int64_t row = 0; row < n; ++row) {
    for (std::int64_t col = 0; col < n; ++col) {
      const double r = std::hypot(static_cast<double>(col) - 0.5 * (n - 1), static_cast<double>(row) - 0.5 * (n - 1));
      const double amplitude = r < 60 ? 0.6 + 0.4 * std::cos(r / 5) : 0;
      object(row, col) = static_cast<float>(amplitude);
      wanted(row, col) = static_cast<float>(amplitude * amplitude);
    }
  }
  Array<Complex, 2> field({n, n});
  PropagationPlan({.grid = grid}).execute(object.view(), field.view(), depth_m);
  Metadata metadata;
  set_metadata(metadata, "pitch_m", grid.pitch_m);
  set_metadata(metadata, "wavelength_m", grid.wavelength_m);
  write_field("rings.ohc", {std::move(field), metadata});

  ViewingOptions options;
  options.distances_m = {depth_m};
  for (const double x_mm : {-2.0, -1.0, 0.0, 1.0, 2.0}) {
    options.pupils.push_back({.width_m = 3e-3, .height_m = 3e-3, .distance_m = 0.1, .x_m = 1e-3 * x_mm});
  }
  const Viewing seen = view_holograms({"rings.ohc"}, options);
  std::vector<double> psnr_db;
  for (std::size_t i = 0; i < options.pupils.size(); ++i) {
    const View<const float, 2> picture(seen.intensity.data() + static_cast<std::int64_t>(i) * n * n, {n, n});
    psnr_db.push_back(compare_light(picture, wanted.view()).psnr_db);
    std::printf("eye %+.0f mm: %.1f dB, %.1f %% of the light\n", 1e3 * options.pupils[i].x_m, psnr_db.back(),
                100 * seen.light_shares[i]);
  }
  return psnr_db[2] > 25 && psnr_db[0] < psnr_db[2] - 10 && psnr_db[4] < psnr_db[2] - 10 ? 0 : 1;
} catch (const holotone::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
