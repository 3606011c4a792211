// Reads the dark pixels of a picture as dots.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/dots/dots_formats_detail.hpp>
#include <holotone/io/images/image.hpp>

namespace holotone::io {
namespace {

/// One value a pixel, 0 black to 1 white: the mean of R, G and B on white paper.
std::vector<float> values_on_white(const Image& image, std::string_view path) {
  const auto pixels = to_float(image);
  const auto [ny, nx, channels] = pixels.shape();
  const bool alpha = channels == 2 || channels == 4;
  const std::int64_t colours = channels >= 3 ? 3 : 1;
  std::vector<float> values(static_cast<std::size_t>(ny * nx));
  for (std::int64_t i = 0; i < ny * nx; ++i) {
    const float* const pixel = pixels.data() + i * channels;
    float sum = 0;
    for (std::int64_t c = 0; c < colours; ++c) sum += pixel[c];
    float value = sum / static_cast<float>(colours);
    if (alpha) value = 1 - pixel[channels - 1] * (1 - value);
    if (!(value >= -1e30F && value <= 1e30F)) {
      throw_io(path, "finite pixels", fmt::format("{} (row {}, column {})", value, i / nx, i % nx));
    }
    values[static_cast<std::size_t>(i)] = value;
  }
  return values;
}

/// Returns the middle of the picture's two levels; of black and white if it has one level. Throws io for more.
float middle_of_two(const std::vector<float>& values, std::string_view path) {
  const auto extremes = std::minmax_element(values.begin(), values.end());
  const float low = *extremes.first;
  const float high = *extremes.second;
  if (low == high) return 0.5F;
  const bool two = std::all_of(values.begin(), values.end(), [&](float v) { return v == low || v == high; });
  if (!two) {
    throw_io(path, fmt::format("a picture of two levels, or a threshold between {:g} and {:g}", low, high),
             "more levels");
  }
  return (low + high) / 2;
}

}  // namespace

DotsFile read_dots_picture(const std::string& path, double threshold) {
  Image image = read_image(path, {.bytes_a_pixel = 20});
  const auto [ny, nx, channels] = shape_of(image);
  const auto values = values_on_white(image, path);
  const float limit = threshold > 0 ? static_cast<float>(threshold) : middle_of_two(values, path);
  DotsFile file;
  file.metadata = std::move(image.metadata);
  file.notes = std::move(image.notes);
  Dots& dots = file.dots;
  dots.width = static_cast<double>(nx);
  dots.height = static_cast<double>(ny);
  const auto dark = std::count_if(values.begin(), values.end(), [&](float v) { return v < limit; });
  if (dark == 0) throw_io(path, "at least one dark pixel", "none");
  dots.position.reserve(2 * static_cast<std::size_t>(dark));
  for (std::int64_t i = 0; i < ny * nx; ++i) {
    if (!(values[static_cast<std::size_t>(i)] < limit)) continue;
    dots.position.push_back(static_cast<float>(i % nx) + 0.5F);
    dots.position.push_back(static_cast<float>(i / nx) + 0.5F);
  }
  return file;
}

}  // namespace holotone::io
