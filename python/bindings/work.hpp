#pragma once
// Which threads are in the library.
#include <functional>
#include <nanobind/nanobind.h>
#include <string>

namespace holotone::python {

/// A call of the library, with the interpreter's lock. Throws unsupported in a child that was forked after the library
/// was used, as the library's threads are not there; cancelled at the interpreter's end, which waits for calls at work.
class Work {
 public:
  /// `starts`: the call may start threads; children that are forked after it cannot use the library.
  explicit Work(const std::string& function, bool starts = true);
  Work(const Work&) = delete;
  Work& operator=(const Work&) = delete;
  ~Work();

  /// The caller waits no more, nor does the interpreter's end. The process then ends without the library's own end.
  void abandon();
  /// Of abandoned work that has ended, in its thread: calls `free` with the interpreter's lock. False if the
  /// interpreter ends: then there is no lock.
  bool drop(const std::function<void()>& free);

 private:
  bool abandoned_ = false;
};

/// True when the interpreter ends: calls at work shall be cancelled.
bool interpreter_ends();

/// True in the thread that alone handles signals. With the interpreter's lock.
bool is_main_thread();

/// For a thread that waits, without the interpreter's lock: throws what the handler of a signal raised, such as
/// KeyboardInterrupt, in the main thread; cancelled when the interpreter ends.
void check_signals();

/// Waits at the interpreter's end for the calls of daemon threads.
void bind_work(nanobind::module_& module);

}  // namespace holotone::python
