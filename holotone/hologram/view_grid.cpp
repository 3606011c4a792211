// Needs -ffp-contract=off: rays have the same places on every processor.
#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/simd.hpp>
#include <holotone/core/units.hpp>
#include <holotone/hologram/view_grid.hpp>
#include <limits>

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

/// A coordinate of the cameras or of the pictures, for a slope of a ray: first + (at + reach slope) scale.
struct Axis {
  double at;
  double reach;
  double scale;
  double first;
};

/// Rays whose places are found together.
constexpr int max_places = 256;
struct Places {
  std::array<double, max_places> u;
  std::array<double, max_places> v;
  std::array<double, max_places> x;
  std::array<double, max_places> y;
};

/// Places of rays with direction cosines cx = first_x + i step and cy; not finite for a ray that does not exist.
HOLOTONE_SIMD_CLONES void find_places(double first_x, double step, double cy, int count,
                                      const std::array<Axis, 4>& axes, Places& places) {
  for (int i = 0; i < count; ++i) {
    const double cx = first_x + static_cast<double>(i) * step;
    const double cz2 = 1 - cx * cx - cy * cy;
    const double inverse = cz2 > 0 ? 1 / std::sqrt(cz2) : std::numeric_limits<double>::quiet_NaN();
    const double slope_x = cx * inverse;
    const double slope_y = cy * inverse;
    const auto place = [](const Axis& axis, double slope) {
      return (axis.at + axis.reach * slope) * axis.scale + axis.first;
    };
    places.u[i] = place(axes[0], slope_x);
    places.v[i] = place(axes[1], slope_y);
    places.x[i] = place(axes[2], slope_x);
    places.y[i] = place(axes[3], slope_y);
  }
}

}  // namespace

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
  require_positive(where, "pixel_aspect", options_.pixel_aspect);
  if (!(options_.distance_m > -options_.view_distance_m) || !std::isfinite(options_.distance_m)) {
    throw_argument(where, "distance_m",
                   fmt::format("more than {}, behind the cameras' plane", format_length(-options_.view_distance_m)),
                   format_length(options_.distance_m));
  }
}

int ViewGrid::channels() const { return static_cast<int>(views_.shape()[4]); }

float ViewGrid::light(double u, double v, double x, double y, int channel, float* distance_m) const {
  const auto [down, across, ny, nx, channels] = views_.shape();
  const Pair row = pair_at(y, ny);
  const Pair column = pair_at(x, nx);
  const std::int64_t top = row.first * nx;
  const std::int64_t bottom = row.second * nx;
  const std::int64_t corners[] = {(top + column.first) * channels, (top + column.second) * channels,
                                  (bottom + column.first) * channels, (bottom + column.second) * channels};
  const auto read = [&, pixels = ny * nx * channels](std::int64_t camera) {
    const float* const picture = views_.data() + camera * pixels + channel;
    return between(between(picture[corners[0]], picture[corners[1]], column.weight),
                   between(picture[corners[2]], picture[corners[3]], column.weight), row.weight);
  };
  const Pair camera_row = pair_at(v, down);
  const Pair camera = pair_at(u, across);
  const auto line = [&, width = across](std::int64_t number) {
    return between(read(number * width + camera.first), read(number * width + camera.second), camera.weight);
  };
  if (distance_m != nullptr) {
    const auto nearest = [](const Pair& pair) { return pair.weight < 0.5F ? pair.first : pair.second; };
    *distance_m = depth_m_(nearest(camera_row), nearest(camera), nearest(row), nearest(column));
  }
  return between(line(camera_row.first), line(camera_row.second), camera_row.weight);
}

void ViewGrid::look(const Rays& rays, int channel, View<float, 2> intensity, View<float, 2> distance_m) const {
  require_look("ViewGrid::look", *this, rays, channel, intensity, distance_m);
  const auto [down, across, ny, nx, channels] = views_.shape();
  const auto middle = [](std::int64_t count) { return 0.5 * static_cast<double>(count - 1); };
  const double scale = static_cast<double>(nx) / options_.size_m;  // pixels a metre
  const double camera_scale = 1 / options_.camera_pitch_m;
  // Rows of cameras and of pixels count downwards.
  const std::array<Axis, 4> axes{Axis{rays.x_m, options_.view_distance_m, camera_scale, middle(across)},
                                 Axis{rays.y_m, options_.view_distance_m, -camera_scale, middle(down)},
                                 Axis{rays.x_m, -options_.distance_m, scale, middle(nx)},
                                 Axis{rays.y_m, -options_.distance_m, -scale / options_.pixel_aspect, middle(ny)}};
  const bool deep = !distance_m.empty() && !depth_m_.empty();
  std::int64_t missed = 0;
  Places places;
  for (std::int64_t r = 0; r < rays.shape[0]; ++r) {
    const double cy = rays.first_y - static_cast<double>(r) * rays.step;
    for (std::int64_t begin = 0; begin < rays.shape[1]; begin += max_places) {
      const auto count = static_cast<int>(std::min<std::int64_t>(max_places, rays.shape[1] - begin));
      find_places(rays.first_x + static_cast<double>(begin) * rays.step, rays.step, cy, count, axes, places);
      float* const pixels = &intensity(r, begin);
      float* const distance = distance_m.empty() ? nullptr : &distance_m(r, begin);
      if (distance != nullptr) std::fill_n(distance, count, static_cast<float>(options_.distance_m));
      for (int i = 0; i < count; ++i) {
        pixels[i] = 0;
        if (!is_inside(places.u[i], across) || (down > 1 && !is_inside(places.v[i], down))) {
          ++missed;
        } else if (is_inside(places.x[i], nx) && is_inside(places.y[i], ny)) {
          pixels[i] = light(places.u[i], places.v[i], places.x[i], places.y[i], channel, deep ? distance + i : nullptr);
        }
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
