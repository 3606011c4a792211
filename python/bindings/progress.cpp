#include "progress.hpp"
#include "work.hpp"

namespace holotone::python {

PythonProgress::PythonProgress(nb::handle progress) : progress_(nb::borrow(progress)) {
  const bool is_flag = progress.is_none() || nb::isinstance<nb::bool_>(progress);
  if (!is_flag && !nb::isinstance<nb::callable>(progress)) {
    throw Error(ErrorCode::invalid_argument,
                ErrorFields{"", "progress", "None, True, or a function (stage, done, total)",
                            nb::cast<std::string>(nb::repr(progress))});
  }
}

PythonProgress::~PythonProgress() {
  const nb::gil_scoped_acquire lock;
  if (bar_) {
    try {
      bar_.attr("close")();
    } catch (nb::python_error& error) {
      error.discard_as_unraisable("closing a progress bar");
    }
  }
  bar_.reset();
  progress_.reset();
}

bool PythonProgress::update(std::string_view stage, std::int64_t done, std::int64_t total) {
  if (interpreter_ends()) return false;
  const auto now = std::chrono::steady_clock::now();
  const bool ends = done >= total;
  if (now < next_ && !ends) return !error_;
  next_ = now + std::chrono::milliseconds(50);
  const nb::gil_scoped_acquire lock;
  try {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
    return report(stage, done, total);
  } catch (nb::python_error& error) {
    error_.emplace(std::move(error));
    return false;
  }
}

bool PythonProgress::report(std::string_view stage, std::int64_t done, std::int64_t total) {
  if (progress_.is_none() || progress_.is(nb::bool_(false))) return true;
  if (!progress_.is(nb::bool_(true))) {
    nb::object answer = progress_(nb::str(stage.data(), stage.size()), done, total);
    return !answer.is(nb::bool_(false));
  }
  draw(stage, done, total);
  return true;
}

void PythonProgress::draw(std::string_view stage, std::int64_t done, std::int64_t total) {
  if (!bar_ || stage != stage_) {
    if (bar_) bar_.attr("close")();
    nb::object tqdm = nb::module_::import_("tqdm.auto").attr("tqdm");
    stage_ = stage;
    bar_ =
        tqdm(nb::arg("total") = total, nb::arg("desc") = nb::str(stage.data(), stage.size()), nb::arg("leave") = false);
  }
  bar_.attr("n") = done;
  bar_.attr("refresh")();
}

void PythonProgress::rethrow() {
  if (!error_) return;
  nb::python_error error = std::move(*error_);
  error_.reset();
  throw error;
}

}  // namespace holotone::python
