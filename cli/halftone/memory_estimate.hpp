#pragma once
#include <cli/halftone/halftone_job.hpp>
#include <cstdint>
#include <string_view>

namespace holotone::cli {

/// require_memory for `count` dots by the job's method, without the picture; `option` is named in the error.
void require_memory_for_dots(const HalftoneJob& job, std::int64_t count, std::string_view option);

}  // namespace holotone::cli
