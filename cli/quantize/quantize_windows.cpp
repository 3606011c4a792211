#include <cli/quantize/quantize_windows.hpp>
#include <fmt/format.h>
#include <holotone/core/error.hpp>

namespace holotone::cli {

HogelWeights hogel_weights(const QuantizeJob& job, const std::string& path, const FieldGrid& grid, std::int64_t side) {
  if (job.method == QuantizeMethod::truncate) return counted_weights({{}, Array<float, 2>({1, 0})});
  if (job.method == QuantizeMethod::floyd_steinberg) return counted_weights(floyd_steinberg_weights());
  try {
    return window_weights(grid, *job.viewer, {side, job.method == QuantizeMethod::vded, job.weights});
  } catch (const Error& error) {
    if (error.function() != "window_weights" || error.argument() != "viewer") throw;
    throw Error(error.code(), fmt::format("--viewer: expected {}, got {} for {}", error.expected(), error.got(), path));
  }
}

}  // namespace holotone::cli
