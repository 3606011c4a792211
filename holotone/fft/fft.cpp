#include <fmt/format.h>
#include <holotone/core/no_backend.hpp>
#include <holotone/fft/fft.hpp>
#include <holotone/fft/fft_engine.hpp>

namespace holotone {
namespace {

constexpr std::int64_t largest_extent = std::int64_t{1} << 30;

fft::EnginePointer make_engine(Shape<2> shape, const FftOptions& options, const Queue& queue) {
  switch (queue.device().backend) {
    case Backend::cpu: return fft::engine_cpu(shape, options);
    case Backend::cuda:
#if HOLOTONE_CUDA
      return fft::engine_cuda(shape, options, queue);
#else
      break;
#endif
    case Backend::opencl:
#if HOLOTONE_OPENCL
      return fft::engine_opencl(shape, options, queue);
#else
      break;
#endif
  }
  throw_no_backend("FftPlan", queue.device());
}

void validate(Shape<2> shape, const FftOptions& options) {
  for (const auto extent : shape) {
    if (extent < 1 || extent > largest_extent) {
      throw_argument("FftPlan", "shape", "extents from 1 to 2^30", to_string<2>(shape));
    }
  }
  if (options.first_row < 0 || options.rows < 0 || options.first_row + options.rows > shape[0]) {
    throw_argument("FftPlan", "rows", fmt::format("rows within 0..{}", shape[0]),
                   fmt::format("{} from row {}", options.rows, options.first_row));
  }
  if (options.batch < 1 || options.batch > largest_extent / shape[0] || (options.batch > 1 && options.rows != 0)) {
    throw_argument("FftPlan", "batch", "at least 1, of all rows, up to 2^30 rows in all",
                   fmt::format("{} of {} rows", options.batch, options.rows == 0 ? shape[0] : options.rows));
  }
}

}  // namespace

struct FftPlan::State {
  Shape<2> shape;
  std::int64_t batch;
  Queue queue;
  fft::EnginePointer engine;
};

FftPlan::FftPlan(Shape<2> shape, Queue queue, FftOptions options) {
  validate(shape, options);
  if (options.rows == 0) {
    options.first_row = 0;
    options.rows = shape[0];
  }
  auto engine = make_engine(shape, options, queue);
  state_ = std::make_unique<State>(State{shape, options.batch, std::move(queue), std::move(engine)});
}

FftPlan::~FftPlan() = default;
FftPlan::FftPlan(FftPlan&&) noexcept = default;
FftPlan& FftPlan::operator=(FftPlan&&) noexcept = default;

void FftPlan::execute(View<std::complex<float>, 2> data, FftDirection direction) const {
  const Shape<2> expected{state_->batch * state_->shape[0], state_->shape[1]};
  require_view("FftPlan::execute", "data", data, expected, state_->queue.device());
  state_->engine->execute(data.data(), direction);
}

const Shape<2>& FftPlan::shape() const { return state_->shape; }
std::size_t FftPlan::workspace_bytes() const { return state_->engine->workspace_bytes(); }

std::int64_t fft_friendly_size(std::int64_t minimum) {
  if (minimum > largest_extent) {
    throw_argument("fft_friendly_size", "minimum", "at most 2^30", fmt::format("{}", minimum));
  }
  for (std::int64_t size = minimum < 2 ? 2 : minimum + minimum % 2;; size += 2) {
    std::int64_t rest = size;
    for (const int prime : {2, 3, 5, 7}) {
      while (rest % prime == 0) rest /= prime;
    }
    if (rest == 1) return size;
  }
}

}  // namespace holotone
