#pragma once
// Vectors of a solver on CUDA: sums of products, combinations, levels. Not for users.
#include <holotone/core/array.hpp>
#include <span>
#include <vector>

namespace holotone::retrieval {

class CudaVectors {
 public:
  CudaVectors(std::int64_t size, const Queue& queue);

  /// As Engine, for vectors that begin at 16 bytes, as those of Array do. Waits for the device.
  std::vector<double> dots(std::span<const float* const> a, std::span<const float* const> b);
  void combine(std::span<const double> factors, std::span<const float* const> vectors, float* out);
  void adam(const float* derivative, float* m, float* v, float* phase, double rate, int iteration);
  std::vector<std::int64_t> level_distances(const float* phase, const std::vector<float>& levels);
  void round_to_levels(float* phase, const std::vector<float>& levels, float reach);
  void hold_levels(const float* phase, const std::vector<float>& levels, float* derivative);

 private:
  const float* on_device(const std::vector<float>& levels);

  std::int64_t size_;
  Queue queue_;
  Array<double, 1> parts_;
  std::vector<float> levels_;
  Array<float, 1> device_levels_;
};

}  // namespace holotone::retrieval
