#include <cli/common/cancel.hpp>
#include <cli/common/command.hpp>
#include <cli/view/view_handler.hpp>
#include <cli/view/view_run.hpp>
#include <cstdio>
#include <cstdlib>
#include <malloc.h>
#include <web/server/address.hpp>
#include <web/server/server.hpp>

namespace holotone::cli {
namespace {

/// Keeps the memory of pictures for the next: pages that the system gives anew cost as much as a transform.
void keep_memory() {
#if defined(__GLIBC__)
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

}  // namespace

int serve_view(const ViewJob& job) {
  keep_memory();
  web::Server* broadcaster = nullptr;
  ViewHandler handler(job, [&broadcaster](web::Message message) {
    if (broadcaster != nullptr) broadcaster->broadcast(std::move(message));
  });
  web::ServerOptions options;
  options.address = job.address;
  options.port = job.port;
  options.hosts = job.hosts;
  web::Server server(options, handler);
  broadcaster = &server;
  const auto url = web::page_url(job.address, server.port(), server.token());
  if (job.port != 0 && server.port() != job.port) {
    remark(job.console, fmt::format("port {} is in use: {} is taken", job.port, server.port()));
  }
  report_json(job.console,
              {{"software", "holotone " HOLOTONE_VERSION}, {"url", url}, {"device", to_string(job.device)}});
  report(job.console, fmt::format("view: {}", url));
  check_output();
  // All users can read what a browser is started with: not the page's key, but one that works once and for this user.
  if (job.browser && !web::open_browser(web::opening_url(job.address, server.port(), server.new_opening_key()))) {
    remark(job.console, fmt::format("no browser was opened; from another machine: {}",
                                    web::tunnel_command(job.address, server.port())));
  }
  report(job.console, "Ctrl-C ends it");
  check_output();
  server.run([] { return cancelled(); });
  // A picture that is still being made need not be waited for: nothing is written.
  stopped_in_time();
  std::fflush(nullptr);
  std::_Exit(exit_ok);
}

}  // namespace holotone::cli
