#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/hologram/scene.hpp>
#include <holotone/hologram/scene_checks.hpp>
#include <limits>
#include <string>

namespace holotone {

using scene::Vec3d;

namespace scene {

void check_finite(std::string_view where, std::string_view argument, const std::vector<Vec3f>& positions) {
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const auto& p = positions[i];
    if (!(std::isfinite(p[0]) && std::isfinite(p[1]) && std::isfinite(p[2]))) {
      throw_argument(where, argument, "finite coordinates",
                     fmt::format("({}, {}, {}) at index {}", p[0], p[1], p[2], i));
    }
  }
}

void check_mesh(std::string_view where, std::string_view argument, const Mesh& mesh) {
  check_finite(where, argument, mesh.position);
  const std::size_t vertices = mesh.position.size();
  const auto check_count = [&](std::string_view name, std::size_t count) {
    if (count != 0 && count != vertices) {
      throw_argument(where, fmt::format("{}.{}", argument, name), fmt::format("{} or none, one a vertex", vertices),
                     std::to_string(count));
    }
  };
  check_count("colour", mesh.colour.size());
  check_count("normal", mesh.normal.size());
  check_count("amplitude", mesh.amplitude.size());
  check_count("phase_rad", mesh.phase_rad.size());
  for (std::size_t t = 0; t < mesh.triangle.size(); ++t) {
    for (std::uint32_t v : mesh.triangle[t]) {
      if (v >= vertices) {
        throw_argument(where, argument, fmt::format("vertex indices below {}", vertices),
                       fmt::format("{} in triangle {}", v, t));
      }
    }
  }
}

void check_cloud(std::string_view where, std::string_view argument, const PointCloud& cloud) {
  check_finite(where, argument, cloud.position);
  const auto check_count = [&](std::string_view name, std::size_t count, bool optional) {
    if (count != cloud.size() && !(optional && count == 0)) {
      throw_argument(where, fmt::format("{}.{}", argument, name), fmt::format("{}, one a point", cloud.size()),
                     std::to_string(count));
    }
  };
  check_count("amplitude", cloud.amplitude.size(), false);
  check_count("colour", cloud.colour.size(), true);
  check_count("normal", cloud.normal.size(), true);
  check_count("phase_rad", cloud.phase_rad.size(), true);
}

Vec3d unit(const Vec3d& v) {
  const double length = std::hypot(v[0], v[1], v[2]);
  if (!(length > 0)) return {0, 0, 0};
  return {v[0] / length, v[1] / length, v[2] / length};
}

Vec3d edge_product(const Mesh& mesh, const std::array<std::uint32_t, 3>& triangle) {
  const Vec3f& a = mesh.position[triangle[0]];
  const Vec3f& b = mesh.position[triangle[1]];
  const Vec3f& c = mesh.position[triangle[2]];
  Vec3d u{};
  Vec3d v{};
  for (std::size_t i = 0; i < 3; ++i) {
    u[i] = static_cast<double>(b[i]) - a[i];
    v[i] = static_cast<double>(c[i]) - a[i];
  }
  return {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0]};
}

}  // namespace scene

namespace {

struct Box {
  Vec3d low{};
  Vec3d high{};
  [[nodiscard]] double centre(std::size_t axis) const { return (low[axis] + high[axis]) / 2; }
  [[nodiscard]] double extent(std::size_t axis) const { return high[axis] - low[axis]; }
};

Box bounding_box(const std::vector<Vec3f>& positions) {
  Box box;
  box.low.fill(std::numeric_limits<double>::infinity());
  box.high.fill(-std::numeric_limits<double>::infinity());
  for (const auto& p : positions) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      box.low[axis] = std::min<double>(box.low[axis], p[axis]);
      box.high[axis] = std::max<double>(box.high[axis], p[axis]);
    }
  }
  return box;
}

void place_positions(std::vector<Vec3f>& positions, const Placement& placement) {
  scene::check_finite("place", "position", positions);
  require_bounds("place", "size_m", placement.size_m, bounds_of<&Placement::size_m>);
  require_bounds("place", "distance_m", placement.distance_m, bounds_of<&Placement::distance_m>);
  if (placement.keep || positions.empty()) return;
  const Box box = bounding_box(positions);
  const double extent = std::max(box.extent(0), box.extent(1));
  if (positions.size() > 1 && !(extent > 0)) {
    throw_argument("place", "position", "points that differ in x or y",
                   fmt::format("{} points at x = {:g}, y = {:g}", positions.size(), box.low[0], box.low[1]));
  }
  const double scale = extent > 0 ? placement.size_m / extent : 1;
  const Vec3d target{0, 0, -placement.distance_m};
  for (auto& p : positions) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      p[axis] = static_cast<float>((p[axis] - box.centre(axis)) * scale + target[axis]);
    }
  }
}

/// Rotates v[first] and v[second] by the angle from first toward second.
void rotate(Vec3f& v, std::size_t first, std::size_t second, double cosine, double sine, const Vec3d& centre) {
  const double a = v[first] - centre[first];
  const double b = v[second] - centre[second];
  v[first] = static_cast<float>(centre[first] + a * cosine - b * sine);
  v[second] = static_cast<float>(centre[second] + a * sine + b * cosine);
}

template <class Geometry>
void rotate_all(std::string_view where, Geometry& geometry, std::size_t first, std::size_t second, double angle_rad) {
  if (!std::isfinite(angle_rad)) throw_argument(where, "angle_rad", "a finite angle", fmt::format("{}", angle_rad));
  scene::check_finite(where, "position", geometry.position);
  if (geometry.position.empty()) return;
  const Box box = bounding_box(geometry.position);
  const Vec3d centre{box.centre(0), box.centre(1), box.centre(2)};
  const double cosine = std::cos(angle_rad);
  const double sine = std::sin(angle_rad);
  const auto rotate_each = [&](std::vector<Vec3f>& vectors, const Vec3d& about) {
    parallel_blocks(static_cast<std::int64_t>(vectors.size()), [&](std::int64_t begin, std::int64_t end) {
      for (auto i = begin; i < end; ++i) {
        rotate(vectors[static_cast<std::size_t>(i)], first, second, cosine, sine, about);
      }
    });
  };
  rotate_each(geometry.position, centre);
  rotate_each(geometry.normal, {});
}

}  // namespace

void place(PointCloud& cloud, const Placement& placement) { place_positions(cloud.position, placement); }
void place(Mesh& mesh, const Placement& placement) {
  place_positions(mesh.position, placement);
  if (!placement.keep) mesh.origin = {};
}

// Seen from above x turns away from z: the axes (z, x) are a right-handed pair about +y, (y, z) about +x.
void turn(PointCloud& cloud, double angle_rad) { rotate_all("turn", cloud, 2, 0, angle_rad); }
void turn(Mesh& mesh, double angle_rad) { rotate_all("turn", mesh, 2, 0, angle_rad); }
void tilt(PointCloud& cloud, double angle_rad) { rotate_all("tilt", cloud, 1, 2, angle_rad); }
void tilt(Mesh& mesh, double angle_rad) { rotate_all("tilt", mesh, 1, 2, angle_rad); }

double luminance(const Vec3f& colour) { return 0.2126 * colour[0] + 0.7152 * colour[1] + 0.0722 * colour[2]; }

std::vector<float> channel_amplitude(const PointCloud& cloud, int channel) {
  require_range("channel_amplitude", "channel", channel, 0, 2);
  scene::check_cloud("channel_amplitude", "cloud", cloud);
  std::vector<float> amplitude = cloud.amplitude;
  for (std::size_t i = 0; i < cloud.colour.size(); ++i) {
    const double all = luminance(cloud.colour[i]);
    const double colour = cloud.colour[i][static_cast<std::size_t>(channel)];
    amplitude[i] = all > 0 && colour > 0 ? static_cast<float>(amplitude[i] * std::sqrt(colour / all)) : 0.0f;
  }
  return amplitude;
}

void shade(PointCloud& cloud, const std::array<double, 3>& direction, double ambient) {
  scene::check_cloud("shade", "cloud", cloud);
  require_range("shade", "ambient", ambient, 0, 1);
  if (cloud.normal.size() != cloud.size()) {
    throw_argument("shade", "cloud.normal", fmt::format("{} normals, one a point", cloud.size()),
                   fmt::format("{}", cloud.normal.size()));
  }
  const Vec3d light = scene::unit(direction);
  if (!(std::hypot(light[0], light[1], light[2]) > 0.5)) {  // zero, infinite or not a number
    throw_argument("shade", "direction", "a finite vector that is not zero",
                   fmt::format("({:g}, {:g}, {:g})", direction[0], direction[1], direction[2]));
  }
  const auto shade_point = [&](std::size_t i) {
    const auto& n = cloud.normal[i];
    const double cosine = n[0] * light[0] + n[1] * light[1] + n[2] * light[2];
    const double slant = std::min(std::abs(static_cast<double>(n[2])), 1.0);
    const double intensity = slant * (ambient + (1 - ambient) * std::clamp(cosine, 0.0, 1.0));
    cloud.amplitude[i] = static_cast<float>(cloud.amplitude[i] * std::sqrt(intensity));
  };
  parallel_blocks(static_cast<std::int64_t>(cloud.size()), [&](std::int64_t begin, std::int64_t end) {
    for (auto i = begin; i < end; ++i) shade_point(static_cast<std::size_t>(i));
  });
}

void select(PointCloud& cloud, const std::vector<bool>& keep) {
  scene::check_cloud("select", "cloud", cloud);
  if (keep.size() != cloud.size()) {
    throw_argument("select", "keep", fmt::format("{}, one a point", cloud.size()), std::to_string(keep.size()));
  }
  const auto compact = [&](auto& values) {
    if (values.empty()) return;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < keep.size(); ++i) {
      values[kept] = values[i];  // without a branch, which could not be foreseen
      kept += keep[i] ? 1 : 0;
    }
    values.resize(kept);
  };
  compact(cloud.amplitude);
  compact(cloud.colour);
  compact(cloud.normal);
  compact(cloud.phase_rad);
  compact(cloud.position);
}

}  // namespace holotone
