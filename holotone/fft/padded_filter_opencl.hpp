#pragma once
// Convolution of a field by its spectrum, in three passes over memory. Not for users.
#include <complex>
#include <holotone/core/array.hpp>
#include <holotone/core/kernel_opencl.hpp>
#include <memory>

namespace holotone::fft {

/// y = crop(F^-1(H F(pad(x)))): x is padded with zeros to at least twice its size, H is even in both frequencies.
/// Kernels are made for the shape; see padded_filter_opencl.cl.
class PaddedFilter {
 public:
  using Complex = std::complex<float>;

  /// None where a padded side is odd, is less than twice the field's or has a prime factor above 7, and where a line
  /// does not fit into the local memory of the device, of which at most `local_bytes` are used.
  static std::unique_ptr<PaddedFilter> make(Shape<2> field, Shape<2> padded, const Queue& queue,
                                            std::size_t local_bytes = std::size_t{1} << 16);

  /// Shape of H: a row for each frequency 0 to lx / 2 along x; in it frequencies 0 to ly / 2 along y, even ones first,
  /// then the odd ones from column ly / 4 + 1 on.
  static Shape<2> transfer_shape(Shape<2> padded) { return {padded[1] / 2 + 1, 2 * (padded[0] / 4 + 1)}; }

  /// Transforms the rows of a field. Only enqueues, like apply.
  void forward(const Complex* input);
  /// Writes the field, or its squared modulus where `field` is null. H includes the inverse transform's 1 / (lx ly).
  /// `keep`: the spectrum stays for another apply, with memory for a second one.
  void apply(const Complex* transfer, Complex* field, float* intensity, bool keep = false);

  [[nodiscard]] std::size_t workspace_bytes() const;

 private:
  struct Axis;
  [[nodiscard]] std::int64_t whole_strips() const;
  [[nodiscard]] opencl::Range over_rows() const;
  PaddedFilter(Shape<2> field, const Axis& rows, const Axis& columns, const Queue& queue);

  Queue queue_;
  Shape<2> field_;
  Shape<2> padded_;
  std::size_t row_items_;     ///< work items of a group
  std::size_t column_items_;  ///< work items of a group
  opencl::Kernel rows_forward_;
  opencl::Kernel rows_back_;
  opencl::Kernel columns_;
  Array<Complex, 1> roots_x_;
  Array<Complex, 1> roots_y_;
  Array<Complex, 1> strips_;
  Array<Complex, 1> product_;  ///< of a spectrum that is kept
};

}  // namespace holotone::fft
