#include <cli/common/correction.hpp>
#include <cli/common/npy_file.hpp>
#include <cli/common/paths.hpp>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/image.hpp>
#include <numbers>

namespace holotone::cli {
namespace {

/// What to_grey's 1 stands for: code 2^bits would be one wave, and the largest code is one step below it.
double radians_at_full_scale(const Image& image) {
  constexpr double wave = 2 * std::numbers::pi;
  if (std::holds_alternative<Array<float, 3>>(image.pixels)) return 1;
  return std::holds_alternative<Array<std::uint8_t, 3>>(image.pixels) ? wave * 255 / 256 : wave * 65535 / 65536;
}

void require_shape(const std::string& path, std::int64_t nx, std::int64_t ny, std::int64_t got_nx,
                   std::int64_t got_ny) {
  if (got_nx != nx || got_ny != ny) {
    throw_io(path, fmt::format("the panel's {} x {} pixels", nx, ny), fmt::format("{} x {}", got_nx, got_ny));
  }
}

Array<float, 2> read_image_map(const std::string& path, std::int64_t nx, std::int64_t ny) {
  const auto accept = [&](const Shape<3>& shape) { require_shape(path, nx, ny, shape[1], shape[0]); };
  const Image image = read_image(path, {.accept = accept});
  Array<float, 2> map = to_grey(image);
  const double scale = radians_at_full_scale(image);
  for (float& value : map.host()) value = static_cast<float>(static_cast<double>(value) * scale);
  return map;
}

Array<float, 2> read_array_map(const std::string& path, std::int64_t nx, std::int64_t ny) {
  Array<float, 2> map = read_npy_map(path);
  require_shape(path, nx, ny, map.shape()[1], map.shape()[0]);
  return map;
}

}  // namespace

Array<float, 2> read_correction(const std::string& path, std::int64_t nx, std::int64_t ny) {
  require_input(path);
  auto map = extension_of(path) == ".npy" ? read_array_map(path, nx, ny) : read_image_map(path, nx, ny);
  for (const float value : map.host()) {
    if (!std::isfinite(value)) throw_io(path, "finite phases", fmt::format("{}", value));
  }
  return map;
}

}  // namespace holotone::cli
