#pragma once
// The methods of Mitani, Suzuki, Takada as their text describes them, in float32, for comparison with the library's.
#include <complex>
#include <holotone/core/array.hpp>

namespace bench {

// Sum and phase of Eq. (1), {ny, nx}: phase in 256 levels. Points {n, 4} as shimobaba_points makes them.

/// Section 3 in plain loops: sines and cosines of columns and rows, then the addition theorem at every pixel. Rows on
/// all threads.
void mitani_new_cpu(holotone::View<const float, 2> points, holotone::View<std::complex<float>, 2> field,
                    holotone::View<std::uint8_t, 2> phase);

#if HOLOTONE_CUDA
/// The earlier method: one thread a pixel, a sine and a cosine of the special-function units for each point.
void mitani_old_cuda(holotone::View<const float, 2> points, holotone::View<std::complex<float>, 2> field,
                     holotone::View<std::uint8_t, 2> phase, const holotone::Queue& queue);

/// Section 3: one thread a pixel, and nothing but multiply-adds in its loop. The sines and cosines of columns and rows
/// are computed before, for `batch` points at a time.
class MitaniNewCuda {
 public:
  MitaniNewCuda(const holotone::Shape<2>& shape, const holotone::Queue& queue);
  void run(holotone::View<const float, 2> points, holotone::View<std::complex<float>, 2> field,
           holotone::View<std::uint8_t, 2> phase);

 private:
  static constexpr std::int64_t batch = 2048;  ///< tables of 48 MB at 1920 x 1024
  holotone::Queue queue_;
  holotone::Array<std::complex<float>, 2> columns_;  ///< {batch, nx}: A_j exp(i X)
  holotone::Array<std::complex<float>, 2> rows_;     ///< {batch, ny}: exp(i Y)
};
#endif

}  // namespace bench
