#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/units.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/io/npz_detail.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <holotone/recipes/phase_map.hpp>
#include <holotone/recipes/scenes/depth_picture_detail.hpp>
#include <limits>

namespace holotone {
namespace {

[[noreturn]] void refuse(std::string_view member, std::string_view expected, std::string_view got) {
  throw_argument("PlacedPicture", member, expected, fmt::format("'{}'", got));
}

/// Depth map as stored in the file.
struct RawDepth {
  Array<float, 2> values;
  float largest_code = 0;  ///< of a picture of codes; 0: floating point numbers
};

std::string size_text(std::int64_t nx, std::int64_t ny) { return fmt::format("{} x {} pixels", nx, ny); }

/// Throws for a map of another size than the picture; for pictures before their pixels occupy memory.
void require_shape(const PlacedPicture& job, const Shape<2>& shape, std::int64_t ny, std::int64_t nx) {
  if (Shape<2>{ny, nx} == shape) return;
  throw_io(job.depth, fmt::format("the {} of {}", size_text(shape[1], shape[0]), job.image), size_text(nx, ny));
}

RawDepth to_depths(const PlacedPicture& job, const Image& image) {
  const std::string& path = job.depth;
  const auto [ny, nx, channels] = shape_of(image);
  RawDepth raw{Array<float, 2>({ny, nx}), 0};
  std::visit(
      [&](const auto& pixels) {
        using T = std::remove_cvref_t<decltype(pixels.host()[0])>;
        if constexpr (std::is_integral_v<T>) raw.largest_code = static_cast<float>(std::numeric_limits<T>::max());
        const auto from = pixels.host();
        const auto stride = static_cast<std::size_t>(shape_of(image)[2]);
        for (std::size_t i = 0; i < raw.values.host().size(); ++i) {
          const auto* const pixel = &from[i * stride];
          if (stride >= 3 && (pixel[0] != pixel[1] || pixel[1] != pixel[2])) {
            throw_io(path, "a grey picture of depth", "a coloured one");
          }
          raw.values.data()[i] = static_cast<float>(pixel[0]);
        }
      },
      image.pixels);
  return raw;
}

Array<float, 2> npz_map(const std::string& path) {
  const auto arrays = io::read_npz(io::read_bytes(path), path);
  if (arrays.size() != 1) throw_io(path, "one array", fmt::format("{}", arrays.size()));
  const auto& numbers = arrays.begin()->second;
  if (numbers.shape.size() != 2) {
    throw_io(path, "an array of shape {ny, nx}", io::counted(numbers.shape.size(), "dimension"));
  }
  Array<float, 2> map({static_cast<std::int64_t>(numbers.shape[0]), static_cast<std::int64_t>(numbers.shape[1])});
  std::transform(numbers.values.begin(), numbers.values.end(), map.data(),
                 [](double value) { return static_cast<float>(value); });
  return map;
}

RawDepth read_raw(const PlacedPicture& job, const Shape<2>& shape) {
  const std::string& path = job.depth;
  io::require_input(path);
  const auto format = io::file_format(path);
  if (format == io::FileFormat::npy) return {read_npy_map(path), 0};
  if (format == io::FileFormat::npz) return {npz_map(path), 0};
  const auto accept = [&](const Shape<3>& sides) { require_shape(job, shape, sides[0], sides[1]); };
  return to_depths(job, read_image(path, {.accept = accept}));
}

/// Fills pixels without a depth and returns their number. `falling`: larger values are nearer.
std::int64_t fill(const PlacedPicture& job, RawDepth& raw, bool falling) {
  auto values = raw.values.host();
  const bool zero = job.hole.by_range && !falling;
  if (job.hole.code) {
    std::replace(values.begin(), values.end(), static_cast<float>(*job.hole.code),
                 std::numeric_limits<float>::quiet_NaN());
  }
  const auto negate = [&] {
    for (float& value : values) value = -value;
  };
  if (falling) negate();
  std::int64_t holes = 0;
  try {
    holes = fill_depth_holes(raw.values.view(), zero);
  } catch (const Error&) {
    throw_io(job.depth, "at least one pixel with a depth", "none");
  }
  if (falling) negate();
  return holes;
}

struct ValueSpan {
  double low = 0;
  double high = 0;
  [[nodiscard]] double middle() const { return (low + high) / 2; }
};

ValueSpan find_range(const Array<float, 2>& values) {
  const auto [low, high] = std::minmax_element(values.host().begin(), values.host().end());
  return {static_cast<double>(*low), static_cast<double>(*high)};
}

/// d = offset + scale Z
struct Placing {
  double offset = 0;
  double scale = 1;
};

/// Mapping to distances of depths from `depth.low` to `depth.high`, for codes from 0 to the largest.
Placing placing_of(const PlacedPicture& job, const RawDepth& raw, const ValueSpan& depth) {
  Placing placing;
  const bool codes = raw.largest_code > 0 && !job.camera;
  if (job.depth_range_m) {
    const auto [near, far] = *job.depth_range_m;
    const ValueSpan from = codes ? ValueSpan{0, static_cast<double>(raw.largest_code)} : depth;
    placing.scale = from.high > from.low ? (far - near) / (from.high - from.low) : 0;
    placing.offset = near - placing.scale * from.low;
  } else if (job.camera) {
    const auto [ny, nx] = raw.values.shape();
    placing.scale = job.size_m * job.camera->focal_px / (static_cast<double>(std::max(nx, ny)) * depth.middle());
  }
  if (job.distance_given || (job.camera && !job.depth_range_m)) {
    placing.offset = job.distance_m - placing.scale * depth.middle();
  }
  return placing;
}

void check_options(const PlacedPicture& job, const RawDepth& raw) {
  const bool codes = raw.largest_code > 0;
  if (codes && !job.camera && !job.depth_range_m) {
    refuse("depth_range_m", fmt::format("NEAR,FAR for the codes of {}, such as 18cm,22cm", job.depth), "none");
  }
  const bool falls = job.depth_range_m && (*job.depth_range_m)[0] > (*job.depth_range_m)[1];
  if (falls && !(codes && !job.camera)) {
    refuse("depth_range_m", "NEAR before FAR for depths in metres",
           fmt::format("{} before {}", format_length((*job.depth_range_m)[0]), format_length((*job.depth_range_m)[1])));
  }
  if (job.hole.code && !codes) refuse("hole", "a picture of codes", job.depth);
  if (job.hole.code && static_cast<double>(*job.hole.code) > static_cast<double>(raw.largest_code)) {
    refuse("hole", fmt::format("a code up to {:g}", raw.largest_code), fmt::format("{}", *job.hole.code));
  }
}

}  // namespace

DepthMap read_depth(const PlacedPicture& job, const Shape<2>& shape) {
  DepthMap map;
  if (job.depth.empty()) {
    map.offset_m = map.nearest_m = map.farthest_m = job.distance_m;
    return map;
  }
  RawDepth raw = read_raw(job, shape);
  require_shape(job, shape, raw.values.shape()[0], raw.values.shape()[1]);
  check_options(job, raw);
  if (job.camera) depth_of_disparity(raw.values.view(), *job.camera);
  map.codes = raw.largest_code > 0;
  map.holes = fill(job, raw, job.depth_range_m && (*job.depth_range_m)[0] > (*job.depth_range_m)[1]);
  const ValueSpan stored = find_range(raw.values);
  const Placing placing = placing_of(job, raw, stored);
  const auto [low, high] =
      std::minmax({placing.offset + placing.scale * stored.low, placing.offset + placing.scale * stored.high});
  const ValueSpan placed{low, high};
  if (!(std::max(std::abs(placed.low), std::abs(placed.high)) <= max_distance_m)) {
    throw_io(job.depth, fmt::format("distances up to {}", format_length(max_distance_m)),
             fmt::format("{} to {} m", placed.low, placed.high));
  }
  map.depth = std::move(raw.values);
  map.offset_m = placing.offset;
  map.nearest_m = placed.low;
  map.farthest_m = placed.high;
  map.scale = placing.scale;
  return map;
}

LayerSpacing spacing_of(const PlacedPicture& job, double nearest_m, double farthest_m) {
  const bool crosses = nearest_m <= 0 && farthest_m >= 0;
  if (crosses && job.spacing == LayerSpacing::inverse_distance) {
    refuse("spacing", "distance for a scene that touches or crosses the panel's plane", "inverse");
  }
  return job.spacing.value_or(crosses ? LayerSpacing::distance : LayerSpacing::inverse_distance);
}

}  // namespace holotone
