#pragma once
// Convolution of fields by their spectrum, in three passes over memory. Not for users.
#include <complex>
#include <holotone/core/array.hpp>
#include <memory>

namespace holotone::fft {

/// y = crop(F^-1(H F(pad(x)))): x is padded with zeros to at least twice its size. Several H share one F(pad(x)). See
/// padded_filter_cuda.cu.
class CudaPaddedFilter {
 public:
  using Complex = std::complex<float>;

  struct Options {
    std::int64_t batch = 1;  ///< fields that lie one after the other and are filtered together
    bool several = false;    ///< more than one apply() for a forward(), with memory for a second spectrum
  };

  /// H(ky, kx) = values(|ky|, |kx|) along_y(ky) along_x(kx), with the inverse transform's 1 / (ly lx); on the device.
  struct Transfer {
    const Complex* values = nullptr;   ///< of transfer_shape()
    const Complex* along_y = nullptr;  ///< of ly values; null, like along_x: 1
    const Complex* along_x = nullptr;  ///< of lx values
  };

  /// None where a padded side is less than twice the field's or is not among the lengths that have kernels, and where a
  /// block of the device has too little shared memory.
  static std::unique_ptr<CudaPaddedFilter> make(Shape<2> field, Shape<2> padded, const Queue& queue, Options options);
  static std::unique_ptr<CudaPaddedFilter> make(Shape<2> field, Shape<2> padded, const Queue& queue) {
    return make(field, padded, queue, Options{});
  }
  virtual ~CudaPaddedFilter() = default;

  /// Shape of the values of H: a row for each |kx| from 0 to lx / 2.
  [[nodiscard]] virtual Shape<2> transfer_shape() const = 0;
  /// |ky| of each column of the values, on the device. Some columns are for alignment only.
  [[nodiscard]] virtual View<const int, 1> transfer_frequencies() const = 0;

  /// Transforms the rows of `batch` fields. Only enqueues, like apply.
  virtual void forward(const Complex* input) = 0;
  /// Writes the fields, or their squared moduli where `field` is null.
  virtual void apply(const Transfer& transfer, Complex* field, float* intensity) = 0;

  [[nodiscard]] virtual std::size_t workspace_bytes() const = 0;
};

}  // namespace holotone::fft
