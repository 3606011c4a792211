#pragma once
// Progress and cancellation of long work from Python.
#include "job.hpp"
#include <chrono>
#include <holotone/core/progress.hpp>
#include <nanobind/nanobind.h>
#include <string>

namespace holotone::python {

namespace nb = nanobind;

/// Reports of a call's work, and its end by Ctrl-C: `progress` is None, True for a bar of tqdm, or a function
/// (stage, done, total) that may return False to cancel.
class PythonProgress final : public Progress {
 public:
  PythonProgress(nb::handle progress, const std::string& function, std::shared_ptr<Job> job);
  PythonProgress(const PythonProgress&) = delete;
  PythonProgress& operator=(const PythonProgress&) = delete;
  ~PythonProgress() override;

  bool update(std::string_view stage, std::int64_t done, std::int64_t total) override;

 private:
  bool report(std::string_view stage, std::int64_t done, std::int64_t total);
  void draw(std::string_view stage, std::int64_t done, std::int64_t total);

  nb::object progress_;
  std::shared_ptr<Job> job_;
  nb::object bar_;
  bool is_shown_ = false;
  std::string stage_;
  std::chrono::steady_clock::time_point next_{};
};

}  // namespace holotone::python
