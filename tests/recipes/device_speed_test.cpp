// Speed of a device: figures within what hardware can do, progress, and its end.
#include <gtest/gtest.h>
#include <holotone/recipes/device_speed.hpp>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

/// Cancels at the first report that says `at`.
class Reports final : public Progress {
 public:
  explicit Reports(std::int64_t at) : at_(at) {}
  bool update(std::string_view, std::int64_t done, std::int64_t total) override {
    EXPECT_GE(done, last);
    EXPECT_EQ(total, 4);
    last = done;
    return done != at_;
  }
  std::int64_t last = 0;

 private:
  std::int64_t at_;
};

TEST(DeviceSpeed, FiguresAreThoseOfHardware) {
  for (const Device device : devices()) {
    Reports reports(-1);
    const DeviceFigures figures = measure_device(device, reports);
    EXPECT_EQ(reports.last, 4);
    for (const double rate : {figures.upload_bytes_per_s, figures.download_bytes_per_s, figures.memory_bytes_per_s}) {
      EXPECT_GT(rate, 1e7) << to_string(device);
      EXPECT_LT(rate, 1e14) << to_string(device);
    }
    // 4 M padded pixels, at least 10 operations each: below 1e15 operations a second.
    EXPECT_GT(figures.propagation_s, 4e-8) << to_string(device);
    EXPECT_LT(figures.propagation_s, 60) << to_string(device);
    EXPECT_GT(figures.point_pixels_per_s, 1e5) << to_string(device);
    EXPECT_LT(figures.point_pixels_per_s, 1e14) << to_string(device);
  }
}

TEST(DeviceSpeed, CancelsBetweenRepetitions) {
  for (std::int64_t at = 0; at < 4; ++at) {
    Reports reports(at);
    support::expect_error(ErrorCode::cancelled, "measuring cpu", [&] { (void)measure_device(Device{}, reports); });
    EXPECT_EQ(reports.last, at);
  }
}

}  // namespace
}  // namespace holotone
