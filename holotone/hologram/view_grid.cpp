#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/units.hpp>
#include <holotone/hologram/view_grid.hpp>

namespace holotone {
namespace {

constexpr std::string_view where = "ViewGrid";

/// Two neighbouring samples of a position along an axis of `count` samples; beyond the rim, the sample of the rim.
struct Pair {
  std::int64_t first = 0;
  std::int64_t second = 0;
  float weight = 0;  ///< of the second
};

Pair pair_at(double place, std::int64_t count) {
  const double inside = std::clamp(place, 0.0, static_cast<double>(count - 1));
  const auto first = static_cast<std::int64_t>(inside);
  return {first, std::min(first + 1, count - 1), static_cast<float>(inside - static_cast<double>(first))};
}

/// True if a position lies within half a step of the samples; false for NaN.
bool is_inside(double place, std::int64_t count) { return place >= -0.5 && place <= static_cast<double>(count) - 0.5; }

float between(float a, float b, float weight) { return a + (b - a) * weight; }

}  // namespace

struct ViewGrid::Place {
  Pair row;
  Pair column;
};

ViewGrid::ViewGrid(Array<float, 5> views, const ViewGridOptions& options, Array<float, 4> depth_m)
    : views_(std::move(views)), depth_m_(std::move(depth_m)), options_(options) {
  const auto& shape = views_.shape();
  if (views_.empty() || (shape[4] != 1 && shape[4] != 3)) {
    throw_argument(where, "views", "{V, U, ny, nx, channels}, each at least 1, with 1 or 3 channels",
                   to_string<5>(shape));
  }
  require_device(where, "views", Device{}, views_.device());
  if (!depth_m_.empty()) {
    const Shape<4> expected{shape[0], shape[1], shape[2], shape[3]};
    require_view<const float, 4>(where, "depth_m", std::as_const(depth_m_).view(), expected, Device{});
  }
  require_positive(where, "view_distance_m", options_.view_distance_m);
  require_positive(where, "camera_pitch_m", options_.camera_pitch_m);
  require_positive(where, "size_m", options_.size_m);
  if (!(options_.distance_m > -options_.view_distance_m) || !std::isfinite(options_.distance_m)) {
    throw_argument(where, "distance_m",
                   fmt::format("more than {}, behind the cameras' plane", format_length(-options_.view_distance_m)),
                   format_length(options_.distance_m));
  }
}

int ViewGrid::channels() const { return static_cast<int>(views_.shape()[4]); }

float ViewGrid::read(std::int64_t camera, int channel, const Place& place) const {
  const std::int64_t nx = views_.shape()[3];
  const std::int64_t channels = views_.shape()[4];
  const float* const picture = views_.data() + camera * views_.shape()[2] * nx * channels + channel;
  const auto at = [&](std::int64_t row, std::int64_t column) { return picture[(row * nx + column) * channels]; };
  const auto line = [&](std::int64_t row) {
    return between(at(row, place.column.first), at(row, place.column.second), place.column.weight);
  };
  return between(line(place.row.first), line(place.row.second), place.row.weight);
}

void ViewGrid::look(const Rays& rays, int channel, View<float, 2> intensity, View<float, 2> distance_m) const {
  require_look("ViewGrid::look", *this, rays, channel, intensity, distance_m);
  const auto [down, across, ny, nx, channels] = views_.shape();
  const double scale = static_cast<double>(nx) / options_.size_m;  // pixels a metre
  const double camera_scale = 1 / options_.camera_pitch_m;
  std::int64_t missed = 0;
  for (std::int64_t r = 0; r < rays.shape[0]; ++r) {
    for (std::int64_t c = 0; c < rays.shape[1]; ++c) {
      float& own = intensity(r, c);
      own = 0;
      if (!distance_m.empty()) distance_m(r, c) = static_cast<float>(options_.distance_m);
      double slope_x = 0;
      double slope_y = 0;
      slopes_of(rays, r, c, slope_x, slope_y);
      const double u =
          (rays.x_m + options_.view_distance_m * slope_x) * camera_scale + 0.5 * static_cast<double>(across - 1);
      const double v =
          0.5 * static_cast<double>(down - 1) - (rays.y_m + options_.view_distance_m * slope_y) * camera_scale;
      if (!is_inside(u, across) || !is_inside(v, down)) {
        ++missed;
        continue;
      }
      const double x = (rays.x_m - options_.distance_m * slope_x) * scale + 0.5 * static_cast<double>(nx - 1);
      const double y = 0.5 * static_cast<double>(ny - 1) - (rays.y_m - options_.distance_m * slope_y) * scale;
      if (!is_inside(x, nx) || !is_inside(y, ny)) continue;
      const Place place{pair_at(y, ny), pair_at(x, nx)};
      const Pair row = pair_at(v, down);
      const Pair column = pair_at(u, across);
      const auto line = [&, width = across](std::int64_t camera_row) {
        return between(read(camera_row * width + column.first, channel, place),
                       read(camera_row * width + column.second, channel, place), column.weight);
      };
      own = between(line(row.first), line(row.second), row.weight);
      if (!distance_m.empty() && !depth_m_.empty()) {
        const auto nearest = [](const Pair& pair) { return pair.weight < 0.5F ? pair.first : pair.second; };
        distance_m(r, c) = depth_m_(nearest(row), nearest(column), nearest(place.row), nearest(place.column));
      }
    }
  }
  asked_ += element_count(rays.shape);
  missed_ += missed;
}

double ViewGrid::missed_share() const {
  return asked_ == 0 ? 0 : static_cast<double>(missed_) / static_cast<double>(asked_);
}

}  // namespace holotone
