#include "cancel.hpp"
#include "command.hpp"
#include <atomic>
#include <csignal>
#include <holotone/core/error.hpp>
#include <holotone/io/atomic_file.hpp>
#include <string>
#include <unistd.h>

namespace holotone::cli {
namespace {

/// Lock-free, so that the handler may write it and every thread read it.
std::atomic<int> signals_received = 0;
static_assert(std::atomic<int>::is_always_lock_free);

extern "C" void on_signal(int) {
  if (signals_received.exchange(1) != 0) {
    remove_pending_files();
    _exit(exit_cancelled);
  }
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  for (const int signal : {SIGINT, SIGTERM}) {
    struct sigaction inherited {};
    sigaction(signal, nullptr, &inherited);
    // Started in the background or by nohup: whoever did so does not want it stopped this way.
    if (inherited.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
}

bool cancelled() noexcept { return signals_received != 0; }

void check_cancelled(std::string_view stage) {
  if (cancelled()) throw Error(ErrorCode::cancelled, std::string(stage) + ": cancelled");
}

}  // namespace holotone::cli
