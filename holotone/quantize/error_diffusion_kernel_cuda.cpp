// The wavefront's source for given weights and levels.
#include <algorithm>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/quantize/error_diffusion_kernel_cuda.hpp>

namespace holotone {
std::string_view error_diffusion_text(std::string_view path);  // made by CMake
}

namespace holotone::diffusion {
namespace {

constexpr int usual_warps = 8;  // twelve take as long or longer
/// Number of groups of rows in parallel from which on throughput, not latency, determines the time.
constexpr std::int64_t working = 1000;

/// Steps from an error to its use. Two steps let the compiler schedule other work in between. With one step the next
/// group of rows can begin sooner, which matters if few groups can run in parallel.
int min_delay(const Job& job, const WavefrontPattern& with_two) {
  const std::int64_t width = std::min(job.side, job.shape[1]);
  const std::int64_t apart = std::int64_t{32} * with_two.lag + with_two.chunk;
  const std::int64_t groups = std::min((std::min(job.side, job.shape[0]) + 31) / 32, width / apart + 1);
  return job.hogels_at_once[0] * job.hogels_at_once[1] * groups < working ? 1 : 2;
}

}  // namespace

WavefrontKernel WavefrontKernel::of(const Job& job, std::int64_t max_shared_bytes) {
  WavefrontKernel kernel;
  kernel.pattern = WavefrontPattern::of(job.weights.taps, 2);
  if (min_delay(job, kernel.pattern) == 1) kernel.pattern = WavefrontPattern::of(job.weights.taps, 1);
  kernel.levels = static_cast<int>(job.levels.re.size());
  if (kernel.pattern.above > 31 || 8 * kernel.levels + kernel.pattern.tile_bytes() > max_shared_bytes) {
    throw Error(
        ErrorCode::unsupported,
        fmt::format(
            "ErrorDiffusionPlan: weights: expected taps at most 31 rows above whose rows fit in {} bytes of shared "
            "memory, got {} rows, {} bytes",
            max_shared_bytes, kernel.pattern.above, kernel.pattern.tile_bytes()));
  }
  if (job.set_side > 0 && job.set_side < kernel.pattern.block + kernel.pattern.slots) {
    throw_unsupported("ErrorDiffusionPlan", "hogel_px",
                      fmt::format("at least {} for these taps if errors cross borders on a GPU",
                                  kernel.pattern.block + kernel.pattern.slots),
                      std::to_string(job.set_side));
  }
  kernel.warps = usual_warps;
  while (kernel.shared_bytes() > max_shared_bytes) kernel.warps /= 2;
  return kernel;
}

cuda::KernelSource WavefrontKernel::source(const Job& job, bool scaled, bool packed) const {
  const std::string folder = "holotone/quantize/";
  cuda::KernelSource source;
  source.name = "error_diffusion";
  source.text = error_diffusion_text(folder + "error_diffusion_wavefront_nvrtc.cuh");
  for (const char* header : {"error_diffusion_steps_nvrtc.cuh", "error_diffusion_wavefront.h", "phase_math.h"}) {
    source.headers[folder + header] = error_diffusion_text(folder + header);
  }
  source.headers[folder + "error_diffusion_pattern_macros.h"] = pattern.source();
  const auto& job_levels = job.levels;
  source.defines = {fmt::format("WARPS={}", warps),
                    fmt::format("LEVELS={}", levels),
                    fmt::format("REAL={}", job_levels.modulation == Modulation::amplitude ? 1 : 0),
                    fmt::format("TABLE={}", job_levels.boundary.empty() ? 0 : 1),
                    fmt::format("LINE={}", job_levels.line ? 1 : 0),
                    fmt::format("LINE_RE={:a}f", job_levels.line_re),
                    fmt::format("LINE_IM={:a}f", job_levels.line_im),
                    fmt::format("SCALED={}", scaled ? 1 : 0),
                    fmt::format("SETS={}", job.set_side > 0 ? 1 : 0),
                    fmt::format("PACK={}", packed ? 8 : 1)};
  return source;
}

}  // namespace holotone::diffusion
