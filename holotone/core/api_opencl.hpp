#pragma once
// OpenCL 1.2 through pointers that are loaded while the program runs. Include this instead of OpenCL's own headers.
// Not for users.
#define CL_TARGET_OPENCL_VERSION 120
#define CL_HPP_TARGET_OPENCL_VERSION 120
#define CL_HPP_MINIMUM_OPENCL_VERSION 120
#include <CL/opencl.h>
#include <string>

/// The functions of OpenCL that the library uses.
#define HOLOTONE_OPENCL_FUNCTIONS(apply)                                                                               \
  apply(clGetPlatformIDs) apply(clGetPlatformInfo) apply(clGetDeviceIDs) apply(clGetDeviceInfo) apply(clRetainDevice)  \
      apply(clReleaseDevice) apply(clCreateContext) apply(clGetContextInfo) apply(clRetainContext)                     \
          apply(clReleaseContext) apply(clCreateCommandQueue) apply(clGetCommandQueueInfo) apply(clRetainCommandQueue) \
              apply(clReleaseCommandQueue) apply(clCreateBuffer) apply(clGetMemObjectInfo) apply(clRetainMemObject)    \
                  apply(clReleaseMemObject) apply(clCreateProgramWithSource) apply(clCreateProgramWithBinary)          \
                      apply(clBuildProgram) apply(clGetProgramInfo) apply(clGetProgramBuildInfo)                       \
                          apply(clRetainProgram) apply(clReleaseProgram) apply(clCreateKernel) apply(clSetKernelArg)   \
                              apply(clGetKernelWorkGroupInfo) apply(clRetainKernel) apply(clReleaseKernel)             \
                                  apply(clEnqueueNDRangeKernel) apply(clEnqueueReadBuffer) apply(clEnqueueWriteBuffer) \
                                      apply(clEnqueueCopyBuffer) apply(clEnqueueFillBuffer) apply(clEnqueueMapBuffer)  \
                                          apply(clEnqueueUnmapMemObject) apply(clEnqueueMigrateMemObjects)             \
                                              apply(clRetainEvent) apply(clReleaseEvent) apply(clWaitForEvents)        \
                                                  apply(clFlush) apply(clFinish)

namespace holotone::opencl {

/// Loads OpenCL once for the process. Empty if it can be used, else the reason why not: this machine has no loader, or
/// one that lacks a function.
const std::string& missing();

enum Function {
#define HOLOTONE_NUMBER(name) number_of_##name,
  HOLOTONE_OPENCL_FUNCTIONS(HOLOTONE_NUMBER)
#undef HOLOTONE_NUMBER
      function_count
};
using AnyFunction = void (*)();
/// Addresses by number, filled by missing().
extern AnyFunction functions[];

/// Calls the loaded function of a number.
template <Function Number, class Signature>
struct Loaded;
template <Function Number, class Result, class... Arguments>
struct Loaded<Number, Result(Arguments...)> {
  static Result call(Arguments... arguments) {
    return reinterpret_cast<Result (*)(Arguments...)>(functions[Number])(arguments...);
  }
};

}  // namespace holotone::opencl

#define HOLOTONE_LOADED(name) holotone::opencl::Loaded<holotone::opencl::number_of_##name, decltype(::name)>::call
// NOLINTBEGIN(readability-identifier-naming): OpenCL's own names
#define clGetPlatformIDs HOLOTONE_LOADED(clGetPlatformIDs)
#define clGetPlatformInfo HOLOTONE_LOADED(clGetPlatformInfo)
#define clGetDeviceIDs HOLOTONE_LOADED(clGetDeviceIDs)
#define clGetDeviceInfo HOLOTONE_LOADED(clGetDeviceInfo)
#define clRetainDevice HOLOTONE_LOADED(clRetainDevice)
#define clReleaseDevice HOLOTONE_LOADED(clReleaseDevice)
#define clCreateContext HOLOTONE_LOADED(clCreateContext)
#define clGetContextInfo HOLOTONE_LOADED(clGetContextInfo)
#define clRetainContext HOLOTONE_LOADED(clRetainContext)
#define clReleaseContext HOLOTONE_LOADED(clReleaseContext)
#define clCreateCommandQueue HOLOTONE_LOADED(clCreateCommandQueue)
#define clGetCommandQueueInfo HOLOTONE_LOADED(clGetCommandQueueInfo)
#define clRetainCommandQueue HOLOTONE_LOADED(clRetainCommandQueue)
#define clReleaseCommandQueue HOLOTONE_LOADED(clReleaseCommandQueue)
#define clCreateBuffer HOLOTONE_LOADED(clCreateBuffer)
#define clGetMemObjectInfo HOLOTONE_LOADED(clGetMemObjectInfo)
#define clRetainMemObject HOLOTONE_LOADED(clRetainMemObject)
#define clReleaseMemObject HOLOTONE_LOADED(clReleaseMemObject)
#define clCreateProgramWithSource HOLOTONE_LOADED(clCreateProgramWithSource)
#define clCreateProgramWithBinary HOLOTONE_LOADED(clCreateProgramWithBinary)
#define clBuildProgram HOLOTONE_LOADED(clBuildProgram)
#define clGetProgramInfo HOLOTONE_LOADED(clGetProgramInfo)
#define clGetProgramBuildInfo HOLOTONE_LOADED(clGetProgramBuildInfo)
#define clRetainProgram HOLOTONE_LOADED(clRetainProgram)
#define clReleaseProgram HOLOTONE_LOADED(clReleaseProgram)
#define clCreateKernel HOLOTONE_LOADED(clCreateKernel)
#define clSetKernelArg HOLOTONE_LOADED(clSetKernelArg)
#define clGetKernelWorkGroupInfo HOLOTONE_LOADED(clGetKernelWorkGroupInfo)
#define clRetainKernel HOLOTONE_LOADED(clRetainKernel)
#define clReleaseKernel HOLOTONE_LOADED(clReleaseKernel)
#define clEnqueueNDRangeKernel HOLOTONE_LOADED(clEnqueueNDRangeKernel)
#define clEnqueueReadBuffer HOLOTONE_LOADED(clEnqueueReadBuffer)
#define clEnqueueWriteBuffer HOLOTONE_LOADED(clEnqueueWriteBuffer)
#define clEnqueueCopyBuffer HOLOTONE_LOADED(clEnqueueCopyBuffer)
#define clEnqueueFillBuffer HOLOTONE_LOADED(clEnqueueFillBuffer)
#define clEnqueueMapBuffer HOLOTONE_LOADED(clEnqueueMapBuffer)
#define clEnqueueUnmapMemObject HOLOTONE_LOADED(clEnqueueUnmapMemObject)
#define clEnqueueMigrateMemObjects HOLOTONE_LOADED(clEnqueueMigrateMemObjects)
#define clRetainEvent HOLOTONE_LOADED(clRetainEvent)
#define clReleaseEvent HOLOTONE_LOADED(clReleaseEvent)
#define clWaitForEvents HOLOTONE_LOADED(clWaitForEvents)
#define clFlush HOLOTONE_LOADED(clFlush)
#define clFinish HOLOTONE_LOADED(clFinish)
// NOLINTEND(readability-identifier-naming)

#include <CL/opencl.hpp>
