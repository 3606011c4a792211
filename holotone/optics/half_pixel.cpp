#include <algorithm>
#include <cmath>
#include <holotone/core/parallel.hpp>
#include <holotone/fft/fft.hpp>
#include <holotone/optics/complex_product.hpp>
#include <holotone/optics/half_pixel.hpp>
#include <numbers>

namespace holotone {
std::vector<Complex> shift_factors(std::int64_t length, double pixels) {
  std::vector<Complex> factors(static_cast<std::size_t>(length));
  for (std::int64_t k = 0; k < length; ++k) {
    const std::int64_t own = 2 * k <= length ? k : k - length;
    const double angle = 2 * std::numbers::pi * static_cast<double>(own) * pixels / static_cast<double>(length);
    factors[static_cast<std::size_t>(k)] = {static_cast<float>(std::cos(angle)),
                                            2 * own == length ? 0.0F : static_cast<float>(std::sin(angle))};
  }
  return factors;
}

std::array<Array<float, 2>, half_pixels.size()> at_half_pixels(View<const float, 2> picture) {
  constexpr std::string_view where = "at_half_pixels";
  if (picture.empty()) throw_argument(where, "picture", "a picture", "none");
  require_device(where, "picture", Device{}, picture.device());
  const auto ny = picture.shape()[0];
  const auto nx = picture.shape()[1];
  // The mirrored picture has no edge where it meets itself.
  const Shape<2> whole{2 * ny, 2 * nx};
  const FftPlan fft(whole);
  Array<Complex, 2> mirrored(whole);
  Array<Complex, 2> moved(whole);
  parallel_for(0, whole[0], [&](std::int64_t row) {
    const float* const source = picture.data() + (row < ny ? row : 2 * ny - 1 - row) * nx;
    for (std::int64_t x = 0; x < whole[1]; ++x) mirrored(row, x) = source[x < nx ? x : 2 * nx - 1 - x];
  });
  fft.execute(mirrored.view(), FftDirection::forward);
  std::array<Array<float, 2>, half_pixels.size()> pictures;
  for (std::size_t p = 0; p < half_pixels.size(); ++p) {
    auto& own = pictures[p];
    own = Array<float, 2>(picture.shape());
    if (p == 0) {
      std::copy_n(picture.data(), own.size(), own.data());
      continue;
    }
    const auto along_y = shift_factors(whole[0], 0.5 * half_pixels[p][0]);
    const auto along_x = shift_factors(whole[1], 0.5 * half_pixels[p][1]);
    parallel_for(0, whole[0], [&](std::int64_t row) {
      for (std::int64_t x = 0; x < whole[1]; ++x) {
        moved(row, x) = product(mirrored(row, x),
                                product(along_y[static_cast<std::size_t>(row)], along_x[static_cast<std::size_t>(x)]));
      }
    });
    fft.execute(moved.view(), FftDirection::inverse);
    for (std::int64_t row = 0; row < ny; ++row) {
      for (std::int64_t x = 0; x < nx; ++x) own(row, x) = std::max(0.0F, moved(row, x).real());
    }
  }
  return pictures;
}

}  // namespace holotone
