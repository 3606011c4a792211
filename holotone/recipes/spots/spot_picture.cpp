#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/recipes/spot_picture.hpp>
#include <queue>
#include <tuple>
#include <vector>

namespace holotone {
namespace {

constexpr const char* where = "spots_in_picture";
constexpr std::int32_t max_spots = 100'000;
/// Of a region's largest light, down to which the pixels around are its own.
constexpr double share_around = 0.01;

/// Light of a region and where it is; its ends are those of the bright pixels.
struct Region {
  double light = 0;
  double largest = 0;  ///< of its pixels
  double column = 0;   ///< sums over its light
  double row = 0;
  std::array<std::int64_t, 2> first{};
  std::array<std::int64_t, 2> last{};

  void add_around(std::int64_t at_row, std::int64_t at_column, double value) {
    light += value;
    column += value * static_cast<double>(at_column);
    row += value * static_cast<double>(at_row);
  }
  void add(std::int64_t at_row, std::int64_t at_column, double value) {
    if (light == 0) first = last = {at_row, at_column};
    add_around(at_row, at_column, value);
    largest = std::max(largest, value);
    first = {std::min(first[0], at_row), std::min(first[1], at_column)};
    last = {std::max(last[0], at_row), std::max(last[1], at_column)};
  }
  [[nodiscard]] std::int64_t width() const { return 1 + std::max(last[0] - first[0], last[1] - first[1]); }
};

/// Regions of a picture's bright pixels, and the darker ones around that belong to them.
class Regions {
 public:
  explicit Regions(View<const float, 2> light) : light_(light), owner_(light.shape()) {
    std::ranges::fill(owner_.host(), nobody);
  }

  /// Takes the bright pixels joined to this one as region `number`; false if it is dark or taken.
  bool take(std::int64_t row, std::int64_t column, float least, std::int32_t number) {
    open(row, column, least, number);
    if (stack_.empty()) return false;
    Region region;
    for (; !stack_.empty();) {
      const auto [r, c] = stack_.back();
      stack_.pop_back();
      region.add(r, c, static_cast<double>(light_(r, c)));
      seeds_.push_back({r, c});
      for (std::int64_t n = 0; n < 9; ++n) open(r + n / 3 - 1, c + n % 3 - 1, least, number);
    }
    regions_.push_back(region);
    return true;
  }

  /// Gives each region the pixels around it down to a share of its largest, where light falls away from it; a pixel
  /// that two could have goes to the nearer one.
  void grow(double share, float background) {
    for (const auto& [r, c] : seeds_) reach(r, c, r, c, owner_(r, c), background, share);
    for (; !queue_.empty();) {
      const auto next = queue_.top();
      queue_.pop();
      if (owner_(next.row, next.column) != nobody) continue;
      owner_(next.row, next.column) = next.number;
      regions_[static_cast<std::size_t>(next.number)].add_around(next.row, next.column,
                                                                 static_cast<double>(light_(next.row, next.column)));
      reach(next.row, next.column, next.from_row, next.from_column, next.number, background, share);
    }
  }

  [[nodiscard]] const std::vector<Region>& regions() const { return regions_; }

 private:
  static constexpr std::int32_t nobody = -1;
  struct Step {
    std::int64_t square;  ///< distance from the bright pixel that it starts from
    std::int64_t row;
    std::int64_t column;
    std::int64_t from_row;
    std::int64_t from_column;
    std::int32_t number;
    bool operator<(const Step& other) const {
      return std::tie(square, row, column, number) > std::tie(other.square, other.row, other.column, other.number);
    }
  };

  [[nodiscard]] bool is_free(std::int64_t row, std::int64_t column) const {
    const auto [rows, columns] = light_.shape();
    return row >= 0 && row < rows && column >= 0 && column < columns && owner_(row, column) == nobody;
  }
  void open(std::int64_t row, std::int64_t column, float least, std::int32_t number) {
    if (!is_free(row, column) || light_(row, column) < least) return;
    owner_(row, column) = number;
    stack_.push_back({row, column});
  }
  void reach(std::int64_t row, std::int64_t column, std::int64_t from_row, std::int64_t from_column,
             std::int32_t number, float background, double share) {
    const auto least = share * regions_[static_cast<std::size_t>(number)].largest;
    for (std::int64_t n = 0; n < 9; ++n) {
      const auto r = row + n / 3 - 1;
      const auto c = column + n % 3 - 1;
      if (!is_free(r, c)) continue;
      const float value = light_(r, c);
      if (value <= background || static_cast<double>(value) < least || value > light_(row, column)) continue;
      const auto square = (r - from_row) * (r - from_row) + (c - from_column) * (c - from_column);
      queue_.push({square, r, c, from_row, from_column, number});
    }
  }

  View<const float, 2> light_;
  Array<std::int32_t, 2> owner_;
  std::vector<Region> regions_;
  std::vector<std::array<std::int64_t, 2>> stack_;
  std::vector<std::array<std::int64_t, 2>> seeds_;
  std::priority_queue<Step> queue_;
};

/// Three times the light of the middle pixel, which is 0 where dots are on black.
float background_of(View<const float, 2> light) {
  const auto values = light.host();
  std::vector<float> sorted(values.begin(), values.end());
  const auto median = sorted.begin() + std::ssize(sorted) / 2;
  std::ranges::nth_element(sorted, median);
  return 3 * *median;
}

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
  Regions regions(light);
  std::int32_t count = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t column = 0; column < columns; ++column) {
      if (!regions.take(row, column, static_cast<float>(threshold) * largest, count)) continue;
      if (count++ == max_spots) {
        throw_argument(where, "light", fmt::format("at most {} separate regions", max_spots), "more");
      }
    }
  }
  regions.grow(share_around, background_of(light));
  PictureSpots found;
  for (const auto& region : regions.regions()) {
    const double right = region.column / region.light - 0.5 * static_cast<double>(columns - 1);
    const double up = 0.5 * static_cast<double>(rows - 1) - region.row / region.light;
    found.spots.position_m.push_back({static_cast<float>(centre_m[0] + pixel_m * right),
                                      static_cast<float>(centre_m[1] + pixel_m * up), static_cast<float>(centre_m[2])});
    found.spots.intensity.push_back(static_cast<float>(region.light));
    found.light_share += region.light / sum;
    found.widest_px = std::max(found.widest_px, region.width());
  }
  return found;
}

}  // namespace holotone
