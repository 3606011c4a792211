// holotone spots: codes whose spots stand where they are asked for, seen by reconstruct; refusals.
#include <cmath>
#include <holotone/io/images/image.hpp>
#include <holotone/recipes/operations.hpp>
#include <tests/support/program.hpp>

namespace holotone::test {
namespace {

class SpotsTest : public ProgramTest {
 protected:
  [[nodiscard]] std::vector<std::string> spots(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{"spots", "-o",           path("slm.png"), "--resolution",   "128x128", "--pitch",
                                       "8um",   "--wavelength", "1064nm",        "--focal-length", "10cm"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
};

TEST_F(SpotsTest, SpotsStandWhereTheyAreAskedFor) {
  // Pixels of reconstruct's picture: lambda f / (n pitch) = 103.9 um.
  const double pixel_m = 1064e-9 * 0.1 / (128 * 8e-6);
  std::string list = "x_m,y_m,intensity\n";
  constexpr std::array<std::array<int, 3>, 3> places{{{30, 44, 4}, {-21, 10, 1}, {12, -33, 2}}};
  for (const auto& [x, y, intensity] : places) {
    // Half a pixel aside of the middle: centres of an even number of pixels.
    list += std::to_string((x + 0.5) * pixel_m) + "," + std::to_string((y + 0.5) * pixel_m) + "," +
            std::to_string(intensity) + "\n";
  }
  const auto report = run_json(spots({write("spots.csv", list), "--table", path("light.csv")}));
  EXPECT_EQ(report["spots"], 3);
  EXPECT_TRUE(report["reached"]);
  EXPECT_GT(report["efficiency"], 0.75);
  EXPECT_LT(report["deviation"], 2e-3);
  EXPECT_TRUE(fs::exists(path("light.csv")));
  ASSERT_EQ(run({"reconstruct", path("slm.png"), "-o", path("seen.tif"), "--linear"}).exit_code, 0);
  const auto seen = to_float(read_image(path("seen.tif")));
  ASSERT_EQ(seen.shape()[0], 128);
  const auto light = [&](int x, int y) { return static_cast<double>(seen(63 - y, 64 + x, 0)); };
  double sum = 0;
  for (std::int64_t i = 0; i < seen.size(); ++i) sum += static_cast<double>(seen.data()[i]);
  double in_spots = 0;
  for (const auto& [x, y, intensity] : places) {
    in_spots += light(x, y);
    EXPECT_NEAR(light(x, y) / light(places[1][0], places[1][1]), intensity, 0.02 * intensity);
  }
  EXPECT_NEAR(in_spots / sum, report["efficiency"].get<double>(), 0.02);
}

TEST_F(SpotsTest, ALatticeAndItsRemarks) {
  const auto report =
      run_json(spots({"--array", "4x3", "--spacing", "1.2mm", "--centre", "0.5mm,0.3mm", "--bits", "4"}));
  EXPECT_EQ(report["spots"], 12);
  EXPECT_EQ(report["warnings"].size(), 0u);
  const auto merged = run({"spots", "-o", path("b.png"), "--array", "4x3", "--spacing", "50um", "--centre", "2mm,1mm",
                           "--resolution", "128x128", "--pitch", "8um", "--focal-length", "10cm"});
  EXPECT_EQ(merged.exit_code, 0);
  EXPECT_NE(merged.error.find("merge"), std::string::npos) << merged.error;
}

TEST_F(SpotsTest, EveryDeviceThatHasThemFindsThem) {
  const auto& operation = operations()[static_cast<std::size_t>(OperationId::spots)];
  ASSERT_EQ(operation.id, OperationId::spots);
  for (const auto device : devices()) {
    if (!has_operation(operation, device.backend)) continue;
    SCOPED_TRACE(to_string(device));
    const auto report = run_json(spots({"--array", "5x4", "--spacing", "1.1mm", "--centre", "0.5mm,0.3mm,2mm",
                                        "--device", to_string(device), "--zero-order", "0.05"}));
    EXPECT_EQ(report["device"], to_string(device));
    EXPECT_TRUE(report["reached"]);
    EXPECT_LT(report["deviation"], 1e-3);
    EXPECT_GT(report["efficiency"], 0.85);
  }
}

TEST_F(SpotsTest, ATelescopeScalesThePanel) {
  const auto plain = run_json(spots({"--array", "2x2", "--spacing", "1mm", "--centre", "2mm,1mm"}));
  const auto scaled = run_json(spots({"--array", "2x2", "--spacing", "1mm", "--centre", "2mm,1mm", "--magnification",
                                      "0.5", "--pupil", "1mm", "--source", "gaussian:0.4mm"}));
  EXPECT_NEAR(scaled["spot_width_m"][0].get<double>(), 2 * plain["spot_width_m"][0].get<double>(), 1e-12);
  const auto info = run_json({"info", path("slm.png")});
  EXPECT_NE(info.dump().find("\"focal_length_m\":0.2,"), std::string::npos) << info.dump();
}

TEST_F(SpotsTest, WhatCannotBeIsRefusedByName) {
  expect_refused(spots({}), {"SPOTS", "neither"});
  expect_refused(spots({"--array", "4x4"}), {"--spacing"});
  expect_refused(spots({"--array", "4", "--spacing", "1mm"}), {"--array"});
  expect_refused(spots({"--array", "4x4", "--spacing", "1m"}), {"spot 0", "diffraction order"});
  expect_refused(spots({"--array", "4x4", "--spacing", "1mm", "--centre", "1mm"}), {"--centre"});
  const auto list = write("plain.csv", "1,2\n");
  expect_refused(spots({list}), {"plain.csv", "unit"});
  expect_refused(spots({list, "--array", "4x4", "--spacing", "1mm"}), {"SPOTS", "both"});
  expect_refused(spots({list, "--unit", "px"}), {"--unit"});
  expect_refused(spots({list, "--unit", "um", "--pupil", "2um"}), {"--pupil"});
  expect_refused(spots({path("none.csv")}), {"none.csv"});
  expect_refused({"spots", list, "--unit", "um", "-o", list, "--focal-length", "10cm"}, {"plain.csv"});
  expect_refused({"spots", list, "--unit", "um", "-o", path("slm.h5"), "--focal-length", "10cm"}, {"slm.h5"});
  const auto deep = write("deep.csv", "x_um,y_um,z_um\n1,2,3\n");
  expect_refused({"spots", deep, "-o", path("a.png"), "--focal-length", "2mm"}, {"--focal-length", "n f"});
}

}  // namespace
}  // namespace holotone::test
