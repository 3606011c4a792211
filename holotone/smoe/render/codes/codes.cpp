// Conversion of colours to code values: checks and the choice of the backend.
#include <algorithm>
#include <fmt/format.h>
#include <holotone/core/no_backend.hpp>
#include <holotone/core/parallel.hpp>
#include <holotone/smoe/render/codes/codes_pixel.hpp>

namespace holotone {
namespace {

template <class Code>
void write_codes(View<const float, 4> colours, View<Code, 4> codes, const SmoeCodes& options, const Queue& queue) {
  constexpr const char* where = "smoe_codes";
  const auto device = queue.device();
  const auto& [pictures, ny, nx, channels] = colours.shape();
  require_view(where, "colours", colours, colours.shape(), device);
  if (channels < 1 || channels > 4) throw_argument(where, "colours", "1 to 4 channels", to_string<4>(colours.shape()));
  const std::int64_t made = codes.shape()[3] == 4 ? 4 : channels;
  require_view(where, "codes", codes, Shape<4>{pictures, ny, nx, made}, device);
  require_range(where, "bits", options.bits, 1, std::numeric_limits<Code>::digits);
  const smoe::CodePixel<Code> code(channels, made, options);
  const std::int64_t pixels = pictures * ny * nx;
#if HOLOTONE_CUDA
  if (device.backend == Backend::cuda) {
    if (pixels > 0) smoe::code_pixels_cuda(code, colours.data(), codes.data(), pixels, queue);
    return;
  }
#endif
#if HOLOTONE_OPENCL
  if (device.backend == Backend::opencl) {
    if (pixels > 0) smoe::code_pixels_opencl(code, colours.data(), codes.data(), pixels, queue);
    return;
  }
#endif
  if (device.backend != Backend::cpu) throw_no_backend(where, device);
  constexpr std::int64_t block = 4096;
  parallel_for(0, (pixels + block - 1) / block, [&](std::int64_t part) {
    for (std::int64_t i = part * block; i < std::min(pixels, (part + 1) * block); ++i) {
      code(colours.data() + i * code.channels, codes.data() + i * code.made);
    }
  });
}

}  // namespace

void smoe_codes(View<const float, 4> colours, View<std::uint8_t, 4> codes, const SmoeCodes& options,
                const Queue& queue) {
  write_codes(colours, codes, options, queue);
}

void smoe_codes(View<const float, 4> colours, View<std::uint16_t, 4> codes, const SmoeCodes& options,
                const Queue& queue) {
  write_codes(colours, codes, options, queue);
}

}  // namespace holotone
