#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/core/units.hpp>
#include <holotone/recipes/beam_target.hpp>
#include <limits>
#include <numbers>

namespace holotone {
namespace {

constexpr std::string_view where = "draw_beam";
constexpr double edge_px = 1.5;  ///< standard deviation of the Gaussian that softens an edge
constexpr double min_side_px = 4;

/// Pixels of the picture along y and x.
std::array<double, 2> find_pixel_sides(const PhaseRetrievalOptions& model) {
  const auto& grid = model.grid;
  if (model.focal_length_m == 0) return {grid.pitch_m, grid.pitch_m};
  const double across = grid.wavelength_m * model.focal_length_m / grid.pitch_m;
  return {across / static_cast<double>(grid.ny), across / static_cast<double>(grid.nx)};
}

/// A line of even amplitude from -half to half with soft edges.
double soft_line(double x, double half, double edge) {
  const double scale = edge * std::numbers::sqrt2;
  return (std::erf((half - x) / scale) + std::erf((half + x) / scale)) / 2;
}

double find_amplitude(const BeamTarget& target, double x, double y, const std::array<double, 2>& pixel) {
  const double radius = std::hypot(x, y);
  const double edge = edge_px * std::max(pixel[0], pixel[1]);
  switch (target.shape) {
    case BeamShape::flat_top:
    case BeamShape::line:
      return soft_line(x, target.width_m / 2, edge_px * pixel[1]) *
             soft_line(y, target.height_m / 2, edge_px * pixel[0]);
    case BeamShape::disc: return soft_line(radius, target.width_m / 2, edge);
    case BeamShape::ring:
      return soft_line(radius, target.width_m / 2, edge) - soft_line(radius, target.height_m / 2, edge);
    case BeamShape::gaussian: return std::exp(-4 * radius * radius / (target.width_m * target.width_m));
  }
  return 0;
}

void require_side(std::string_view argument, double side_m, double pixel_m) {
  if (side_m >= min_side_px * pixel_m && std::isfinite(side_m)) return;
  throw_argument(
      where, argument,
      fmt::format("at least {} pixels of the picture, {}", min_side_px, format_length(min_side_px * pixel_m)),
      format_length(side_m));
}

void require_target(const BeamTarget& target, const std::array<double, 2>& pixel) {
  const double largest = std::max(pixel[0], pixel[1]);
  const bool is_oblong = target.shape == BeamShape::flat_top || target.shape == BeamShape::line;
  require_side("width_m", target.width_m, is_oblong ? pixel[1] : largest);
  if (is_oblong) require_side("height_m", target.height_m, pixel[0]);
  if (target.shape == BeamShape::ring) {
    require_side("height_m", target.height_m, largest);
    require_side("width_m - height_m", (target.width_m - target.height_m) / 2, largest);
  }
  for (const double place : {target.x_m, target.y_m}) {
    if (!std::isfinite(place)) throw_argument(where, "x_m, y_m", "finite places", fmt::format("{}", place));
  }
}

}  // namespace

DrawnBeam draw_beam(const BeamTarget& target, const PhaseRetrievalOptions& model) {
  const auto pixel = find_pixel_sides(model);
  require_target(target, pixel);
  const auto [ny, nx] = model.grid.shape();
  const bool is_oblong = target.shape == BeamShape::flat_top || target.shape == BeamShape::line;
  // Of a Gaussian beam what is within twice its radius: 3e-4 of its light lies beyond.
  const double width_m = target.shape == BeamShape::gaussian ? 2 * target.width_m : target.width_m;
  const double height_m = is_oblong ? target.height_m : width_m;
  const auto place = [&](double middle_m, double side_m, std::size_t axis, std::int64_t all, std::int64_t& first,
                         std::int64_t& count) {
    const double margin = std::max(6.0, static_cast<double>(all) / 64);
    const double middle = middle_m / pixel[axis] + static_cast<double>(all - 1) / 2;
    const double half = side_m / pixel[axis] / 2;
    const double begin = std::floor(middle - half - margin);
    const double end = std::ceil(middle + half + margin);
    first = static_cast<std::int64_t>(std::clamp(begin, 0.0, static_cast<double>(all)));
    count = static_cast<std::int64_t>(std::clamp(end + 1, 0.0, static_cast<double>(all))) - first;
    return middle - half >= 0 && middle + half <= static_cast<double>(all - 1);
  };
  DrawnBeam made{Array<float, 2>(model.grid.shape()), {}, Array<std::uint8_t, 2>(model.grid.shape())};
  auto& region = made.region;
  const bool is_within = place(target.x_m, width_m, 1, nx, region.column, region.columns) &&
                         place(-target.y_m, height_m, 0, ny, region.row, region.rows);
  if (!is_within) {
    throw_argument(
        where, "target",
        fmt::format("a beam within the picture of {} x {}", format_length(pixel[1] * static_cast<double>(nx)),
                    format_length(pixel[0] * static_cast<double>(ny))),
        fmt::format("{} x {} at {}, {}", format_length(width_m), format_length(height_m), format_length(target.x_m),
                    format_length(target.y_m)));
  }
  constexpr double full = 0.999;
  std::ranges::fill(made.amplitude.host(), 0.0F);
  std::ranges::fill(made.inner.host(), std::uint8_t{0});
  parallel_for(region.row, region.row + region.rows, [&, ny = ny, nx = nx](std::int64_t row) {
    const double y = -(static_cast<double>(row) - static_cast<double>(ny - 1) / 2) * pixel[0] - target.y_m;
    for (std::int64_t column = region.column; column < region.column + region.columns; ++column) {
      const double x = (static_cast<double>(column) - static_cast<double>(nx - 1) / 2) * pixel[1] - target.x_m;
      const double amplitude = find_amplitude(target, x, y, pixel);
      made.amplitude(row, column) = static_cast<float>(amplitude);
      made.inner(row, column) = target.shape != BeamShape::gaussian && amplitude > full ? 1 : 0;
    }
  });
  return made;
}

double find_unevenness(View<const float, 3> intensity, View<const std::uint8_t, 2> inner) {
  const auto [positions, ny, nx] = intensity.shape();
  if (inner.shape() != Shape<2>{ny, nx}) {
    throw_argument("find_unevenness", "inner", to_string<2>({ny, nx}), to_string<2>(inner.shape()));
  }
  constexpr double min_pixels = 16;
  double worst = -1;
  for (std::int64_t position = 0; position < positions; ++position) {
    const float* const values = intensity.data() + position * ny * nx;
    double count = 0;
    double sum = 0;
    double squares = 0;
    for (std::int64_t i = 0; i < ny * nx; ++i) {
      if (inner.data()[i] == 0) continue;
      const auto value = static_cast<double>(values[i]);
      ++count;
      sum += value;
      squares += value * value;
    }
    if (count < min_pixels || sum <= 0) return std::numeric_limits<double>::quiet_NaN();
    const double mean = sum / count;
    worst = std::max(worst, std::sqrt(std::max(0.0, squares / count - mean * mean)) / mean);
  }
  return worst;
}

}  // namespace holotone
