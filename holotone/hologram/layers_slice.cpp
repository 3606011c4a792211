#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/hologram/layers.hpp>
#include <limits>
#include <numeric>

namespace holotone {
namespace {

constexpr const char* where = "slice_picture";

void require_picture(const RgbdPicture& picture) {
  const auto shape = picture.intensity.shape();
  if (picture.intensity.empty()) throw_argument(where, "intensity", "at least one pixel", to_string<2>(shape));
  require_view(where, "intensity", picture.intensity, shape, Device{});
  const bool flat = picture.distance_m.empty();
  if (!flat) require_view(where, "distance_m", picture.distance_m, shape, Device{});
  require_positive(where, "width_m", picture.width_m);
  if (picture.height_m != 0) require_positive(where, "height_m", picture.height_m);
  require_bounds(where, "layers", picture.layers, bounds_of<&RgbdPicture::layers>);
  for (const auto& [name, value] : {std::pair("x_m", picture.x_m), std::pair("y_m", picture.y_m),
                                    std::pair("distance_offset_m", picture.distance_offset_m),
                                    std::pair("distance_scale", picture.distance_scale)}) {
    if (!std::isfinite(value)) throw_argument(where, name, "a finite number", fmt::format("{}", value));
  }
  const auto check = [&](const char* name, View<const float, 2> view, const char* expected, float low) {
    const auto values = view.host();
    const auto bad = std::find_if(values.begin(), values.end(), [&](float v) { return !std::isfinite(v) || v < low; });
    if (bad == values.end()) return;
    const auto at = bad - values.begin();
    throw_argument(where, fmt::format("{}: row {}, column {}", name, at / shape[1], at % shape[1]), expected,
                   fmt::format("{}", *bad));
  };
  check("intensity", picture.intensity, "a finite number >= 0", 0);
  if (!flat) check("distance_m", picture.distance_m, "a finite number", std::numeric_limits<float>::lowest());
}

/// One axis of the panel in pixel coordinates of the picture.
struct Axis {
  std::int64_t count = 0;   ///< number of panel pixels
  std::int64_t source = 0;  ///< number of picture pixels
  double first = 0;         ///< position of the centre of the panel's first pixel
  double step = 0;

  [[nodiscard]] double at(std::int64_t pixel) const { return first + static_cast<double>(pixel) * step; }
  /// Returns the nearest pixel of the picture, or -1 beyond its edges.
  [[nodiscard]] std::int64_t nearest(std::int64_t pixel) const {
    const auto index = static_cast<std::int64_t>(std::floor(at(pixel) + 0.5));
    return index >= 0 && index < source ? index : -1;
  }
  /// Returns the share of the picture's length that the panel covers.
  [[nodiscard]] double covered() const {
    const double low = std::max(first - step / 2, -0.5);
    const double high = std::min(at(count - 1) + step / 2, static_cast<double>(source) - 0.5);
    return std::max(high - low, 0.0) / static_cast<double>(source);
  }
};

/// Rows of the picture and the panel run down: a positive `offset_m` is right, or down.
Axis make_axis(std::int64_t count, std::int64_t source, double pitch_m, double source_pitch_m, double offset_m) {
  const double step = pitch_m / source_pitch_m;
  const double middle = static_cast<double>(source - 1) / 2 - offset_m / source_pitch_m;
  return {count, source, middle - static_cast<double>(count - 1) / 2 * step, step};
}

/// Weights of the picture's pixels in the mean for one pixel of the panel.
struct Taps {
  std::int64_t first = 0;
  std::vector<float> weight;
};

/// Share of a mean below which a pixel has no part in it. Rounding leaves 1e-14 at the foot of the tent, light that
/// would be opaque in a stack.
constexpr double min_share = 1e-6;

/// Computes a tent around each panel pixel whose half width is the coarser of the two pitches; omits pixels beyond the
/// edge.
std::vector<Taps> tent(const Axis& axis) {
  const double reach = std::max(axis.step, 1.0);
  std::vector<Taps> all(static_cast<std::size_t>(axis.count));
  for (std::int64_t i = 0; i < axis.count; ++i) {
    if (axis.nearest(i) < 0) continue;
    const double centre = axis.at(i);
    Taps& taps = all[static_cast<std::size_t>(i)];
    taps.first = std::max<std::int64_t>(static_cast<std::int64_t>(std::ceil(centre - reach)), 0);
    const auto last = std::min(static_cast<std::int64_t>(std::floor(centre + reach)), axis.source - 1);
    std::vector<double> heights;
    for (std::int64_t k = taps.first; k <= last; ++k) {
      heights.push_back(std::max(0.0, 1 - std::abs(static_cast<double>(k) - centre) / reach));
    }
    const double least = min_share * std::accumulate(heights.begin(), heights.end(), 0.0);
    for (double& height : heights) {
      if (height < least) height = 0;
    }
    const double sum = std::accumulate(heights.begin(), heights.end(), 0.0);
    for (const double height : heights) taps.weight.push_back(static_cast<float>(height / sum));
  }
  return all;
}

Array<float, 2> resampled(View<const float, 2> picture, const Axis& down, const Axis& across) {
  const auto rows = tent(down);
  const auto columns = tent(across);
  Array<float, 2> result({down.count, across.count});
  std::vector<float> line(static_cast<std::size_t>(across.source));
  for (std::int64_t y = 0; y < down.count; ++y) {
    const Taps& vertical = rows[static_cast<std::size_t>(y)];
    std::fill(line.begin(), line.end(), 0.0F);
    for (std::size_t k = 0; k < vertical.weight.size(); ++k) {
      const float* const row = picture.data() + (vertical.first + static_cast<std::int64_t>(k)) * across.source;
      for (std::size_t x = 0; x < line.size(); ++x) line[x] += vertical.weight[k] * row[x];
    }
    for (std::int64_t x = 0; x < across.count; ++x) {
      const Taps& horizontal = columns[static_cast<std::size_t>(x)];
      float sum = 0;
      for (std::size_t k = 0; k < horizontal.weight.size(); ++k) {
        sum += horizontal.weight[k] * line[static_cast<std::size_t>(horizontal.first) + k];
      }
      result(y, x) = sum;
    }
  }
  return result;
}

/// Converts a distance to a depth that the spacing divides evenly, rising from far to near; also the inverse.
double to_depth(double distance_m, LayerSpacing spacing) {
  return spacing == LayerSpacing::inverse_distance ? 1 / distance_m : -distance_m;
}

struct Range {
  double low = std::numeric_limits<double>::infinity();
  double high = -std::numeric_limits<double>::infinity();
  void take(double value) {
    low = std::min(low, value);
    high = std::max(high, value);
  }
};

/// Distance of a layer: from the mean of its pixels' depths.
struct Mean {
  Range distance;
  double sum = 0;
  std::int64_t count = 0;
  [[nodiscard]] double distance_m(LayerSpacing spacing) const {
    if (distance.low == distance.high) return distance.low;  // exactly
    const double depth = sum / static_cast<double>(count);
    return std::clamp(spacing == LayerSpacing::inverse_distance ? 1 / depth : -depth, distance.low, distance.high);
  }
};

/// Calls body(panel row, panel column, distance) for all pixels that the picture covers.
template <class Body>
void for_each_covered(const RgbdPicture& picture, const Axis& down, const Axis& across, const Body& body) {
  for (std::int64_t y = 0; y < down.count; ++y) {
    const std::int64_t row = down.nearest(y);
    for (std::int64_t x = 0; x < across.count && row >= 0; ++x) {
      const std::int64_t column = across.nearest(x);
      if (column < 0) continue;
      const double stored = picture.distance_m.empty() ? 0.0 : static_cast<double>(picture.distance_m(row, column));
      body(y, x, picture.distance_offset_m + picture.distance_scale * stored);
    }
  }
}

void require_one_side(const Range& distance, LayerSpacing spacing) {
  if (spacing != LayerSpacing::inverse_distance || distance.low > 0 || distance.high < 0) return;
  throw_argument(where, "spacing", "distance for a scene that touches or crosses the panel's plane",
                 fmt::format("inverse for distances from {} to {} m", distance.low, distance.high));
}

/// Drops the layers without pixels and renumbers the others.
void keep_filled(SlicedPicture& sliced, const std::vector<Mean>& means, LayerSpacing spacing) {
  std::vector<std::uint16_t> renamed(means.size());
  for (std::size_t i = 0; i < means.size(); ++i) {
    renamed[i] = static_cast<std::uint16_t>(sliced.distance_m.size());
    if (means[i].count > 0) sliced.distance_m.push_back(means[i].distance_m(spacing));
  }
  for (auto& number : sliced.layer.host()) {
    if (number != SlicedPicture::nothing) number = renamed[number];
  }
}

}  // namespace

SlicedPicture slice_picture(const RgbdPicture& picture, const FieldGrid& grid) {
  require_grid(where, grid);
  require_picture(picture);
  const auto [source_ny, source_nx] = picture.intensity.shape();
  const double pitch_x = picture.width_m / static_cast<double>(source_nx);
  const double pitch_y = picture.height_m != 0 ? picture.height_m / static_cast<double>(source_ny) : pitch_x;
  const Axis down = make_axis(grid.ny, source_ny, grid.pitch_m, pitch_y, -picture.y_m);
  const Axis across = make_axis(grid.nx, source_nx, grid.pitch_m, pitch_x, picture.x_m);
  Range distance;
  for_each_covered(picture, down, across, [&](std::int64_t, std::int64_t, double d) { distance.take(d); });
  if (distance.low > distance.high) {
    throw_argument(where, "picture", "one that covers a pixel of the panel", "one beside it");
  }
  require_one_side(distance, picture.spacing);
  SlicedPicture sliced{resampled(picture.intensity, down, across), Array<std::uint16_t, 2>(grid.shape()), {}, 0};
  std::fill_n(sliced.layer.data(), sliced.layer.size(), SlicedPicture::nothing);
  std::vector<Mean> means(static_cast<std::size_t>(picture.layers));
  const double far = to_depth(distance.high, picture.spacing);
  const double extent = to_depth(distance.low, picture.spacing) - far;
  const double scale = extent > 0 ? picture.layers / extent : 0;
  for_each_covered(picture, down, across, [&](std::int64_t y, std::int64_t x, double d) {
    const double depth = to_depth(d, picture.spacing);
    const int number = std::clamp(static_cast<int>((depth - far) * scale), 0, picture.layers - 1);
    sliced.layer(y, x) = static_cast<std::uint16_t>(number);
    Mean& mean = means[static_cast<std::size_t>(number)];
    mean.distance.take(d);
    mean.sum += depth;
    ++mean.count;
  });
  keep_filled(sliced, means, picture.spacing);
  sliced.beyond = 1 - down.covered() * across.covered();
  return sliced;
}

}  // namespace holotone
