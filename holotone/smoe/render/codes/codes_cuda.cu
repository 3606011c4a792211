// Conversion of colours to code values on CUDA.
#include <holotone/core/cuda_check.hpp>
#include <holotone/smoe/render/codes/codes_pixel.hpp>

namespace holotone::smoe {
namespace {

constexpr int threads = 256;

template <class Code>
__global__ void code_kernel(CodePixel<Code> code, const float* __restrict__ colours, Code* __restrict__ codes,
                            std::int64_t pixels) {
  const std::int64_t i = blockIdx.x * static_cast<std::int64_t>(threads) + threadIdx.x;
  if (i < pixels) code(colours + i * code.channels, codes + i * code.made);
}

}  // namespace

template <class Code>
void code_pixels_cuda(const CodePixel<Code>& code, const float* colours, Code* codes, std::int64_t pixels,
                      const Queue& queue) {
  const cuda::DeviceScope scope(queue.device());
  code_kernel<<<cuda::blocks_for(pixels, threads), threads, 0, cuda::stream_of(queue)>>>(code, colours, codes, pixels);
  cuda::check_launch("code_kernel");
}

template void code_pixels_cuda(const CodePixel<std::uint8_t>&, const float*, std::uint8_t*, std::int64_t, const Queue&);
template void code_pixels_cuda(const CodePixel<std::uint16_t>&, const float*, std::uint16_t*, std::int64_t,
                               const Queue&);

}  // namespace holotone::smoe
