#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/units.hpp>
#include <holotone/optics/panel_patterns.hpp>
#include <holotone/optics/parallel_rows.hpp>
#include <numbers>

namespace holotone {
namespace {

constexpr double min_period_px = 2;

RowRange check_rows(std::string_view where, const FieldGrid& grid, const RowRange& part) {
  require_grid(where, grid);
  if (part == RowRange{}) return {0, grid.ny};
  require_rows(where, part, grid.ny);
  return part;
}

float fraction(double turns) {
  const auto part = static_cast<float>(turns - std::floor(turns));
  return part < 1 ? part : 0;  // 1 - 1e-9 rounds up
}

double pixel_x_m(const FieldGrid& grid, std::int64_t col) {
  return (static_cast<double>(col) - static_cast<double>(grid.nx - 1) / 2) * grid.pitch_m;
}

double pixel_y_m(const FieldGrid& grid, std::int64_t row) {
  return (static_cast<double>(grid.ny - 1) / 2 - static_cast<double>(row)) * grid.pitch_m;
}

/// Fractions of turns(row, col) of the rows `part`.
template <class Turns>
Array<float, 2> compute_pixels(const FieldGrid& grid, const RowRange& part, const Turns& turns) {
  Array<float, 2> pixels({part.rows, grid.nx});
  parallel_rows(part.rows, grid.nx, [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t row = first; row < last; ++row) {
      float* const out = pixels.data() + row * grid.nx;
      for (std::int64_t col = 0; col < grid.nx; ++col) out[col] = fraction(turns(part.first_row + row, col));
    }
  });
  return pixels;
}

void require_finite(std::string_view where, std::string_view argument, double value) {
  if (!std::isfinite(value)) throw_argument(where, argument, "a finite number", fmt::format("{:g}", value));
}

/// Of any options with a centre.
template <class Options>
void require_centre(std::string_view where, const Options& options) {
  require_finite(where, "centre_x_m", options.centre_x_m);
  require_finite(where, "centre_y_m", options.centre_y_m);
}

void require_period(std::string_view where, double period_m, double magnitude_m, const FieldGrid& grid) {
  const double min_m = min_period_px * grid.pitch_m;
  // A period typed as two pixels in micrometres must not fail by rounding.
  if (std::isfinite(period_m) && magnitude_m >= min_m * (1 - 1e-12)) return;
  throw_argument(where, "period_m", fmt::format("at least two pixels, {}", format_length(min_m)),
                 format_length(period_m));
}

void require_lens(std::string_view where, const LensPatternOptions& options) {
  require_centre(where, options);
  if (std::isfinite(options.focal_length_m) && options.focal_length_m != 0) return;
  throw_argument(where, "focal_length_m", "a finite length, not 0", fmt::format("{:g}", options.focal_length_m));
}

}  // namespace

Array<float, 2> grating_turns(const GratingOptions& options, const FieldGrid& grid, const RowRange& part) {
  constexpr std::string_view where = "grating_turns";
  const RowRange rows = check_rows(where, grid, part);
  require_period(where, options.period_m, options.period_m, grid);
  require_finite(where, "angle_rad", options.angle_rad);
  if (!(options.depth_turns >= 0 && options.depth_turns <= 1)) {
    throw_argument(where, "depth_turns", "0 to 1", fmt::format("{:g}", options.depth_turns));
  }
  const double depth = options.depth_turns > 0 ? options.depth_turns : options.binary ? 0.5 : 1;
  const double across = std::cos(options.angle_rad) / options.period_m;
  const double up = std::sin(options.angle_rad) / options.period_m;
  return compute_pixels(grid, rows, [&](std::int64_t row, std::int64_t col) {
    const double u = pixel_x_m(grid, col) * across + pixel_y_m(grid, row) * up;
    const double place = u - std::floor(u);
    if (options.binary) return place < 0.5 ? 0 : depth;
    return depth * place;
  });
}

Array<float, 2> lens_turns(const LensPatternOptions& options, const FieldGrid& grid, const RowRange& part) {
  const RowRange rows = check_rows("lens_turns", grid, part);
  require_lens("lens_turns", options);
  const double scale = -0.5 / (grid.wavelength_m * options.focal_length_m);
  return compute_pixels(grid, rows, [&](std::int64_t row, std::int64_t col) {
    const double x = pixel_x_m(grid, col) - options.centre_x_m;
    const double y = pixel_y_m(grid, row) - options.centre_y_m;
    return scale * (x * x + y * y);
  });
}

double shortest_focal_length_m(const LensPatternOptions& options, const FieldGrid& grid) {
  require_grid("shortest_focal_length_m", grid);
  require_centre("shortest_focal_length_m", options);
  const double x = std::abs(pixel_x_m(grid, 0)) + std::abs(options.centre_x_m);
  const double y = std::abs(pixel_y_m(grid, 0)) + std::abs(options.centre_y_m);
  return 2 * grid.pitch_m * std::max(x, y) / grid.wavelength_m;
}

Array<float, 2> axicon_turns(const AxiconOptions& options, const FieldGrid& grid, const RowRange& part) {
  const RowRange rows = check_rows("axicon_turns", grid, part);
  require_period("axicon_turns", options.period_m, std::abs(options.period_m), grid);
  require_centre("axicon_turns", options);
  return compute_pixels(grid, rows, [&](std::int64_t row, std::int64_t col) {
    const double x = pixel_x_m(grid, col) - options.centre_x_m;
    const double y = pixel_y_m(grid, row) - options.centre_y_m;
    return -std::sqrt(x * x + y * y) / options.period_m;
  });
}

Array<float, 2> vortex_turns(const VortexOptions& options, const FieldGrid& grid, const RowRange& part) {
  const RowRange rows = check_rows("vortex_turns", grid, part);
  require_bounds("vortex_turns", "charge", options.charge, bounds_of<&VortexOptions::charge>);
  if (options.charge == 0) throw_argument("vortex_turns", "charge", "a whole number, not 0", "0");
  require_centre("vortex_turns", options);
  const double scale = options.charge / (2 * std::numbers::pi);
  return compute_pixels(grid, rows, [&](std::int64_t row, std::int64_t col) {
    return scale * std::atan2(pixel_y_m(grid, row) - options.centre_y_m, pixel_x_m(grid, col) - options.centre_x_m);
  });
}

Array<float, 2> checkerboard_turns(const CheckerboardOptions& options, const FieldGrid& grid, const RowRange& part) {
  const RowRange rows = check_rows("checkerboard_turns", grid, part);
  require_bounds("checkerboard_turns", "cell_px", static_cast<double>(options.cell_px),
                 bounds_of<&CheckerboardOptions::cell_px>);
  if (!(options.depth_turns > 0 && options.depth_turns <= 1)) {
    throw_argument("checkerboard_turns", "depth_turns", "> 0 and at most 1", fmt::format("{:g}", options.depth_turns));
  }
  return compute_pixels(grid, rows, [&](std::int64_t row, std::int64_t col) {
    return (row / options.cell_px + col / options.cell_px) % 2 == 0 ? 0 : options.depth_turns;
  });
}

}  // namespace holotone
