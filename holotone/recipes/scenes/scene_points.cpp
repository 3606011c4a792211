#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/device.hpp>
#include <holotone/core/error.hpp>
#include <holotone/core/random.hpp>
#include <holotone/core/units.hpp>
#include <holotone/hologram/encode.hpp>
#include <holotone/io/guarded/guarded.hpp>
#include <holotone/recipes/scenes/scene_points_detail.hpp>
#include <limits>
#include <numbers>
#include <vector>

namespace holotone {
namespace {

constexpr const char* function = "scene_points";

/// "1 point", "2 points"
std::string in_words(std::size_t points) { return fmt::format("{} point{}", points, points == 1 ? "" : "s"); }

bool finite_vertex(const Mesh& mesh, std::size_t i) {
  return is_finite(mesh.position[i]) && (mesh.amplitude.empty() || std::isfinite(mesh.amplitude[i])) &&
         (mesh.phase_rad.empty() || std::isfinite(mesh.phase_rad[i])) &&
         (mesh.colour.empty() || is_finite(mesh.colour[i])) && (mesh.normal.empty() || is_finite(mesh.normal[i]));
}

/// First value of a vertex that is not finite, in words.
std::string what_is_bad(const Mesh& mesh, std::size_t i) {
  const auto& p = mesh.position[i];
  if (!is_finite(p)) return fmt::format("({}, {}, {})", p[0], p[1], p[2]);
  if (!mesh.amplitude.empty() && std::isnan(mesh.amplitude[i])) return "no amplitude (NaN, or an intensity below 0)";
  if (!mesh.amplitude.empty() && !std::isfinite(mesh.amplitude[i])) return "an infinite amplitude";
  if (!mesh.phase_rad.empty() && !std::isfinite(mesh.phase_rad[i])) return fmt::format("phase {}", mesh.phase_rad[i]);
  return mesh.colour.empty() || is_finite(mesh.colour[i]) ? "a normal that is not" : "a colour that is not";
}

[[noreturn]] void reject_point(const std::string& path, std::int64_t index, std::string_view expected,
                               const std::string& got) {
  throw FileError(path, Error(ErrorCode::invalid_argument,
                              ErrorFields{function, fmt::format("point {}", index), std::string(expected), got}));
}

/// values[kept[i]] for all i; empty stays empty.
template <class T>
void gather(std::vector<T>& values, const std::vector<std::uint32_t>& kept) {
  if (values.empty()) return;
  for (std::size_t i = 0; i < kept.size(); ++i) values[i] = values[kept[i]];
  values.resize(kept.size());
}

/// Runs `work` on a file's points; invalid_argument errors of the library become errors of the file.
template <class Work>
void of_file(const std::string& path, const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    if (error.code() != ErrorCode::invalid_argument) throw;
    throw FileError(path, error);
  }
}

/// Drops the vertices that are not in `kept` (ascending) and the triangles that use them.
void keep_vertices(Mesh& mesh, const std::vector<std::uint32_t>& kept) {
  constexpr std::uint32_t gone = std::numeric_limits<std::uint32_t>::max();
  std::vector<std::uint32_t> renamed(mesh.position.size(), gone);
  for (std::size_t i = 0; i < kept.size(); ++i) renamed[kept[i]] = static_cast<std::uint32_t>(i);
  std::erase_if(mesh.triangle, [&](const auto& t) {
    return std::any_of(t.begin(), t.end(), [&](std::uint32_t v) { return renamed[v] == gone; });
  });
  for (auto& triangle : mesh.triangle) {
    for (auto& vertex : triangle) vertex = renamed[vertex];
  }
  gather(mesh.position, kept);
  gather(mesh.colour, kept);
  gather(mesh.normal, kept);
  gather(mesh.amplitude, kept);
  gather(mesh.phase_rad, kept);
}

/// float32 may round a coordinate by this much without notice: a fifth of a wavelength of green light.
constexpr double unnoticed_m = 1e-7;

/// Whether float32 may round a position by more than `unnoticed_m`.
bool is_coarse(const Mesh& mesh) {
  constexpr float from = 2;  // the spacing there is 2^-22, and half of it 1.2e-7
  return std::any_of(mesh.position.begin(), mesh.position.end(), [](const Vec3f& p) {
    return is_finite(p) && std::max({std::abs(p[0]), std::abs(p[1]), std::abs(p[2])}) >= from;
  });
}

/// Throws naming the first point that float32 moves by more than `unnoticed_m` and a thousandth of the scene's size.
/// The mesh is centred, so that its positions are finer than those.
void require_resolved(const std::string& path, const Mesh& mesh) {
  constexpr double share_of_size = 1e-3;
  if (mesh.origin == std::array<double, 3>{}) return;
  const FiniteExtents extents = finite_extents(path, mesh);
  double size = 0;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    size = std::max(size, static_cast<double>(extents.high[axis]) - extents.low[axis]);
  }
  const double most = std::max(unnoticed_m, share_of_size * size);
  for (std::size_t i = 0; i < mesh.position.size(); ++i) {
    if (!is_finite(mesh.position[i])) continue;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double at = mesh.origin[axis] + mesh.position[i][axis];
      const double moved = std::abs(static_cast<double>(static_cast<float>(at)) - at);
      if (moved <= most) continue;
      throw_io(path, fmt::format("coordinates that float32 holds to {:.2g} m, to keep them", most),
               fmt::format("{} = {:.10g} of point {}, which moves by {:.2g}", "xyz"[axis], at, i, moved));
    }
  }
}

/// Drops vertices that are not finite, or throws naming the first.
std::int64_t drop_infinite(const std::string& path, Mesh& mesh, bool skip_bad) {
  std::vector<std::uint32_t> kept;
  for (std::size_t i = 0; i < mesh.position.size(); ++i) {
    if (finite_vertex(mesh, i)) {
      kept.push_back(static_cast<std::uint32_t>(i));
    } else if (!skip_bad) {
      reject_point(path, static_cast<std::int64_t>(i), "finite numbers", what_is_bad(mesh, i));
    }
  }
  const auto dropped = static_cast<std::int64_t>(mesh.position.size() - kept.size());
  if (dropped > 0) keep_vertices(mesh, kept);
  return dropped;
}

/// Drops points in the panel's plane, whose wave has no curvature to compute, or throws naming the first.
std::int64_t drop_zero_distance(const std::string& path, PointCloud& cloud, bool skip_bad) {
  std::vector<bool> keep(cloud.size(), true);
  std::int64_t dropped = 0;
  for (std::size_t i = 0; i < cloud.size(); ++i) {
    if (cloud.position[i][2] != 0) continue;
    if (!skip_bad) {
      reject_point(path, static_cast<std::int64_t>(i), "a distance from the panel other than zero", "0 m");
    }
    keep[i] = false;
    ++dropped;
  }
  if (dropped > 0) select(cloud, keep);
  return dropped;
}

/// Throws naming the point with the largest amplitude if the amplitudes add up to more than 1e15. Their wave, squared
/// and focused, could then exceed float32's range.
void require_amplitudes(const std::string& path, const PointCloud& cloud) {
  constexpr double most = 1e15;
  double sum = 0;
  for (const float a : cloud.amplitude) sum += std::abs(static_cast<double>(a));
  if (sum <= most) return;
  const auto largest = std::max_element(cloud.amplitude.begin(), cloud.amplitude.end(),
                                        [](float a, float b) { return std::abs(a) < std::abs(b); });
  throw_io(path, fmt::format("finite amplitudes that add up to at most {:g}", most),
           fmt::format("{:g}; the largest is {:g}, point {}", sum, *largest, largest - cloud.amplitude.begin()));
}

/// Mask of a seeded random choice of `count` points (reservoir sampling: Vitter 1985, algorithm R).
std::vector<bool> random_choice(const std::string& path, const PointCloud& cloud, std::int64_t count,
                                std::uint64_t seed) {
  if (count > static_cast<std::int64_t>(cloud.size())) {
    throw_argument(function, "points",
                   fmt::format("at most the {} of {}, which has no triangles", in_words(cloud.size()), path),
                   std::to_string(count));
  }
  std::vector<std::size_t> kept;
  for (std::size_t i = 0; i < cloud.size(); ++i) {
    if (kept.size() < static_cast<std::size_t>(count)) {
      kept.push_back(i);
    } else if (const std::uint64_t at = random_bits(seed, i) % (i + 1); at < kept.size()) {
      kept[at] = i;
    }
  }
  std::vector<bool> keep(cloud.size(), false);
  for (const std::size_t i : kept) keep[i] = true;
  return keep;
}

/// Chooses `options.points` of a cloud's points, drops the hidden ones among them and returns their number. The whole
/// cloud occludes, however few of its points are shown. The choice does not depend on visibility: a turning object
/// keeps its points.
std::int64_t choose_and_hide(const std::string& path, PointCloud& cloud, const SceneOptions& options) {
  std::vector<bool> keep(cloud.size(), true);
  if (options.points > 0) keep = random_choice(path, cloud, options.points, options.seed);
  std::int64_t hidden = 0;
  if (options.hides()) {
    const auto visible = visible_points(cloud, nullptr, options.hide_cell_m);
    for (std::size_t i = 0; i < keep.size(); ++i) {
      if (!keep[i] || visible[i]) continue;
      keep[i] = false;
      ++hidden;
    }
  }
  select(cloud, keep);
  return hidden;
}

void add_random_phase(PointCloud& cloud, std::uint64_t seed) {
  const auto phases = random_phases(static_cast<std::int64_t>(cloud.size()), seed);
  cloud.phase_rad.resize(cloud.size(), 0.0F);
  for (std::size_t i = 0; i < cloud.size(); ++i) cloud.phase_rad[i] += phases[i];
}

/// A note on phases beyond one turn: those of a column without a unit may be in degrees.
std::string note_on_phases(const std::vector<float>& phase_rad) {
  constexpr double turn = 2 * std::numbers::pi;
  constexpr double rounding = 1e-6;
  if (phase_rad.empty()) return {};
  const auto [low, high] = std::ranges::minmax(phase_rad);
  if (std::max(std::abs(low), std::abs(high)) <= turn * (1 + rounding)) return {};
  return fmt::format("phases from {:.6g} to {:.6g} rad; in a table, a column phase_deg is in degrees", low, high);
}

}  // namespace

bool is_finite(const Vec3f& v) { return std::isfinite(v[0]) && std::isfinite(v[1]) && std::isfinite(v[2]); }

FiniteExtents finite_extents(const std::string& path, const Mesh& mesh) {
  FiniteExtents extents;
  bool first = true;
  for (const auto& position : mesh.position) {
    if (!is_finite(position)) {
      ++extents.not_finite;
      continue;
    }
    for (std::size_t axis = 0; axis < 3; ++axis) {
      extents.low[axis] = first ? position[axis] : std::min(extents.low[axis], position[axis]);
      extents.high[axis] = first ? position[axis] : std::max(extents.high[axis], position[axis]);
    }
    first = false;
  }
  if (first) {
    throw_io(path, "at least one finite point",
             fmt::format("{}, none finite", in_words(static_cast<std::size_t>(extents.not_finite))));
  }
  return extents;
}

void require_memory_for_points(std::int64_t samples) {
  // Position, colour and normal of three floats each, amplitude and phase, and the sampler's own copy of a position.
  constexpr std::size_t bytes_a_point = (3 * 4 + 2) * sizeof(float);
  const std::size_t free_bytes = describe(Device{}).free_bytes;
  if (static_cast<std::size_t>(samples) > free_bytes / bytes_a_point) {
    throw Error(ErrorCode::out_of_memory,
                ErrorFields{function, "points",
                            fmt::format("{} of memory for {} points",
                                        format_bytes(static_cast<double>(samples) * bytes_a_point), samples),
                            fmt::format("{} free", format_bytes(static_cast<double>(free_bytes)))});
  }
}

PlacedScene read_placed_scene(const std::string& path, const SceneOptions& options, const std::string& program) {
  const Coordinates coordinates = options.placement.keep ? Coordinates::stored : Coordinates::centred;
  PlacedScene scene{path, read_scene_guarded(path, program, {}, coordinates), 0};
  if (options.placement.keep && is_coarse(scene.mesh)) {
    require_resolved(path, read_scene_guarded(path, program, {}, Coordinates::centred));
  }
  scene.dropped = drop_infinite(path, scene.mesh, options.skip_bad);
  if (scene.mesh.position.empty()) throw_io(path, "at least one point", "none");
  of_file(path, [&] {
    if (options.turn_rad != 0) turn(scene.mesh, options.turn_rad);
    if (options.tilt_rad != 0) tilt(scene.mesh, options.tilt_rad);
    place(scene.mesh, options.placement);
  });
  return scene;
}

ScenePoints scene_points(const PlacedScene& scene, const SceneOptions& options, double turn_rad, Progress& progress) {
  Mesh turned;
  if (turn_rad != 0) {
    turned = scene.mesh;
    turn(turned, turn_rad);
  }
  const Mesh& mesh = turn_rad != 0 ? turned : scene.mesh;
  const bool has_surface = !mesh.triangle.empty();
  if (has_surface) require_memory_for_points(options.points);
  ScenePoints points;
  auto& cloud = points.cloud;
  of_file(scene.path, [&] {
    if (options.points == 0) points.triangles = static_cast<std::int64_t>(mesh.triangle.size());
    cloud = options.points > 0 && has_surface ? sample_surface(mesh, options.points, options.seed, progress)
                                              : vertices_of(mesh);
  });
  if (options.random_phase) add_random_phase(cloud, options.seed);
  points.dropped = scene.dropped + drop_zero_distance(scene.path, cloud, options.skip_bad);
  if (!has_surface) {
    points.hidden = choose_and_hide(scene.path, cloud, options);
  } else if (options.hides()) {
    points.hidden = hide_occluded(cloud, &mesh);
  }
  if (options.light && cloud.normal.empty()) {
    throw_argument(function, "light", fmt::format("normals in {}", scene.path), "none");
  }
  if (options.light) shade(cloud, *options.light);
  if (cloud.size() == 0) throw_io(scene.path, "at least one point to show", "none");
  require_amplitudes(scene.path, cloud);
  const auto [front, back] = std::minmax_element(cloud.position.begin(), cloud.position.end(),
                                                 [](const Vec3f& a, const Vec3f& b) { return a[2] > b[2]; });
  points.ignored = scene.mesh.ignored;
  points.phase_note = note_on_phases(scene.mesh.phase_rad);
  points.nearest_m = -static_cast<double>((*front)[2]);
  points.farthest_m = -static_cast<double>((*back)[2]);
  return points;
}

}  // namespace holotone
