#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/kernel_cache.hpp>
#include <holotone/core/kernel_opencl.hpp>
#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace holotone {

std::string_view opencl_text(std::string_view path);  // made by cmake/embed.cmake

namespace opencl {
namespace {

std::mutex programs_mutex;
std::map<std::string, std::string, std::less<>> added_texts;
std::string folder_of_kernels;
std::function<void()> notice_of_compiling;

void append_text(std::string_view path, std::set<std::string>& seen, std::string& text) {
  if (!seen.emplace(path).second) return;
  const auto added = added_texts.find(path);
  const std::string_view source = added != added_texts.end() ? added->second : opencl_text(path);
  if (source.empty()) throw Error(ErrorCode::device, fmt::format("{}: not a source of OpenCL in this library", path));
  constexpr std::string_view include = "#include \"";
  for (std::size_t begin = 0; begin < source.size();) {
    const std::size_t end = std::min(source.find('\n', begin), source.size() - 1) + 1;
    const std::string_view line = source.substr(begin, end - begin);
    if (line.starts_with(include)) {
      append_text(line.substr(include.size(), line.rfind('"') - include.size()), seen, text);
    } else if (!line.starts_with("#pragma once")) {  // a header that C++ includes too
      text += line;
    }
    begin = end;
  }
}

cl::Program compiled(const cl::Context& context, const cl::Device& device, std::string_view path,
                     const std::string& text, const std::string& options) {
  if (const auto notice = std::exchange(notice_of_compiling, nullptr)) notice();
  cl_int status = CL_SUCCESS;
  cl::Program program(context, text, false, &status);
  check(status, "clCreateProgramWithSource");
  // Without warnings: PoCL prints how many there were. check_opencl.sh refuses those that matter.
  status = program.build(device, fmt::format("-w {}", options).c_str());
  if (status == CL_BUILD_PROGRAM_FAILURE) {
    std::string log = program.getBuildInfo<CL_PROGRAM_BUILD_LOG>(device);
    log.erase(log.find_last_not_of(" \n\r") + 1);
    throw Error(ErrorCode::device,
                fmt::format("{} cannot be compiled for {}: {}", path, info<CL_DEVICE_NAME>(device), log));
  }
  check(status, "clBuildProgram");
  return program;
}

std::string machine_code(const cl::Program& program) {
  cl_int status = CL_SUCCESS;
  const auto codes = program.getInfo<CL_PROGRAM_BINARIES>(&status);
  check(status, "clGetProgramInfo");
  return {codes.front().begin(), codes.front().end()};
}

/// A program from machine code; empty if the driver refuses it.
cl::Program loaded(const cl::Context& context, const cl::Device& device, const std::string& code,
                   const std::string& options) {
  cl_int status = CL_SUCCESS;
  cl::Program program(context, {device}, {{code.begin(), code.end()}}, nullptr, &status);
  if (status == CL_SUCCESS) status = program.build(device, options.c_str());
  return status == CL_SUCCESS ? program : cl::Program();
}

cl::Program made(const Queue& queue, std::string_view path, const std::string& text, const std::string& options) {
  const cl::Context context = context_of(queue);
  const cl::Device device = device_of(queue);
  if (folder_of_kernels.empty()) return compiled(context, device, path, text, options);
  const std::string identity = device_identity(queue) + options + "\n" + text;  // every input of the machine code
  const std::string_view name = path.substr(path.rfind('/') + 1);
  cl::Program program;
  const std::string code = kept_kernel(folder_of_kernels, name, identity, [&] {
    program = compiled(context, device, path, text, options);
    return machine_code(program);
  });
  if (program() == nullptr) program = loaded(context, device, code, options);
  if (program() == nullptr) {
    forget_kernel(folder_of_kernels, name, identity);
    program = compiled(context, device, path, text, options);
  }
  return program;
}

/// The program of a key in a context; `make` makes it.
template <class Make>
cl::Program find_program(const Queue& queue, const std::string& key, const Make& make) {
  // A context is kept by the programs made for it, so that its address stays its own. Never destroyed: the drivers take
  // themselves apart when the process ends.
  static auto& programs = *new std::map<std::pair<cl_context, std::string>, cl::Program>;
  const cl::Context context = context_of(queue);
  const std::lock_guard lock(programs_mutex);
  const auto entry = std::pair(context(), key);
  if (const auto at = programs.find(entry); at != programs.end()) return at->second;
  return programs.emplace(entry, make()).first->second;
}

}  // namespace

cl::Program program_of_text(const Queue& queue, std::string_view name, const std::string& text,
                            const std::string& options) {
  return find_program(queue, fmt::format("{} {}", options, text), [&] { return made(queue, name, text, options); });
}

void add_text(std::string_view path, std::string_view text) {
  const std::lock_guard lock(programs_mutex);
  added_texts.insert_or_assign(std::string(path), std::string(text));
}

std::string program_text(std::string_view path) {
  std::set<std::string> seen;
  std::string text;
  append_text(path, seen, text);
  return text;
}

bool prefers_vectors(const Queue& queue) {
  const cl::Device device = device_of(queue);
  return (info<CL_DEVICE_TYPE>(device) & CL_DEVICE_TYPE_CPU) != 0 &&
         info<CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT>(device) >= 8;
}

std::string exact_division(const Queue& queue) {
  const auto has = info<CL_DEVICE_SINGLE_FP_CONFIG>(device_of(queue)) & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
  return has != 0 ? "-cl-fp32-correctly-rounded-divide-sqrt" : "";
}

Kernel::Kernel(const Queue& queue, std::string_view path, const char* name, const std::vector<std::string>& options)
    : queue_(queue_of(queue)),
      context_(context_of(queue)()),
      device_name_(info<CL_DEVICE_NAME>(device_of(queue))),
      name_(name) {
  std::string all = "-cl-std=CL1.2";
  for (const auto& option : options) all += " " + option;
  cl_int status = CL_SUCCESS;
  const auto make = [&] { return made(queue, path, program_text(path), all); };
  kernel_ = cl::Kernel(find_program(queue, fmt::format("{} {}", path, all), make), name, &status);
  check(status, "clCreateKernel: " + name_);
  const cl::Device device = device_of(queue);
  largest_group_ = group_info<CL_KERNEL_WORK_GROUP_SIZE>(kernel_, device);
  const auto local = group_info<CL_KERNEL_LOCAL_MEM_SIZE>(kernel_, device);
  constexpr cl_ulong of_the_driver = 64;  // NVIDIA counts 8 bytes of its own, and grants them
  if (const auto memory = info<CL_DEVICE_LOCAL_MEM_SIZE>(device); local > memory + of_the_driver) {
    throw_unsupported(name_, "queue", fmt::format("a device with {} bytes of local memory", local),
                      fmt::format("{} with {}", device_name_, memory));
  }
}

void Kernel::set_place(cl_uint& at, const Place& place, std::size_t element_bytes) {
  // Not every driver finds this.
  if (place.memory != nullptr && place.context != context_) {
    throw_argument(name_, fmt::format("argument {}", at), "memory of the context of the plan's queue",
                   "memory of another cl_context");
  }
  const auto first = static_cast<cl_long>(place.offset / element_bytes);
  set_bytes(at, sizeof place.memory, &place.memory);  // NOLINT(bugprone-sizeof-expression): the handle is the argument
  set_bytes(at, sizeof first, &first);
}

void Kernel::set_bytes(cl_uint& at, std::size_t bytes, const void* value) {
  check(clSetKernelArg(kernel_(), at, bytes, value), fmt::format("clSetKernelArg: {}, argument {}", name_, at));
  ++at;
}

void Kernel::enqueue(const Range& items, const Range& group) {
  Range range{};  // whole groups
  for (std::size_t i = 0; i < range.size(); ++i) range[i] = (items[i] + group[i] - 1) / group[i] * group[i];
  if (range[0] * range[1] * range[2] == 0) return;
  if (const auto size = group[0] * group[1] * group[2]; size > largest_group_) {
    throw_unsupported(name_, "queue", fmt::format("a device with groups of {} work items", size),
                      fmt::format("{} with {}", device_name_, largest_group_));
  }
  check(clEnqueueNDRangeKernel(queue_(), kernel_(), 3, nullptr, range.data(), group.data(), 0, nullptr, nullptr),
        "clEnqueueNDRangeKernel: " + name_);
}

void clear(void* data, std::size_t bytes, const Queue& queue) {
  if (bytes == 0) return;
  const Place place = locate(data);
  constexpr cl_uchar zero = 0;
  check(clEnqueueFillBuffer(queue_of(queue)(), place.memory, &zero, sizeof zero, place.offset, bytes, 0, nullptr,
                            nullptr),
        "clEnqueueFillBuffer");
}

void set_cache(std::string folder, std::function<void()> compiling) {
  const std::lock_guard lock(programs_mutex);
  folder_of_kernels = std::move(folder);
  notice_of_compiling = std::move(compiling);
}

std::string device_identity(const Queue& queue) {
  const cl::Device device = device_of(queue);
  const cl::Platform platform(info<CL_DEVICE_PLATFORM>(device));
  return fmt::format("{}\n{}\n{}\n{}\n", platform.getInfo<CL_PLATFORM_VERSION>(), info<CL_DEVICE_NAME>(device),
                     info<CL_DEVICE_VERSION>(device), info<CL_DRIVER_VERSION>(device));
}

}  // namespace opencl
}  // namespace holotone
