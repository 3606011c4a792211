#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/units.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_format_detail.hpp>
#include <holotone/io/file_part_detail.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/io/images/value_unit_detail.hpp>
#include <holotone/io/npz_detail.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <holotone/recipes/phase_map.hpp>
#include <holotone/recipes/scenes/depth_picture_detail.hpp>
#include <limits>
#include <span>
#include <utility>

namespace holotone {
namespace {

[[noreturn]] void refuse(std::string_view member, std::string_view expected, std::string_view got) {
  throw_argument("PlacedPicture", member, expected, fmt::format("'{}'", got));
}

/// Depth map as stored in the file.
struct RawDepth {
  Array<float, 2> values;
  float largest_code = 0;  ///< of a picture of codes; 0: floating point numbers
  std::vector<std::string> notes{};
  std::string unit{};  ///< as the file names it
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
  RawDepth raw{Array<float, 2>({ny, nx}), static_cast<float>((1 << code_bits(image)) - 1), image.notes};
  if (const auto unit = image.metadata.find(std::string(io::unit_key)); unit != image.metadata.end()) {
    raw.unit = unit->second;
  }
  std::visit(
      [&](const auto& pixels) {
        const auto from = pixels.host();
        const auto stride = static_cast<std::size_t>(shape_of(image)[2]);
        for (std::size_t i = 0; i < raw.values.host().size(); ++i) {
          const auto* const pixel = &from[i * stride];
          if (stride >= 3 && (pixel[0] != pixel[1] || pixel[1] != pixel[2])) {
            throw_io(path, "a grey picture of depth", "a coloured one");
          }
          const bool transparent = stride % 2 == 0 && pixel[stride - 1] == 0;
          const bool no_data = image.no_data && static_cast<float>(pixel[0]) == static_cast<float>(*image.no_data);
          raw.values.data()[i] =
              transparent || no_data ? std::numeric_limits<float>::quiet_NaN() : static_cast<float>(pixel[0]);
        }
      },
      image.pixels);
  return raw;
}

/// The array of an archive that a part names, or the only one. Numbers beside it, such as depth_scale, are named.
RawDepth npz_map(const std::string& path) {
  const auto named = io::split_part(path);
  const auto arrays = io::read_npz(io::read_bytes(named.file), path);
  const auto found = named.part.empty() && arrays.size() == 1 ? arrays.begin() : arrays.find(named.part);
  if (found == arrays.end()) {
    std::string names;
    for (const auto& [name, array] : arrays) names += fmt::format("{}{}", names.empty() ? "" : ", ", name);
    throw_io(
        path, "one array, or its name as FILE:NAME",
        fmt::format("{}arrays {}", named.part.empty() ? "" : io::in_quotes(named.part) + " of ", io::in_quotes(names)));
  }
  const auto& numbers = found->second;
  if (numbers.shape.size() != 2) {
    throw_io(path, "an array of shape {ny, nx}", io::counted(numbers.shape.size(), "dimension"));
  }
  Array<float, 2> map({static_cast<std::int64_t>(numbers.shape[0]), static_cast<std::int64_t>(numbers.shape[1])});
  std::transform(numbers.values.begin(), numbers.values.end(), map.data(),
                 [](double value) { return static_cast<float>(value); });
  RawDepth raw{std::move(map)};
  for (const auto& [name, array] : arrays) {
    if (array.values.size() != 1 || name == found->first) continue;
    raw.notes.push_back(fmt::format("{}: its {} {:g} is not applied to the values", path, name, array.values[0]));
  }
  return raw;
}

RawDepth read_raw(const PlacedPicture& job, const Shape<2>& shape) {
  const std::string& path = job.depth;
  io::require_input(path);
  const auto format = io::file_format(path);
  if (format == io::FileFormat::npy) return {read_npy_map(path)};
  if (format == io::FileFormat::npz) return npz_map(path);
  const auto accept = [&](const Shape<3>& sides) { require_shape(job, shape, sides[0], sides[1]); };
  return to_depths(job, read_image(path, {.accept = accept, .as_depth = true, .one_page = true}));
}

struct ValueSpan {
  double low = 0;
  double high = 0;
  [[nodiscard]] double middle() const { return (low + high) / 2; }
};

/// Least and largest value that is not NaN; throws if there is none.
ValueSpan find_range(const PlacedPicture& job, const Array<float, 2>& values) {
  ValueSpan span{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
  for (const float value : values.host()) {
    if (std::isnan(value)) continue;
    span = {std::min(span.low, static_cast<double>(value)), std::max(span.high, static_cast<double>(value))};
  }
  if (span.low > span.high) throw_io(job.depth, "at least one pixel with a depth", "none");
  return span;
}

/// d = offset + scale Z
struct Placing {
  double offset = 0;
  double scale = 1;
};

/// What the options and the file say together about its values.
class Meaning {
 public:
  Meaning(const PlacedPicture& job, float largest_code) : job_(job), largest_code_(largest_code) { check(); }

  /// Values linear in distance that have a range of their own: the codes.
  [[nodiscard]] bool by_codes() const { return codes() && !job_.camera && !job_.unit; }
  /// Larger values are nearer, and stay as they are.
  [[nodiscard]] bool falling() const { return falls() && !is_inverse(); }

  /// Replaces values without a depth by NaN.
  [[nodiscard]] DepthHoles mark(std::span<float> values) const {
    const bool farthest = is_inverse() && !job_.unit && !codes();  // of inverse depths that count from far
    const bool zero = (job_.hole.by_range && !falls() && !farthest) || job_.camera || (is_inverse() && job_.unit);
    DepthHoles holes;
    for (float& value : values) {
      std::int64_t* hole = nullptr;
      if (!std::isfinite(value)) {
        hole = &holes.not_finite;
      } else if (value < 0) {
        hole = &holes.negative;
      } else if ((zero && value == 0) || (job_.hole.code && value == static_cast<float>(*job_.hole.code))) {
        hole = &holes.code;
      }
      if (hole == nullptr) continue;
      ++*hole;
      value = std::numeric_limits<float>::quiet_NaN();
    }
    return holes;
  }

  /// Depths of the file's values, whose range is `stored`. Linear ones stay as they are.
  [[nodiscard]] Array<float, 2> depths(const Array<float, 2>& values, const ValueSpan& stored) const {
    auto depth = values.to(Device{});
    if (job_.camera) {
      const double unit = job_.unit ? job_.unit->size : 1;
      for (float& value : depth.host()) value = static_cast<float>(unit * static_cast<double>(value));
      depth_of_disparity(depth.view(), *job_.camera);
    } else if (is_inverse()) {
      double first = 0;
      double step = 0;
      if (job_.unit) {
        step = job_.unit->size;
      } else {
        auto [at_low, at_high] = *job_.depth_range_m;
        if (!codes()) std::swap(at_low, at_high);
        const ValueSpan from = codes() ? ValueSpan{0, static_cast<double>(largest_code_)} : stored;
        step = from.high > from.low ? (1 / at_high - 1 / at_low) / (from.high - from.low) : 0;
        first = 1 / at_low - step * from.low;
      }
      for (float& value : depth.host()) value = static_cast<float>(1 / (first + step * static_cast<double>(value)));
    }
    return depth;
  }

  /// Mapping to distances of depths from `depth.low` to `depth.high`.
  [[nodiscard]] Placing placing(const ValueSpan& depth, const Shape<2>& shape) const {
    Placing placing;
    if (job_.unit && job_.unit->of == DepthUnit::Of::length) placing.scale = job_.unit->size;
    if (job_.depth_range_m && (job_.unit || !is_inverse())) {
      const auto [near, far] = *job_.depth_range_m;
      const ValueSpan from = by_codes() ? ValueSpan{0, static_cast<double>(largest_code_)} : depth;
      placing.scale = from.high > from.low ? (far - near) / (from.high - from.low) : 0;
      placing.offset = near - placing.scale * from.low;
    } else if (job_.camera) {
      placing.scale =
          job_.size_m * job_.camera->focal_px / (static_cast<double>(std::max(shape[0], shape[1])) * depth.middle());
    }
    if (job_.distance_given || (job_.camera && !job_.depth_range_m)) {
      placing.offset = job_.distance_m - placing.scale * depth.middle();
    }
    return placing;
  }

 private:
  [[nodiscard]] bool codes() const { return largest_code_ > 0; }
  [[nodiscard]] bool is_inverse() const { return job_.kind == DepthKind::inverse; }
  [[nodiscard]] bool falls() const { return job_.depth_range_m && (*job_.depth_range_m)[0] > (*job_.depth_range_m)[1]; }

  void check() const {
    check_unit();
    if (is_inverse() && !job_.unit) {
      if (!job_.depth_range_m) {
        refuse("depth_range_m",
               fmt::format("NEAR,FAR for the inverse depths of {}, or --depth-unit such as 1/m", job_.depth), "none");
      }
      const auto [near, far] = *job_.depth_range_m;
      if (!(near * far > 0)) {
        refuse("depth_range_m", "distances on one side of the panel for inverse depths",
               fmt::format("{} and {}", format_length(near), format_length(far)));
      }
    }
    if (by_codes() && !job_.depth_range_m) {
      refuse("depth_range_m",
             fmt::format("NEAR,FAR for the codes of {}, such as 18cm,22cm, or --depth-unit such as 1mm", job_.depth),
             "none");
    }
    if (falls() && !by_codes()) {
      refuse("depth_range_m", "NEAR before FAR for depths in metres",
             fmt::format("{} before {}", format_length((*job_.depth_range_m)[0]),
                         format_length((*job_.depth_range_m)[1])));
    }
    check_hole();
  }

  void check_unit() const {
    using Of = DepthUnit::Of;
    if (is_inverse() && job_.camera) refuse("kind", "depth for the disparities of --disparity", "inverse");
    if (!job_.unit) return;
    const auto of = job_.unit->of;
    if (job_.camera && of != Of::pixel) refuse("unit", "pixels such as '1/256 px' for disparities", job_.unit->text);
    if (!job_.camera && of == Of::pixel) {
      refuse("unit", "a length such as 1mm, or --disparity for pixels", job_.unit->text);
    }
    if (is_inverse() && of != Of::inverse_length) {
      refuse("unit", "one over a length such as 1/m for inverse depths", job_.unit->text);
    }
    if (!is_inverse() && of == Of::inverse_length) {
      refuse("unit", "a length such as 1mm, or --depth-kind inverse", job_.unit->text);
    }
  }

  void check_hole() const {
    if (!job_.hole.code || !codes()) return;
    const double code = *job_.hole.code;
    if (code != std::floor(code) || code > static_cast<double>(largest_code_)) {
      refuse("hole", fmt::format("a code up to {:g}", largest_code_), fmt::format("{:g}", code));
    }
  }

  const PlacedPicture& job_;
  float largest_code_;
};

/// Pixels within a tail become holes.
std::int64_t remove_tail(Array<float, 2>& values, const Array<float, 2>& depths, const DepthTail& tail) {
  std::int64_t removed = 0;
  for (std::int64_t i = 0; i < values.size(); ++i) {
    const auto depth = static_cast<double>(depths.data()[i]);
    if (!(depth >= tail.keys[0] && depth <= tail.keys[1])) continue;
    values.data()[i] = std::numeric_limits<float>::quiet_NaN();
    ++removed;
  }
  return removed;
}

/// The job with the unit that the file states, where the options leave it open; a note of one that is not used.
PlacedPicture with_unit(PlacedPicture job, RawDepth& raw) {
  if (raw.unit.empty() || job.unit) return job;
  const auto unit = named_depth_unit(raw.unit);
  const bool linear = job.kind == DepthKind::depth && !job.camera;
  const bool codes = raw.largest_code > 0;
  if (unit && linear && job.depth_range_m && !codes) return job;  // the range alone says where the depths lie
  if (unit && linear && !job.depth_range_m) {
    job.unit = unit;
  } else {
    io::note_unit(raw.notes, raw.unit, job.depth);
  }
  return job;
}

std::string percent(double share) { return fmt::format("{:.3g} %", 100 * share); }

}  // namespace

DepthMap read_depth(const PlacedPicture& given, const Shape<2>& shape) {
  DepthMap map;
  if (given.depth.empty()) {
    map.offset_m = map.nearest_m = map.farthest_m = given.distance_m;
    return map;
  }
  RawDepth raw = read_raw(given, shape);
  const PlacedPicture job = with_unit(given, raw);
  require_shape(job, shape, raw.values.shape()[0], raw.values.shape()[1]);
  const Meaning meaning(job, raw.largest_code);
  map.codes = raw.largest_code > 0;
  map.notes = std::move(raw.notes);
  map.of_holes = meaning.mark(raw.values.host());
  Placing placing;
  ValueSpan placed;
  for (bool again = true; again;) {
    map.depth = meaning.depths(raw.values, find_range(job, raw.values));
    const ValueSpan depth = find_range(job, map.depth);
    placing = meaning.placing(depth, shape);
    const auto [low, high] =
        std::minmax({placing.offset + placing.scale * depth.low, placing.offset + placing.scale * depth.high});
    placed = {low, high};
    const auto depths = std::as_const(map.depth).host();
    const auto values = std::as_const(raw.values).host();
    auto tail = find_depths_beyond(depths, values, placing.offset, placing.scale, max_distance_m);
    if (tail && !job.hole.far) {
      throw_io(job.depth, fmt::format("distances up to {}, or --depth-hole far", format_length(max_distance_m)),
               fmt::format("{:g} to {:g} m ({} of the pixels)", placed.low, placed.high, percent(tail->share)));
    }
    if (!tail) {
      const bool crosses = low <= 0 && high >= 0;
      const auto spacing = crosses ? LayerSpacing::distance : job.spacing.value_or(LayerSpacing::inverse_distance);
      tail = find_depth_tail(depths, values, placing.offset, placing.scale, spacing, job.layers);
    }
    again = tail && job.hole.far;
    if (again) map.of_holes.far += remove_tail(raw.values, map.depth, *tail);
    const bool decided = !job.hole.by_range && !job.hole.code;
    if (!again && !decided) map.tail = tail;
  }
  if (meaning.falling()) {
    for (float& value : map.depth.host()) value = -value;
  }
  map.holes = fill_depth_holes(map.depth.view(), false);
  if (meaning.falling()) {
    for (float& value : map.depth.host()) value = -value;
  }
  const auto& holes = map.of_holes;
  map.of_holes.beyond_camera = map.holes - holes.not_finite - holes.negative - holes.code - holes.far;
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
