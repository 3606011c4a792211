#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/recipes/spot_picture.hpp>
#include <vector>

namespace holotone {
namespace {

constexpr const char* where = "spots_in_picture";
constexpr std::size_t max_spots = 100'000;

/// Light of a region and where it is.
struct Region {
  double light = 0;
  double column = 0;  ///< sums over its light
  double row = 0;
  std::array<std::int64_t, 2> first{};
  std::array<std::int64_t, 2> last{};

  void add(std::int64_t at_row, std::int64_t at_column, double value) {
    if (light == 0) first = last = {at_row, at_column};
    light += value;
    column += value * static_cast<double>(at_column);
    row += value * static_cast<double>(at_row);
    first = {std::min(first[0], at_row), std::min(first[1], at_column)};
    last = {std::max(last[0], at_row), std::max(last[1], at_column)};
  }
  [[nodiscard]] std::int64_t width() const { return 1 + std::max(last[0] - first[0], last[1] - first[1]); }
};

/// Regions of a picture, whose pixels are taken in turn.
class Regions {
 public:
  Regions(View<const float, 2> light, float least)
      : light_(light), least_(least), taken_(static_cast<std::size_t>(light.size())) {}

  /// The region from a pixel; without light if it is dark or taken.
  Region take(std::int64_t row, std::int64_t column) {
    Region region;
    visit(row, column);
    while (!open_.empty()) {
      const auto [r, c] = open_.back();
      open_.pop_back();
      region.add(r, c, static_cast<double>(light_(r, c)));
      for (std::int64_t n = 0; n < 9; ++n) visit(r + n / 3 - 1, c + n % 3 - 1);
    }
    return region;
  }

 private:
  void visit(std::int64_t row, std::int64_t column) {
    const auto [rows, columns] = light_.shape();
    if (row < 0 || row >= rows || column < 0 || column >= columns) return;
    auto& taken = taken_[static_cast<std::size_t>(row * columns + column)];
    if (taken != 0 || light_(row, column) < least_) return;
    taken = 1;
    open_.push_back({row, column});
  }

  View<const float, 2> light_;
  float least_;
  std::vector<std::uint8_t> taken_;
  std::vector<std::array<std::int64_t, 2>> open_;
};

}  // namespace

PictureSpots spots_in_picture(View<const float, 2> light, double pixel_m, double threshold,
                              std::array<double, 3> centre_m) {
  require_device(where, "light", Device{}, light.device());
  require_bounds(where, "threshold", threshold, Bounds{1e-3, 1});
  if (!(pixel_m > 0 && std::isfinite(pixel_m))) throw_argument(where, "pixel_m", "> 0", fmt::format("{:g}", pixel_m));
  const auto [rows, columns] = light.shape();
  double sum = 0;
  float largest = 0;
  for (const float value : light.host()) {
    if (!(value >= 0 && std::isfinite(value))) {
      throw_argument(where, "light", "finite light >= 0", fmt::format("{:g}", value));
    }
    sum += static_cast<double>(value);
    largest = std::max(largest, value);
  }
  if (!(largest > 0)) throw_argument(where, "light", "a picture with some light", "a black one");
  Regions regions(light, static_cast<float>(threshold) * largest);
  PictureSpots found;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      const auto region = regions.take(row, column);
      if (!(region.light > 0)) continue;
      if (found.spots.position_m.size() == max_spots) {
        throw_argument(where, "light", fmt::format("at most {} separate regions", max_spots), "more");
      }
      const double right = region.column / region.light - 0.5 * static_cast<double>(columns - 1);
      const double up = 0.5 * static_cast<double>(rows - 1) - region.row / region.light;
      found.spots.position_m.push_back({static_cast<float>(centre_m[0] + pixel_m * right),
                                        static_cast<float>(centre_m[1] + pixel_m * up),
                                        static_cast<float>(centre_m[2])});
      found.spots.intensity.push_back(static_cast<float>(region.light));
      found.light_share += region.light / sum;
      found.widest_px = std::max(found.widest_px, region.width());
    }
  }
  return found;
}

}  // namespace holotone
