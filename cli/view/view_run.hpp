#pragma once
#include <cli/view/view_job.hpp>

namespace holotone::cli {

/// Serves the page until a signal. Returns the exit code.
int serve_view(const ViewJob& job);

/// Writes the page with its pictures at the stops to the job's output. Returns the exit code.
int store_view(const ViewJob& job);

}  // namespace holotone::cli
