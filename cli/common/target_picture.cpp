#include <algorithm>
#include <cli/common/picture_light.hpp>
#include <cli/common/target_picture.hpp>
#include <cli/common/values.hpp>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/hologram/layers.hpp>
#include <holotone/recipes/metadata_keys.hpp>

namespace holotone::cli {

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
  const auto fitted = region_in_middle({room.rows, room.columns}, picture);
  return {room.row + fitted.row, room.column + fitted.column, fitted.rows, fitted.columns};
}

SignalRegion parse_region(const std::string& text, std::string_view expected) {
  constexpr std::string_view option = "--signal-region";
  const auto plus = text.find('+');
  const auto second = plus == std::string::npos ? plus : text.find('+', plus + 1);
  if (second == std::string::npos) reject(option, expected, text);
  const auto [columns, rows] = resolution(option, text.substr(0, plus));
  const auto column = whole_number(option, text.substr(plus + 1, second - plus - 1), 0, largest_grid_side);
  const auto row = whole_number(option, text.substr(second + 1), 0, largest_grid_side);
  return {row, column, rows, columns};
}

void require_within(const SignalRegion& region, const Shape<2>& panel, const std::string& text) {
  if (region.column + region.columns <= panel[1] && region.row + region.rows <= panel[0]) return;
  reject("--signal-region", fmt::format("a part of {} x {} pixels", panel[1], panel[0]), text);
}

Shape<2> sides_behind_lens(const Shape<2>& picture, const Shape<2>& panel) {
  return {picture[0] * panel[0], picture[1] * panel[1]};
}

std::vector<double> numbers_of(const SignalRegion& region) {
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

Array<float, 2> target_amplitude(const std::string& path, const Image& image, int colour, const FieldGrid& grid,
                                 const SignalRegion& region) {
  const auto light = intensity_of(path, image, colour);
  Array<float, 2> distance(light.shape());
  std::fill_n(distance.data(), distance.size(), 1.0F);
  RgbdPicture picture = picture_in(region, grid);
  picture.intensity = light.view();
  picture.distance_m = distance.view();
  picture.layers = 1;
  picture.spacing = LayerSpacing::distance;
  auto amplitude = slice_picture(picture, grid).intensity;
  for (auto& value : amplitude.host()) value = std::sqrt(value);
  if (std::ranges::all_of(amplitude.host(), [](float value) { return value == 0; })) {
    throw_io(path, "a picture with some light", "a black one");
  }
  return amplitude;
}

}  // namespace holotone::cli
