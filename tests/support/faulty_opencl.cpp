// A layer of OpenCL's loader (OPENCL_LAYERS) for tests: a device that fails as HOLOTONE_TEST_FAULT says. Everything
// else reaches the device.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl_layer.h>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string_view>

namespace {

const cl_icd_dispatch* device = nullptr;
std::string_view fault;
std::atomic<int> kernels = 0;

/// True once the device is lost: after the first kernel, or after enough of them for some pictures.
bool lost() {
  constexpr int kernels_of_pictures = 60;
  return (fault == "lost" && kernels > 1) || (fault == "lost later" && kernels > kernels_of_pictures);
}

void set_size(size_t bytes, void* value, size_t size) {
  cl_ulong number = size;
  if (value != nullptr) std::memcpy(value, &number, bytes < sizeof number ? bytes : sizeof number);
}

cl_int CL_API_CALL get_platforms(cl_uint entries, cl_platform_id* platforms, cl_uint* count) {
  if (fault == "no platform") return -1001;  // CL_PLATFORM_NOT_FOUND_KHR
  return device->clGetPlatformIDs(entries, platforms, count);
}

cl_int CL_API_CALL get_devices(cl_platform_id platform, cl_device_type type, cl_uint entries, cl_device_id* devices,
                               cl_uint* count) {
  if (fault == "no device") return CL_DEVICE_NOT_FOUND;
  if (fault == "a GPU" && type == CL_DEVICE_TYPE_GPU) type = CL_DEVICE_TYPE_ALL;
  return device->clGetDeviceIDs(platform, type, entries, devices, count);
}

cl_int CL_API_CALL get_device_info(cl_device_id id, cl_device_info name, size_t bytes, void* value, size_t* needed) {
  const cl_int status = device->clGetDeviceInfo(id, name, bytes, value, needed);
  if (fault == "a GPU" && name == CL_DEVICE_TYPE) set_size(bytes, value, CL_DEVICE_TYPE_GPU);
  if (fault == "little memory" && name == CL_DEVICE_GLOBAL_MEM_SIZE) set_size(bytes, value, 5000);
  if (fault == "small arrays" && name == CL_DEVICE_MAX_MEM_ALLOC_SIZE) set_size(bytes, value, 5000);
  if (fault == "little local memory" && name == CL_DEVICE_LOCAL_MEM_SIZE) set_size(bytes, value, 100);
  return status;
}

cl_int CL_API_CALL get_group_info(cl_kernel kernel, cl_device_id id, cl_kernel_work_group_info name, size_t bytes,
                                  void* value, size_t* needed) {
  const cl_int status = device->clGetKernelWorkGroupInfo(kernel, id, name, bytes, value, needed);
  if (fault == "small groups" && name == CL_KERNEL_WORK_GROUP_SIZE) set_size(bytes, value, 16);
  return status;
}

cl_context CL_API_CALL create_context(const cl_context_properties* properties, cl_uint count,
                                      const cl_device_id* devices,
                                      void(CL_CALLBACK* notify)(const char*, const void*, size_t, void*), void* data,
                                      cl_int* status) {
  if (fault != "no context") return device->clCreateContext(properties, count, devices, notify, data, status);
  if (status != nullptr) *status = CL_DEVICE_NOT_AVAILABLE;
  return nullptr;
}

cl_mem CL_API_CALL create_buffer(cl_context context, cl_mem_flags flags, size_t bytes, void* host, cl_int* status) {
  if (fault != "no memory") return device->clCreateBuffer(context, flags, bytes, host, status);
  if (status != nullptr) *status = CL_MEM_OBJECT_ALLOCATION_FAILURE;
  return nullptr;
}

cl_int CL_API_CALL build_program(cl_program program, cl_uint count, const cl_device_id* devices, const char* options,
                                 void(CL_CALLBACK* notify)(cl_program, void*), void* data) {
  if (fault != "no build") return device->clBuildProgram(program, count, devices, options, notify, data);
  device->clBuildProgram(program, count, devices, "-this-is-no-option", notify, data);
  return CL_BUILD_PROGRAM_FAILURE;
}

cl_int CL_API_CALL enqueue(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t* offset,
                           const size_t* items, const size_t* group, cl_uint events, const cl_event* wait,
                           cl_event* event) {
  ++kernels;
  if (lost()) return CL_OUT_OF_RESOURCES;
  return device->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, items, group, events, wait, event);
}

cl_int CL_API_CALL finish(cl_command_queue queue) {
  if (fault == "lost while waiting" || lost()) return -9999;  // NVIDIA's
  return device->clFinish(queue);
}

cl_int CL_API_CALL read_buffer(cl_command_queue queue, cl_mem memory, cl_bool blocking, size_t offset, size_t bytes,
                               void* target, cl_uint events, const cl_event* wait, cl_event* event) {
  if (fault == "lost while waiting" || lost()) return CL_OUT_OF_RESOURCES;
  return device->clEnqueueReadBuffer(queue, memory, blocking, offset, bytes, target, events, wait, event);
}

}  // namespace

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info param_name, size_t param_value_size, void* param_value,
                                               size_t* param_value_size_ret) {
  constexpr cl_layer_api_version version = CL_LAYER_API_VERSION_100;
  if (param_name != CL_LAYER_API_VERSION || (param_value != nullptr && param_value_size < sizeof version)) {
    return CL_INVALID_VALUE;
  }
  if (param_value != nullptr) std::memcpy(param_value, &version, sizeof version);
  if (param_value_size_ret != nullptr) *param_value_size_ret = sizeof version;
  return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint num_entries, const cl_icd_dispatch* target_dispatch,
                                            cl_uint* num_entries_ret, const cl_icd_dispatch** layer_dispatch_ret) {
  static cl_icd_dispatch dispatch;
  if (num_entries_ret == nullptr || layer_dispatch_ret == nullptr) return CL_INVALID_VALUE;
  const size_t bytes = num_entries * sizeof(void*);
  std::memcpy(static_cast<void*>(&dispatch), target_dispatch, bytes < sizeof dispatch ? bytes : sizeof dispatch);
  device = target_dispatch;
  if (const char* const name = std::getenv("HOLOTONE_TEST_FAULT")) fault = name;
  dispatch.clGetPlatformIDs = get_platforms;
  dispatch.clGetDeviceIDs = get_devices;
  dispatch.clGetDeviceInfo = get_device_info;
  dispatch.clGetKernelWorkGroupInfo = get_group_info;
  dispatch.clCreateContext = create_context;
  dispatch.clCreateBuffer = create_buffer;
  dispatch.clBuildProgram = build_program;
  dispatch.clEnqueueNDRangeKernel = enqueue;
  dispatch.clFinish = finish;
  dispatch.clEnqueueReadBuffer = read_buffer;
  *num_entries_ret = sizeof dispatch / sizeof(void*);
  *layer_dispatch_ret = &dispatch;
  return CL_SUCCESS;
}
