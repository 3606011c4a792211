#pragma once
// OpenCL's devices, contexts and queues for the *_opencl.cpp files. Not for users.
#include <holotone/core/api_opencl.hpp>
#include <holotone/core/device.hpp>
#include <string_view>

namespace holotone::opencl {

/// Throws Error{device or out_of_memory} naming the call and the status.
void check(cl_int status, std::string_view call);

/// The command queue of a Queue: its own, or the default queue of its device.
cl::CommandQueue queue_of(const Queue& queue);
cl::Context context_of(const Queue& queue);
cl::Device device_of(const Queue& queue);

/// Number of a device of OpenCL's; -1: not one that the library found.
int find_index(cl_device_id device);

/// Waits for the queues made by Queue::create.
void finish_others(int index);

/// Value of clGetDeviceInfo.
template <cl_device_info Name>
auto info(const cl::Device& device) {
  cl_int status = CL_SUCCESS;
  auto value = device.getInfo<Name>(&status);
  check(status, "clGetDeviceInfo");
  return value;
}

/// Value of clGetKernelWorkGroupInfo.
template <cl_kernel_work_group_info Name>
auto group_info(const cl::Kernel& kernel, const cl::Device& device) {
  cl_int status = CL_SUCCESS;
  auto value = kernel.getWorkGroupInfo<Name>(device, &status);
  check(status, "clGetKernelWorkGroupInfo");
  return value;
}

}  // namespace holotone::opencl
