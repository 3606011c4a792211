// Dots placed at random with the density of ink: checks and the choice of the backend.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/no_backend.hpp>
#include <holotone/halftone/dot_sampler_engine.hpp>
#include <holotone/halftone/ink.hpp>
#include <holotone/halftone/sampling.hpp>

namespace holotone {
namespace {

constexpr auto where = "DotSampler";

/// Calls stratified_dots or importance_sampled_dots, for ink in any unit.
class CpuEngine final : public DotSampler::Engine {
 public:
  explicit CpuEngine(Sampling sampling) : sampling_(sampling) {}

  void sample(View<const float, 2> ink, View<float, 2> positions, std::uint64_t seed) override {
    const auto values = ink.host();
    float darkest = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (!std::isfinite(values[i]) || values[i] < 0) {
        dot_sampling::throw_bad_ink(ink.shape(), static_cast<std::int64_t>(i), values[i]);
      }
      darkest = std::max(darkest, values[i]);
    }
    if (darkest == 0) dot_sampling::throw_bad_ink(ink.shape(), -1, 0);
    Array<float, 2> scaled;
    if (darkest > 1) {
      // Scaling by a power of two is exact.
      const float factor = std::exp2(-std::ceil(std::log2(darkest)));
      scaled = Array<float, 2>(ink.shape());
      std::transform(values.begin(), values.end(), scaled.data(), [&](float value) { return value * factor; });
      ink = scaled.view();
    }
    const std::int64_t count = positions.shape()[0];
    const Dots dots = sampling_ == Sampling::stratified ? stratified_dots(ink, count, seed)
                                                        : importance_sampled_dots(ink, count, seed);
    std::copy(dots.position.begin(), dots.position.end(), positions.data());
  }

 private:
  Sampling sampling_;
};

dot_sampling::EnginePointer make_engine(Shape<2> page, Sampling sampling, const Queue& queue) {
  switch (queue.device().backend) {
    case Backend::cpu: return std::make_unique<CpuEngine>(sampling);
    case Backend::cuda:
#if HOLOTONE_CUDA
      return dot_sampling::engine_cuda(page, sampling, queue);
#endif
    case Backend::opencl: break;
  }
  (void)page;
  throw_no_backend(where, queue.device());
}

}  // namespace

void dot_sampling::throw_bad_ink(const Shape<2>& page, std::int64_t index, float value) {
  if (index < 0) throw_argument(where, "ink", "a picture with ink", "one that is white everywhere");
  throw_argument(where, "ink", "finite values >= 0",
                 fmt::format("{:g} at row {}, column {}", value, index / page[1], index % page[1]));
}

struct DotSampler::State {
  Shape<2> page;
  std::int64_t maximum_dots;
  Queue queue;
  dot_sampling::EnginePointer engine;
};

DotSampler::DotSampler(Shape<2> page, std::int64_t maximum_dots, Queue queue, Sampling sampling) {
  constexpr std::int64_t max_pixels = std::int64_t{1} << 31;
  if (page[0] < 1 || page[1] < 1 || page[0] > max_pixels || page[1] > max_pixels / page[0]) {
    throw_argument(where, "page", "extents >= 1 and at most 2^31 pixels", to_string<2>(page));
  }
  if (maximum_dots < 0 || maximum_dots > max_dots) {
    throw_argument(where, "maximum_dots", fmt::format("0 to {}", max_dots), fmt::format("{}", maximum_dots));
  }
  auto engine = make_engine(page, sampling, queue);
  state_ = std::make_unique<State>(State{page, maximum_dots, std::move(queue), std::move(engine)});
}

DotSampler::~DotSampler() = default;
DotSampler::DotSampler(DotSampler&&) noexcept = default;
DotSampler& DotSampler::operator=(DotSampler&&) noexcept = default;

void DotSampler::sample(View<const float, 2> ink, View<float, 2> positions, std::uint64_t seed) {
  const Device device = state_->queue.device();
  require_view(where, "ink", ink, state_->page, device);
  const std::int64_t count = positions.shape()[0];
  if (count < 0 || count > state_->maximum_dots) {
    throw_argument(where, "positions", fmt::format("at most {} dots", state_->maximum_dots), fmt::format("{}", count));
  }
  if (count == 0) return;
  require_view(where, "positions", positions, Shape<2>{count, 2}, device);
  state_->engine->sample(ink, positions, seed);
}

}  // namespace holotone
