// holotone spots --predict: the light of codes that were made before, by this program or another one.
#include <cmath>
#include <complex>
#include <fstream>
#include <holotone/io/images/image.hpp>
#include <numbers>
#include <tests/support/program.hpp>

namespace holotone::test {
namespace {

class SpotsPredictTest : public ProgramTest {
 protected:
  [[nodiscard]] static std::vector<std::string> of_panel(std::vector<std::string> arguments,
                                                         const std::vector<std::string>& more = {}) {
    const std::vector<std::string> panel{"--resolution", "96x64",  "--pitch",        "8um",
                                         "--wavelength", "1064nm", "--focal-length", "10cm"};
    arguments.insert(arguments.begin(), "spots");
    arguments.insert(arguments.end(), panel.begin(), panel.end());
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
};

TEST_F(SpotsPredictTest, ItIsThatOfTheCodesWhenTheyWereMade) {
  const auto list = write("spots.csv",
                          "x_um,y_um,z_um,intensity,phase_deg\n1200,700,0,1,10\n-900,800,300,0.5,200\n"
                          "-1500,-400,-200,2,95\n");
  const std::vector<std::string> optics{"--zero-order",   "0.1",     "--fill-factor", "0.9", "--source",
                                        "gaussian:700um", "--pupil", "480um"};
  const auto made = run_json(of_panel({list, "-o", path("slm.png"), "--table", path("made.csv")}, optics));
  const auto seen = run_json(of_panel(
      {list, "--predict", path("slm.png"), "--table", path("seen.csv"), "--picture", path("seen.png")}, optics));
  for (const auto* const key : {"efficiency", "deviation", "worst", "contrast", "phase_error_rad"}) {
    EXPECT_NEAR(seen[key].get<double>(), made[key].get<double>(), 1e-6) << key;
  }
  EXPECT_LT(seen["phase_error_rad"].get<double>(), 0.05);
  EXPECT_EQ(seen["codes"], path("slm.png"));
  EXPECT_FALSE(seen.contains("outputs"));
  EXPECT_FALSE(seen.contains("free_steps"));
  EXPECT_TRUE(fs::exists(path("seen.png")));
  // Even light is another one.
  const auto even = run_json(of_panel({list, "--predict", path("slm.png")}));
  EXPECT_GT(std::abs(even["efficiency"].get<double>() - made["efficiency"].get<double>()), 0.01);
}

// A blaze of a period of 4 pixels: all light in one place, by hand.
TEST_F(SpotsPredictTest, CodesOfAnotherProgramAreThoseOfThePanel) {
  Array<std::uint8_t, 3> codes({64, 96, 1});
  for (std::int64_t row = 0; row < 64; ++row) {
    for (std::int64_t column = 0; column < 96; ++column) {
      codes(row, column, 0) = static_cast<std::uint8_t>(64 * (column % 4));
    }
  }
  write_image(path("blaze.png"), Image{std::move(codes), {}});
  const double place_um = 1.064 * 0.1 / (4 * 8e-6);  // lambda f / period
  const auto list = write("one.csv", "x_um,y_um\n" + std::to_string(place_um) + ",0\n");
  const auto seen = run(of_panel({list, "--predict", path("blaze.png")}));
  EXPECT_EQ(seen.exit_code, 0);
  EXPECT_NE(seen.error.find("blaze.png states no encoding: read as phase codes of 8 bits of 96 x 64 pixels"),
            std::string::npos)
      << seen.error;
  const auto figures = run_json(of_panel({list, "--predict", path("blaze.png")}));
  EXPECT_NEAR(figures["efficiency"].get<double>(), 1, 1e-4);
  // Codes of which a stroke of pi is a panel's: |mean of exp(i phi / 2 - i phi)|^2 of phi = 0, 90, 180, 270 degrees.
  std::complex<double> mean;
  for (int i = 0; i < 4; ++i) mean += 0.25 * std::polar(1.0, -std::numbers::pi / 4 * i);
  const auto half = run_json(of_panel({list, "--predict", path("blaze.png"), "--phase-range", "180deg"}));
  EXPECT_NEAR(half["efficiency"].get<double>(), std::norm(mean), 1e-4);
}

TEST_F(SpotsPredictTest, WhatDoesNotFitIsNamed) {
  const auto list = write("spots.csv", "x_um,y_um\n1200,700\n");
  ASSERT_EQ(run(of_panel({list, "-o", path("slm.png")})).exit_code, 0);
  expect_refused(of_panel({list}), {"--output: expected a file for the codes"});
  expect_refused(of_panel({list, "--predict", path("slm.png"), "-o", path("b.png")}),
                 {"--predict: expected no --output beside it"});
  expect_refused(of_panel({list, "--predict", path("slm.png"), "--kept-steps", "3"}),
                 {"--kept-steps: expected --output, codes that are found"});
  expect_refused(of_panel({list, "--predict", path("none.png")}), {"none.png"});
  expect_refused(of_panel({list, "--predict", list}), {"spots.csv"});
  expect_refused(of_panel({list, "--predict", path("slm.png"), "--start", path("slm.png")}),
                 {"--predict: expected no --camera or --start beside it"});
  expect_refused(of_panel({list, "--predict", path("slm.png"), "--table", path("slm.png")}), {"slm.png"});
  expect_refused({"spots", list, "--predict", path("slm.png"), "--resolution", "64x64", "--pitch", "8um",
                  "--wavelength", "1064nm", "--focal-length", "10cm"},
                 {"expected the panel's 64 x 64 pixels, got 96 x 64"});
  expect_refused({"spots", list, "--predict", path("slm.png"), "--resolution", "96x64", "--pitch", "8um",
                  "--wavelength", "1064nm", "--focal-length", "11cm"},
                 {"expected codes for a focal length of 11 cm, as the options have it, got 10 cm"});
}

}  // namespace
}  // namespace holotone::test
