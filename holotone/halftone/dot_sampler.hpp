#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>
#include <memory>

namespace holotone {

enum class Sampling {
  importance,  ///< independent random dots, as importance_sampled_dots
  stratified,  ///< evenly spread along Hilbert's curve, as stratified_dots
};

/// Initial positions of dots, distributed like the ink: importance_sampled_dots and stratified_dots as a plan for any
/// device, without new memory for later calls.
///
/// The random numbers are those of the two functions with the same seed; on the CPU so are the positions. On CUDA the
/// ink is summed in fixed point (2^-32 of the darkest pixel), with the same bits in every run. If a random number is
/// within rounding of the border between two consecutive pixels, the dot may be in the other one.
class DotSampler {
 public:
  /// `page` {ny, nx}, at most 2^31 pixels; `maximum_dots` 0 to max_dots. Throws invalid_argument, out_of_memory,
  /// device.
  DotSampler(Shape<2> page, std::int64_t maximum_dots, Queue queue = {}, Sampling sampling = Sampling::stratified);
  ~DotSampler();
  DotSampler(DotSampler&&) noexcept;
  DotSampler& operator=(DotSampler&&) noexcept;

  /// Draws dots with the density of `ink`: the page's shape, finite, >= 0 in any unit, somewhere > 0. Writes x, y in
  /// pixels to `positions`: {count, 2}, count <= maximum_dots. Both are on the queue's device. Throws invalid_argument
  /// for another ink, shape or device. Waits for the check of the ink; CUDA then only enqueues. Cost: O(pixels + count
  /// log pixels).
  void sample(View<const float, 2> ink, View<float, 2> positions, std::uint64_t seed = 0);

  class Engine;  ///< dot_sampler_engine.hpp

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holotone
