// Conversion of colours to code values on OpenCL.
#include <holotone/core/kernel_opencl.hpp>
#include <holotone/smoe/render/codes/codes_pixel.hpp>

namespace holotone::smoe {
namespace {

/// Pixel of codes_opencl.cl.
struct Pixel {
  cl_int channels, made, linear;
  cl_uint levels, largest;
};

}  // namespace

template <class Code>
void code_pixels_opencl(const CodePixel<Code>& code, const float* colours, Code* codes, std::int64_t pixels,
                        const Queue& queue) {
  opencl::Kernel kernel(queue, "holotone/smoe/render/codes/codes_opencl.cl", "smoe_codes",
                        {sizeof(Code) == 1 ? "-DCODE=uchar" : "-DCODE=ushort", opencl::exact_division(queue)});
  const Pixel pixel{code.channels, code.made, code.linear ? 1 : 0, static_cast<cl_uint>(code.levels),
                    static_cast<cl_uint>(std::lround(code.levels * code.spread))};
  kernel(opencl::over(pixels), {64, 1, 1}, pixel, cl_long{pixels}, colours, codes);
}

template void code_pixels_opencl(const CodePixel<std::uint8_t>&, const float*, std::uint8_t*, std::int64_t,
                                 const Queue&);
template void code_pixels_opencl(const CodePixel<std::uint16_t>&, const float*, std::uint16_t*, std::int64_t,
                                 const Queue&);

}  // namespace holotone::smoe
