#include <algorithm>
#include <array>
#include <deque>
#include <fmt/format.h>
#include <holotone/core/device_backends.hpp>
#include <holotone/core/device_opencl.hpp>
#include <holotone/core/error.hpp>
#include <holotone/core/memory_opencl.hpp>
#include <holotone/core/shared_library.hpp>
#include <mutex>
#include <string>

namespace holotone::opencl {

AnyFunction functions[function_count];

namespace {

constexpr std::array function_names = {
#define HOLOTONE_NAME(name) #name,
    HOLOTONE_OPENCL_FUNCTIONS(HOLOTONE_NAME)
#undef HOLOTONE_NAME
};

std::string load() {
  const SharedLibrary library{"libOpenCL.so.1", "libOpenCL.so"};
  if (!library.open()) return library.reason();
  for (std::size_t i = 0; i < function_names.size(); ++i) {
    if (!library.load(functions[i], function_names[i])) return fmt::format("libOpenCL.so lacks {}", function_names[i]);
  }
  return {};
}

struct StatusName {
  cl_int status;
  std::string_view name;
};
constexpr StatusName status_names[] = {
    {CL_DEVICE_NOT_FOUND, "CL_DEVICE_NOT_FOUND"},
    {CL_DEVICE_NOT_AVAILABLE, "CL_DEVICE_NOT_AVAILABLE"},
    {CL_COMPILER_NOT_AVAILABLE, "CL_COMPILER_NOT_AVAILABLE"},
    {CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
    {CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES"},
    {CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY"},
    {CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE"},
    {CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
    {CL_INVALID_VALUE, "CL_INVALID_VALUE"},
    {CL_INVALID_DEVICE, "CL_INVALID_DEVICE"},
    {CL_INVALID_CONTEXT, "CL_INVALID_CONTEXT"},
    {CL_INVALID_COMMAND_QUEUE, "CL_INVALID_COMMAND_QUEUE"},
    {CL_INVALID_MEM_OBJECT, "CL_INVALID_MEM_OBJECT"},
    {CL_INVALID_BINARY, "CL_INVALID_BINARY"},
    {CL_INVALID_BUILD_OPTIONS, "CL_INVALID_BUILD_OPTIONS"},
    {CL_INVALID_KERNEL_NAME, "CL_INVALID_KERNEL_NAME"},
    {CL_INVALID_ARG_INDEX, "CL_INVALID_ARG_INDEX"},
    {CL_INVALID_ARG_SIZE, "CL_INVALID_ARG_SIZE"},
    {CL_INVALID_KERNEL_ARGS, "CL_INVALID_KERNEL_ARGS"},
    {CL_INVALID_WORK_GROUP_SIZE, "CL_INVALID_WORK_GROUP_SIZE"},
    {CL_INVALID_WORK_ITEM_SIZE, "CL_INVALID_WORK_ITEM_SIZE"},
    {CL_INVALID_BUFFER_SIZE, "CL_INVALID_BUFFER_SIZE"},
    {CL_INVALID_GLOBAL_WORK_SIZE, "CL_INVALID_GLOBAL_WORK_SIZE"},
};

std::string status_name(cl_int status) {
  for (const auto& known : status_names) {
    if (known.status == status) return std::string(known.name);
  }
  return fmt::format("status {}", status);
}

/// A device and what the library opens on it when it is first used.
struct Opened {
  cl::Device device;
  cl::Context context;
  cl::CommandQueue queue;
  std::once_flag once;
  std::mutex mutex;
  std::vector<cl::CommandQueue> others;  ///< made by Queue::create

  explicit Opened(cl::Device cl_device) : device(std::move(cl_device)) {}

  void open() {
    std::call_once(once, [this] {
      cl_int status = CL_SUCCESS;
      context = cl::Context(device, nullptr, nullptr, nullptr, &status);
      check(status, "clCreateContext");
      queue = cl::CommandQueue(context, device, cl_command_queue_properties{0}, &status);
      check(status, "clCreateCommandQueue");
    });
  }
};

/// Every device of every platform: GPUs first, CPUs last.
std::deque<Opened> find_devices() {
  std::deque<Opened> found;
  std::vector<cl::Platform> platforms;
  if (!missing().empty() || cl::Platform::get(&platforms) != CL_SUCCESS) return found;
  for (const auto rank : {cl_device_type{CL_DEVICE_TYPE_GPU}, cl_device_type{CL_DEVICE_TYPE_ACCELERATOR},
                          cl_device_type{CL_DEVICE_TYPE_CPU}}) {
    for (const auto& platform : platforms) {
      std::vector<cl::Device> devices;
      if (platform.getDevices(rank, &devices) != CL_SUCCESS) continue;  // a platform without such a device
      for (auto& device : devices) {
        const auto same = [&](const Opened& opened) { return opened.device() == device(); };
        if (std::ranges::none_of(found, same)) found.emplace_back(std::move(device));  // a simulator is of every type
      }
    }
  }
  return found;
}

/// Never destroyed: the drivers take themselves apart when the process ends.
std::deque<Opened>& all_devices() {
  static std::deque<Opened>& all = *new std::deque<Opened>(find_devices());
  return all;
}

Opened& device_at(int index) {
  auto& all = all_devices();
  if (index < 0 || index >= std::ssize(all)) {
    throw Error(ErrorCode::unsupported,
                fmt::format("opencl:{}: expected one of this machine's {} OpenCL devices", index, all.size()));
  }
  return all[static_cast<std::size_t>(index)];
}

Opened& opened(int index) {
  Opened& opened = device_at(index);
  opened.open();
  return opened;
}

bool has(const cl::Device& device, std::string_view extension) {
  const std::string all = fmt::format(" {} ", info<CL_DEVICE_EXTENSIONS>(device));
  return all.find(fmt::format(" {} ", extension)) != std::string::npos;
}

}  // namespace

const std::string& missing() {
  static const std::string reason = load();
  return reason;
}

void check(cl_int status, std::string_view call) {
  if (status == CL_SUCCESS) return;
  const bool memory = status == CL_MEM_OBJECT_ALLOCATION_FAILURE || status == CL_OUT_OF_HOST_MEMORY;
  throw Error(memory ? ErrorCode::out_of_memory : ErrorCode::device, fmt::format("{}: {}", call, status_name(status)));
}

cl::CommandQueue queue_of(const Queue& queue) {
  if (queue.native() != nullptr) return cl::CommandQueue(static_cast<cl_command_queue>(queue.native()), true);
  return opened(queue.device().index).queue;
}

cl::Context context_of(const Queue& queue) {
  if (queue.native() == nullptr) return opened(queue.device().index).context;
  cl_int status = CL_SUCCESS;
  auto context = queue_of(queue).getInfo<CL_QUEUE_CONTEXT>(&status);
  check(status, "clGetCommandQueueInfo");
  return context;
}

cl::Device device_of(const Queue& queue) { return device_at(queue.device().index).device; }

int find_index(cl_device_id device) {
  const auto& all = all_devices();
  const auto at = std::ranges::find_if(all, [&](const Opened& each) { return each.device() == device; });
  return at == all.end() ? -1 : static_cast<int>(at - all.begin());
}

int device_count() { return static_cast<int>(all_devices().size()); }

bool is_gpu(int index) { return (info<CL_DEVICE_TYPE>(device_at(index).device) & CL_DEVICE_TYPE_GPU) != 0; }

std::string absence() {
  if (!missing().empty()) return missing();
  if (const auto count = device_count(); count > 0) return fmt::format("OpenCL has {} of them, counted from 0", count);
  std::vector<cl::Platform> platforms;
  if (cl::Platform::get(&platforms) != CL_SUCCESS || platforms.empty()) return "OpenCL has no platform here";
  return fmt::format("no device on the OpenCL platform {}", platforms.front().getInfo<CL_PLATFORM_NAME>());
}

DeviceInfo describe(int index) {
  const cl::Device& device = device_at(index).device;
  DeviceInfo result;
  result.device = {Backend::opencl, index};
  result.name = info<CL_DEVICE_NAME>(device);
  result.units = static_cast<int>(info<CL_DEVICE_MAX_COMPUTE_UNITS>(device));
  result.memory_bytes = info<CL_DEVICE_GLOBAL_MEM_SIZE>(device);
  result.free_bytes = free_bytes(index);
  const cl::Platform platform(info<CL_DEVICE_PLATFORM>(device));
  std::string version = info<CL_DEVICE_VERSION>(device);  // "OpenCL 3.0 and what the vendor adds"
  version = version.substr(0, version.find(' ', version.find(' ') + 1));
  const auto type = info<CL_DEVICE_TYPE>(device);
  const std::string_view kind = (type & CL_DEVICE_TYPE_GPU) != 0   ? "GPU"
                                : (type & CL_DEVICE_TYPE_CPU) != 0 ? "this CPU"
                                                                   : "accelerator";
  result.detail = fmt::format("{}, {}, {}, driver {}, fp16 {}, fp64 {}", kind, platform.getInfo<CL_PLATFORM_NAME>(),
                              version, info<CL_DRIVER_VERSION>(device), has(device, "cl_khr_fp16") ? "yes" : "no",
                              has(device, "cl_khr_fp64") ? "yes" : "no");
  return result;
}

std::shared_ptr<void> create_queue(int index) {
  Opened& entry = opened(index);
  cl_int status = CL_SUCCESS;
  cl::CommandQueue queue(entry.context, entry.device, cl_command_queue_properties{0}, &status);
  check(status, "clCreateCommandQueue");
  const std::lock_guard lock(entry.mutex);
  entry.others.push_back(queue);
  return {queue(), [&entry](void* handle) {
            const std::lock_guard forgetting(entry.mutex);
            std::erase_if(entry.others, [&](const cl::CommandQueue& other) { return other() == handle; });
          }};
}

void finish_others(int index) {
  Opened& entry = opened(index);
  std::vector<cl::CommandQueue> others;
  {
    const std::lock_guard lock(entry.mutex);
    others = entry.others;
  }
  for (const auto& other : others) check(other.finish(), "clFinish");
}

void require_native(int index, void* native) {
  const cl::CommandQueue queue(static_cast<cl_command_queue>(native), true);
  cl_int status = CL_SUCCESS;
  const auto device = queue.getInfo<CL_QUEUE_DEVICE>(&status);
  check(status, "clGetCommandQueueInfo");
  if (device() != device_at(index).device()) {
    throw_argument("Queue::borrow", "native_stream", fmt::format("a cl_command_queue of opencl:{}", index),
                   "one of " + info<CL_DEVICE_NAME>(device));
  }
  const auto properties = queue.getInfo<CL_QUEUE_PROPERTIES>(&status);
  check(status, "clGetCommandQueueInfo");
  if ((properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0) {
    throw_argument("Queue::borrow", "native_stream", "an in-order cl_command_queue", "one out of order");
  }
}

void synchronize(const Queue& queue) { check(queue_of(queue).finish(), "Queue::synchronize"); }

}  // namespace holotone::opencl
