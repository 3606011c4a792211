// FFTs by VkFFT (Tolmachev 2023), whose kernels are made for a shape and a device when a plan is made.
#include <holotone/core/kernel_opencl.hpp>
//
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/kernel_cache.hpp>
#include <holotone/fft/fft_engine.hpp>
#include <map>
#include <mutex>
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
                      result == VKFFT_ERROR_FAILED_TO_CREATE_BUFFER;
  throw Error(memory ? ErrorCode::out_of_memory : ErrorCode::device,
              fmt::format("{}: {} x {} of {} arrays: VkFFT's error {}", call, job.ny, job.nx, job.batch,
                          static_cast<int>(result)));
}

/// Compiled kernels of this process, by their identity.
class Codes {
 public:
  std::string find(const std::string& identity) {
    const std::lock_guard lock(mutex_);
    const auto own = codes_.find(identity);
    return own == codes_.end() ? std::string() : own->second;
  }
  void keep(const std::string& identity, const std::string& code) {
    const std::lock_guard lock(mutex_);
    codes_.insert_or_assign(identity, code);
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::string> codes_;
};

Codes& codes() {
  static Codes all;
  return all;
}

/// Transforms of one kind on a device.
class Transform {
 public:
  Transform(const Job& job, const Queue& queue)
      : job_(job),
        device_(opencl::device_of(queue)()),
        context_(opencl::context_of(queue)()),
        bytes_(static_cast<std::uint64_t>(job.nx * job.ny * job.batch) * sizeof(std::complex<float>)) {
    const std::string identity = fmt::format("{}VkFFT {} {} {} {} {} {}", opencl::identity_of(queue), VkFFTGetVersion(),
                                             job.nx, job.ny, job.omit_x, job.batch, job.scale);
    std::string code = codes().find(identity);
    if (code.empty()) {
      code = kept_kernel(opencl::cache_folder(), "fft", identity, [&] { return compiled(); });
      codes().keep(identity, code);
    }
    if (made_) return;
    if (load(code)) return;
    forget_kernel(opencl::cache_folder(), "fft", identity);  // the driver refuses it
    (void)compiled();
  }
  ~Transform() {
    if (made_) deleteVkFFT(&application_);
  }
  Transform(const Transform&) = delete;
  Transform& operator=(const Transform&) = delete;

  void execute(std::complex<float>* data, FftDirection direction, cl_command_queue queue) {
    const opencl::Place place = opencl::place_of(data);
    cl_mem memory = place.memory;
    VkFFTLaunchParams launch{};
    launch.commandQueue = &queue;
    launch.buffer = &memory;
    launch.bufferOffset = place.offset;
    check_fft(VkFFTAppend(&application_, direction == FftDirection::forward ? -1 : 1, &launch), "FftPlan::execute",
              job_);
  }

  [[nodiscard]] std::size_t workspace_bytes() const {
    const auto& own = application_.configuration;
    return own.allocateTempBuffer != 0 ? *own.tempBufferSize : 0;
  }

 private:
  [[nodiscard]] VkFFTConfiguration configuration() {
    VkFFTConfiguration own{};
    own.device = &device_;
    own.context = &context_;
    own.bufferSize = &bytes_;
    own.FFTdim = job_.ny > 1 ? 2 : 1;
    own.size[0] = static_cast<std::uint64_t>(job_.nx);
    own.size[1] = static_cast<std::uint64_t>(job_.ny);
    own.omitDimension[0] = job_.omit_x ? 1 : 0;
    own.numberBatches = static_cast<std::uint64_t>(job_.batch);
    own.normalize = job_.scale ? 1 : 0;
    own.specifyOffsetsAtLaunch = 1;
    own.useLUT = 1;  // tables of sines: a device's own may be coarse
    return own;
  }

  std::string compiled() {
    VkFFTConfiguration own = configuration();
    own.saveApplicationToString = 1;
    check_fft(initializeVkFFT(&application_, own), "FftPlan", job_);
    made_ = true;
    return {static_cast<const char*>(application_.saveApplicationString), application_.applicationStringSize};
  }

  bool load(const std::string& code) {
    VkFFTConfiguration own = configuration();
    own.loadApplicationFromString = 1;
    own.loadApplicationString = const_cast<char*>(code.data());
    made_ = initializeVkFFT(&application_, own) == VKFFT_SUCCESS;
    if (!made_) application_ = {};
    return made_;
  }

  Job job_;
  cl_device_id device_;
  cl_context context_;
  std::uint64_t bytes_;
  bool made_ = false;
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
  return std::make_unique<OpenclEngine>(shape, options, queue);
}

}  // namespace holotone::fft
