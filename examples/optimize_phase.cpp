// Phase retrieval: the phase of a panel whose light, 10 cm away, is a picture, as 8-bit codes in optimized.png.
#include <cmath>
#include <cstdio>
#include <holotone/core/error.hpp>
#include <holotone/hologram/encode.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/retrieval/phase_retrieval.hpp>

int main() try {
  using namespace holotone;
  const FieldGrid grid{.nx = 480, .ny = 270, .pitch_m = 8e-6, .wavelength_m = 532e-9};
  Array<float, 2> picture(grid.shape());  // amplitude: rings
  for (std::int64_t row = 0; row < grid.ny; ++row) {
    for (std::int64_t col = 0; col < grid.nx; ++col) {
      const double r = std::hypot(static_cast<double>(col - 240), static_cast<double>(row - 135));
      picture(row, col) = static_cast<float>(0.5 + 0.5 * std::cos(r / 6));
    }
  }

  // Light is asked for in the middle; around it, it may be anything.
  PhaseRetrievalPlan plan({.grid = grid, .planes = {{.distance_m = 0.1}}, .region = {35, 60, 200, 360}});
  plan.set_target(picture.view());
  auto phase = starting_phase({1, grid.ny, grid.nx});
  const auto result = plan.optimize(phase.view(), {.iterations = 30});
  const auto quality = plan.quality(phase.view())[0];
  std::printf("%d steps: %.1f dB at the samples, %.1f dB half a pixel beside, efficiency %.2f\n", result.iterations,
              quality.psnr_db, quality.psnr_worst_db, quality.efficiency);

  Array<Complex, 2> field(grid.shape());
  for (std::int64_t i = 0; i < field.size(); ++i) field.data()[i] = std::polar(1.0F, phase.data()[i]);
  const auto codes = encode(field.view(), {.encoding = Encoding::phase, .bits = 8}, grid);
  Array<std::uint8_t, 3> pixels({grid.ny, grid.nx, 1});
  for (std::int64_t i = 0; i < codes.size(); ++i) pixels.data()[i] = static_cast<std::uint8_t>(codes.data()[i]);
  write_image("optimized.png", Image{std::move(pixels), {}});
  return quality.psnr_worst_db > 20 ? 0 : 1;
} catch (const holotone::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
