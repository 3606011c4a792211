// A light field of 3 x 3 views becomes one small file whose pictures reach a PSNR of 34 dB; a view that no camera took
// is rendered from it.
#include <cmath>
#include <cstdio>
#include <holotone/core/error.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/recipes/mixtures.hpp>
#include <holotone/smoe/codec.hpp>
#include <holotone/smoe/render.hpp>

namespace {

constexpr std::int64_t n = 64;

/// Rings before a wall: the rings move by 3 pixels for 1 in u and v, the wall stands still.
holotone::Array<float, 3> scene(double u, double v) {
  holotone::Array<float, 3> image({n, n, 3});
  for (std::int64_t row = 0; row < n; ++row) {
    for (std::int64_t col = 0; col < n; ++col) {
      const double r = std::hypot(static_cast<double>(col) - 32 - 3 * u, static_cast<double>(row) - 32 - 3 * v);
      const double wall = 0.3 + 0.005 * static_cast<double>(row);
      const double rings = 0.55 + 0.25 * std::cos(0.35 * r);
      for (std::int64_t c = 0; c < 3; ++c) {
        image(row, col, c) = static_cast<float>(r < 20 ? rings - 0.1 * static_cast<double>(c) : wall);
      }
    }
  }
  return image;
}

}  // namespace

int main() try {
  using namespace holotone;
  std::vector<Array<float, 3>> images;
  std::vector<SmoeFitView> views;
  for (const double v : {-1.0, 0.0, 1.0}) {
    for (const double u : {-1.0, 0.0, 1.0}) images.push_back(scene(u, v));
  }
  for (std::size_t i = 0; i < images.size(); ++i) {
    views.push_back({images[i].view(), {static_cast<double>(i % 3) - 1, static_cast<double>(i / 3) - 1}});
  }

  const MixtureFit fit = fit_mixture(views, {.psnr_db = 34, .iterations = 150});
  std::printf("%lld components in %zu bytes: %.2f dB\n", static_cast<long long>(fit.model.count()), fit.bytes.size(),
              fit.psnr_db);

  const Array<float, 3> between = scene(0.5, -0.5);
  const std::vector<SmoeFitView> unseen{{between.view(), {0.5, -0.5}}};
  const double psnr_db = compare_mixture(fit.model, unseen).psnr_db;
  std::printf("a view between the cameras: %.2f dB\n", psnr_db);
  Image picture{Array<float, 3>({n, n, 3}), {}};
  SmoeRenderer(fit.model).render({.size = {n, n}, .corner = {}, .extent = {}, .at = {0.5, -0.5}},
                                 std::get<Array<float, 3>>(picture.pixels).view());
  write_image("between.tif", picture);
  return fit.psnr_db >= 34 && psnr_db > 25 ? 0 : 1;
} catch (const holotone::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
