#pragma once
// The methods of Shimobaba et al. 2010 as their text describes them, in float32, for comparison with the library's.
#include <holotone/core/array.hpp>
#include <holotone/hologram/point_cloud.hpp>
#include <memory>

namespace reference {
struct PointWaves;
}

namespace bench {

/// The paper's float4 of each point, {n, 4}: x_j and y_j in pixels from the panel's first, P_j = pi p^2 / (lambda z_j),
/// A_j. P_j stands in place of z_j and saves its division.
holotone::Array<float, 2> shimobaba_points(const reference::PointWaves& points,
                                           const holotone::PointCloudOptions& options);

/// Intensity of Eq. (1), {ny, nx}: I(x, y) = sum over j of A_j cos(P_j ((x - x_j)^2 + (y - y_j)^2)).
/// "CPU alone": Eq. (2) along every row, phases in float64, rows on all threads.
void shimobaba_cpu(holotone::View<const float, 2> points, holotone::View<float, 2> intensity);

#if HOLOTONE_OPENCL
/// The paper's five optimisations, each by itself.
struct ShimobabaOptimisations {
  bool recurrence = true;    ///< Eq. (2) over eight pixels of a row
  bool local_memory = true;  ///< 256 points at a time
  bool unroll = true;        ///< four points in each round of the loop
  int vectors = 8;           ///< pixels in a vector: 1, 4 or 8; with recurrence only
  bool native = true;        ///< native_cos
};

/// The paper's kernel in OpenCL; without any optimisation that of Figure 2 (b).
class ShimobabaOpencl {
 public:
  ShimobabaOpencl(const ShimobabaOptimisations& use, const holotone::Queue& queue);
  ~ShimobabaOpencl();
  ShimobabaOpencl(ShimobabaOpencl&&) noexcept;
  /// Enqueues the sum; arguments as those of shimobaba_plain_cuda.
  void operator()(holotone::View<const float, 2> points, holotone::View<float, 2> intensity) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};
#endif

#if HOLOTONE_CUDA
/// Figure 2 (b), without optimisation: one thread a pixel, blocks of 16 x 16, points from device memory, cosf().
void shimobaba_plain_cuda(holotone::View<const float, 2> points, holotone::View<float, 2> intensity,
                          const holotone::Queue& queue);
/// Figure 3, with optimisation: Eq. (2) over eight pixels of a row in each thread, 256 points at a time in shared
/// memory, four in each round of the loop, the special-function units' cosine.
void shimobaba_optimised_cuda(holotone::View<const float, 2> points, holotone::View<float, 2> intensity,
                              const holotone::Queue& queue);
#endif

}  // namespace bench
