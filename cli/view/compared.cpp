#include <algorithm>
#include <cli/options/values.hpp>
#include <cli/view/compared.hpp>
#include <cmath>
#include <cstdlib>

namespace holotone::cli {

Raster difference_of(Raster first, Raster second) {
  const Image a_image = displayable(std::move(first.image));
  const Image b_image = displayable(std::move(second.image));
  const auto& a = std::get<Array<std::uint8_t, 3>>(a_image.pixels);
  const auto& b = std::get<Array<std::uint8_t, 3>>(b_image.pixels);
  const auto [ny, nx, a_channels] = a.shape();
  const std::int64_t b_channels = b.shape()[2];
  if (b.shape()[0] != ny || b.shape()[1] != nx) {
    reject("difference", "two pictures of one size",
           fmt::format("{} x {} and {} x {}", nx, ny, b.shape()[1], b.shape()[0]));
  }
  const std::int64_t channels = std::max(a_channels, b_channels);
  Array<std::uint8_t, 3> codes({ny, nx, channels});
  double squares = 0;
  int largest = 0;
  for (std::int64_t i = 0; i < ny * nx; ++i) {
    for (std::int64_t c = 0; c < channels; ++c) {
      const int difference = static_cast<int>(a.data()[i * a_channels + std::min(c, a_channels - 1)]) -
                             static_cast<int>(b.data()[i * b_channels + std::min(c, b_channels - 1)]);
      squares += static_cast<double>(difference) * difference;
      largest = std::max(largest, std::abs(difference));
      codes.data()[i * channels + c] = static_cast<std::uint8_t>(std::clamp(128 + difference / 2, 0, 255));
    }
  }
  const double mean = squares / static_cast<double>(codes.size());
  const auto psnr = mean > 0 ? fmt::format("{:.2f} dB", 10 * std::log10(255.0 * 255.0 / mean)) : "infinite";
  return {
      {std::move(codes), {}}, {}, {{"PSNR of the pictures", psnr}, {"largest difference", std::to_string(largest)}}};
}

}  // namespace holotone::cli
