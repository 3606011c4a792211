#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/core/random.hpp>
#include <holotone/hologram/scene.hpp>
#include <holotone/hologram/scene_checks.hpp>
#include <string>

namespace holotone {
namespace {

using scene::Vec3d;
using Triangle = std::array<std::uint32_t, 3>;
using Weights = std::array<double, 3>;

template <class T>
T blend(const std::vector<T>& values, const Triangle& triangle, const Weights& weight) {
  if constexpr (std::is_same_v<T, float>) {
    return static_cast<float>(weight[0] * values[triangle[0]] + weight[1] * values[triangle[1]] +
                              weight[2] * values[triangle[2]]);
  } else {
    T result{};
    for (std::size_t axis = 0; axis < result.size(); ++axis) {
      result[axis] = static_cast<float>(weight[0] * values[triangle[0]][axis] + weight[1] * values[triangle[1]][axis] +
                                        weight[2] * values[triangle[2]][axis]);
    }
    return result;
  }
}

Vec3f narrowed(const Vec3d& v) {
  return {static_cast<float>(v[0]), static_cast<float>(v[1]), static_cast<float>(v[2])};
}

float to_amplitude(const Vec3f& colour) { return static_cast<float>(std::sqrt(std::max(0.0, luminance(colour)))); }

/// Returns the interpolated normal, or the triangle's if the mesh has no normals or they cancel.
Vec3f normal_at(const Mesh& mesh, const Triangle& triangle, const Weights& weight) {
  if (!mesh.normal.empty()) {
    const Vec3f smooth = blend(mesh.normal, triangle, weight);
    const Vec3d unit = scene::unit({smooth[0], smooth[1], smooth[2]});
    if (unit != Vec3d{}) return narrowed(unit);
  }
  return narrowed(scene::unit(scene::edge_product(mesh, triangle)));
}

/// Empty points with the properties that points of the mesh have.
PointCloud points_for(const Mesh& mesh, std::size_t count) {
  PointCloud cloud;
  cloud.position.resize(count);
  cloud.normal.resize(count);
  cloud.amplitude.resize(count);
  if (!mesh.colour.empty()) cloud.colour.resize(count);
  if (!mesh.phase_rad.empty()) cloud.phase_rad.resize(count);
  return cloud;
}

void set_point(PointCloud& cloud, std::size_t i, const Mesh& mesh, const Triangle& triangle, const Weights& weight) {
  cloud.position[i] = blend(mesh.position, triangle, weight);
  cloud.normal[i] = normal_at(mesh, triangle, weight);
  if (!mesh.colour.empty()) cloud.colour[i] = blend(mesh.colour, triangle, weight);
  if (!mesh.phase_rad.empty()) cloud.phase_rad[i] = blend(mesh.phase_rad, triangle, weight);
  if (!mesh.amplitude.empty()) {
    cloud.amplitude[i] = blend(mesh.amplitude, triangle, weight);
  } else {
    cloud.amplitude[i] = mesh.colour.empty() ? 1.0f : to_amplitude(cloud.colour[i]);
  }
}

/// Returns the normals of the vertices: means over the adjacent triangles, weighted by area. Zero for a vertex of no
/// triangle.
std::vector<Vec3f> vertex_normals(const Mesh& mesh) {
  std::vector<Vec3d> sum(mesh.position.size());
  for (const auto& triangle : mesh.triangle) {
    const Vec3d product = scene::edge_product(mesh, triangle);
    for (std::uint32_t v : triangle) {
      for (std::size_t axis = 0; axis < 3; ++axis) sum[v][axis] += product[axis];
    }
  }
  std::vector<Vec3f> normals;
  normals.reserve(sum.size());
  for (const auto& n : sum) normals.push_back(narrowed(scene::unit(n)));
  return normals;
}

}  // namespace

PointCloud sample_surface(const Mesh& mesh, std::int64_t count, std::uint64_t seed, Progress& progress) {
  scene::check_mesh("sample_surface", "mesh", mesh);
  if (count < 1) throw_argument("sample_surface", "count", ">= 1", std::to_string(count));
  std::vector<double> area_until;
  area_until.reserve(mesh.triangle.size());
  double area = 0;
  for (const auto& triangle : mesh.triangle) {
    const Vec3d product = scene::edge_product(mesh, triangle);
    area += std::hypot(product[0], product[1], product[2]) / 2;
    area_until.push_back(area);
  }
  if (!(area > 0 && std::isfinite(area))) {
    throw_argument("sample_surface", "mesh", "triangles with a finite area > 0",
                   fmt::format("{} triangles, area {:g}", mesh.triangle.size(), area));
  }
  PointCloud cloud = points_for(mesh, static_cast<std::size_t>(count));
  const double stratum = area / static_cast<double>(count);
  const auto draw_place = [&](std::int64_t i) {
    return (static_cast<double>(i) + random_uniform64(seed, 3 * static_cast<std::uint64_t>(i))) * stratum;
  };
  const auto last_triangle = area_until.end() - 1;
  const auto sample = [&](std::int64_t begin, std::int64_t end) {
    auto triangle = std::upper_bound(area_until.begin(), last_triangle, draw_place(begin));
    for (std::int64_t i = begin; i < end; ++i) {
      // Strata follow each other, and so do their triangles.
      for (const double at = draw_place(i); triangle != last_triangle && *triangle <= at;) ++triangle;
      const auto counter = 3 * static_cast<std::uint64_t>(i);
      const double root = std::sqrt(random_uniform64(seed, counter + 1));
      const double r2 = random_uniform64(seed, counter + 2);
      set_point(cloud, static_cast<std::size_t>(i), mesh,
                mesh.triangle[static_cast<std::size_t>(triangle - area_until.begin())],
                {1 - root, root * (1 - r2), root * r2});
    }
  };
  constexpr std::int64_t step = 1 << 20;
  for (std::int64_t first = 0; first < count; first += step) {
    progress.step("sampling the surface", first, count);
    parallel_blocks(std::min(step, count - first),
                    [&](std::int64_t begin, std::int64_t end) { sample(first + begin, first + end); });
  }
  return cloud;
}

PointCloud vertices_of(const Mesh& mesh) {
  scene::check_mesh("vertices_of", "mesh", mesh);
  PointCloud cloud;
  cloud.position = mesh.position;
  cloud.colour = mesh.colour;
  cloud.phase_rad = mesh.phase_rad;
  cloud.normal = mesh.normal.empty() && !mesh.triangle.empty() ? vertex_normals(mesh) : mesh.normal;
  cloud.amplitude = mesh.amplitude;
  if (cloud.amplitude.empty()) {
    cloud.amplitude.assign(mesh.position.size(), 1.0f);
    for (std::size_t i = 0; i < mesh.colour.size(); ++i) cloud.amplitude[i] = to_amplitude(mesh.colour[i]);
  }
  return cloud;
}

}  // namespace holotone
