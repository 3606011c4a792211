#include "by_hand.hpp"
#include "tables_generated.hpp"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <limits>
#include <list>
#include <optional>
#include <thread>
#include <unistd.h>

namespace holotone::python {
namespace {

/// Number of the calling thread. No other thread gets it later, unlike its id.
std::uint64_t this_thread() {
  static std::atomic<std::uint64_t> last{0};
  thread_local const std::uint64_t id = ++last;
  return id;
}

/// A window and the thread that alone may use it.
struct Owned {
  ~Owned() { (void)window.release(); }  // closed before, or in a thread or process that cannot

  std::unique_ptr<PanelWindow> window;  ///< null: closed
  std::uint64_t thread = this_thread();
  pid_t process = ::getpid();
  bool dropped = false;  ///< no object of Python is left
  Turn turn{};
};

/// The windows that are open, with the interpreter's lock. They outlive their objects of Python, which another thread
/// may drop.
std::list<std::shared_ptr<Owned>>& open_windows() {
  static auto* const all = new std::list<std::shared_ptr<Owned>>;
  return *all;
}

/// Closes windows of this thread: those that were dropped, or all.
void close_windows(bool all) {
  auto& open = open_windows();
  std::list<std::shared_ptr<Owned>> closing;
  for (auto one = open.begin(); one != open.end();) {
    const auto next = std::next(one);
    const bool is_own = (*one)->thread == this_thread() && (*one)->process == ::getpid();
    if (is_own && (all || (*one)->dropped)) closing.splice(closing.end(), open, one);
    one = next;
  }
  const nb::gil_scoped_release release;
  for (const auto& one : closing) one->window.reset();
}

/// PanelWindow of Python.
class Panel {
 public:
  explicit Panel(const PanelWindowOptions& options) {
    close_windows(false);
    for (const auto& one : open_windows()) {
      if (one->thread == this_thread()) {
        throw_argument("PanelWindow", "self", "no other open window in this thread", "one: close() it first");
      }
    }
    own_ = std::make_shared<Owned>();
    {
      const nb::gil_scoped_release release;
      own_->window = std::make_unique<PanelWindow>(options);
    }
    open_windows().push_back(own_);
  }
  Panel(const Panel&) = delete;
  Panel& operator=(const Panel&) = delete;
  ~Panel() {
    own_->dropped = true;
    close_windows(false);
    if (!own_->window) return;
    const auto close_later = [](void* /*data*/) {
      close_windows(false);
      return 0;
    };
    (void)Py_AddPendingCall(close_later, nullptr);  // in the main thread
  }

  [[nodiscard]] bool is_closed() const { return !own_->window; }

  /// Calls body(window) without the interpreter's lock.
  template <class Body>
  auto use(const std::string& function, bool looks, const Body& body) {
    const Work work(function);
    if (is_closed()) throw_argument(function, "self", "an open window", "a closed one");
    if (own_->thread != this_thread()) {
      throw_argument(function, "self", "a call in the thread that opened the window", "one in another thread");
    }
    const nb::gil_scoped_release release;
    const TurnScope turn(own_->turn, Turn::By::own_method, function, looks);
    return body(*own_->window);
  }

  void close() {
    if (is_closed()) return;
    use("PanelWindow.close", false, [this](PanelWindow& /*window*/) { own_->window.reset(); });
    open_windows().remove(own_);
  }

 private:
  std::shared_ptr<Owned> own_;
};

double show(Panel& self, nb::handle codes, nb::handle stream) {
  Call call("PanelWindow.show");
  call.set_stream(stream);
  const bool has_type = nb::hasattr(codes, "dtype") && nb::hasattr(codes, "shape");
  const bool is_word = has_type && nb::cast<std::string>(nb::str(nb::object(codes.attr("dtype")))).ends_with("uint16");
  const bool has_channels = has_type && find_length(codes.attr("shape")) == 3;
  const auto on_panel = [&](const auto& view) {
    const Queue queue = call.caller(view.device());
    return self.use(call.function(), false, [&](PanelWindow& window) { return window.show(view, queue); });
  };
  if (is_word && !has_channels) return on_panel(call.view<const std::uint16_t, 2>(codes, "codes"));
  if (has_channels) return on_panel(call.view<const std::uint8_t, 3>(codes, "codes"));
  return on_panel(call.view<const std::uint8_t, 2>(codes, "codes"));
}

/// Handles what happens to the window for so long.
void wait(Panel& self, nb::handle given) {
  Call call("PanelWindow.wait");
  const auto seconds = from_python<std::optional<double>>(given, call, "seconds");
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const double whole = seconds.value_or(std::numeric_limits<double>::infinity());
  if (std::isnan(whole)) throw_argument("PanelWindow.wait", "seconds", "a number or None", "nan");
  for (;;) {
    self.use("PanelWindow.wait", false, [](PanelWindow& window) { window.poll(); });
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    const double left = whole - std::chrono::duration<double>(Clock::now() - start).count();
    if (left <= 0) return;
    const nb::gil_scoped_release release;
    std::this_thread::sleep_for(std::chrono::duration<double>(std::min(left, 0.02)));
  }
}

std::shared_ptr<const Signature> signature_of_window() {
  const auto signature = std::make_shared<Signature>();
  describe_members(*signature, aggregate_type<PanelWindowOptions>());
  return signature;
}

void open(Panel* self, const Signature& signature, const nb::args& args, const nb::kwargs& kwargs) {
  Call call("PanelWindow");
  const Work work(call.function());
  Given given(signature, call.function(), args, kwargs, true);
  Context context{call, given};
  const auto options = take_members<PanelWindowOptions>(context);
  if (options.offscreen == Shape<2>{} && !is_main_thread()) {
    throw_argument(call.function(), "self", "a call in the main thread, for a window on a monitor",
                   "one in another thread");
  }
  new (self) Panel(options);
}

const char* docstring(const char* declaration) { return kept_text(std::string(documentation(declaration))); }

}  // namespace

void bind_panel_window(nb::module_& module) {
  module.def(
      "monitors",
      [] {
        const Work work("monitors");
        if (!is_main_thread()) {
          throw_argument("monitors", "", "a call in the main thread", "one in another thread");
        }
        return to_python(monitors());
      },
      nb::sig("def monitors() -> list[Monitor]"), docstring("monitors"));
  const auto signature = signature_of_window();
  nb::class_<Panel>(module, "PanelWindow", docstring("PanelWindow"))
      .def(
          "__init__",
          [signature](Panel* self, const nb::args& args, const nb::kwargs& kwargs) {
            open(self, *signature, args, kwargs);
          },
          nb::sig(kept_text(signature->text("__init__", true, "None"))),
          kept_text(documentation_of("PanelWindow::PanelWindow", *signature)))
      .def("show", &show, nb::arg("codes").none(), nb::kw_only(), nb::arg("stream") = nb::none(),
           nb::sig("def show(self, codes: ArrayOf[uint8] | ArrayOf[uint16], *, stream: Any = None) -> float"),
           kept_text(std::string(documentation("PanelWindow::show")) +
                     "\n\ncodes: uint8 {ny, nx} or {ny, nx, 3}, or uint16 {ny, nx} with `packing`, on any device."))
      .def(
          "show_safe",
          [](Panel& self) {
            return self.use("PanelWindow.show_safe", false, [](PanelWindow& window) { return window.show_safe(); });
          },
          "Shows the safe pattern, and returns the time as show() does.")
      .def(
          "poll", [](Panel& self) { self.use("PanelWindow.poll", false, [](PanelWindow& window) { window.poll(); }); },
          docstring("PanelWindow::poll"))
      .def(
          "wait", &wait, nb::arg("seconds").none() = nb::none(),
          nb::sig("def wait(self, seconds: float | None = None) -> None"),
          "Polls for so long, by default until the user closes the window or Ctrl-C; at once if `seconds` is not above "
          "0. Raises what poll raises.")
      .def(
          "sent",
          [](Panel& self) {
            auto sent = self.use("PanelWindow.sent", true, [](PanelWindow& window) { return window.sent(); });
            return to_python(std::move(sent));
          },
          nb::sig("def sent(self) -> NDArray[uint8]"), docstring("PanelWindow::sent"))
      .def(
          "monitor",
          [](Panel& self) {
            return self.use("PanelWindow.monitor", true, [](PanelWindow& window) { return Monitor(window.monitor()); });
          },
          "The monitor, as monitors() lists it; of a window in memory its size.")
      .def(
          "now_s",
          [](Panel& self) {
            return self.use("PanelWindow.now_s", true, [](PanelWindow& window) { return window.now_s(); });
          },
          docstring("PanelWindow::now_s"))
      .def(
          "direct",
          [](Panel& self) {
            return self.use("PanelWindow.direct", true, [](PanelWindow& window) { return window.direct(); });
          },
          docstring("PanelWindow::direct"))
      .def("close", &Panel::close,
           "Shows the safe pattern once more and closes the window; does nothing if it is closed.")
      .def_prop_ro("closed", &Panel::is_closed, "True after close().")
      .def(
          "__enter__", [](nb::handle self) { return nb::borrow(self); }, nb::sig("def __enter__(self) -> PanelWindow"))
      .def(
          "__exit__", [](Panel& self, const nb::args& /*exception*/) { self.close(); },
          nb::sig("def __exit__(self, *exception: object) -> None"));
  // Or the panel would keep the linear gamma ramp, and show its last codes until the process is gone.
  module.def("_close_windows", [] { close_windows(true); });
  nb::module_::import_("atexit").attr("register")(module.attr("_close_windows"));
}

}  // namespace holotone::python
