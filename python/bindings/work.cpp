#include "work.hpp"
#include <atomic>
#include <chrono>
#include <holotone/core/error.hpp>
#include <thread>
#include <unistd.h>

namespace holotone::python {
namespace {

namespace nb = nanobind;

/// Changed with the interpreter's lock, but for `ends`.
struct State {
  pid_t process = 0;  ///< in which the library was first used; 0: in none
  int calls = 0;
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

}  // namespace

Work::Work(const std::string& function, bool starts) {
  State& all = state();
  const pid_t own = ::getpid();
  if (all.process != 0 && all.process != own) {
    throw_unsupported(function, "", "the process in which Holotone was first used",
                      "a child that was forked later: start it with multiprocessing's method spawn");
  }
  if (all.ends && all.ending != std::this_thread::get_id()) {
    throw Error(ErrorCode::cancelled, function + ": the interpreter ends");
  }
  if (starts) all.process = own;
  ++all.calls;
}

Work::~Work() { --state().calls; }

bool interpreter_ends() { return state().ends; }

void check_signals() {
  const nb::gil_scoped_acquire lock;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  if (interpreter_ends() && state().ending != std::this_thread::get_id()) {
    throw Error(ErrorCode::cancelled, "the interpreter ends");
  }
}

void bind_work(nb::module_& module) {
  module.def("_wait_for_calls", &wait_for_calls);
  nb::module_::import_("atexit").attr("register")(module.attr("_wait_for_calls"));
}

}  // namespace holotone::python
