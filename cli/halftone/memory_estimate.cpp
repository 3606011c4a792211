#include <cli/common/memory_limit.hpp>
#include <cli/halftone/memory_estimate.hpp>
#include <cli/options/values.hpp>
#include <holotone/halftone/capacity_voronoi.hpp>

namespace holotone::cli {
namespace {

/// Bytes per dot: peak resident memory of runs with 2,000,000 dots, rounded up.
double bytes_a_dot(const HalftoneJob& job) {
  const double classes = job.several_inks() ? 1.5 : 1;  // plans per class and for all
  switch (job.options.method) {
    case HalftoneMethod::electrostatic:
    case HalftoneMethod::direct: return classes * (job.device.backend == Backend::cpu ? 120 : 60);
    case HalftoneMethod::lloyd: return 320;
    case HalftoneMethod::capacity_voronoi: return 25 * static_cast<double>(CapacityVoronoiOptions{}.capacity);
    case HalftoneMethod::floyd_steinberg: break;
  }
  return 40;
}

}  // namespace

void require_memory_for_dots(const HalftoneJob& job, std::int64_t count, std::string_view option) {
  require_memory(option, static_cast<double>(count) * bytes_a_dot(job), counted(count, "dot"));
}

}  // namespace holotone::cli
