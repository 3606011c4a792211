#pragma once
// Shared by the benchmark programs: cases, checks and the clock.
#include <functional>
#include <holotone/core/device.hpp>
#include <holotone/hologram/point_cloud.hpp>
#include <string>
#include <tests/cases/point_cloud.hpp>

namespace bench {

/// Git commit the program was built from ("-dirty" if the tree had changes), or "unknown".
std::string commit();

/// Today's date in UTC, "2025-01-31T12:00:00Z".
std::string utc_date();

/// True for the CPU, and for one that OpenCL runs on.
bool is_processor(holotone::Device device);

/// Switches Stopwatch to processor time and the library to one thread, for a CPU that does other work at the same
/// time, which distorts wall time.
void use_processor_time();

/// Makes seconds_of measure a single run, for tests of the programs.
void time_once();

/// "wall time" or "processor time, one thread".
std::string clock_name();

/// Seconds since construction: wall time, or processor time after use_processor_time.
class Stopwatch {
 public:
  Stopwatch();
  [[nodiscard]] double seconds() const;

 private:
  double start_;
};

/// Median over `rounds` of the time in seconds of work(), which enqueues. Every round enqueues for about 20 ms (at
/// least once) between two synchronisations of `queue`, so that launch and wait cost no more than in use.
double seconds_of(const holotone::Queue& queue, int rounds, const std::function<void()>& work);

/// Median in seconds of `rounds` single runs of work() on a rested device, after a pause and three runs to warm up.
/// This is the latency of a display that requests single frames with pauses between them. Under longer full load a GPU
/// lowers its clock: seconds_of measures that. CUDA: measured by the device's own clock.
double rested_seconds_of(const holotone::Queue& queue, int rounds, const std::function<void()>& work);

/// Number of runs of work() in about 20 ms, at least 1. Runs work() to measure it and to warm it up.
int repeats_of(const holotone::Queue& queue, const std::function<void()>& work);

/// Host memory that a GPU copies asynchronously (page-locked on CUDA).
class HostMemory {
 public:
  HostMemory(std::size_t bytes, holotone::Device device);
  ~HostMemory();
  HostMemory(const HostMemory&) = delete;
  HostMemory& operator=(const HostMemory&) = delete;
  [[nodiscard]] void* data() const { return data_; }

 private:
  void* data_ = nullptr;
  bool locked_ = false;
};

/// A plan with points on its device and outputs to write, checked against the float64 sum at 512 pixels.
class PointCloudRun {
 public:
  enum class Output { field_and_phase, real };
  /// `samples` is the reference for `c`; cases that differ only in method share it.
  PointCloudRun(const cases::PointCloudCase& c, const reference::PointWaves& points, const cases::PixelSample& samples,
                holotone::Device device, Output output);
  /// Enqueues the sum. Points are already on the device; the time includes their preparation.
  void run();
  [[nodiscard]] double relative_error() const { return relative_error_; }
  [[nodiscard]] double phase_error_levels() const { return phase_error_levels_; }
  [[nodiscard]] const holotone::Queue& queue() const { return queue_; }
  [[nodiscard]] const holotone::PointCloudPlan& plan() const { return plan_; }

 private:
  holotone::Queue queue_;
  holotone::Array<float, 2> position_m_;
  holotone::Array<float, 1> amplitude_;
  holotone::Array<std::complex<float>, 2> field_;
  holotone::Array<float, 2> real_;
  holotone::Array<std::uint8_t, 2> phase_;
  holotone::PointCloudPlan plan_;
  holotone::PointCloudOutput output_;
  double relative_error_ = 0;
  double phase_error_levels_ = 0;
};

}  // namespace bench
