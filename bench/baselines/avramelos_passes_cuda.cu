#include <bench/baselines/avramelos_component.hpp>
#include <bench/baselines/avramelos_passes.hpp>
#include <holotone/core/cuda_check.hpp>

namespace bench {
namespace {

using holotone::View;

constexpr int group_threads = group_columns * group_rows;

/// A work group of 16 x 8 pixels of one block: its threads load the components of a pass, then each pixel sums them.
template <int D, bool Slow>
__global__ void __launch_bounds__(group_threads) pass_kernel(AvramelosPasses::Input input, float* __restrict__ image) {
  using Layout = ComponentLayout<D>;
  __shared__ float shared[shared_floats];
  static_assert(Layout::in_pass * Layout::size <= shared_floats);
  const int thread = threadIdx.y * group_columns + threadIdx.x;
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * group_columns + threadIdx.x;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.y) * group_rows + threadIdx.y;
  const std::int64_t block =
      blockIdx.y * group_rows / input.side * input.blocks_across + blockIdx.x * group_columns / input.side;
  const SmallVector<float, D> x{static_cast<float>(input.area.left + column) + 0.5F,
                                static_cast<float>(input.area.top + row) + 0.5F};
  PixelSums sums;
  const int end = input.first[block + 1];
  for (int begin = input.first[block]; begin < end; begin += Layout::in_pass) {
    const int count = min(Layout::in_pass, end - begin);
    for (int i = thread; i < count * Layout::size; i += group_threads) {
      const std::int64_t j = input.component[begin + i / Layout::size];
      shared[i] = input.model[j * Layout::size + i % Layout::size];
    }
    __syncthreads();
    for (int k = 0; k < count; ++k) add_component<D, Slow>(shared + k * Layout::size, x, sums);
    __syncthreads();
  }
  if (column >= input.area.width || row >= input.area.height) return;
  float* const pixel = image + (row * input.area.width + column) * Layout::colours;
  for (int c = 0; c < Layout::colours; ++c) pixel[c] = sums.mean(c);
}

template <int D>
auto choose_kernel(DecoderMode mode) {
  return mode == DecoderMode::slow ? pass_kernel<D, true> : pass_kernel<D, false>;
}

}  // namespace

void decode_passes_cuda(const AvramelosPasses::Input& input, int dimensions, DecoderMode mode, View<float, 3> image,
                        const holotone::Queue& queue) {
  const holotone::cuda::DeviceScope scope(queue.device());
  const dim3 groups(holotone::cuda::blocks_for(input.area.width, group_columns),
                    holotone::cuda::blocks_for(input.area.height, group_rows));
  auto* const kernel = dimensions == 2 ? choose_kernel<2>(mode) : choose_kernel<4>(mode);
  kernel<<<groups, dim3(group_columns, group_rows), 0, holotone::cuda::stream_of(queue)>>>(input, image.data());
  holotone::cuda::check_launch("pass_kernel");
}

holotone::KernelResources AvramelosPasses::resources(DecoderMode mode) {
  return holotone::resources_of(mode == DecoderMode::slow ? "11 a pass, slow" : "11 a pass, fast",
                                choose_kernel<2>(mode), group_threads);
}

}  // namespace bench
