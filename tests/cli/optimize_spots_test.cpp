// holotone optimize of pictures of spots: where the light is, and which command is theirs.
#include <tests/support/program.hpp>

namespace holotone::test {
namespace {

constexpr std::int64_t side = 64;
constexpr std::array<std::array<std::int64_t, 2>, 4> places{{{20, 9}, {13, 44}, {50, 17}, {41, 52}}};

class OptimizeSpotsTest : public ProgramTest {
 protected:
  OptimizeSpotsTest() {
    Array<std::uint8_t, 3> pixels({side, side, 1});
    std::fill_n(pixels.data(), pixels.size(), std::uint8_t{0});
    for (const auto& [row, column] : places) pixels(row, column, 0) = 255;
    write_image(path("spots.png"), Image{std::move(pixels), {}});
  }
  [[nodiscard]] std::vector<std::string> optimize(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{"optimize", path("spots.png"), "-o",  path("slm.png"), "--resolution",
                                       "64x64",    "--pitch",         "8um", "--iterations",  "40"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
};

TEST_F(OptimizeSpotsTest, TheLightOfTheSpotsIsNamed) {
  const auto result = run(optimize({"--focal-length", "20cm", "--solver", "wgs"}));
  EXPECT_EQ(result.exit_code, 0) << result.error;
  EXPECT_NE(result.error.find("4 pixels lit: holotone spots"), std::string::npos) << result.error;
  EXPECT_NE(result.output.find("efficiency 1.00 (0."), std::string::npos) << result.output;
  const auto report = run_json(optimize({"--focal-length", "20cm", "--solver", "wgs"}));
  EXPECT_EQ(report["warnings"].size(), 1U);
  const double lit = report["holograms"][0]["lit_efficiency"];
  // As reconstruct sees the codes.
  (void)run_json({"reconstruct", path("slm.png"), "-o", path("seen.tif"), "--linear"});
  const auto light = to_float(read_image(path("seen.tif")));
  double all = 0;
  double in_spots = 0;
  for (std::int64_t i = 0; i < light.size(); ++i) all += static_cast<double>(light.data()[i]);
  for (const auto& [row, column] : places) in_spots += static_cast<double>(light(row, column, 0));
  EXPECT_NEAR(lit, in_spots / all, 0.01);
  EXPECT_LT(lit, 0.9);
}

TEST_F(OptimizeSpotsTest, LightBesideThePictureIsWarnedOf) {
  const auto corner = [this](const std::string& solver) {
    auto arguments =
        optimize({"--focal-length", "20cm", "--solver", solver, "--signal-region", "64x64+4+4", "--phase", "random"});
    std::ranges::replace(arguments, std::string("64x64"), std::string("192x192"));
    return run_json(arguments);
  };
  const auto lost = corner("wgs");
  ASSERT_LT(lost["holograms"][0]["efficiency"], 0.05);
  EXPECT_NE(lost["warnings"].dump().find("of the light falls into the picture"), std::string::npos);
  const auto kept = corner("gs");
  ASSERT_GT(kept["holograms"][0]["efficiency"], 0.05);
  EXPECT_EQ(kept["warnings"].size(), 0U);
}

}  // namespace
}  // namespace holotone::test
