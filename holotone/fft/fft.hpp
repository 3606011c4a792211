#pragma once
#include <complex>
#include <cstdint>
#include <holotone/core/array.hpp>
#include <memory>

namespace holotone {

enum class FftDirection { forward, inverse };

struct FftOptions {
  /// Divides the inverse by nx ny, so that inverse(forward(x)) = x. False: the caller applies the factor.
  bool scale_inverse = true;
  /// Range of rows in use in zero-padded data; the plan omits the transforms along the other rows. Before a forward
  /// transform, only `rows` rows from `first_row` on are non-zero. After an inverse transform, only these rows are
  /// valid; the others hold intermediate values. rows = 0: every row.
  std::int64_t first_row = 0;
  std::int64_t rows = 0;
  /// Number of contiguous arrays, each transformed separately: data of shape {batch ny, nx}. Requires rows = 0.
  std::int64_t batch = 1;
};

/// In-place two-dimensional complex FFT with one scaling on every backend:
///   forward  X[k] = sum_n x[n] exp(-2 pi i (k_x n_x / nx + k_y n_y / ny))
///   inverse  x[n] = sum_k X[k] exp(+2 pi i (k_x n_x / nx + k_y n_y / ny)) / (nx ny)
/// The CPU transforms rows, and columns in blocks, on all threads by FFTW or the library of docs/licences.md. CUDA uses
/// cuFFT on the plan's stream, OpenCL uses VkFFT, whose kernels are compiled for each shape: the first plan of a shape
/// takes about a second, later ones read them from disk if there is a folder for them.
/// Relative l2 error of one transform: below 6e-8 (2 + log2(nx ny)).
/// Cost O(nx ny log(nx ny)). The constructor allocates the workspace; execute allocates nothing.
class FftPlan {
 public:
  /// Throws invalid_argument for an extent < 1 or > 2^30, rows outside the shape, or a batch with rows > 0;
  /// out_of_memory, device.
  explicit FftPlan(Shape<2> shape, Queue queue = {}, FftOptions options = {});
  ~FftPlan();
  FftPlan(FftPlan&&) noexcept;
  FftPlan& operator=(FftPlan&&) noexcept;

  /// Transforms `data` in the plan's shape (with a batch: {batch ny, nx}) on the plan's device. CUDA: only enqueues.
  /// Two threads must not execute one plan at once.
  void execute(View<std::complex<float>, 2> data, FftDirection direction) const;

  [[nodiscard]] const Shape<2>& shape() const;
  /// Bytes of workspace on the plan's device, without the data and FFTW's tables.
  [[nodiscard]] std::size_t workspace_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Smallest even number >= minimum without prime factors above 7. Such lengths are fast in every FFT library.
std::int64_t fft_friendly_size(std::int64_t minimum);

}  // namespace holotone
