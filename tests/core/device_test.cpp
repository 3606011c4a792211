#include <algorithm>
#include <gtest/gtest.h>
#include <holotone/core/device.hpp>
#include <holotone/core/error.hpp>
#include <string>
#include <tests/support/on_each_device.hpp>
#include <utility>

namespace holotone {
namespace {

TEST(Device, TheCpuComesFirst) {
  const auto all = devices();
  ASSERT_FALSE(all.empty());
  EXPECT_EQ(all.front(), Device{});
}

TEST(Device, NamesAreReadBack) {
  for (const Device device : devices()) EXPECT_EQ(parse_device(to_string(device)), device);
  EXPECT_EQ(to_string(Device{Backend::cuda, 3}), "cuda:3");
}

TEST(Device, AutoTakesTheFirstGpuElseTheCpu) {
  const auto all = devices();
  const auto cuda = std::ranges::find(all, Backend::cuda, &Device::backend);
  const Device device = parse_device("auto");
  if (cuda != all.end()) {
    EXPECT_EQ(device, *cuda);
  } else {
    EXPECT_TRUE(device == Device{} || device == (Device{Backend::opencl, 0}));  // an OpenCL device that is a GPU
  }
}

TEST(Device, WrongNamesAreRefusedInOneLine) {
  for (const std::string name : {"", "gpu", "cudaa", "cuda:", "cuda:x", "cuda:0x", "CPU", "opencl:", "opencl0"}) {
    support::expect_error(ErrorCode::invalid_argument,
                          "device: expected auto, cpu, cuda, cuda:N, opencl or opencl:N, got '" + name + "'",
                          [&] { parse_device(name); });
  }
}

TEST(Device, AbsentDevicesAreUnsupported) {
  for (const std::string name : {"cuda:63", "cuda:-1", "opencl:63", "opencl:-1"}) {
    support::expect_error(ErrorCode::unsupported, "got '" + name + "'", [&] { parse_device(name); });
  }
}

TEST(Device, DescriptionsAreFilled) {
  for (const Device device : devices()) {
    const DeviceInfo info = describe(device);
    EXPECT_EQ(info.device, device);
    EXPECT_FALSE(info.name.empty());
    EXPECT_GT(info.units, 0);
    EXPECT_GT(info.free_bytes, std::size_t{1} << 20);
    EXPECT_GE(info.memory_bytes, info.free_bytes);
  }
}

TEST(Device, QueuesShareTheirLine) {
  for (const Device device : devices()) {
    const Queue queue = Queue::create(device);
    const Queue again = queue;  // NOLINT(performance-unnecessary-copy-initialization): the point of the test
    EXPECT_EQ(again.device(), device);
    EXPECT_EQ(again.native(), queue.native());
    EXPECT_EQ(device.backend == Backend::cpu, queue.native() == nullptr);
    again.synchronize();
  }
}

TEST(Device, AQueueThatWaitsSeesTheWorkOfTheOther) {
  for (const Device device : devices()) {
    constexpr std::int64_t count = std::int64_t{1} << 24;  // so large that the copies would overlap without the wait
    Array<float, 1> host({count});
    std::fill(host.host().begin(), host.host().end(), 3.0F);
    const auto source = host.to(device);
    std::fill(host.host().begin(), host.host().end(), 0.0F);
    auto between = host.to(device);
    const Queue earlier = Queue::create(device);
    const Queue later = Queue::create(device);
    Array<float, 1> result({count}, later);
    copy<float, 1>(between.view(), source.view(), earlier);
    later.wait_for(earlier);
    copy<float, 1>(result.view(), std::as_const(between).view(), later);
    later.synchronize();
    const auto seen = result.to({});
    EXPECT_TRUE(std::ranges::all_of(seen.host(), [](float value) { return value == 3.0F; })) << to_string(device);
  }
}

}  // namespace
}  // namespace holotone
