#pragma once
// Convolution of fields by their spectrum, in three passes over memory. Not for users.
#include <complex>
#include <holotone/core/array.hpp>
#include <memory>
#include <span>

namespace holotone::fft {

/// y = crop(F^-1(H F(pad(x)))): x is padded with zeros to at least twice its size. H is even along both axes. Several H
/// share one F(pad(x)). See padded_filter_cuda.cu.
class CudaPaddedFilter {
 public:
  using Complex = std::complex<float>;

  struct Options {
    std::int64_t batch = 1;  ///< fields that lie one after the other and are filtered together
    /// For apply_four and adjoint_four, with memory for three spectra: factors of the frequencies 0 to ly - 1 and
    /// 0 to lx - 1, such as those of a shift. Batch 1.
    std::span<const Complex> along_y{};
    std::span<const Complex> along_x{};
  };

  /// None where a padded side is less than twice the field's or is not among the lengths that have kernels, where a
  /// block of the device has too little shared memory, and for long sides on devices without clusters of blocks.
  static std::unique_ptr<CudaPaddedFilter> make(Shape<2> field, Shape<2> padded, const Queue& queue, Options options);
  static std::unique_ptr<CudaPaddedFilter> make(Shape<2> field, Shape<2> padded, const Queue& queue) {
    return make(field, padded, queue, Options{});
  }
  virtual ~CudaPaddedFilter() = default;

  /// Shape of the values of H: a row for each |kx| from 0 to lx / 2.
  [[nodiscard]] virtual Shape<2> transfer_shape() const = 0;
  /// |ky| of each column of the values, on the device. Some columns are for alignment only.
  [[nodiscard]] virtual View<const int, 1> transfer_frequencies() const = 0;

  /// Transforms the rows of `batch` fields. Only enqueues, like all that follow.
  virtual void forward(const Complex* input) = 0;
  /// Writes the fields, or their squared moduli where `field` is null. `transfer`: H with the inverse transform's
  /// 1 / (ly lx), of transfer_shape(), on the device. `keep`: the spectrum of forward stays for another apply, with
  /// memory for a second one.
  virtual void apply(const Complex* transfer, Complex* field, float* intensity, bool keep = false) = 0;
  /// Writes the fields {4, ny, nx}, keeping the spectrum, by H, H along_x, H along_y and H along_y along_x.
  virtual void apply_four(const Complex* transfer, Complex* fields) = 0;
  /// The adjoint of forward and apply: the same with conj(H). Overwrites the spectrum of forward.
  virtual void adjoint(const Complex* transfer, const Complex* field, Complex* result) = 0;
  /// The adjoint of forward and apply_four: the sum of four fields' adjoints.
  virtual void adjoint_four(const Complex* transfer, const Complex* fields, Complex* result) = 0;

  [[nodiscard]] virtual std::size_t workspace_bytes() const = 0;
};

}  // namespace holotone::fft
