#pragma once
// A caller's own OpenCL context, and an encoding whose codes show that a device computed.
#include <holotone/core/device_opencl.hpp>
#include <holotone/core/opencl.hpp>
#include <tests/cases/encode.hpp>
#include <tests/support/on_each_device.hpp>

namespace support {

/// Skips visibly if the machine has no OpenCL device.
class OnOpencl : public testing::Test {
 protected:
  void SetUp() override {
    for (const auto device : holotone::devices()) {
      if (device.backend == holotone::Backend::opencl) devices_.push_back(device);
    }
    if (devices_.empty()) GTEST_SKIP() << "no OpenCL device on this machine";
  }
  [[nodiscard]] const std::vector<holotone::Device>& devices() const { return devices_; }

 private:
  std::vector<holotone::Device> devices_;
};

/// A context and a queue as a caller makes them.
struct OwnContext {
  explicit OwnContext(holotone::Device device, cl_command_queue_properties properties = 0)
      : context(holotone::opencl::device_of(device)),
        queue(context, holotone::opencl::device_of(device), properties),
        borrowed_device(device) {}
  [[nodiscard]] cl::Buffer buffer(std::size_t bytes) const { return {context, CL_MEM_READ_WRITE, bytes}; }
  [[nodiscard]] holotone::Queue borrow() const { return holotone::Queue::borrow(borrowed_device, queue()); }

  cl::Context context;
  cl::CommandQueue queue;
  holotone::Device borrowed_device;
};

/// Encodes a field on a queue's device, in memory of its context. Expects the codes of the CPU.
inline void expect_codes(const holotone::Queue& queue, std::uint64_t seed = 1) {
  const auto grid = cases::grid_of(19, 37);
  const auto field = cases::mixed_field(grid, seed);
  holotone::Array<holotone::Complex, 2> input(grid.shape(), queue);
  holotone::Array<std::uint16_t, 2> codes(grid.shape(), queue);
  copy_bytes(input.data(), queue.device(), field.data(), {}, input.bytes(), queue);
  holotone::EncodePlan plan({}, grid, queue);
  plan.execute(input.view(), codes.view());
  const auto host = codes.to(holotone::Device{});
  const std::vector<std::uint16_t> got(host.data(), host.data() + host.size());
  EXPECT_EQ(got, cases::run(field, {}, grid, holotone::Device{}).codes);
}

}  // namespace support
