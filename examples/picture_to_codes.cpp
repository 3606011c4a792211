// A picture to the codes of a phase modulator: rings that appear 2 cm behind the panel, in the middle 80 % of it, as
// 4-bit codes in rings.png, which `holotone reconstruct` shows.
#include <cmath>
#include <cstdio>
#include <holotone/core/error.hpp>
#include <holotone/recipes/retrieval.hpp>
#include <holotone/recipes/write_hologram.hpp>

int main() try {
  using namespace holotone;
  Array<float, 2> light({80, 120});  // linear light; of a file: a channel of to_linear(read_image(...))
  for (std::int64_t row = 0; row < 80; ++row) {
    for (std::int64_t col = 0; col < 120; ++col) {
      const double r = std::hypot(static_cast<double>(col) - 59.5, static_cast<double>(row) - 39.5);
      light(row, col) = static_cast<float>(0.5 + 0.5 * std::cos(r / 6));
    }
  }

  PictureRetrievalOptions options;
  options.model = {.grid = {180, 120, 8e-6, 532e-9}, .planes = {{.distance_m = 0.02}}};
  options.encoding.bits = 4;
  options.part = 0.8;
  const auto made = retrieve_picture(light.view(), options);
  const auto& quality = made.quality[0];
  std::printf("%lld x %lld pixels, %d steps: %.1f dB at worst, efficiency %.2f, SSIM %.2f\n",
              static_cast<long long>(made.region.columns), static_cast<long long>(made.region.rows),
              made.steps.iterations, quality.psnr_worst_db, quality.efficiency, made.seen[0].ssim_worst);

  const View<const std::uint16_t, 2> codes(made.codes.data(), options.model.grid.shape());
  write_hologram("rings.png", codes, options.model.grid, options.encoding, {}, {.metadata = made.metadata});
  return quality.psnr_worst_db > 18 ? 0 : 1;
} catch (const holotone::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
