#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/hologram/scene.hpp>
#include <holotone/hologram/scene_checks.hpp>
#include <limits>

namespace holotone {
namespace {

using scene::Vec3d;

/// A raster over a rectangle of the xy plane.
struct Grid {
  double x0 = 0;
  double y0 = 0;
  double cell = 1;
  std::int64_t nx = 1;
  std::int64_t ny = 1;
  [[nodiscard]] std::int64_t column(double x) const { return index((x - x0) / cell, nx); }
  [[nodiscard]] std::int64_t row(double y) const { return index((y - y0) / cell, ny); }
  [[nodiscard]] std::size_t cells() const { return static_cast<std::size_t>(nx * ny); }
  static std::int64_t index(double at, std::int64_t count) {
    return static_cast<std::int64_t>(std::clamp(at, 0.0, static_cast<double>(count - 1)));
  }
};

struct Rectangle {
  double x0 = std::numeric_limits<double>::infinity();
  double y0 = std::numeric_limits<double>::infinity();
  double x1 = -std::numeric_limits<double>::infinity();
  double y1 = -std::numeric_limits<double>::infinity();
  void add(const Vec3f& p) {
    x0 = std::min<double>(x0, p[0]);
    y0 = std::min<double>(y0, p[1]);
    x1 = std::max<double>(x1, p[0]);
    y1 = std::max<double>(y1, p[1]);
  }
};

Rectangle bounds_of(const std::vector<Vec3f>& positions) {
  Rectangle bounds;
  for (const auto& p : positions) bounds.add(p);
  return bounds;
}

Grid grid_over(const Rectangle& bounds, double cell) {
  const auto cells = [&](double extent) {
    return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::ceil(extent / cell)));
  };
  return {bounds.x0, bounds.y0, cell, cells(bounds.x1 - bounds.x0), cells(bounds.y1 - bounds.y0)};
}

/// A triangle as seen along z: its plane z(x, y) = z0 + sx (x - x0) + sy (y - y0) and its three edges.
struct Facet {
  Vec3d a{};
  double slope_x = 0;
  double slope_y = 0;
  double margin = 0;   ///< least distance of a hidden point behind it, along z
  double nearest = 0;  ///< its largest z
  Vec3d b{}, c{};
  /// No point at this z or nearer is hidden. Rounded up.
  [[nodiscard]] float reach() const {
    constexpr float infinity = std::numeric_limits<float>::infinity();
    return std::nextafter(static_cast<float>(nearest - margin), infinity);
  }
};

/// Returns false for edge-on triangles, which hide nothing.
bool make_facet(const Mesh& mesh, const std::array<std::uint32_t, 3>& triangle, double thickness, Facet& facet) {
  const auto wide = [](const Vec3f& p) { return Vec3d{p[0], p[1], p[2]}; };
  facet.a = wide(mesh.position[triangle[0]]);
  facet.b = wide(mesh.position[triangle[1]]);
  facet.c = wide(mesh.position[triangle[2]]);
  const Vec3d n = scene::edge_product(mesh, triangle);
  const double length = std::hypot(n[0], n[1], n[2]);
  if (!(std::abs(n[2]) > 1e-9 * length)) return false;
  facet.slope_x = -n[0] / n[2];
  facet.slope_y = -n[1] / n[2];
  facet.margin = thickness * length / std::abs(n[2]);  // `thickness` along the normal, seen along z
  facet.nearest = std::max({facet.a[2], facet.b[2], facet.c[2]});
  return true;
}

/// The facets of all triangles that can hide points, in their order.
std::vector<Facet> facets_of(const Mesh& mesh, double thickness) {
  std::vector<Facet> facets(mesh.triangle.size());
  std::vector<char> hiding(facets.size());
  parallel_blocks(static_cast<std::int64_t>(facets.size()), [&](std::int64_t begin, std::int64_t end) {
    for (auto i = static_cast<std::size_t>(begin); i < static_cast<std::size_t>(end); ++i) {
      hiding[i] = make_facet(mesh, mesh.triangle[i], thickness, facets[i]) ? 1 : 0;
    }
  });
  std::size_t kept = 0;
  for (std::size_t i = 0; i < facets.size(); ++i) {
    if (hiding[i] != 0) facets[kept++] = facets[i];
  }
  facets.resize(kept);
  return facets;
}

double side(const Vec3d& from, const Vec3d& to, double x, double y) {
  return (to[0] - from[0]) * (y - from[1]) - (to[1] - from[1]) * (x - from[0]);
}

/// True if the facet lies in front of a point. Its plane comes first: the facets around a visible point lie behind it.
bool hides(const Facet& facet, double x, double y, double z) {
  if (facet.nearest - facet.margin <= z) return false;
  const double surface = facet.a[2] + facet.slope_x * (x - facet.a[0]) + facet.slope_y * (y - facet.a[1]);
  if (!(surface - facet.margin > z)) return false;
  const double ab = side(facet.a, facet.b, x, y);
  const double bc = side(facet.b, facet.c, x, y);
  const double ca = side(facet.c, facet.a, x, y);
  return (ab >= 0 && bc >= 0 && ca >= 0) || (ab <= 0 && bc <= 0 && ca <= 0);
}

/// The facets over each cell of a raster, by falling reach: those of cell i are item[start[i]] to item[start[i + 1] -
/// 1].
struct Bins {
  struct Item {
    float reach;
    std::uint32_t facet;
  };
  Grid grid;
  std::vector<std::size_t> start;
  std::vector<Item> item;
};

template <class Visit>
void for_cells(const Grid& grid, const Facet& facet, const Visit& visit) {
  const auto [x0, x1] = std::minmax({facet.a[0], facet.b[0], facet.c[0]});
  const auto [y0, y1] = std::minmax({facet.a[1], facet.b[1], facet.c[1]});
  const std::int64_t last_column = grid.column(x1);
  const std::int64_t last_row = grid.row(y1);
  for (std::int64_t row = grid.row(y0); row <= last_row; ++row) {
    for (std::int64_t column = grid.column(x0); column <= last_column; ++column) {
      visit(static_cast<std::size_t>(row * grid.nx + column));
    }
  }
}

double cells_covered(const Grid& grid, const std::vector<Facet>& facets) {
  double covered = 0;
  for (const auto& facet : facets) {
    const auto [x0, x1] = std::minmax({facet.a[0], facet.b[0], facet.c[0]});
    const auto [y0, y1] = std::minmax({facet.a[1], facet.b[1], facet.c[1]});
    covered += static_cast<double>(grid.column(x1) - grid.column(x0) + 1) *
               static_cast<double>(grid.row(y1) - grid.row(y0) + 1);
  }
  return covered;
}

Bins make_bins(const Rectangle& bounds, const std::vector<Facet>& facets) {
  const double width = bounds.x1 - bounds.x0;
  const double height = bounds.y1 - bounds.y0;
  const double count = static_cast<double>(facets.size());
  Bins bins;
  // Some cells per facet; coarser if long facets would fill the memory.
  constexpr double cells_per_facet = 2;
  double cell = std::max(std::sqrt(width * height / (cells_per_facet * count)), std::max(width, height) / 8192);
  do {
    bins.grid = grid_over(bounds, cell);
    cell *= 1.5;
  } while (cells_covered(bins.grid, facets) > 16 * count + 4096);
  std::vector<Bins::Item> order;
  order.reserve(facets.size());
  for (std::size_t f = 0; f < facets.size(); ++f) order.push_back({facets[f].reach(), static_cast<std::uint32_t>(f)});
  std::stable_sort(order.begin(), order.end(), [](const auto& one, const auto& two) { return one.reach > two.reach; });
  bins.start.assign(bins.grid.cells() + 1, 0);
  for (const auto& facet : facets) for_cells(bins.grid, facet, [&](std::size_t i) { ++bins.start[i + 1]; });
  for (std::size_t i = 1; i < bins.start.size(); ++i) bins.start[i] += bins.start[i - 1];
  bins.item.resize(bins.start.back());
  std::vector<std::size_t> next(bins.start.begin(), bins.start.end() - 1);
  for (const auto& item : order) {
    for_cells(bins.grid, facets[item.facet], [&](std::size_t i) { bins.item[next[i]++] = item; });
  }
  return bins;
}

constexpr double relative_thickness = 1e-5;

/// Returns keep[i] = 1 if no facet lies in front of point i. Bytes, not bits: threads write neighbours.
std::vector<char> visible_past_mesh(const std::vector<Vec3f>& points, const Mesh& mesh) {
  std::vector<char> keep(points.size(), 1);
  const Rectangle bounds = bounds_of(mesh.position);
  double depth_low = std::numeric_limits<double>::infinity();
  double depth_high = -depth_low;
  for (const auto& p : mesh.position) {
    depth_low = std::min<double>(depth_low, p[2]);
    depth_high = std::max<double>(depth_high, p[2]);
  }
  const double size = std::max({bounds.x1 - bounds.x0, bounds.y1 - bounds.y0, depth_high - depth_low});
  // float32 coordinates far from the origin are coarser than the relative margin
  const double largest = std::max({std::abs(bounds.x0), std::abs(bounds.x1), std::abs(bounds.y0), std::abs(bounds.y1),
                                   std::abs(depth_low), std::abs(depth_high)});
  const double thickness = std::max(relative_thickness * size, 0x1p-21 * largest);
  const std::vector<Facet> facets = facets_of(mesh, thickness);
  if (facets.empty()) return keep;
  const Bins bins = make_bins(bounds, facets);
  parallel_blocks(static_cast<std::int64_t>(points.size()), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const Vec3f& p = points[static_cast<std::size_t>(i)];
      if (p[0] < bounds.x0 || p[0] > bounds.x1 || p[1] < bounds.y0 || p[1] > bounds.y1) continue;
      const auto cell = static_cast<std::size_t>(bins.grid.row(p[1]) * bins.grid.nx + bins.grid.column(p[0]));
      for (std::size_t k = bins.start[cell]; k < bins.start[cell + 1] && bins.item[k].reach > p[2]; ++k) {
        if (hides(facets[bins.item[k].facet], p[0], p[1], p[2])) {
          keep[static_cast<std::size_t>(i)] = 0;
          break;
        }
      }
    }
  });
  return keep;
}

constexpr double max_cells = 1u << 27;  // 2 GiB of cells' starts, with their copy

double cell_for(std::string_view where, const Rectangle& bounds, double points, double cell_m) {
  const double width = bounds.x1 - bounds.x0;
  const double height = bounds.y1 - bounds.y0;
  if (cell_m == 0) {
    // A line of points also has a spacing; for identical points any cell is valid.
    const double spacing = std::max(std::sqrt(width * height / points), std::max(width, height) / points);
    return spacing > 0 ? 2 * spacing : 1;
  }
  const double cells = std::ceil(width / cell_m) * std::ceil(height / cell_m);
  if (cells > max_cells) {
    throw_argument(where, "cell_m", fmt::format("a cell of which at most {:g} cover the points", max_cells),
                   fmt::format("{:g} m, {:g} cells", cell_m, cells));
  }
  return cell_m;
}

/// Depth of the last point before the first gap wider than `gap`, going away from the viewer.
float depth_before_gap(std::vector<float>& depths, double gap) {
  std::sort(depths.begin(), depths.end(), std::greater<>());
  float last = depths.front();
  for (float z : depths) {
    if (static_cast<double>(last) - z > gap) break;
    last = z;
  }
  return last;
}

/// Returns keep[i] = 1 if no gap wider than two cells lies in front of point i, among the points of its cell and the
/// eight around it. A depth limit alone would cut steep surfaces, whose points follow each other closely.
std::vector<char> visible_past_points(std::string_view where, const std::vector<Vec3f>& points, double cell_m) {
  const Rectangle bounds = bounds_of(points);
  const Grid grid = grid_over(bounds, cell_for(where, bounds, static_cast<double>(points.size()), cell_m));
  const auto find_cell = [&](const Vec3f& p) {
    return static_cast<std::size_t>(grid.row(p[1]) * grid.nx + grid.column(p[0]));
  };
  std::vector<std::size_t> start(grid.cells() + 1);
  for (const auto& p : points) ++start[find_cell(p) + 1];
  for (std::size_t i = 1; i < start.size(); ++i) start[i] += start[i - 1];
  std::vector<std::size_t> member(points.size());
  std::vector<std::size_t> next(start.begin(), start.end() - 1);
  for (std::size_t i = 0; i < points.size(); ++i) member[next[find_cell(points[i])]++] = i;

  std::vector<char> keep(points.size(), 1);
  parallel_for(0, grid.ny, [&](std::int64_t row) {
    std::vector<float> depths;
    for (std::int64_t column = 0; column < grid.nx; ++column) {
      const auto cell = static_cast<std::size_t>(row * grid.nx + column);
      if (start[cell] == start[cell + 1]) continue;
      depths.clear();
      for (std::int64_t r = std::max<std::int64_t>(0, row - 1); r <= std::min(grid.ny - 1, row + 1); ++r) {
        const auto first = static_cast<std::size_t>(r * grid.nx + std::max<std::int64_t>(0, column - 1));
        const auto last = static_cast<std::size_t>(r * grid.nx + std::min(grid.nx - 1, column + 1));
        for (std::size_t k = start[first]; k < start[last + 1]; ++k) depths.push_back(points[member[k]][2]);
      }
      const float limit = depth_before_gap(depths, 2 * grid.cell);
      for (std::size_t k = start[cell]; k < start[cell + 1]; ++k) keep[member[k]] = points[member[k]][2] >= limit;
    }
  });
  return keep;
}

std::vector<bool> visible_points_for(std::string_view where, const PointCloud& cloud, const Mesh* occluder,
                                     double cell_m) {
  scene::check_cloud(where, "cloud", cloud);
  if (!(std::isfinite(cell_m) && cell_m >= 0)) throw_argument(where, "cell_m", ">= 0", fmt::format("{:g}", cell_m));
  if (occluder != nullptr) scene::check_mesh(where, "occluder", *occluder);
  if (cloud.size() == 0) return {};
  const bool surface = occluder != nullptr && !occluder->triangle.empty();
  const std::vector<char> visible =
      surface ? visible_past_mesh(cloud.position, *occluder) : visible_past_points(where, cloud.position, cell_m);
  return {visible.begin(), visible.end()};
}

}  // namespace

std::vector<bool> visible_points(const PointCloud& cloud, const Mesh* occluder, double cell_m) {
  return visible_points_for("visible_points", cloud, occluder, cell_m);
}

std::int64_t hide_occluded(PointCloud& cloud, const Mesh* occluder, double cell_m) {
  const auto keep = visible_points_for("hide_occluded", cloud, occluder, cell_m);
  const auto before = static_cast<std::int64_t>(cloud.size());
  select(cloud, keep);
  return before - static_cast<std::int64_t>(cloud.size());
}

}  // namespace holotone
