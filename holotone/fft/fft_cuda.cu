#include <algorithm>
#include <holotone/fft/cuda_handle.hpp>
#include <holotone/fft/fft_engine.hpp>

namespace holotone::fft {
namespace {

__global__ void scale_kernel(float2* data, std::int64_t count, float factor) {
  const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count; i += stride) {
    float2 value = data[i];
    value.x *= factor;
    value.y *= factor;
    data[i] = value;
  }
}

class CudaEngine final : public Engine {
 public:
  CudaEngine(Shape<2> shape, const FftOptions& options, const Queue& queue)
      : shape_(shape), options_(options), queue_(queue) {
    const cuda::DeviceScope scope(queue.device());
    long long extents[] = {shape[0], shape[1]};
    std::size_t bytes = 0;
    if (shape[0] == 1) {
      bytes = make(first_, 1, &extents[1], 1, extents[1], options.batch);
    } else if (whole()) {
      bytes = make(first_, 2, extents, 1, shape[0] * shape[1], options.batch);
    } else {
      bytes = make(first_, 1, &extents[1], 1, extents[1], options.rows);
      second_ = std::make_unique<Handle>();
      bytes = std::max(bytes, make(*second_, 1, &extents[0], extents[1], 1, extents[1]));
    }
    work_area_ = Buffer(bytes, queue);
    first_.set_work_area(work_area_.data());
    if (second_) second_->set_work_area(work_area_.data());
  }

  void execute(std::complex<float>* data, FftDirection direction) override {
    const cuda::DeviceScope scope(queue_.device());
    const int sign = direction == FftDirection::forward ? CUFFT_FORWARD : CUFFT_INVERSE;
    auto* const all = reinterpret_cast<float2*>(data);
    auto* const named = all + options_.first_row * shape_[1];
    if (whole()) {
      first_.execute(all, all, sign);
    } else {
      if (direction == FftDirection::forward) first_.execute(named, named, sign);
      second_->execute(all, all, sign);
      if (direction == FftDirection::inverse) first_.execute(named, named, sign);
    }
    if (direction == FftDirection::inverse && options_.scale_inverse) {
      const std::int64_t count = options_.batch * options_.rows * shape_[1];
      const unsigned blocks = std::min(cuda::blocks_for(count, 256), 1u << 16);
      scale_kernel<<<blocks, 256, 0, cuda::stream_of(queue_)>>>(named, count,
                                                                1.0f / static_cast<float>(element_count(shape_)));
      cuda::check_launch("fft scale");
    }
  }

  [[nodiscard]] std::size_t workspace_bytes() const override { return work_area_.bytes(); }

 private:
  [[nodiscard]] bool whole() const { return options_.rows == shape_[0]; }

  /// Plans `batch` transforms of `rank` dimensions; returns the bytes of its work area.
  std::size_t make(const Handle& handle, int rank, long long* extents, long long stride, long long distance,
                   long long batch) const {
    // cuFFT reads strides and distances only if an embedding is passed.
    const Handle::Layout layout{rank == 1 || batch > 1 ? extents : nullptr, stride, distance};
    const std::size_t bytes = handle.plan(rank, extents, layout, layout, CUFFT_C2C, batch);
    handle.set_stream(cuda::stream_of(queue_));
    return bytes;
  }

  Shape<2> shape_;
  FftOptions options_;
  Queue queue_;
  Handle first_;                    ///< the whole array, or the rows
  std::unique_ptr<Handle> second_;  ///< the columns
  Buffer work_area_;
};

}  // namespace

EnginePointer engine_cuda(Shape<2> shape, const FftOptions& options, const Queue& queue) {
  return std::make_unique<CudaEngine>(shape, options, queue);
}

}  // namespace holotone::fft
