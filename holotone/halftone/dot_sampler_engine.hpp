#pragma once
// Interface between DotSampler (dot_sampler.cpp, the one dispatch) and its engines. Not for users.
#include <holotone/halftone/dot_sampler.hpp>
#include <vector>

namespace holotone {

/// Backend of DotSampler. Arguments are already checked, except for the ink's values; there is at least one dot.
class DotSampler::Engine {
 public:
  virtual ~Engine() = default;
  virtual void sample(View<const float, 2> ink, View<float, 2> positions, std::uint64_t seed) = 0;
};

namespace dot_sampling {

using EnginePointer = std::unique_ptr<DotSampler::Engine>;
EnginePointer engine_cuda(Shape<2> page, Sampling sampling, const Queue& queue);

/// Throws invalid_argument for an invalid ink. `index`: first pixel with an invalid value; negative: all are 0.
[[noreturn]] void throw_bad_ink(const Shape<2>& page, std::int64_t index, float value);
/// Returns the pixels of an array of this shape in the order of Hilbert's curve through the smallest square of side 2^n
/// that contains them.
std::vector<std::uint32_t> hilbert_order(const Shape<2>& shape);

}  // namespace dot_sampling
}  // namespace holotone
