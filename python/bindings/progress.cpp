#include "progress.hpp"
#include "arrays.hpp"

namespace holotone::python {

PythonProgress::PythonProgress(nb::handle progress, const std::string& function, std::shared_ptr<Job> job)
    : progress_(nb::borrow(progress)), job_(std::move(job)) {
  const bool is_flag = progress.is_none() || nb::isinstance<nb::bool_>(progress);
  if (!is_flag && !nb::isinstance<nb::callable>(progress)) {
    throw_argument(function, "progress", "None, True, or a function (stage, done, total)", shown(progress));
  }
  is_shown_ = !progress.is_none() && !progress.is(nb::bool_(false));
  if (is_shown_) job_->calls_python();
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
  if (interpreter_ends() || job_->stops()) return false;
  const auto now = std::chrono::steady_clock::now();
  const bool ends = done >= total;
  if (!is_shown_ || (now < next_ && !ends)) return true;
  next_ = now + std::chrono::milliseconds(50);
  bool goes_on = false;
  try {
    Job::ask(job_, [&] { goes_on = report(stage, done, total); });
  } catch (const Error& error) {
    if (error.code() != ErrorCode::cancelled) throw;  // the exception of Python is the job's
  }
  return goes_on;
}

bool PythonProgress::report(std::string_view stage, std::int64_t done, std::int64_t total) {
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

}  // namespace holotone::python
