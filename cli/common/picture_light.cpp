#include <cli/common/memory_limit.hpp>
#include <cli/common/picture_light.hpp>
#include <cli/common/values.hpp>
#include <fmt/format.h>
#include <holotone/core/parallel.hpp>

namespace holotone::cli {

Image read_picture_file(const std::string& path) {
  Image image = read_image(path, {.bytes_a_pixel = 16});
  const auto [ny, nx, channels] = shape_of(image);
  require_memory(path, 16.0 * static_cast<double>(ny) * static_cast<double>(nx), fmt::format("{} x {} pixels", nx, ny));
  return image;
}

Array<float, 2> intensity_of(const std::string& path, const Image& image, int colour) {
  const auto values = to_linear(image);
  const std::int64_t ny = values.shape()[0];
  const std::int64_t width = values.shape()[1];
  const std::int64_t channels = values.shape()[2];
  constexpr double luminance[] = {0.2126, 0.7152, 0.0722};
  const bool alpha = channels == 2 || channels == 4;
  const std::int64_t colours = channels - (alpha ? 1 : 0);
  Array<float, 2> intensity({ny, width});
  const auto set_pixel = [&](std::int64_t i) {
    const float* const pixel = values.data() + i * channels;
    const auto light = [&](std::int64_t c) { return static_cast<double>(pixel[c]); };
    double sum = 0;
    if (colours == 1) {
      sum = light(0);
    } else if (colour >= 0) {
      sum = light(colour);
    } else {
      for (std::int64_t c = 0; c < 3; ++c) sum += luminance[c] * light(c);
    }
    if (alpha) sum *= static_cast<double>(pixel[channels - 1]);
    if (!(sum >= 0 && sum <= max_field_value)) {
      throw_io(path, fmt::format("light from 0 to {:g}", max_field_value),
               fmt::format("{:g} at row {}, column {}", sum, i / width, i % width));
    }
    intensity.data()[i] = static_cast<float>(sum);
  };
  parallel_for(0, ny, [&](std::int64_t row) {
    for (std::int64_t i = row * width; i < (row + 1) * width; ++i) set_pixel(i);
  });
  return intensity;
}

}  // namespace holotone::cli
