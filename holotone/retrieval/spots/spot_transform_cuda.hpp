#pragma once
// Many spots in the focal plane by non-uniform FFTs on CUDA. Not for users.
//
// Waves exp 2 pi i (fx X + fy Y) are spread over 6 x 6 points of a grid of 1.25 times the panel by exp(beta (sqrt(1 -
// z^2) - 1)) (Barnett, Magland and af Klinteberg 2019), transformed, and divided by that window's transform. X and Y
// count from floor(n / 2): spots' phases are those half a pixel beside the middle of panels of even sides.
#include <holotone/core/array.hpp>
#include <holotone/fft/cuda_handle.hpp>
#include <holotone/retrieval/spots/spot_kernels_cuda.hpp>

namespace holotone::spots {

/// True if a kept step of spots in the focal plane is expected to take less time so than by matrix products in fp8,
/// from fits to an H200, panels of 512 x 512 to 3840 x 2160 and 1,000 to 8,000 spots (within 12 % of what was
/// measured): us = 8 + 3 P + N (0.0028 + 0.0092 P) by products, 12 + c G + 0.0018 N by transforms, of N spots, P
/// million pixels and G million points of the grid; c = 31 if a grid fits the second-level cache, else 48. Equal at
/// some 4,800 spots, at 7,800 of the largest panel.
bool is_transform_faster(int nx, int ny, double spots, double cache_bytes);

struct TransformGrid {
  int nx = 0;
  int ny = 0;
  int mx = 0;
  int my = 0;
  float beta_x = 0;
  float beta_y = 0;
  const float* correction_x = nullptr;  ///< {nx / 2 + 1} by distance from the middle
  const float* correction_y = nullptr;
};

/// E and the grids of the two transforms.
class SpotTransform {
 public:
  SpotTransform(int nx, int ny, const Queue& queue);

  /// Memory for the windows of a number of spots.
  void reserve(int count);
  /// Their windows; padded spots have target 0.
  void place(const float4* spots);
  /// E = unit(sum + keep E) of the spread waves; `light` {ny, nx} or null.
  void build(const float2* light, float keep);
  /// Sums of E, or of the rounded or unmodulated field that set_other made; the update, and the next waves spread.
  void update(const SpotArrays& spots, const SpotUpdate& what, bool of_other);
  /// The first waves of some steps.
  void spread(const SpotArrays& spots, const SpotUpdate& what);

  void to_turns(const float2* light, int levels, float* turns) const;
  void set_turns(const float* turns, const float2* light);
  /// Field that update may sum instead of E; null: turns of 0.
  void set_other(const float* turns, const float2* light);

 private:
  [[nodiscard]] cudaStream_t stream() const { return cuda::stream_of(queue_); }
  void place_field(const float* turns, const float2* light, float2* field);

  Queue queue_;
  TransformGrid grid_;
  Array<float, 1> corrections_;
  Array<float2, 1> spread_;  ///< zero but for the spread waves
  Array<float2, 1> sum_;
  Array<float2, 1> field_;  ///< E times light and correction, in the grid
  Array<float2, 1> other_;
  Array<float2, 1> spectrum_;
  Array<float, 1> windows_;  ///< {count, 2, 8}
  Array<int2, 1> first_;     ///< grid point of each spot's window
  int count_ = 0;
  fft::Handle transform_;
  Array<std::byte, 1> work_;
};

}  // namespace holotone::spots
