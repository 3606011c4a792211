// FFTs by VkFFT (Tolmachev 2023), whose kernels are made for a shape and a device when a plan is made. Its own way to
// save compiled kernels is not used: in 1.2.26 it reads a byte beyond the memory that it allocates.
#include <holotone/core/kernel_opencl.hpp>
//
#include <exception>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/fft/fft_engine.hpp>

namespace holotone::fft {
namespace {

/// The plan that VkFFT compiles for on this thread, and what it threw.
struct Compiling {
  const Queue& queue;
  std::exception_ptr error{};
};
thread_local Compiling* compiling = nullptr;

/// VkFFT's clCreateProgramWithSource: a built program, from this process or from disk.
cl_program program_of_text(cl_context /*context*/, cl_uint /*count*/, const char** text, const std::size_t* length,
                           cl_int* status) {
  try {
    cl::Program program = opencl::program_of_text(compiling->queue, "fft", std::string(*text, *length));
    clRetainProgram(program());  // VkFFT releases it
    *status = CL_SUCCESS;
    return program();
  } catch (...) {
    compiling->error = std::current_exception();
    *status = CL_BUILD_PROGRAM_FAILURE;
    return nullptr;
  }
}

/// VkFFT's clBuildProgram: the program is built.
cl_int built(cl_program /*program*/, cl_uint /*count*/, const cl_device_id* /*devices*/, const char* /*options*/,
             void (* /*notify*/)(cl_program, void*), void* /*data*/) {
  return CL_SUCCESS;
}

}  // namespace
}  // namespace holotone::fft

// NOLINTBEGIN(readability-identifier-naming): OpenCL's own names
#undef clCreateProgramWithSource
#undef clBuildProgram
#define clCreateProgramWithSource holotone::fft::program_of_text
#define clBuildProgram holotone::fft::built
// NOLINTEND(readability-identifier-naming)
#define VKFFT_BACKEND 3
#include <vkFFT.h>

namespace holotone::fft {
namespace {

/// What VkFFT transforms: lines along x, along y, or both, of contiguous arrays.
struct Job {
  std::int64_t nx;
  std::int64_t ny;  ///< 1: lines along x alone
  bool omit_x;      ///< lines along y alone
  std::int64_t batch;
  bool scale;
};

void check_fft(VkFFTResult result, const char* call, const Job& job) {
  if (result == VKFFT_SUCCESS) return;
  const bool memory = result == VKFFT_ERROR_MALLOC_FAILED || result == VKFFT_ERROR_FAILED_TO_ALLOCATE_MEMORY ||
                      result == VKFFT_ERROR_FAILED_TO_CREATE_BUFFER || result == VKFFT_ERROR_FAILED_TO_ALLOCATE;
  throw Error(memory ? ErrorCode::out_of_memory : ErrorCode::device,
              fmt::format("{}: {} x {} of {} arrays: VkFFT's error {}", call, job.ny, job.nx, job.batch,
                          static_cast<int>(result)));
}

/// Transforms of one kind on a device.
class Transform {
 public:
  Transform(const Job& job, const Queue& queue)
      : job_(job),
        device_(opencl::device_of(queue)()),
        context_(opencl::context_of(queue)()),
        bytes_(static_cast<std::uint64_t>(job.nx * job.ny * job.batch) * sizeof(std::complex<float>)) {
    Compiling here{queue};
    compiling = &here;
    const VkFFTResult result = initializeVkFFT(&application_, configuration());
    compiling = nullptr;
    if (here.error) std::rethrow_exception(here.error);
    check_fft(result, "FftPlan", job_);
  }
  ~Transform() { deleteVkFFT(&application_); }
  Transform(const Transform&) = delete;
  Transform& operator=(const Transform&) = delete;

  void execute(std::complex<float>* data, FftDirection direction, cl_command_queue queue) {
    const opencl::Place place = opencl::locate(data);
    cl_mem memory = place.memory;
    VkFFTLaunchParams launch{};
    launch.commandQueue = &queue;
    launch.buffer = &memory;
    launch.bufferOffset = place.offset;
    check_fft(VkFFTAppend(&application_, direction == FftDirection::forward ? -1 : 1, &launch), "FftPlan::execute",
              job_);
  }

  [[nodiscard]] std::size_t workspace_bytes() const {
    const auto& configuration = application_.configuration;
    return configuration.allocateTempBuffer != 0 ? *configuration.tempBufferSize : 0;
  }

 private:
  [[nodiscard]] VkFFTConfiguration configuration() {
    VkFFTConfiguration configuration{};
    configuration.device = &device_;
    configuration.context = &context_;
    configuration.bufferSize = &bytes_;
    configuration.FFTdim = job_.ny > 1 ? 2 : 1;
    configuration.size[0] = static_cast<std::uint64_t>(job_.nx);
    configuration.size[1] = static_cast<std::uint64_t>(job_.ny);
    configuration.omitDimension[0] = job_.omit_x ? 1 : 0;
    configuration.numberBatches = static_cast<std::uint64_t>(job_.batch);
    configuration.normalize = job_.scale ? 1 : 0;
    configuration.specifyOffsetsAtLaunch = 1;
    configuration.useLUT = 1;  // tables of sines: a device's own may be coarse
    return configuration;
  }

  Job job_;
  cl_device_id device_;
  cl_context context_;
  std::uint64_t bytes_;
  VkFFTApplication application_{};
};

class OpenclEngine final : public Engine {
 public:
  OpenclEngine(Shape<2> shape, const FftOptions& options, const Queue& queue)
      : options_(options), queue_(queue), nx_(shape[1]) {
    const auto [ny, nx] = shape;
    const auto make = [&](const Job& job) {
      return job.nx * job.ny > 1 ? std::make_unique<Transform>(job, queue) : nullptr;
    };
    const bool scale = options.scale_inverse;
    if (options.rows == ny) {
      // A side of 1 is no dimension of VkFFT.
      first_ = make(nx == 1 ? Job{ny, 1, false, options.batch, scale} : Job{nx, ny, false, options.batch, scale});
    } else {
      first_ = make({nx, 1, false, options.rows, scale});
      second_ = make(nx == 1 ? Job{ny, 1, false, 1, scale} : Job{nx, ny, true, 1, scale});
    }
  }

  void execute(std::complex<float>* data, FftDirection direction) override {
    const cl_command_queue queue = opencl::queue_of(queue_)();
    std::complex<float>* const named = data + options_.first_row * nx_;
    if (first_ && direction == FftDirection::forward) first_->execute(named, direction, queue);
    if (second_) second_->execute(data, direction, queue);
    if (first_ && direction == FftDirection::inverse) first_->execute(named, direction, queue);
  }

  [[nodiscard]] std::size_t workspace_bytes() const override {
    return (first_ ? first_->workspace_bytes() : 0) + (second_ ? second_->workspace_bytes() : 0);
  }

 private:
  FftOptions options_;
  Queue queue_;
  std::int64_t nx_;
  std::unique_ptr<Transform> first_;   ///< the whole array, or the rows
  std::unique_ptr<Transform> second_;  ///< the columns
};

}  // namespace

EnginePointer engine_opencl(Shape<2> shape, const FftOptions& options, const Queue& queue) {
  constexpr cl_ulong least = 32768;  // OpenCL 1.2's own minimum; with much less VkFFT crashes
  const cl::Device device = opencl::device_of(queue);
  if (const auto memory = opencl::info<CL_DEVICE_LOCAL_MEM_SIZE>(device); memory < least) {
    throw_unsupported("FftPlan", "queue", fmt::format("a device with {} bytes of local memory", least),
                      fmt::format("{} with {}", opencl::info<CL_DEVICE_NAME>(device), memory));
  }
  return std::make_unique<OpenclEngine>(shape, options, queue);
}

}  // namespace holotone::fft
