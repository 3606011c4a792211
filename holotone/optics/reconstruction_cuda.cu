#include <holotone/core/kernel_parts_cuda.cuh>
#include <holotone/fft/fft.hpp>
#include <holotone/optics/reconstruction_engine.hpp>

namespace holotone::reconstruction {
namespace {

using cuda::grid_over;
using cuda::product;
using cuda::thread_index;
using cuda::threads;

/// q at a panel pixel.
__device__ __forceinline__ float2 chirp(const Pupil& pupil, std::int64_t x, std::int64_t y) {
  float2 across;
  float2 down;
  sincos_turns(chirp_turns(pupil, x, pupil.nx), across.y, across.x);
  sincos_turns(chirp_turns(pupil, y, pupil.ny), down.y, down.x);
  return product(across, down);
}

__global__ void chirp_kernel(const float2* __restrict__ input, float2* __restrict__ padded, Pupil pupil) {
  const std::int64_t x = thread_index();
  if (x >= pupil.lx) return;
  for (std::int64_t y = blockIdx.y; y < pupil.ly; y += gridDim.y) {
    const bool inside = x < pupil.nx && y < pupil.ny;
    padded[y * pupil.lx + x] = inside ? product(input[y * pupil.nx + x], chirp(pupil, x, y)) : float2{0, 0};
  }
}

__global__ void block_kernel(float2* __restrict__ spectrum, Pupil pupil) {
  const std::int64_t x = thread_index();
  if (x >= pupil.lx) return;
  for (std::int64_t y = blockIdx.y; y < pupil.ly; y += gridDim.y) {
    if (!passes(pupil, x, y)) spectrum[y * pupil.lx + x] = float2{0, 0};
  }
}

__global__ void unchirp_kernel(const float2* __restrict__ padded, float2* __restrict__ output, Pupil pupil) {
  const std::int64_t x = thread_index();
  if (x >= pupil.nx) return;
  for (std::int64_t y = blockIdx.y; y < pupil.ny; y += gridDim.y) {
    const float2 q = chirp(pupil, x, y);
    const float2 value = product(padded[y * pupil.lx + x], {q.x, -q.y});
    output[y * pupil.nx + x] = {value.x * pupil.gain, value.y * pupil.gain};
  }
}

class CudaPupil final : public PupilEngine {
 public:
  CudaPupil(const FieldGrid& grid, const Aperture& aperture, const Queue& queue)
      : grid_(grid),
        pupil_(make_pupil(grid, aperture)),
        queue_(queue),
        fft_({pupil_.ly, pupil_.lx}, queue, {.scale_inverse = false, .rows = pupil_.ny}) {}

  void set_aperture(const Aperture& aperture) override { pupil_ = make_pupil(grid_, aperture); }

  void apply(View<const Complex, 2> input, View<Complex, 2> output) override {
    const cuda::DeviceScope scope(queue_.device());
    const cudaStream_t stream = cuda::stream_of(queue_);
    Array<Complex, 2> padded({pupil_.ly, pupil_.lx}, queue_);
    auto* const data = reinterpret_cast<float2*>(padded.data());
    chirp_kernel<<<grid_over(pupil_.lx, pupil_.ly), threads, 0, stream>>>(reinterpret_cast<const float2*>(input.data()),
                                                                          data, pupil_);
    cuda::check_launch("pupil chirp");
    fft_.execute(padded.view(), FftDirection::forward);
    block_kernel<<<grid_over(pupil_.lx, pupil_.ly), threads, 0, stream>>>(data, pupil_);
    cuda::check_launch("pupil");
    fft_.execute(padded.view(), FftDirection::inverse);
    unchirp_kernel<<<grid_over(pupil_.nx, pupil_.ny), threads, 0, stream>>>(
        data, reinterpret_cast<float2*>(output.data()), pupil_);
    cuda::check_launch("pupil unchirp");
  }

 private:
  FieldGrid grid_;
  Pupil pupil_;
  Queue queue_;
  FftPlan fft_;
};

}  // namespace

PupilPointer pupil_cuda(const FieldGrid& grid, const Aperture& aperture, const Queue& queue) {
  return std::make_unique<CudaPupil>(grid, aperture, queue);
}

}  // namespace holotone::reconstruction
