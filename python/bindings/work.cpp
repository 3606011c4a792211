#include "work.hpp"
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <holotone/core/error.hpp>
#include <thread>
#include <unistd.h>

namespace holotone::python {
namespace {

namespace nb = nanobind;

/// Changed with the interpreter's lock, but for what is atomic.
struct State {
  pid_t process = 0;  ///< in which the library was first used; 0: in none
  std::atomic<int> calls{0};
  std::atomic<int> abandoned{0};  ///< calls at work for which nobody waits
  unsigned long main_thread = 0;
  std::atomic<bool> ends{false};
  std::thread::id ending{};
};
State& state() {
  static State all;
  return all;
}

void wait_for_calls() {
  State& all = state();
  all.ending = std::this_thread::get_id();
  all.ends = true;
  const auto last = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (all.process == ::getpid() && all.calls > 0 && std::chrono::steady_clock::now() < last) {
    const nb::gil_scoped_release release;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

/// Abandoned work would meet the ends of static objects that it uses.
void end_at_once(int status, void* /*data*/) {
  if (state().abandoned == 0 || state().process != ::getpid()) return;
  std::fflush(nullptr);
  ::_exit(status);
}

}  // namespace

Work::Work(const std::string& function, bool starts) {
  State& all = state();
  const pid_t process = ::getpid();
  if (all.process != 0 && all.process != process) {
    throw_unsupported(function, "", "the process in which Holotone was first used",
                      "a child that was forked later: start it with multiprocessing's method spawn");
  }
  if (all.ends && all.ending != std::this_thread::get_id()) {
    throw Error(ErrorCode::cancelled, function + ": the interpreter ends");
  }
  if (starts) all.process = process;
  ++all.calls;
}

Work::~Work() {
  if (!abandoned_) --state().calls;
}

void Work::abandon() {
  static const bool registered = ::on_exit(&end_at_once, nullptr) == 0;
  (void)registered;
  nb::set_leak_warnings(false);  // what the work owns may outlive the interpreter
  abandoned_ = true;
  ++state().abandoned;
  --state().calls;
}

bool Work::drop(const std::function<void()>& free) {
  ++state().calls;  // the interpreter's end waits from here on
  const bool has_lock = !interpreter_ends();
  if (has_lock) {
    const nb::gil_scoped_acquire lock;
    free();
  }
  --state().calls;
  if (has_lock) --state().abandoned;
  return has_lock;
}

bool is_main_thread() { return PyThread_get_thread_ident() == state().main_thread; }

bool interpreter_ends() { return state().ends; }

void check_signals() {
  const nb::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  if (interpreter_ends() && state().ending != std::this_thread::get_id()) {
    throw Error(ErrorCode::cancelled, "the interpreter ends");
  }
}

void bind_work(nb::module_& module) {
  nb::object main = nb::module_::import_("threading").attr("main_thread")();
  state().main_thread = nb::cast<unsigned long>(main.attr("ident"));
  module.def("_wait_for_calls", &wait_for_calls);
  nb::module_::import_("atexit").attr("register")(module.attr("_wait_for_calls"));
}

}  // namespace holotone::python
