// The speeds of `holotone devices --measure`.
#include <cmath>
#include <holotone/core/device.hpp>
#include <tests/support/program.hpp>

namespace holotone::test {
namespace {

class DevicesTest : public ProgramTest {};

constexpr std::array figure_names = {"upload_bytes_per_s", "download_bytes_per_s", "memory_bytes_per_s",
                                     "propagation_s", "point_pixels_per_s"};

TEST_F(DevicesTest, EachDeviceIsMeasured) {
  const auto result = run_json({"devices", "--measure"});
  const auto& listed = result["devices"];
  ASSERT_EQ(listed.size(), devices().size());
  ASSERT_TRUE(listed[0].contains("measured")) << listed[0];
  std::size_t measured = 0;
  for (const auto& device : listed) {
    ASSERT_NE(device.contains("measured"), device.contains("error")) << device;
    if (!device.contains("measured")) continue;
    ++measured;
    EXPECT_EQ(device["measured"].size(), figure_names.size()) << device;
    for (const char* name : figure_names) {
      const double value = device["measured"].at(name).get<double>();
      EXPECT_TRUE(std::isfinite(value) && value > 0) << name << " " << device;
    }
  }
  EXPECT_EQ(result.contains("slowest"), measured > 1) << result;
  const auto& cpu = listed[0]["measured"];
  // From a loaded core under a sanitizer to a large server: a mistaken unit is off by 1e3 or more.
  EXPECT_GT(cpu["memory_bytes_per_s"].get<double>(), 1e8);
  EXPECT_LT(cpu["memory_bytes_per_s"].get<double>(), 1e13);
  EXPECT_GT(cpu["propagation_s"].get<double>(), 1e-4);
  EXPECT_LT(cpu["propagation_s"].get<double>(), 100);
  EXPECT_GT(cpu["point_pixels_per_s"].get<double>(), 1e6);
  EXPECT_LT(cpu["point_pixels_per_s"].get<double>(), 1e13);
}

TEST_F(DevicesTest, FiguresAreLinesBelowTheDevice) {
  const auto result = run({"devices", "--measure"});
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_EQ(result.error, "");
  EXPECT_NE(result.output.find("\n         copy to it "), std::string::npos) << result.output;
  EXPECT_NE(result.output.find("\n         propagation of 1920 x 1080 "), std::string::npos) << result.output;
  EXPECT_EQ(run({"devices"}).output.find("propagation"), std::string::npos);
  EXPECT_FALSE(run_json({"devices"})["devices"][0].contains("measured"));
}

}  // namespace
}  // namespace holotone::test
