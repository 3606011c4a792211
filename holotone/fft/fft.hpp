#pragma once
#include <complex>
#include <holotone/core/array.hpp>
#include <memory>

namespace holotone {

enum class FftDirection { forward, inverse };

/// In-place 2-D complex FFT, unscaled forward (sum exp(-2 pi i k n / N)), inverse scaled by 1/(nx ny), so that
/// inverse(forward(x)) = x on every backend.
class FftPlan {
 public:
  /// `effort` true lets FFTW measure (seconds of planning, for plans that iterate).
  explicit FftPlan(Shape<2> shape, Queue queue = {}, bool effort = false);
  ~FftPlan();
  FftPlan(FftPlan&&) noexcept;
  FftPlan& operator=(FftPlan&&) noexcept;
  void execute(View<std::complex<float>, 2> data, FftDirection direction) const;
  [[nodiscard]] std::size_t workspace_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holotone
