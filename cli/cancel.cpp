#include "cancel.hpp"
#include "command.hpp"
#include <csignal>
#include <holotone/core/error.hpp>
#include <holotone/io/atomic_file.hpp>
#include <string>
#include <unistd.h>

namespace holotone::cli {
namespace {

volatile std::sig_atomic_t signals_received = 0;

extern "C" void on_signal(int) {
  if (signals_received != 0) {
    remove_pending_files();
    _exit(exit_cancelled);
  }
  signals_received = 1;
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool cancelled() noexcept { return signals_received != 0; }

void check_cancelled(std::string_view stage) {
  if (cancelled()) throw Error(ErrorCode::cancelled, std::string(stage) + ": cancelled");
}

}  // namespace holotone::cli
