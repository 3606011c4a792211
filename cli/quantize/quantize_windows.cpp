#include <cli/options/values.hpp>
#include <cli/quantize/quantize_windows.hpp>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/quantize/window_noise.hpp>
#include <holotone/recipes/codes/field_blocks_detail.hpp>
#include <holotone/recipes/off_axis.hpp>

namespace holotone::cli {

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
                  0.5 - beam_margin(grid, side), all.width, all.height, path));
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
