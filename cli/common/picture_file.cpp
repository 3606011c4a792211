#include <cli/common/memory_limit.hpp>
#include <cli/common/picture_file.hpp>
#include <cli/options/values.hpp>
#include <fmt/format.h>

namespace holotone::cli {

void print_notes(const ConsoleOptions& console, const Image& image) {
  for (const auto& note : image.notes) warn(console, note);
}

void report_depth(const ConsoleOptions& console, const PlacedPicture& job, const DepthMap& depth) {
  for (const auto& note : depth.notes) warn(console, note);
  const auto range = [](const std::array<double, 2>& values) {
    return values[0] == values[1] ? fmt::format("{:.6g}", values[0])
                                  : fmt::format("{:.6g} to {:.6g}", values[0], values[1]);
  };
  if (const auto& tail = depth.tail) {
    warn(console, fmt::format("{}: {:.3g} % of the pixels, of value {}, squeeze all others, {}, into one layer; "
                              "--depth-hole far leaves them out, --depth-hole none keeps them",
                              job.depth, 100 * tail->share, range(tail->values), range(tail->rest)));
  }
  if (depth.holes == 0) return;
  std::string kinds;
  const std::pair<std::int64_t, std::string> counts[] = {
      {depth.of_holes.not_finite, "not finite"},
      {depth.of_holes.negative, "negative"},
      {depth.of_holes.code, fmt::format("of value {:g}", job.hole.code.value_or(0))},
      {depth.of_holes.far, "far"},
      {depth.of_holes.beyond_camera, "without a distance"}};
  for (const auto& [count, words] : counts) {
    if (count > 0) kinds += fmt::format("{}{} {}", kinds.empty() ? "" : ", ", count, words);
  }
  remark(console, fmt::format("{} of {} without a depth ({}): filled with the farther of the neighbouring depths{}",
                              counted(depth.holes, "pixel"), job.depth, kinds,
                              depth.codes && depth.of_holes.code > 0 && !job.hole.code
                                  ? "; --depth-hole none makes code 0 a depth"
                                  : ""));
}

namespace {

Image read_with_notes(const ConsoleOptions& console, const std::string& path, const ImageReadOptions& options) {
  Image image = read_image(path, options);
  const auto [ny, nx, channels] = shape_of(image);
  require_memory(path, 16.0 * static_cast<double>(ny) * static_cast<double>(nx), fmt::format("{} x {} pixels", nx, ny));
  print_notes(console, image);
  return image;
}

}  // namespace

Image read_picture_file(const ConsoleOptions& console, const std::string& path) {
  return read_with_notes(console, path, {.bytes_a_pixel = 16, .as_light = true});
}

Image read_measured_picture(const ConsoleOptions& console, const std::string& path) {
  return read_with_notes(console, path, {.bytes_a_pixel = 16, .as_measured = true});
}

SignalRegion parse_region(std::string_view option, const std::string& text, std::string_view others) {
  const auto plus = text.find('+');
  const auto second = plus == std::string::npos ? plus : text.find('+', plus + 1);
  if (second == std::string::npos) {
    reject(option, fmt::format("{}COLUMNSxROWS+COLUMN+ROW such as 1600x880+160+100", others), text);
  }
  const auto [columns, rows] = resolution(option, text.substr(0, plus));
  const auto column = whole_number(option, text.substr(plus + 1, second - plus - 1), 0, largest_grid_side);
  const auto row = whole_number(option, text.substr(second + 1), 0, largest_grid_side);
  return {row, column, rows, columns};
}

void require_within(const SignalRegion& region, const Shape<2>& panel) {
  const auto& [row, column, rows, columns] = region;
  if (column + columns <= panel[1] && row + rows <= panel[0]) return;
  reject("--signal-region", fmt::format("a part of {} x {} pixels", panel[1], panel[0]),
         fmt::format("{}x{}+{}+{}", columns, rows, column, row));
}

}  // namespace holotone::cli
