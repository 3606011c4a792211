#pragma once
#include <cli/halftone/halftone_job.hpp>
#include <cstdint>
#include <string_view>

namespace holotone::cli {

/// require_memory for so many dots by the job's method, the picture apart; `option` is what asked for them.
void require_memory_for_dots(const HalftoneJob& job, std::int64_t count, std::string_view option);

}  // namespace holotone::cli
