#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <holotone/recipes/retrieval/target_picture.hpp>

namespace holotone {
namespace {

bool is_dark(const Array<float, 2>& picture) {
  return std::ranges::all_of(picture.host(), [](float value) { return value == 0; });
}

void take_roots(Array<float, 2>& picture) {
  for (auto& value : picture.host()) value = std::sqrt(value);
}

}  // namespace

SignalRegion region_in_middle(const Shape<2>& pixels, const Shape<2>& picture, double part) {
  const auto [ny, nx] = pixels;
  const double room_x = part * static_cast<double>(nx);
  const double room_y = part * static_cast<double>(ny);
  const double scale = std::min(room_x / static_cast<double>(picture[1]), room_y / static_cast<double>(picture[0]));
  const auto rounded = [scale](std::int64_t side, std::int64_t most) {
    return std::clamp<std::int64_t>(std::llround(scale * static_cast<double>(side)), 1, most);
  };
  const std::int64_t rows = rounded(picture[0], ny);
  const std::int64_t columns = rounded(picture[1], nx);
  return {(ny - rows) / 2, (nx - columns) / 2, rows, columns};
}

SignalRegion region_within(const SignalRegion& room, const Shape<2>& picture) {
  const auto scales = [](std::int64_t pixels, std::int64_t side) {
    return std::pair{(static_cast<double>(pixels) - 0.5) / static_cast<double>(side),
                     (static_cast<double>(pixels) + 0.5) / static_cast<double>(side)};
  };
  const auto [min_y, max_y] = scales(room.rows, picture[0]);
  const auto [min_x, max_x] = scales(room.columns, picture[1]);
  if (std::max(min_y, min_x) <= std::min(max_y, max_x)) return room;
  const auto middle = region_in_middle({room.rows, room.columns}, picture);
  return {room.row + middle.row, room.column + middle.column, middle.rows, middle.columns};
}

SignalRegion scaled_region(const SignalRegion& region, double scale, const Shape<2>& pixels) {
  const auto scaled_along = [scale](std::int64_t& first, std::int64_t& count, std::int64_t all) {
    const double middle = scale * (static_cast<double>(first) + static_cast<double>(count - all) / 2);
    count = std::max<std::int64_t>(1, std::llround(scale * static_cast<double>(count)));
    first = std::clamp<std::int64_t>(std::llround(middle + static_cast<double>(all - count) / 2), 0, all - count);
  };
  SignalRegion scaled = region;
  scaled_along(scaled.row, scaled.rows, pixels[0]);
  scaled_along(scaled.column, scaled.columns, pixels[1]);
  return scaled;
}

Shape<2> sides_behind_lens(const Shape<2>& picture, const Shape<2>& panel) {
  return {picture[0] * panel[0], picture[1] * panel[1]};
}

std::vector<double> region_numbers(const SignalRegion& region) {
  return {static_cast<double>(region.column), static_cast<double>(region.row), static_cast<double>(region.columns),
          static_cast<double>(region.rows)};
}

std::optional<SignalRegion> stated_region(const std::string& path, const Metadata& metadata, const Shape<2>& panel) {
  constexpr std::string_view key = "signal_region";
  if (metadata.count(std::string(key)) == 0) return std::nullopt;
  const auto numbers = checked_numbers(path, metadata, key);
  const auto refuse = [&](const std::string& expected) {
    throw_io(path, expected, fmt::format("'{}'", metadata_text(metadata, key).substr(0, 40)));
  };
  if (numbers.size() != 4 || std::ranges::any_of(numbers, [](double n) { return n != std::floor(n); })) {
    refuse("four whole numbers under signal_region: column,row,columns,rows");
  }
  const auto whole = [&](std::size_t i) { return static_cast<std::int64_t>(numbers[i]); };
  const SignalRegion region{whole(1), whole(0), whole(3), whole(2)};
  if (region.rows < 1 || region.columns < 1 || region.row + region.rows > panel[0] ||
      region.column + region.columns > panel[1]) {
    refuse(fmt::format("a signal_region within the panel of {} x {} pixels", panel[1], panel[0]));
  }
  return region;
}

RgbdPicture picture_in(const SignalRegion& region, const FieldGrid& grid) {
  const auto middle = [](std::int64_t first, std::int64_t count, std::int64_t all) {
    return static_cast<double>(2 * first + count - all) / 2;
  };
  RgbdPicture picture;
  picture.width_m = static_cast<double>(region.columns) * grid.pitch_m;
  picture.height_m = static_cast<double>(region.rows) * grid.pitch_m;
  picture.x_m = middle(region.column, region.columns, grid.nx) * grid.pitch_m;
  picture.y_m = -middle(region.row, region.rows, grid.ny) * grid.pitch_m;
  return picture;
}

std::optional<SignalRegion> find_region(const RgbdPicture& picture, const FieldGrid& grid) {
  const auto [ny, nx] = picture.intensity.shape();
  const double height_m =
      picture.height_m > 0 ? picture.height_m : picture.width_m * static_cast<double>(ny) / static_cast<double>(nx);
  // Rounded so that first and count have the picture's middle.
  const auto place = [&](double middle_m, double side_m, std::int64_t all, std::int64_t& first, std::int64_t& count) {
    const std::int64_t doubled = all + std::llround(2 * middle_m / grid.pitch_m);
    const std::int64_t odd = doubled & 1;
    count = 2 * std::llround((side_m / grid.pitch_m - static_cast<double>(odd)) / 2) + odd;
    first = (doubled - count) / 2;
    return count > 0 && first >= 0 && first + count <= all;
  };
  SignalRegion region;
  const bool within = place(picture.x_m, picture.width_m, grid.nx, region.column, region.columns) &&
                      place(-picture.y_m, height_m, grid.ny, region.row, region.rows);
  return within ? std::optional(region) : std::nullopt;
}

Array<float, 2> picture_intensity(const std::string& path, const Image& image, int colour) {
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

Array<float, 2> amplitude_in(View<const float, 2> intensity, const FieldGrid& grid, const SignalRegion& region) {
  RgbdPicture picture = picture_in(region, grid);
  picture.intensity = intensity;
  picture.distance_offset_m = 1;
  picture.layers = 1;
  picture.spacing = LayerSpacing::distance;
  auto amplitude = slice_picture(picture, grid).intensity;
  take_roots(amplitude);
  return amplitude;
}

Array<float, 2> target_amplitude(const std::string& path, const Image& image, int colour, const FieldGrid& grid,
                                 const SignalRegion& region) {
  auto amplitude = amplitude_in(picture_intensity(path, image, colour).view(), grid, region);
  if (is_dark(amplitude)) throw_io(path, "a picture with some light", "a black one");
  return amplitude;
}

std::vector<Array<float, 2>> focused_amplitudes(const std::string& path, const RgbdPicture& picture,
                                                const FieldGrid& grid, FocalStackOptions eye, Progress& progress) {
  const auto sliced = slice_picture(picture, grid);
  eye.focus_m = sliced.distance_m;
  auto amplitudes = focal_stack(sliced, grid, eye, progress);
  for (auto& amplitude : amplitudes) take_roots(amplitude);
  if (std::ranges::all_of(amplitudes, is_dark)) throw_io(path, "a picture with some light", "a black one");
  return amplitudes;
}

}  // namespace holotone
