#pragma once
#include <complex>
#include <cstdint>
#include <holotone/core/array.hpp>
#include <memory>

namespace holotone {

enum class FftDirection { forward, inverse };

struct FftOptions {
  /// Lets FFTW measure (seconds of planning, in memory of its own): for plans that iterate. cuFFT has no such choice.
  bool effort = false;
  /// Divides the inverse by nx ny, so that inverse(forward(x)) = x. Off when the caller folds it into another factor.
  bool scale_inverse = true;
  /// Zero padding known to the plan: only `rows` rows from `first_row` on are not zero before a forward transform, and
  /// only these are wanted after an inverse one (the others then hold intermediate values). rows = 0: every row.
  /// Saves the transforms along the rows that are not named.
  std::int64_t first_row = 0;
  std::int64_t rows = 0;
  /// So many arrays one after the other, each transformed by itself: data of shape {batch ny, nx}. Needs
  /// rows = 0.
  std::int64_t batch = 1;
};

/// In-place two-dimensional complex FFT with one scaling on every backend:
///   forward  X[k] = sum_n x[n] exp(-2 pi i (k_x n_x / nx + k_y n_y / ny))
///   inverse  x[n] = sum_k X[k] exp(+2 pi i (k_x n_x / nx + k_y n_y / ny)) / (nx ny)
/// The CPU goes through FFTW's API (float, OpenMP threads), CUDA through cuFFT on the plan's stream.
/// Relative l2 error of one transform: below 6e-8 (2 + log2(nx ny)).
/// Cost O(nx ny log(nx ny)). The workspace is taken in the constructor; execute takes none.
class FftPlan {
 public:
  /// Throws invalid_argument for an extent < 1 or > 2^30, rows outside the shape or a batch of pruned ones, out_of_memory, device.
  explicit FftPlan(Shape<2> shape, Queue queue = {}, FftOptions options = {});
  ~FftPlan();
  FftPlan(FftPlan&&) noexcept;
  FftPlan& operator=(FftPlan&&) noexcept;

  /// Transforms `data`, which has the plan's shape (a batch's: {batch ny, nx}) and lives on its device. CUDA: only enqueues.
  /// One plan is not to be executed by two threads at once.
  void execute(View<std::complex<float>, 2> data, FftDirection direction) const;

  [[nodiscard]] const Shape<2>& shape() const;
  /// Memory the plan holds on its device beyond the data (FFTW keeps its own, which is not counted).
  [[nodiscard]] std::size_t workspace_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The smallest even number >= minimum without prime factors above 7: lengths that every FFT library is fast at.
std::int64_t fft_friendly_size(std::int64_t minimum);

}  // namespace holotone
