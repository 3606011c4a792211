#include <algorithm>
#include <bench/measure.hpp>
#include <commit.hpp>
#include <cstdlib>
#include <ctime>
#include <holotone/core/error.hpp>
#include <omp.h>
#include <thread>
#include <vector>

#if HOLOTONE_CUDA
#include <cuda_runtime_api.h>
#endif
#if HOLOTONE_OPENCL
#include <holotone/core/device_opencl.hpp>
#endif

namespace bench {
namespace {

bool processor_time = false;  // set once, before anything is measured
bool single_run = false;      // likewise

double now() {
  std::timespec time{};
  clock_gettime(processor_time ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double timed(const holotone::Queue& queue, int repeats, const std::function<void()>& work) {
  queue.synchronize();
  const Stopwatch clock;
  for (int i = 0; i < repeats; ++i) work();
  queue.synchronize();
  return clock.seconds() / repeats;
}

double median(std::vector<double> times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

#if HOLOTONE_CUDA
void check(cudaError_t status, const char* call) {
  if (status != cudaSuccess) throw holotone::Error(holotone::ErrorCode::device, call);
}

/// Seconds of each of `rounds` runs enqueued one behind the other, by events on the stream.
std::vector<double> event_times(const holotone::Queue& queue, int rounds, const std::function<void()>& work) {
  auto* const stream = static_cast<cudaStream_t>(queue.native());
  std::vector<cudaEvent_t> events(static_cast<std::size_t>(rounds) + 1);
  for (auto& event : events) check(cudaEventCreate(&event), "cudaEventCreate");
  check(cudaEventRecord(events[0], stream), "cudaEventRecord");
  for (std::size_t i = 1; i < events.size(); ++i) {
    work();
    check(cudaEventRecord(events[i], stream), "cudaEventRecord");
  }
  queue.synchronize();
  std::vector<double> times;
  for (std::size_t i = 1; i < events.size(); ++i) {
    float span_ms = 0;
    check(cudaEventElapsedTime(&span_ms, events[i - 1], events[i]), "cudaEventElapsedTime");
    times.push_back(span_ms * 1e-3);
  }
  for (auto& event : events) cudaEventDestroy(event);
  return times;
}
#endif

}  // namespace

double rested_seconds_of(const holotone::Queue& queue, int rounds, const std::function<void()>& work) {
  work();  // first run, with the plan's one-time preparation
  queue.synchronize();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  for (int i = 0; i < 3; ++i) work();
#if HOLOTONE_CUDA
  if (queue.device().backend == holotone::Backend::cuda) return median(event_times(queue, rounds, work));
#endif
  std::vector<double> times(static_cast<std::size_t>(rounds));
  for (auto& time : times) time = timed(queue, 1, work);
  return median(std::move(times));
}

bool is_processor(holotone::Device device) {
#if HOLOTONE_OPENCL
  if (device.backend == holotone::Backend::opencl) {
    return (holotone::opencl::info<CL_DEVICE_TYPE>(holotone::opencl::device_of({device})) & CL_DEVICE_TYPE_CPU) != 0;
  }
#endif
  return device.backend == holotone::Backend::cpu;
}

void use_processor_time() {
  processor_time = true;
  omp_set_num_threads(1);
}

void time_once() { single_run = true; }

std::string clock_name() { return processor_time ? "processor time, one thread" : "wall time"; }

Stopwatch::Stopwatch() : start_(now()) {}

double Stopwatch::seconds() const { return now() - start_; }

std::string commit() { return HOLOTONE_COMMIT; }

std::string utc_date() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  return {text, std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

int repeats_of(const holotone::Queue& queue, const std::function<void()>& work) {
  constexpr double round_seconds = 0.02;
  timed(queue, 1, work);  // warms up
  return static_cast<int>(std::clamp(round_seconds / timed(queue, 1, work), 1.0, 1000.0));
}

double seconds_of(const holotone::Queue& queue, int rounds, const std::function<void()>& work) {
  const double once = timed(queue, 1, work);  // warms up; for a long run one measurement is enough
  if (single_run || rounds <= 1 || once > 5) return once;
  const int repeats = repeats_of(queue, work);
  std::vector<double> times(static_cast<std::size_t>(rounds));
  for (auto& time : times) time = timed(queue, repeats, work);
  return median(std::move(times));
}

HostMemory::HostMemory(std::size_t bytes, holotone::Device device) {
#if HOLOTONE_CUDA
  locked_ = device.backend == holotone::Backend::cuda && cudaMallocHost(&data_, bytes) == cudaSuccess;
#else
  (void)device;
#endif
  if (!locked_) data_ = std::malloc(bytes);
  if (data_ == nullptr) throw std::bad_alloc();
}

HostMemory::~HostMemory() {
#if HOLOTONE_CUDA
  if (locked_) {
    cudaFreeHost(data_);
    return;
  }
#endif
  std::free(data_);
}

PointCloudRun::PointCloudRun(const cases::PointCloudCase& c, const reference::PointWaves& points,
                             const cases::PixelSample& samples, holotone::Device device, Output output)
    : queue_(holotone::Queue::create(device)), plan_(c.options, queue_) {
  const auto sources = cases::sources(points);
  position_m_ = copy_of(sources.position_m, device);
  amplitude_ = copy_of(sources.amplitude, device);
  if (output == Output::real) {
    real_ = holotone::Array<float, 2>(c.options.shape, queue_);
    output_.real = real_.view();
  } else {
    field_ = holotone::Array<std::complex<float>, 2>(c.options.shape, queue_);
    phase_ = holotone::Array<std::uint8_t, 2>(c.options.shape, queue_);
    output_ = {field_.view(), {}, phase_.view()};
  }
  plan_.set_points({position_m_.view(), amplitude_.view(), {}});
  run();
  queue_.synchronize();
  if (output == Output::real) {
    relative_error_ = cases::relative_error(samples, real_.to(holotone::Device{}).data());
  } else {
    relative_error_ = cases::relative_error(samples, field_.to(holotone::Device{}).data());
    phase_error_levels_ = cases::phase_error_levels(samples, phase_.to(holotone::Device{}).data());
  }
}

void PointCloudRun::run() { plan_.execute(output_); }

}  // namespace bench
