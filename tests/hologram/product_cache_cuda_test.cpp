// Algorithms of matrix products that are kept for other processes.
#include <filesystem>
#include <fstream>
#include <holotone/core/cuda.hpp>
#include <holotone/hologram/point_cloud.hpp>
#include <tests/support/on_each_device.hpp>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;
using holotone::Array;
using holotone::Device;

class ProductCache : public support::OnEachDevice {
 protected:
  void SetUp() override {
    OnEachDevice::SetUp();
    folder_ = fs::temp_directory_path() / ("holotone_products_" + std::to_string(::getpid()));
    fs::remove_all(folder_);
    holotone::set_cuda_cache(folder_.string());
  }
  void TearDown() override {
    holotone::set_cuda_cache({});
    fs::remove_all(folder_);
  }

  /// Two sums of a few points over so many columns: each number has products of its own shape.
  static std::vector<support::Complex> sums(Device device, std::int64_t nx) {
    const holotone::Queue queue(device);
    holotone::PointCloudPlan plan(
        {.wavelength_m = 532e-9, .pitch_m = 8e-6, .shape = {96, nx}, .method = holotone::PointMethod::separable},
        queue);
    const std::int64_t count = 64;
    Array<float, 2> position({count, 3});
    Array<float, 1> amplitude({count});
    for (std::int64_t i = 0; i < count; ++i) {
      position(i, 0) = 1e-5F * static_cast<float>(i % 9 - 4);
      position(i, 1) = 1e-5F * static_cast<float>(i % 7 - 3);
      position(i, 2) = -0.2F - 1e-5F * static_cast<float>(i);
      amplitude(i) = 1;
    }
    plan.set_points({.position_m = position.view(), .amplitude = amplitude.view()});
    Array<support::Complex, 2> field({96, nx}, queue);
    for (int i = 0; i < 2; ++i) plan.execute({.field = field.view(), .real = {}, .phase = {}});
    queue.synchronize();
    const auto host = field.to(Device{});
    return {host.host().begin(), host.host().end()};
  }

  [[nodiscard]] std::vector<fs::path> files() const {
    std::vector<fs::path> all;
    if (!fs::exists(folder_)) return all;
    for (const auto& entry : fs::directory_iterator(folder_)) all.push_back(entry.path());
    return all;
  }

  fs::path folder_;
};

TEST_P(ProductCache, KeepsChoicesAndMakesDamagedOnesAgain) {
  on_each([this](Device device) {
    const auto expected = sums(device, 160);
    ASSERT_FALSE(files().empty());
    // Another process would read these files; this one remembers shapes, so that damage shows with a shape of its own.
    for (const auto& file : files()) std::ofstream(file, std::ios::binary) << "not a choice";
    const auto again = sums(device, 160);
    EXPECT_LT(support::relative_error(again.data(), std::vector<support::Complex64>(expected.begin(), expected.end())),
              1e-3);
    const std::size_t before = files().size();
    static_cast<void>(sums(device, 224));
    EXPECT_GT(files().size(), before);
  });
}

TEST_P(ProductCache, DoesWithoutAFolder) {
  on_each([this](Device device) {
    holotone::set_cuda_cache("/proc/no/such/folder");
    EXPECT_EQ(holotone::cuda_cache(), "/proc/no/such/folder");
    const auto without = sums(device, 192);
    EXPECT_TRUE(files().empty());
    EXPECT_EQ(without.size(), 96U * 192);
  });
}

HOLOTONE_ON_DEVICES(ProductCache, "cuda");

}  // namespace
