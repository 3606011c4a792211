#pragma once
// The limit of sums over mixtures of experts.
#include <holotone/core/device.hpp>
#include <memory>

namespace bench {

/// The renderer's own loop over pairs of a component and a pixel, three channels, on all threads: over the same
/// components in the first-level cache, without lists and placement.
class MixtureLoop {
 public:
  MixtureLoop();
  ~MixtureLoop();
  MixtureLoop(const MixtureLoop&) = delete;
  MixtureLoop& operator=(const MixtureLoop&) = delete;
  void run();
  /// Pairs of a run.
  [[nodiscard]] double pairs() const;

 private:
  struct Thread;
  std::unique_ptr<Thread[]> work_;
};

/// Pairs of a pixel and a component a second that a device can sum at most. CPU: MixtureLoop, measured. CUDA: one
/// exponential a pair at 16 a clock on every processor (compute capability 8.0 to 9.0), at the driver's clock. OpenCL:
/// on a CPU the same loop, else as CUDA with OpenCL's units and clock, whatever the units of the device issue.
double max_pairs_per_s(holotone::Device device);

}  // namespace bench
