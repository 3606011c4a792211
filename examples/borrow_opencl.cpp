// Phase codes in a program with an OpenCL context of its own: its kernel writes the field of a lens into its buffer,
// Holotone encodes that buffer on its queue, and the codes are in its other buffer.
#define CL_TARGET_OPENCL_VERSION 120
#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#define CL_HPP_ENABLE_EXCEPTIONS
#include <CL/opencl.hpp>
#include <cstdio>
#include <holotone/core/error.hpp>
#include <holotone/core/opencl.hpp>
#include <holotone/hologram/encode.hpp>

constexpr auto lens = R"(
__kernel void lens(__global float2 *field) {
  const float x = (float)get_global_id(0) - 960.0f;
  const float y = (float)get_global_id(1) - 540.0f;
  const float turns = 1e-4f * (x * x + y * y);
  field[get_global_id(1) * get_global_size(0) + get_global_id(0)] = (float2)(cospi(2.0f * turns), sinpi(2.0f * turns));
})";

int main() try {
  using namespace holotone;
  constexpr FieldGrid grid{1920, 1080, 8e-6, 532e-9};
  constexpr std::size_t pixels = 1920 * 1080;
  const cl::Device standard_device = cl::Device::getDefault();
  const cl::Context context(standard_device);
  const cl::CommandQueue queue(context, standard_device);
  const cl::Buffer field(context, CL_MEM_READ_WRITE, pixels * sizeof(cl_float2));
  const cl::Buffer codes(context, CL_MEM_READ_WRITE, pixels);

  const Device device = opencl_device(standard_device());
  EncodePlan plan({}, grid, Queue::borrow(device, queue()));
  const OpenclMemory field_memory(device, field());
  const OpenclMemory codes_memory(device, codes());

  cl::Kernel kernel(cl::Program(context, lens, true), "lens");
  kernel.setArg(0, field);
  queue.enqueueNDRangeKernel(kernel, {}, {1920, 1080});
  plan.execute(field_memory.view<const Complex, 2>(grid.shape()), codes_memory.view<std::uint8_t, 2>(grid.shape()));
  std::uint8_t corner = 0;
  queue.enqueueReadBuffer(codes, CL_TRUE, 0, 1, &corner);
  std::printf("%s, code of the first pixel: %d\n", to_string(device).c_str(), corner);
} catch (const cl::Error& error) {
  std::printf("no OpenCL device, or its error: %s, status %d\n", error.what(), error.err());
  return 77;
} catch (const holotone::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
