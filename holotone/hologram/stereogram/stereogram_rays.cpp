// Rays of a hogel and the light they carry, computed on the host for every device.
#include <algorithm>
#include <holotone/core/parallel.hpp>
#include <holotone/hologram/stereogram/stereogram_engine.hpp>
#include <numbers>

namespace holotone::stereogram {
namespace {

/// First and last k whose cosine k step lies within [low, high] and max_k.
struct Range {
  std::int64_t first = 0;
  std::int64_t last = -1;
};

/// Returns the range of k whose cosines belong to slopes from `min_slope` to `max_slope` along one axis and from
/// `other_min` to `other_max` along the other:
///   c = t / sqrt(1 + t^2 + s^2)
Range find_range(double min_slope, double max_slope, double other_min, double other_max, double step,
                 std::int64_t max_k) {
  const double nearest = other_min > 0 ? other_min : other_max < 0 ? -other_max : 0;
  const double farthest = std::max(std::abs(other_min), std::abs(other_max));
  const auto cosine = [](double t, double s) { return t / std::hypot(1.0, t, s); };
  const double low = cosine(min_slope, min_slope < 0 ? nearest : farthest);
  const double high = cosine(max_slope, max_slope > 0 ? nearest : farthest);
  const auto limit = static_cast<double>(max_k);
  // ray_cz2 excludes rays that rounding admits here.
  return {static_cast<std::int64_t>(std::ceil(std::clamp(low / step - 1e-6, -limit, limit + 1))),
          static_cast<std::int64_t>(std::floor(std::clamp(high / step + 1e-6, -limit - 1, limit)))};
}

/// True if a ray's curvature makes its fringes, somewhere in the hogel, finer than pixels can show: they would make a
/// false image.
bool curvature_is_too_steep(const Geometry& geometry, const Hogel& hogel, std::int64_t row, std::int64_t column,
                            double curvature) {
  const auto n = static_cast<double>(geometry.options.hogel_px);
  const double spread = std::abs(curvature) * geometry.curvature_per_px2 * n * n;  // in steps of k
  const auto k = static_cast<double>(std::max(std::abs(hogel.first_kx + column), std::abs(hogel.first_ky - row)));
  return k + spread > 0.5 * n;
}

/// Sorts rays into layers of equal steps of `curvature`.
void sort_into_layers(const Geometry& geometry, HogelLight& light, const std::vector<double>& curvature,
                      StereogramReport& report) {
  double low = INFINITY;
  double high = -INFINITY;
  for (std::size_t i = 0; i < curvature.size(); ++i) {
    if (light.amplitude[i] == 0) continue;
    low = std::min(low, curvature[i]);
    high = std::max(high, curvature[i]);
  }
  light.curvature.clear();
  light.used.clear();
  light.layer.assign(curvature.size(), 0);
  if (!(low <= high)) return;
  const auto& options = geometry.options;
  const double side = static_cast<double>(options.hogel_px) * options.grid.pitch_m;
  const double enough = options.grid.wavelength_m / (2 * side * side);
  const auto count =
      static_cast<int>(std::clamp(std::ceil((high - low) / enough), 1.0, static_cast<double>(options.layers)));
  const double width = (high - low) / count;
  light.used.assign(static_cast<std::size_t>(count), 0);
  for (int l = 0; l < count; ++l) light.curvature.push_back(low + (l + 0.5) * width);
  for (std::size_t i = 0; i < curvature.size(); ++i) {
    if (light.amplitude[i] == 0) continue;
    const double place = width > 0 ? std::floor((curvature[i] - low) / width) : 0;
    const auto index = static_cast<std::uint8_t>(std::clamp(place, 0.0, count - 1.0));
    light.layer[i] = index;
    light.used[index] = 1;
  }
  report.layers = std::count(light.used.begin(), light.used.end(), 1);
  report.curvature_error_rad = std::numbers::pi * (width / 2) * (side * side / 2) / options.grid.wavelength_m;
}

}  // namespace

Geometry::Geometry(const StereogramOptions& given) : options(given) {
  const auto& grid = options.grid;
  const std::int64_t n = options.hogel_px;
  const double side = static_cast<double>(n) * grid.pitch_m;
  const double fringe = options.fringe_m > 0 ? options.fringe_m : 2 * grid.pitch_m;
  hogels = {(grid.ny + n - 1) / n, (grid.nx + n - 1) / n};
  step = grid.wavelength_m / side;
  // k = N / 2 has no mirror image and is excluded.
  max_k = std::min((n - 1) / 2, static_cast<std::int64_t>(std::floor(side / fringe * (1 + 1e-12))));
  if (options.viewer) margin_m = 0.5 * side + 0.5 * step * options.viewer->distance_m;
  max_curvature = grid.wavelength_m / (2 * side * grid.pitch_m);
  curvature_per_px2 = grid.pitch_m * grid.pitch_m / (2 * grid.wavelength_m);
}

Hogel Geometry::hogel(std::int64_t row, std::int64_t column) const {
  const auto& grid = options.grid;
  const double n = static_cast<double>(options.hogel_px);
  Hogel hogel;
  hogel.number = row * hogels[1] + column;
  hogel.x_m = (static_cast<double>(column) * n + 0.5 * (n - 1) - 0.5 * static_cast<double>(grid.nx - 1)) * grid.pitch_m;
  hogel.y_m = (0.5 * static_cast<double>(grid.ny - 1) - static_cast<double>(row) * n - 0.5 * (n - 1)) * grid.pitch_m;
  Range x{-max_k, max_k};
  Range y = x;
  if (options.viewer) {
    const Viewer& viewer = *options.viewer;
    const double half_x = 0.5 * viewer.width_m + margin_m;
    const double half_y = 0.5 * viewer.height_m + margin_m;
    hogel.min_x = (viewer.x_m - half_x - hogel.x_m) / viewer.distance_m;
    hogel.max_x = (viewer.x_m + half_x - hogel.x_m) / viewer.distance_m;
    hogel.min_y = (viewer.y_m - half_y - hogel.y_m) / viewer.distance_m;
    hogel.max_y = (viewer.y_m + half_y - hogel.y_m) / viewer.distance_m;
    x = find_range(hogel.min_x, hogel.max_x, hogel.min_y, hogel.max_y, step, max_k);
    y = find_range(hogel.min_y, hogel.max_y, hogel.min_x, hogel.max_x, step, max_k);
  }
  if (x.first > x.last || y.first > y.last) return hogel;
  hogel.first_kx = x.first;
  hogel.first_ky = y.last;
  hogel.columns = x.last - x.first + 1;
  hogel.rows = y.last - y.first + 1;
  return hogel;
}

StereogramReport look_through(const Geometry& geometry, const ViewSource& source, int channel, std::int64_t row,
                              std::int64_t column, HogelLight& light, LightScratch& scratch) {
  StereogramReport report;
  report.hogels = 1;
  light.hogel = geometry.hogel(row, column);
  const Hogel& hogel = light.hogel;
  const std::int64_t side = 2 * geometry.max_k + 1;
  report.rays = side * side;
  const auto count = static_cast<std::size_t>(hogel.rows * hogel.columns);
  light.amplitude.assign(count, 0);
  light.layer.clear();
  light.curvature.clear();
  light.used.clear();
  if (count == 0) return report;

  const bool layered = geometry.options.method == StereogramMethod::layered;
  const Shape<2> shape{hogel.rows, hogel.columns};
  scratch.intensity.resize(count);
  if (layered) scratch.distance_m.resize(count);
  const Rays rays{hogel.x_m,
                  hogel.y_m,
                  static_cast<double>(hogel.first_kx) * geometry.step,
                  static_cast<double>(hogel.first_ky) * geometry.step,
                  geometry.step,
                  shape};
  source.look(rays, channel, {scratch.intensity.data(), shape},
              layered ? View<float, 2>{scratch.distance_m.data(), shape} : View<float, 2>{});

  if (layered) scratch.curvature.assign(count, 0);
  const double min_distance = 1 / geometry.max_curvature;
  double astigmatism = 0;  // half the difference of a wave's curvatures
  for (std::int64_t r = 0; r < hogel.rows; ++r) {
    for (std::int64_t c = 0; c < hogel.columns; ++c) {
      const double cz2 = ray_cz2(hogel, geometry.step, r, c);
      if (cz2 == 0) continue;
      ++report.computed;
      const auto i = static_cast<std::size_t>(r * hogel.columns + c);
      const float intensity = scratch.intensity[i];
      if (!(intensity > 0) || !std::isfinite(intensity)) continue;
      ++report.lit;
      if (layered) {
        const auto distance = static_cast<double>(scratch.distance_m[i]);
        scratch.curvature[i] = ray_curvature(cz2, distance, geometry.max_curvature);
        if (!(std::abs(distance) >= min_distance)) ++report.too_near;
        if (curvature_is_too_steep(geometry, hogel, r, c, scratch.curvature[i])) {
          ++report.cut;
          continue;
        }
        astigmatism = std::max(astigmatism, std::abs(scratch.curvature[i]) * (1 - cz2) / (1 + cz2));
      }
      light.amplitude[i] = std::sqrt(intensity);
    }
  }
  if (layered) {
    const double corner_m2 = 0.5 / (geometry.step * geometry.step);  // its squared distance, over lambda^2
    report.astigmatism_rad = std::numbers::pi * astigmatism * corner_m2 * geometry.options.grid.wavelength_m;
    sort_into_layers(geometry, light, scratch.curvature, report);
  } else if (report.lit > 0) {
    light.curvature = {0};
    light.used = {1};
    report.layers = 1;
  }
  return report;
}

StereogramReport look_through_some(const Geometry& geometry, const ViewSource& source, int channel, std::int64_t first,
                                   std::int64_t some, std::vector<HogelLight>& lights,
                                   std::vector<LightScratch>& scratch) {
  if (std::ssize(scratch) < thread_count()) scratch.resize(static_cast<std::size_t>(thread_count()));
  std::vector<StereogramReport> reports(static_cast<std::size_t>(some));
  const std::int64_t across = geometry.hogels[1];
  parallel_for(0, some, [&](std::int64_t i) {
    reports[static_cast<std::size_t>(i)] =
        look_through(geometry, source, channel, (first + i) / across, (first + i) % across,
                     lights[static_cast<std::size_t>(i)], scratch[static_cast<std::size_t>(omp_get_thread_num())]);
  });
  StereogramReport report;
  for (const auto& part : reports) report += part;
  return report;
}

}  // namespace holotone::stereogram
