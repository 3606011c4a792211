// A build without Boost.Beast.
#include <cli/view/view_run.hpp>
#include <holotone/core/error.hpp>

namespace holotone::cli {

int serve_view(const ViewJob& /*job*/) {
  throw Error(ErrorCode::unsupported, "view: expected a build with Boost.Beast (HOLOTONE_WEB), got one without");
}

int store_view(const ViewJob& job) { return serve_view(job); }

}  // namespace holotone::cli
