#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/recipes/spot_camera.hpp>

namespace holotone {
namespace {

constexpr const char* where = "measure_spots";
using Pixel = std::array<double, 2>;

/// Columns and rows on the camera.
std::vector<Pixel> find_pixels(const SpotList& spots, const CameraMap& map) {
  std::vector<Pixel> pixels;
  pixels.reserve(spots.position_m.size());
  for (const auto& position : spots.position_m) pixels.push_back(pixel_of_place(map, {position[0], position[1]}));
  return pixels;
}

/// Distance of the nearest two, at most `most`.
double nearest_distance(std::vector<Pixel> pixels, double most) {
  std::ranges::sort(pixels);
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    for (std::size_t j = i + 1; j < pixels.size() && pixels[j][0] - pixels[i][0] < most; ++j) {
      most = std::min(most, std::hypot(pixels[j][0] - pixels[i][0], pixels[j][1] - pixels[i][1]));
    }
  }
  return most;
}

/// Length of a pixel within low to high.
double overlap(std::int64_t pixel, double low, double high) {
  const auto middle = static_cast<double>(pixel);
  return std::max(0.0, std::min(high, middle + 0.5) - std::max(low, middle - 0.5));
}

/// One spot's square on the picture and the frame around it.
class Window {
 public:
  Window(View<const float, 2> picture, const Pixel& middle, double side)
      : picture_(picture),
        left_(middle[0] - side / 2),
        right_(middle[0] + side / 2),
        top_(middle[1] - side / 2),
        bottom_(middle[1] + side / 2) {}

  [[nodiscard]] bool is_within() const {
    const auto [rows, columns] = picture_.shape();
    return left_ >= -0.5 && top_ >= -0.5 && right_ <= static_cast<double>(columns) - 0.5 &&
           bottom_ <= static_cast<double>(rows) - 0.5;
  }

  /// Light in the square, less that of a background of the frame's median. `largest`: of its pixels.
  double light(float& largest) const {
    constexpr std::int64_t frame = 2;
    const auto [rows, columns] = picture_.shape();
    const auto first_row = static_cast<std::int64_t>(std::lround(top_));
    const auto last_row = static_cast<std::int64_t>(std::lround(bottom_));
    const auto first_column = static_cast<std::int64_t>(std::lround(left_));
    const auto last_column = static_cast<std::int64_t>(std::lround(right_));
    std::vector<float> around;
    double sum = 0;
    for (auto row = std::max<std::int64_t>(0, first_row - frame); row <= std::min(rows - 1, last_row + frame); ++row) {
      for (auto column = std::max<std::int64_t>(0, first_column - frame);
           column <= std::min(columns - 1, last_column + frame); ++column) {
        const float value = picture_(row, column);
        const double area = overlap(row, top_, bottom_) * overlap(column, left_, right_);
        if (area > 0) {
          sum += area * static_cast<double>(value);
          largest = std::max(largest, value);
        } else {
          around.push_back(value);
        }
      }
    }
    if (around.empty()) return sum;
    const auto median = around.begin() + std::ssize(around) / 2;
    std::ranges::nth_element(around, median);
    return sum - static_cast<double>(*median) * (right_ - left_) * (bottom_ - top_);
  }

 private:
  View<const float, 2> picture_;
  double left_;
  double right_;
  double top_;
  double bottom_;
};

}  // namespace

double spot_window_px(const SpotList& spots, const CameraMap& map, const SpotOptions& options,
                      View<const Complex, 2> light) {
  constexpr double widths = 4;
  constexpr double share_of_distance = 0.8;
  constexpr double least = 3;
  const auto width_m = spot_width_m(options, light);
  const auto& [x, y] = map.to_spots_m;
  const double pixel_m = std::sqrt(std::abs(x[0] * y[1] - x[1] * y[0]));
  const double most = widths * std::max(width_m[0], width_m[1]) / pixel_m;
  const double near = share_of_distance * nearest_distance(find_pixels(spots, map), most / share_of_distance);
  const double side = std::min(most, near);
  if (!(side >= least)) {
    throw_argument("spot_window_px", "spots", fmt::format("{} or more pixels of the camera around each", least),
                   fmt::format("{:.2g}", side));
  }
  return side;
}

std::vector<float> measure_spots(View<const float, 2> picture, const SpotList& spots, const CameraMap& map,
                                 double window_px, double full) {
  require_device(where, "picture", Device{}, picture.device());
  require_bounds(where, "window_px", window_px, Bounds{1, 1000});
  const auto pixels = find_pixels(spots, map);
  std::vector<float> light;
  light.reserve(pixels.size());
  for (std::size_t m = 0; m < pixels.size(); ++m) {
    const Window window(picture, pixels[m], window_px);
    const auto got = [&] { return fmt::format("column {:.1f}, row {:.1f}", pixels[m][0], pixels[m][1]); };
    if (!window.is_within()) {
      throw_argument(where, fmt::format("spot {}", m),
                     fmt::format("{:.3g} pixels around it within the picture of {} x {}", window_px, picture.shape()[1],
                                 picture.shape()[0]),
                     got());
    }
    float largest = 0;
    const double sum = window.light(largest);
    if (full > 0 && static_cast<double>(largest) >= full) {
      throw_argument(where, fmt::format("spot {}", m), "pixels that are not saturated; a shorter exposure", got());
    }
    light.push_back(static_cast<float>(std::max(sum, 0.0)));
  }
  return light;
}

std::vector<float> light_from_signal(const std::vector<float>& measured, const SpotSignal& signal) {
  constexpr const char* function = "light_from_signal";
  require_bounds(function, "exponent", signal.exponent, bounds_of<&SpotSignal::exponent>);
  require_bounds(function, "saturation", signal.saturation, bounds_of<&SpotSignal::saturation>);
  std::vector<float> light;
  light.reserve(measured.size());
  for (const float value : measured) {
    auto grown = static_cast<double>(value);
    if (signal.saturation > 0 && grown >= signal.saturation) {
      throw_argument(function, "saturation", fmt::format("more than the signal {:g} of spot {}", value, light.size()),
                     fmt::format("{:g}", signal.saturation));
    }
    if (signal.saturation > 0) grown /= 1 - grown / signal.saturation;
    const auto found = static_cast<float>(std::pow(grown, 1 / signal.exponent));
    if (!(value >= 0) || !std::isfinite(found)) {
      throw_argument(function, fmt::format("measured[{}]", light.size()), "a signal >= 0 of light within float32",
                     fmt::format("{:g}", value));
    }
    light.push_back(found);
  }
  return light;
}

DarkSpots find_dark_spots(const std::vector<float>& measured, const SpotList& spots, double share) {
  const auto count = measured.size();
  if (count != spots.intensity.size()) {
    throw_argument("find_dark_spots", "measured", fmt::format("{} intensities", spots.intensity.size()),
                   fmt::format("{}", count));
  }
  double mean = 0;
  for (std::size_t m = 0; m < count; ++m) {
    mean += static_cast<double>(measured[m] / spots.intensity[m]) / static_cast<double>(count);
  }
  DarkSpots dark;
  for (std::size_t m = 0; m < count; ++m) {
    const auto ratio = static_cast<double>(measured[m] / spots.intensity[m]);
    if (ratio > 0 && ratio >= share * mean) continue;
    if (dark.count++ == 0) dark.first = static_cast<std::int64_t>(m);
  }
  return dark;
}

}  // namespace holotone
