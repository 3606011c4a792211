#include <algorithm>
#include <cli/common/values.hpp>
#include <cli/quantize/quantize_windows.hpp>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/quantize/window_noise.hpp>
#include <holotone/recipes/off_axis.hpp>
#include <numbers>

namespace holotone::cli {
namespace {

/// A frequency of a hogel, at least that of red light: three colours then have one beam.
double margin_of(const FieldGrid& grid, std::int64_t side) {
  constexpr double longest_m = 780e-9;
  return std::min(0.5, std::max(1.0, longest_m / grid.wavelength_m) /
                           static_cast<double>(side > 0 ? side : std::min(grid.nx, grid.ny)));
}

/// A microradian is far below the margin, and files and flags have few digits.
double rounded(double angle_rad) { return std::round(1e6 * angle_rad) / 1e6; }

/// Requires two pixels a fringe of the beam.
void require_fringes(const ReferenceBeam& beam, const FieldGrid& grid) {
  constexpr double degrees = 180 / std::numbers::pi;
  const double finest = std::min(1.0, grid.wavelength_m / (2 * grid.pitch_m));
  for (const double angle : {beam.angle_x_rad, beam.angle_y_rad}) {
    if (std::abs(std::sin(angle)) <= finest * (1 + 1e-12)) continue;
    reject("--reference-angle",
           fmt::format("at most {:.6g} deg either way, two pixels a fringe", degrees * std::asin(finest)),
           fmt::format("{:.6g} deg", degrees * angle));
  }
}

}  // namespace

std::optional<ReferenceBeam> separating_beam(const FieldGrid& grid, const Viewer& viewer, std::int64_t side) {
  const auto beam = off_axis_beam(grid, viewer, margin_of(grid, side));
  if (!beam) return beam;
  return ReferenceBeam{rounded(beam->angle_x_rad), rounded(beam->angle_y_rad)};
}

ReferenceBeam reference_beam(const QuantizeJob& job, const std::string& path, const FieldGrid& grid,
                             std::int64_t side) {
  if (job.beam) {
    require_fringes(*job.beam, grid);
    return *job.beam;
  }
  if (!makes_twin(job.diffusion)) return {};
  if (const auto beam = separating_beam(grid, *job.viewer, side)) return *beam;
  const auto all = window_over_panel(grid, *job.viewer);
  throw Error(
      ErrorCode::invalid_argument,
      fmt::format("--reference-angle: expected a viewing window of at most {:.3g} cycles a pixel in x or y, seen "
                  "from all of the panel, got {:.3g} x {:.3g} for {}; use a smaller window or panel, or larger hogels",
                  0.5 - margin_of(grid, side), all.width, all.height, path));
}

HogelWeights hogel_weights(const QuantizeJob& job, const std::string& path, const FieldGrid& grid, std::int64_t side,
                           const ReferenceBeam& beam) {
  if (job.method == QuantizeMethod::truncate) return counted_weights({{}, Array<float, 2>({1, 0})});
  if (job.method == QuantizeMethod::floyd_steinberg) return counted_weights(floyd_steinberg_weights());
  try {
    return window_weights(grid, *job.viewer, {side, job.method == QuantizeMethod::vded, job.weights, beam});
  } catch (const Error& error) {
    if (error.function() != "window_weights" || error.argument() != "viewer") throw;
    throw Error(error.code(), fmt::format("--viewer: expected {}, got {} for {}", error.expected(), error.got(), path));
  }
}

}  // namespace holotone::cli
