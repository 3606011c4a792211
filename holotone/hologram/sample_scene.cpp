#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/units.hpp>
#include <holotone/hologram/sample_scene.hpp>
#include <holotone/hologram/scene_checks.hpp>
#include <map>
#include <numbers>
#include <string>

namespace holotone {
namespace {

using scene::Vec3d;

// The teapot in its own frame: z up, spout toward +x. Newell's 32 patches are made of six profiles turned round the z
// axis in quarters, and of half a handle and half a spout mirrored at y = 0.

/// Radius and height of a cubic Bezier curve's control points.
using Profile = std::array<std::array<double, 2>, 4>;

constexpr std::array<Profile, 6> profiles = {{
    {{{1.4, 2.4}, {1.3375, 2.53125}, {1.4375, 2.53125}, {1.5, 2.4}}},  // rim
    {{{1.5, 2.4}, {1.75, 1.875}, {2.0, 1.35}, {2.0, 0.9}}},            // body
    {{{2.0, 0.9}, {2.0, 0.45}, {1.5, 0.225}, {1.5, 0.15}}},
    {{{0.0, 3.15}, {0.8, 3.15}, {0.0, 2.85}, {0.2, 2.7}}},  // lid
    {{{0.2, 2.7}, {0.4, 2.55}, {1.3, 2.55}, {1.3, 2.4}}},
    {{{1.5, 0.15}, {1.5, 0.075}, {1.425, 0.0}, {0.0, 0.0}}},  // bottom
}};

/// A Bezier patch's control net.
using Net = std::array<std::array<Vec3d, 4>, 4>;

/// Sections of half a tube: each runs from (x, z) of one edge at y = 0 to the other edge and bulges to -width.
struct Section {
  double inner_x, inner_z, outer_x, outer_z, width;
};
using HalfTube = std::array<Section, 4>;

constexpr std::array<HalfTube, 4> tubes = {{
    {{{-1.6, 2.025, -1.5, 2.25, 0.3},  // handle, above
      {-2.3, 2.025, -2.5, 2.25, 0.3},
      {-2.7, 2.025, -3.0, 2.25, 0.3},
      {-2.7, 1.8, -3.0, 1.8, 0.3}}},
    {{{-2.7, 1.8, -3.0, 1.8, 0.3},  // handle, below
      {-2.7, 1.575, -3.0, 1.35, 0.3},
      {-2.5, 1.125, -2.65, 0.9375, 0.3},
      {-2.0, 0.9, -1.9, 0.6, 0.3}}},
    {{{1.7, 1.425, 1.7, 0.6, 0.66},  // spout, at the body
      {2.6, 1.425, 3.1, 0.825, 0.66},
      {2.3, 2.1, 2.4, 2.025, 0.25},
      {2.7, 2.4, 3.3, 2.4, 0.25}}},
    {{{2.7, 2.4, 3.3, 2.4, 0.25},  // spout, at the lip
      {2.8, 2.475, 3.525, 2.49375, 0.25},
      {2.9, 2.475, 3.45, 2.5125, 0.15},
      {2.8, 2.4, 3.2, 2.4, 0.15}}},
}};

/// Newell's quarter of a circle: control points (1, 0), (1, k), (k, 1), (0, 1) with k = 0.56.
constexpr double quarter_circle = 0.56;

Net turned_patch(const Profile& profile, int quarter) {
  constexpr std::array<std::array<double, 2>, 4> arc = {{{1, 0}, {1, quarter_circle}, {quarter_circle, 1}, {0, 1}}};
  constexpr std::array<std::array<int, 2>, 4> turns = {{{1, 0}, {0, 1}, {-1, 0}, {0, -1}}};  // cosine, sine
  const auto [cosine, sine] = turns[static_cast<std::size_t>(quarter)];
  Net net{};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto [radius, height] = profile[i];
    for (std::size_t j = 0; j < 4; ++j) {
      net[i][j] = {radius * (cosine * arc[j][0] - sine * arc[j][1]), radius * (sine * arc[j][0] + cosine * arc[j][1]),
                   height};
    }
  }
  return net;
}

Net tube_patch(const HalfTube& tube, bool mirrored) {
  Net net{};
  const double direction = mirrored ? 1 : -1;
  for (std::size_t i = 0; i < 4; ++i) {
    const Section& s = tube[i];
    net[i] = {{{s.inner_x, 0, s.inner_z},
               {s.inner_x, direction * s.width, s.inner_z},
               {s.outer_x, direction * s.width, s.outer_z},
               {s.outer_x, 0, s.outer_z}}};
  }
  return net;
}

std::array<double, 4> bernstein(double t) {
  const double s = 1 - t;
  return {s * s * s, 3 * s * s * t, 3 * s * t * t, t * t * t};
}

std::array<double, 4> bernstein_slope(double t) {
  const double s = 1 - t;
  return {-3 * s * s, 3 * s * s - 6 * s * t, 6 * s * t - 3 * t * t, 3 * t * t};
}

Vec3d combine(const Net& net, const std::array<double, 4>& u, const std::array<double, 4>& v) {
  Vec3d sum{};
  for (std::size_t i = 0; i < 4; ++i) {
    for (std::size_t j = 0; j < 4; ++j) {
      for (std::size_t axis = 0; axis < 3; ++axis) sum[axis] += u[i] * v[j] * net[i][j][axis];
    }
  }
  return sum;
}

Vec3d cross(const Vec3d& a, const Vec3d& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

/// Returns the unit vector along dP/du x dP/dv; beside an edge of the net that is one point (the lid's top, the
/// bottom's middle), evaluated next to it.
Vec3d patch_normal(const Net& net, double u, double v) {
  constexpr double beside = 1e-5;
  for (const double shift : {0.0, u < 0.5 ? beside : -beside}) {
    const Vec3d n = cross(combine(net, bernstein_slope(u + shift), bernstein(v)),
                          combine(net, bernstein(u + shift), bernstein_slope(v)));
    if (std::hypot(n[0], n[1], n[2]) > 1e-9) return scene::unit(n);
  }
  return {};
}

/// Merges vertices that coincide to 1e-5 units.
class Merger {
 public:
  explicit Merger(Mesh& mesh) : mesh_(mesh) {}
  std::uint32_t add(const Vec3f& position, const Vec3f& normal) {
    std::array<long, 3> key{};
    for (std::size_t axis = 0; axis < 3; ++axis) key[axis] = std::lround(position[axis] * 1e5);
    const auto [found, fresh] = index_.try_emplace(key, static_cast<std::uint32_t>(mesh_.position.size()));
    if (fresh) {
      mesh_.position.push_back(position);
      mesh_.normal.push_back(normal);
    }
    return found->second;
  }

 private:
  Mesh& mesh_;
  std::map<std::array<long, 3>, std::uint32_t> index_;
};

void add_triangle(Mesh& mesh, std::uint32_t a, std::uint32_t b, std::uint32_t c) {
  if (a != b && b != c && c != a) mesh.triangle.push_back({a, b, c});
}

/// From the teapot's frame to the world's: y up, z toward the viewer.
Vec3f to_world(const Vec3d& v) {
  return {static_cast<float>(v[0]), static_cast<float>(v[2]), static_cast<float>(-v[1])};
}

/// `inward`: dP/du x dP/dv points into the teapot.
void add_patch(Mesh& mesh, Merger& merger, const Net& net, int subdivisions, bool inward) {
  const auto side = static_cast<std::size_t>(subdivisions) + 1;
  std::vector<std::uint32_t> vertex(side * side);
  for (std::size_t i = 0; i < side; ++i) {
    for (std::size_t j = 0; j < side; ++j) {
      const double u = static_cast<double>(i) / subdivisions;
      const double v = static_cast<double>(j) / subdivisions;
      Vec3d normal = patch_normal(net, u, v);
      if (inward) normal = {-normal[0], -normal[1], -normal[2]};
      vertex[i * side + j] = merger.add(to_world(combine(net, bernstein(u), bernstein(v))), to_world(normal));
    }
  }
  for (std::size_t i = 0; i + 1 < side; ++i) {
    for (std::size_t j = 0; j + 1 < side; ++j) {
      const std::uint32_t a = vertex[i * side + j];
      const std::uint32_t b = vertex[(i + 1) * side + j];
      const std::uint32_t c = vertex[(i + 1) * side + j + 1];
      const std::uint32_t d = vertex[i * side + j + 1];
      add_triangle(mesh, a, inward ? c : b, inward ? b : c);
      add_triangle(mesh, a, inward ? d : c, inward ? c : d);
    }
  }
}

}  // namespace

Mesh teapot(int subdivisions) {
  require_range("teapot", "subdivisions", subdivisions, 1, 256);
  Mesh mesh;
  Merger turned(mesh);
  for (const auto& profile : profiles) {
    // Every profile has the direction in which its tangent x the direction of rotation points out of the teapot.
    for (int quarter = 0; quarter < 4; ++quarter) {
      add_patch(mesh, turned, turned_patch(profile, quarter), subdivisions, false);
    }
  }
  Merger attached(mesh);  // separate: the handle's end touches the body in a vertex where the normals differ
  for (const auto& tube : tubes) {
    for (const bool mirrored : {false, true}) {
      add_patch(mesh, attached, tube_patch(tube, mirrored), subdivisions, !mirrored);
    }
  }
  return mesh;
}

namespace {

/// Fully saturated hue in turns, in linear light.
Vec3f rainbow(double hue) {
  Vec3f colour{};
  for (std::size_t channel = 0; channel < 3; ++channel) {
    const double shifted = hue * 6 + (channel == 0 ? 0.0 : channel == 1 ? 4.0 : 2.0);
    const double wrapped = shifted - 6 * std::floor(shifted / 6);
    colour[channel] = static_cast<float>(std::clamp(std::abs(wrapped - 3) - 1, 0.0, 1.0));
  }
  return colour;
}

Vec3d knot_point(double t) {
  return {std::sin(t) + 2 * std::sin(2 * t), std::cos(t) - 2 * std::cos(2 * t), -std::sin(3 * t)};
}

Vec3d knot_tangent(double t) {
  return scene::unit({std::cos(t) + 4 * std::cos(2 * t), -std::sin(t) + 4 * std::sin(2 * t), -3 * std::cos(3 * t)});
}

}  // namespace

Mesh knot(int segments, double tube_radius) {
  require_range("knot", "segments", segments, 24, 4096);
  require_range("knot", "tube_radius", tube_radius, 0.01, 0.8);
  const int around = std::max(6, segments / 8);
  Mesh mesh;
  for (int i = 0; i < segments; ++i) {
    const double share = static_cast<double>(i) / segments;
    const double t = 2 * std::numbers::pi * share;
    const Vec3d centre = knot_point(t);
    const Vec3d tangent = knot_tangent(t);
    // The curve never runs along z, so the frame of z and the tangent is defined everywhere and closes on itself.
    const Vec3d sideways = scene::unit(cross({0, 0, 1}, tangent));
    const Vec3d upward = cross(tangent, sideways);
    for (int j = 0; j < around; ++j) {
      const double angle = 2 * std::numbers::pi * j / around;
      Vec3f position{};
      Vec3f normal{};
      for (std::size_t axis = 0; axis < 3; ++axis) {
        const double n = std::cos(angle) * sideways[axis] + std::sin(angle) * upward[axis];
        normal[axis] = static_cast<float>(n);
        position[axis] = static_cast<float>(centre[axis] + tube_radius * n);
      }
      mesh.position.push_back(position);
      mesh.normal.push_back(normal);
      mesh.colour.push_back(rainbow(share));
    }
  }
  const auto vertex = [&](int i, int j) { return static_cast<std::uint32_t>((i % segments) * around + j % around); };
  for (int i = 0; i < segments; ++i) {
    for (int j = 0; j < around; ++j) {
      add_triangle(mesh, vertex(i, j), vertex(i, j + 1), vertex(i + 1, j + 1));
      add_triangle(mesh, vertex(i, j), vertex(i + 1, j + 1), vertex(i + 1, j));
    }
  }
  return mesh;
}

const std::vector<std::string_view>& sample_scene_names() {
  static const std::vector<std::string_view> names = {"teapot", "knot"};
  return names;
}

Mesh sample_scene(std::string_view name) {
  if (name == "teapot") return teapot();
  if (name == "knot") return knot();
  const auto& names = sample_scene_names();
  const std::string near = nearest_name(name, names.data(), names.size());
  throw_argument("sample_scene", "name", "teapot or knot",
                 near.empty() ? fmt::format("'{}'", name) : fmt::format("'{}' (did you mean '{}'?)", name, near));
}

}  // namespace holotone
