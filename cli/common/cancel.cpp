#include <atomic>
#include <cli/common/cancel.hpp>
#include <cli/common/command.hpp>
#include <cli/common/paths.hpp>
#include <csignal>
#include <ctime>
#include <holotone/core/error.hpp>
#include <holotone/io/atomic_file.hpp>
#include <holotone/io/guarded/sandbox.hpp>
#include <string>
#include <unistd.h>

namespace holotone::cli {
namespace {

/// Lock-free, so that the handler may write it and every thread read it.
std::atomic<int> signals_received = 0;
std::atomic<bool> patient = false;
std::atomic<bool> says_so = true;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

constexpr int ending_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};

/// Seconds from a signal to the end of the program: enough for all but the longest loops and library calls to reach a
/// check.
constexpr unsigned patience_s = 1;

/// Prints the message of main by async-signal-safe calls.
void say_cancelled() {
  if (!says_so) return;
  constexpr std::string_view wipe = "\r\033[K";
  constexpr std::string_view text = "holotone: cancelled\n";
  if (isatty(STDERR_FILENO) != 0) (void)!write(STDERR_FILENO, wipe.data(), wipe.size());
  (void)!write(STDERR_FILENO, text.data(), text.size());
}

extern "C" void on_signal(int signal) {
  end_guarded_command();
  if (signal == SIGALRM) {
    say_cancelled();
  } else if (signals_received.exchange(1) == 0) {
    if (!patient) alarm(patience_s);
    return;
  }
  // Several passes: another thread may still be opening its temporary file by name, or renaming it.
  for (int pass = 0; pass < 10; ++pass) {
    remove_pending_files();
    remove_unfinished_outputs();
    const timespec pause{0, 5'000'000};
    nanosleep(&pause, nullptr);
  }
  _exit(exit_cancelled);
}

}  // namespace

void install_signal_handlers() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigemptyset(&action.sa_mask);
  for (const int signal : ending_signals) sigaddset(&action.sa_mask, signal);
  sigaddset(&action.sa_mask, SIGALRM);
  action.sa_flags = SA_RESTART;
  // A write beyond a file's size limit or to a closed pipe then fails with an error.
  for (const int signal : {SIGXFSZ, SIGPIPE}) std::signal(signal, SIG_IGN);
  sigaction(SIGALRM, &action, nullptr);
  for (const int signal : ending_signals) {
    struct sigaction inherited {};
    sigaction(signal, nullptr, &inherited);
    // A signal ignored at the start (in the background or by nohup) stays ignored.
    if (inherited.sa_handler != SIG_IGN) sigaction(signal, &action, nullptr);
  }
}

void stopped_in_time() noexcept { alarm(0); }

void stop_without_limit() noexcept { patient = true; }

void end_silently() noexcept { says_so = false; }

bool cancelled() noexcept { return signals_received != 0; }

void check_cancelled(std::string_view stage) {
  if (cancelled()) throw Error(ErrorCode::cancelled, std::string(stage) + ": cancelled");
}

}  // namespace holotone::cli
