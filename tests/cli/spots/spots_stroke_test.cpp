// holotone spots on panels whose codes are not even steps of 2 pi: strokes below and above, measured levels, a
// correction; and loops that do not fit.
#include <cmath>
#include <fmt/format.h>
#include <fstream>
#include <holotone/io/images/image.hpp>
#include <holotone/io/npy_image_detail.hpp>
#include <numbers>
#include <tests/reference/spots.hpp>
#include <tests/support/program.hpp>

namespace holotone::test {
namespace {

class SpotsStrokeTest : public ProgramTest {
 protected:
  [[nodiscard]] std::vector<std::string> lattice(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{"spots",    "--array",      "5x4",          "--spacing",      "1.3mm",
                                       "--centre", "0.5mm,0.3mm",  "--resolution", "128x128",        "--pitch",
                                       "8um",      "--wavelength", "1064nm",       "--focal-length", "10cm"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  /// Standard deviation over mean of the lattice's light by float64 sums of a file's codes.
  [[nodiscard]] double deviation_by_sums(const std::string& name, const std::vector<double>& level_rad) const {
    const auto codes = std::get<Array<std::uint8_t, 3>>(read_image(path(name)).pixels);
    std::vector<float> phase;
    for (const auto code : codes.host()) phase.push_back(static_cast<float>(level_rad.at(code)));
    std::vector<std::array<float, 3>> spots;
    for (int i = 0; i < 20; ++i) {
      spots.push_back(
          {static_cast<float>(0.5e-3 + 1.3e-3 * (i % 5 - 2)), static_cast<float>(0.3e-3 + 1.3e-3 * (1.5 - i / 5)), 0});
    }
    const auto light = reference::spot_intensities({128, 128, 8e-6, 1.064e-6, 0.1}, spots, phase);
    double sum = 0;
    double square = 0;
    for (const double value : light) {
      sum += value / 20;
      square += value * value / 20;
    }
    return std::sqrt(square / (sum * sum) - 1);
  }
};

std::vector<double> even_levels(int count, double stroke_rad) {
  std::vector<double> level_rad;
  for (int code = 0; code < count; ++code) level_rad.push_back(stroke_rad * code / count);
  return level_rad;
}

// Without rounds around the codes ten by ten spots deviate by 6 to 31 % at 1.6 and 1.2 pi.
TEST_F(SpotsStrokeTest, CodesOfAnyStrokeAreEven) {
  for (const auto& [stroke, bits] : {std::pair{1.6, 8}, {1.6, 5}, {1.2, 8}, {2.5, 8}}) {
    const auto made = run_json(
        lattice({"-o", path("slm.png"), "--phase-range", fmt::format("{}pi", stroke), "--bits", std::to_string(bits)}));
    const double deviation = deviation_by_sums("slm.png", even_levels(1 << bits, stroke * std::numbers::pi));
    EXPECT_LT(deviation, 0.004) << stroke << " " << bits;
    EXPECT_NEAR(made["deviation"].get<double>(), deviation, 2e-4) << stroke << " " << bits;
    EXPECT_EQ(made["rounded_steps"] > 0, stroke < 2) << stroke << " " << bits;
  }
}

TEST_F(SpotsStrokeTest, MeasuredLevelsAreHonouredOfCodesThatAreThere) {
  std::vector<double> level_rad;
  std::string table;
  for (int code = 0; code < 256; ++code) {
    level_rad.push_back(1.7 * std::numbers::pi * std::pow(code / 255.0, 1.4));
    table += fmt::format("{:.6f}\n", level_rad.back());
  }
  write("lut.txt", "phase_rad\n" + table);
  ASSERT_EQ(run(lattice({"-o", path("even.png")})).exit_code, 0);
  const auto seen = run(lattice({"--predict", path("even.png"), "--lut", path("lut.txt"), "--json"}));
  ASSERT_EQ(seen.exit_code, 0) << seen.error;
  const double by_table = deviation_by_sums("even.png", level_rad);
  EXPECT_GT(by_table, 0.004);
  EXPECT_NEAR(nlohmann::json::parse(seen.output)["deviation"].get<double>(), by_table, 1e-3 * by_table);
  ASSERT_EQ(run(lattice({"-o", path("by_table.png"), "--lut", path("lut.txt")})).exit_code, 0);
  EXPECT_LT(deviation_by_sums("by_table.png", level_rad), 0.004);
  const auto as_range = run(lattice({"--predict", path("even.png"), "--phase-range", "1.6pi", "--json"}));
  EXPECT_NEAR(nlohmann::json::parse(as_range.output)["deviation"].get<double>(),
              deviation_by_sums("even.png", even_levels(256, 1.6 * std::numbers::pi)), 1e-4);
  // What no option states stays the file's.
  ASSERT_EQ(run(lattice({"-o", path("short.png"), "--phase-range", "1.6pi"})).exit_code, 0);
  const auto with_bits = run_json(lattice({"--predict", path("short.png"), "--bits", "8"}));
  EXPECT_NEAR(with_bits["deviation"].get<double>(),
              deviation_by_sums("short.png", even_levels(256, 1.6 * std::numbers::pi)), 1e-4);
}

// A correction moves the levels of each pixel: without rounds ten by ten spots deviate by 0.9 % by 16 levels.
TEST_F(SpotsStrokeTest, ACorrectionKeepsFewLevelsEven) {
  Array<float, 3> map({128, 128, 1});
  for (std::int64_t row = 0; row < 128; ++row) {
    for (std::int64_t column = 0; column < 128; ++column) {
      const auto x = static_cast<float>(column);
      map(row, column, 0) = 3e-4F * (x - 63.5F) * (static_cast<float>(row) - 20) + 2e-4F * x * x;
    }
  }
  io::write_npy(path("map.npy"), map);
  const auto made = run_json(lattice({"-o", path("slm.png"), "--bits", "4", "--correction", path("map.npy")}));
  EXPECT_LT(made["deviation"], 3e-3);
  EXPECT_GT(made["rounded_steps"], 0);
  const auto seen = run_json(lattice({"--predict", path("slm.png"), "--correction", path("map.npy")}));
  EXPECT_NEAR(seen["deviation"].get<double>(), made["deviation"].get<double>(), 1e-5);
  const auto without = run(lattice({"--predict", path("slm.png")}));
  EXPECT_NE(without.error.find("states a correction in its codes"), std::string::npos) << without.error;
}

// By hand: each round takes what the codes show as measured, behind optics that darken spots to the right.
TEST_F(SpotsStrokeTest, RoundsByHandConverge) {
  const auto transmitted = [](int spot) { return 1 - 0.1 * (spot % 5); };
  ASSERT_EQ(run(lattice({"-o", path("round0.png"), "--phase-range", "1.6pi", "--bits", "5", "--table", path("t.csv")}))
                .exit_code,
            0);
  double deviation = 1;
  for (int round = 0; round < 4; ++round) {
    std::ifstream table(path("t.csv"));
    std::string line;
    std::getline(table, line);
    std::string measured = "measured\n";
    for (int spot = 0; std::getline(table, line); ++spot) {
      const auto fields = line.substr(0, line.rfind(','));
      measured += fmt::format("{:.9g}\n", transmitted(spot) * std::stod(fields.substr(fields.rfind(',') + 1)));
    }
    const auto next = fmt::format("round{}.png", round + 1);
    const auto made =
        run(lattice({"-o", path(next), "--phase-range", "1.6pi", "--bits", "5", "--table", path("t.csv"), "--start",
                     path(fmt::format("round{}.png", round)), "--measured", write("m.csv", measured), "--json"}));
    ASSERT_EQ(made.exit_code, 0) << made.error;
    deviation = nlohmann::json::parse(made.output)["measured"]["deviation"];
  }
  EXPECT_LT(deviation, 0.01);
}

TEST_F(SpotsStrokeTest, OtherEncodingsAreRefused) {
  write("scene.csv", "0,0,0.01\n");
  ASSERT_EQ(run({"hologram", path("scene.csv"), "-o", path("dp.png"), "--encode", "double-phase", "--resolution",
                 "128x128", "--pitch", "8um", "--wavelength", "1064nm"})
                .exit_code,
            0);
  expect_refused(lattice({"--predict", path("dp.png")}), {"dp.png", "codes of encoding phase", "double-phase"});
}

}  // namespace
}  // namespace holotone::test
