#pragma once
// Progress and cancellation of long work from Python.
#include <chrono>
#include <holotone/core/progress.hpp>
#include <nanobind/nanobind.h>
#include <optional>

namespace holotone::python {

namespace nb = nanobind;

/// Looks for Ctrl-C some times a second, and reports: `progress` is None, True for a bar of tqdm, or a function
/// (stage, done, total) that may return False to cancel.
class PythonProgress final : public Progress {
 public:
  explicit PythonProgress(nb::handle progress);
  PythonProgress(const PythonProgress&) = delete;
  PythonProgress& operator=(const PythonProgress&) = delete;
  ~PythonProgress() override;

  bool update(std::string_view stage, std::int64_t done, std::int64_t total) override;
  /// Throws the exception of Python that cancelled, if one did.
  void rethrow();

 private:
  bool report(std::string_view stage, std::int64_t done, std::int64_t total);
  void draw(std::string_view stage, std::int64_t done, std::int64_t total);

  nb::object progress_;
  nb::object bar_;
  std::string stage_;
  std::chrono::steady_clock::time_point next_{};
  std::optional<nb::python_error> error_;
};

}  // namespace holotone::python
