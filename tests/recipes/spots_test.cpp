// Lists of spots from files, lattices, remarks, and codes whose light is checked against float64 sums.
#include <cmath>
#include <complex>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <holotone/core/error.hpp>
#include <holotone/recipes/spots.hpp>
#include <numbers>
#include <tests/reference/spots.hpp>
#include <tests/support/io_support.hpp>
#include <tests/support/on_each_device.hpp>

namespace {

using holotone::ErrorCode;
using holotone::read_spots;
using holotone::SpotLattice;
using holotone::SpotLens;
using holotone::SpotList;
using holotone::SpotOptions;

class SpotLists : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return folder_.file(name); }
  [[nodiscard]] std::string write(const std::string& name, const std::string& text) const {
    io_support::write_raw(path(name), text);
    return path(name);
  }
  void refused(const std::string& text, const std::string& words, double unit_m = 0) const {
    const auto file = write("refused", text);
    support::expect_error(ErrorCode::io, words, [&] { (void)read_spots(file, unit_m); });
  }

 private:
  io_support::TemporaryFolder folder_;
};

void expect_spots(const SpotList& spots, const std::vector<std::array<double, 4>>& expected) {
  ASSERT_EQ(spots.position_m.size(), expected.size());
  ASSERT_EQ(spots.intensity.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      EXPECT_NEAR(spots.position_m[i][axis], expected[i][axis], 1e-7 * std::abs(expected[i][axis])) << i << " " << axis;
    }
    EXPECT_FLOAT_EQ(spots.intensity[i], static_cast<float>(expected[i][3]));
  }
}

TEST_F(SpotLists, TablesAreReadWithTheirUnits) {
  const std::vector<std::array<double, 4>> two{{10e-6, -5e-6, 0, 1}, {-20e-6, 8e-6, 2e-6, 0.5}};
  expect_spots(read_spots(write("a.csv", "x_um,y_um,z_um,intensity\n10,-5,0,1\n-20,8,2,0.5\n")), two);
  expect_spots(
      read_spots(write("b.csv", "# spots\nIntensity; z [nm]; y (mm); X_um\r\n1;0;-0.005;10\r\n0.5;2000;0.008;-20\r\n")),
      two);
  expect_spots(read_spots(write("c.txt",
                                "\xEF\xBB\xBF"
                                "10 -5 0 1\n-20 8 2 0.5\n"),
                          1e-6),
               two);
  expect_spots(read_spots(write("d.csv", "x,y\n1,2\n"), 1e-3), {{1e-3, 2e-3, 0, 1}});
  // The file's unit goes before the option's.
  expect_spots(read_spots(write("e.csv", "x_um,y_um\n1,2\n"), 1e-3), {{1e-6, 2e-6, 0, 1}});
  for (const std::string comment : {"# unit: um", "# x, y in micrometers", "# units are um"}) {
    expect_spots(read_spots(write("f.csv", comment + "\nx,y\n1,2\n"), 1e-3), {{1e-6, 2e-6, 0, 1}});
  }
  expect_spots(read_spots(write("g.csv", "# unit: mm\nx_um,y_um\n1,2\n")), {{1e-6, 2e-6, 0, 1}});
  support::expect_error(ErrorCode::io, "expected one unit in its comments, got 'mm' and 'um'",
                        [&] { (void)read_spots(write("h.csv", "# unit: mm\n# x y in um\n1,2\n")); });
  support::expect_error(ErrorCode::io, "a unit of length such as um in its comments, got '1e-3 m'",
                        [&] { (void)read_spots(write("i.csv", "# unit: 1e-3 m\n1,2\n")); });
}

TEST_F(SpotLists, CommentsNameColumns) {
  expect_spots(read_spots(write("a.txt", "# y_um x_um intensity\n2 1 3\n")), {{1e-6, 2e-6, 0, 3}});
  support::expect_error(ErrorCode::io, "phase_deg (a comment), got 'frame'",
                        [&] { (void)read_spots(write("b.txt", "# x y frame\n1 2 3\n"), 1e-6); });
  support::expect_error(ErrorCode::io, "phase_deg (line 1), got 'Centroid X px'",
                        [&] { (void)read_spots(write("c.tsv", "Centroid X px\tCentroid Y px\n1\t2\n"), 1e-6); });
}

TEST_F(SpotLists, StatedUnitsAreSaid) {
  const auto has_units = [&](const std::string& text) { return read_spots(write("u", text), 1e-3).has_units; };
  EXPECT_TRUE(has_units("x_um,y_um\n1,2\n"));
  EXPECT_TRUE(has_units("# unit: um\nx,y\n1,2\n"));
  EXPECT_TRUE(has_units(R"({"unit": "um", "spots": [[1, 2]]})"));
  EXPECT_FALSE(has_units("x_um,y_um,z\n1,2,3\n"));
  EXPECT_FALSE(has_units("1,2\n"));
  EXPECT_FALSE(has_units("x,y\n0,0\n"));
  EXPECT_FALSE(has_units("[[1, 2]]"));
}

// Half of lambda f / (M pitch): 5 mm.
TEST_F(SpotLists, SpotsBeyondTheOrderAreNamed) {
  const SpotLens lens{.wavelength_m = 1e-6, .focal_length_m = 0.1, .pitch_m = 5e-6, .magnification = 2};
  EXPECT_EQ(read_spots(write("near.csv", "x_mm,y_mm\n5,-5\n"), 0, lens).position_m.size(), 1U);
  const auto error = [&](const std::string& text) {
    try {
      (void)read_spots(write("far.csv", text), 0, lens);
    } catch (const holotone::Error& refusal) {
      return std::string(refusal.what());
    }
    return std::string();
  };
  const auto near = error("x_mm,y_mm\n1,1\n1,5.1\n");
  for (const char* words : {"far.csv", "line 3", "5 mm", "5.1 mm"}) EXPECT_NE(near.find(words), near.npos) << near;
  EXPECT_EQ(near.find("unit"), near.npos);
  const auto far = error("x_m,y_m\n1,1\n");
  for (const char* words : {"line 2", "unit right?"}) EXPECT_NE(far.find(words), far.npos) << far;
}

TEST_F(SpotLists, JsonIsReadWithItsUnits) {
  expect_spots(
      read_spots(write("a.json", R"({"unit": "um", "spots": [[1, 2], {"y": 4, "x": 3, "z_mm": 1, "intensity": 2}]})")),
      {{1e-6, 2e-6, 0, 1}, {3e-6, 4e-6, 1e-3, 2}});
  expect_spots(read_spots(write("b.json", " [[1, 2, 3, 4]]"), 1e-6), {{1e-6, 2e-6, 3e-6, 4}});
}

TEST_F(SpotLists, WhatIsNoListOfSpotsIsRefusedByName) {
  refused("10,5,0\n", "unit");
  refused("x,y\n1,2\n", "unit");
  refused("x_um,y_um,wrong\n1,2,3\n", "wrong");
  refused("x_um,y_foo\n1,2\n", "y_foo");
  refused("x_um,x_um,y_um\n1,2,3\n", "one column x");
  refused("x_um,z_um\n1,2\n", "one column y");
  refused("x_um,y_um\n1,2\n1\n", "line 3");
  refused("x_um,y_um\n1,abc\n", "abc");
  refused("x_um,y_um\n1,nan\n", "line 2");
  refused("x_um,y_um,intensity\n1,2,0\n", "intensity");
  refused("x_um,y_um,intensity\n1,2,-1\n", "intensity");
  refused("x_um,y_um\n", "at least 1 spot");
  refused("x_um;y_um\n300,5;100,2\n", "numbers with a point, such as 300.5 (line 2)");
  refused("300,5 100,2\n", "decimal commas", 1e-6);
  for (const char* name :
       {"intensity_dB", "intensity [dBm]", "Intensity (log10)", "intensity (20 log)", "intensity_ln"}) {
    refused(fmt::format("x_um,y_um,{}\n1,2,3\n", name),
            "numbers without dB or logarithm as intensity (line 1), got '" + std::string(name));
    refused(fmt::format(R"([{{"x_um": 1, "y_um": 2, "{}": 3}}])", name),
            "without dB or logarithm as intensity (spot 0)");
  }
  refused("# intensity in dB\nx_um,y_um,intensity\n1,2,3\n", "without dB or logarithm in its comments");
  refused("1,2,3,4,5\n", "columns", 1e-6);
  refused("[[1]]", "spot 0", 1e-6);
  refused("[[1, \"a\"]]", "spot 0", 1e-6);
  refused("{\"spots\": 3}", "a list");
  refused("{\"points\": []}", "spots");
  refused("{\"spots\": [[1, 2]], \"units\": \"um\"}", "units");
  refused("[1, 2", "JSON");
  refused(R"([{"x": 1, "y": 2, "weight": 3}])", "and others with units (spot 0), got 'weight'");
  refused(R"([{"x": 1, "y": "2"}])", "got 'y' that is no number");
  refused("x_um,y_um\n1\n", "expected 2 numbers as the names 'x_um,y_um' (line 2), got 1");
  refused(std::string("x_um\0y_um", 9), "binary");
}

TEST_F(SpotLists, DamagedFilesAreSurvived) {
  const auto read = [](const std::string& file) { (void)read_spots(file, 1e-6); };
  io_support::expect_survival("spots_table", "x_um,y_um,z_um,intensity\n10,-5,0,1\n-20,8,2,0.5\n", ".csv", 2000, read);
  io_support::expect_survival("spots_json",
                              R"({"unit": "um", "spots": [[1, 2], {"x": 3, "y": 4, "z": 1, "intensity": 2}]})", ".json",
                              2000, read);
}

TEST_F(SpotLists, LatticesHaveOneSpacing) {
  const auto square = holotone::spot_lattice(3, 2, 1e-5, SpotLattice::square, {1e-4, 0, 1e-6});
  expect_spots(square, {{9e-5, 5e-6, 1e-6, 1},
                        {1e-4, 5e-6, 1e-6, 1},
                        {1.1e-4, 5e-6, 1e-6, 1},
                        {9e-5, -5e-6, 1e-6, 1},
                        {1e-4, -5e-6, 1e-6, 1},
                        {1.1e-4, -5e-6, 1e-6, 1}});
  const auto hexagonal = holotone::spot_lattice(5, 5, 2e-5, SpotLattice::hexagonal);
  std::int64_t neighbours = 0;  // of the middle one
  for (std::size_t i = 0; i < hexagonal.position_m.size(); ++i) {
    if (i == 12) continue;
    const auto& p = hexagonal.position_m[i];
    const auto& middle = hexagonal.position_m[12];
    const double distance = std::hypot(p[0] - middle[0], p[1] - middle[1]);
    EXPECT_GT(distance, 1.99e-5);
    neighbours += distance < 2.01e-5 ? 1 : 0;
  }
  EXPECT_EQ(neighbours, 6);
  support::expect_error(ErrorCode::invalid_argument, "columns", [] { (void)holotone::spot_lattice(0, 1, 1); });
  support::expect_error(ErrorCode::invalid_argument, "columns", [] { (void)holotone::spot_lattice(2000, 2000, 1); });
  support::expect_error(ErrorCode::invalid_argument, "spacing_m", [] { (void)holotone::spot_lattice(1, 1, 0); });
}

TEST_F(SpotLists, RingsHaveOneRadius) {
  const auto ring = holotone::spot_ring(4, 2e-3, {1e-3, 0, 5e-6});
  ASSERT_EQ(ring.position_m.size(), 4U);
  constexpr std::array<std::array<double, 2>, 4> expected{{{3e-3, 0}, {1e-3, 2e-3}, {-1e-3, 0}, {1e-3, -2e-3}}};
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(ring.position_m[i][0], expected[i][0], 1e-9);
    EXPECT_NEAR(ring.position_m[i][1], expected[i][1], 1e-9);
    EXPECT_FLOAT_EQ(ring.position_m[i][2], 5e-6F);
    EXPECT_EQ(ring.intensity[i], 1);
  }
  support::expect_error(ErrorCode::invalid_argument, "count", [] { (void)holotone::spot_ring(0, 1); });
  support::expect_error(ErrorCode::invalid_argument, "radius_m", [] { (void)holotone::spot_ring(3, 0); });
}

SpotOptions panel() {
  SpotOptions options;
  options.grid = {128, 96, 8e-6, 1.064e-6};
  options.focal_length_m = 0.1;
  return options;
}

TEST_F(SpotLists, RemarksNameWhatWillNotComeOut) {
  const auto options = panel();
  const auto width_m = holotone::spot_width_m(options);
  EXPECT_NEAR(width_m[0], 1.064e-6 * 0.1 / (128 * 8e-6), 1e-12);
  const auto spots_at = [&](const std::vector<std::array<double, 3>>& widths) {
    SpotList spots;
    for (const auto& place : widths) {
      std::array<float, 3> at{};
      for (std::size_t axis = 0; axis < 3; ++axis) at[axis] = static_cast<float>(place[axis] * width_m[axis]);
      spots.position_m.push_back(at);
      spots.intensity.push_back(1);
    }
    return spots;
  };
  EXPECT_TRUE(spot_remarks(spots_at({{5, 5, 0}, {6.1, 5, 0}, {5, 5, 1.1}}), options).empty());
  const auto merged = spot_remarks(spots_at({{5, 5, 0}, {5.6, 5.6, 0}, {5, 5, 0.9}}), options);
  ASSERT_EQ(merged.size(), 1U);
  EXPECT_NE(merged[0].find("2 pairs"), std::string::npos) << merged[0];
  // Opposite edges of the order are one place.
  const double top = 0.5 * static_cast<double>(options.grid.ny) - 0.1;
  const auto wrapped =
      spot_remarks(spots_at({{63.9, 3, 0}, {-63.8, 3.2, 0}, {-63.9, -top, 0}, {63.9, top, 0}}), options);
  ASSERT_EQ(wrapped.size(), 1U);
  EXPECT_NE(wrapped[0].find("2 pairs"), std::string::npos) << wrapped[0];
  // A beam of a third of the panel: spots of three widths.
  holotone::Array<holotone::Complex, 2> beam(options.grid.shape());
  for (std::int64_t row = 0; row < beam.shape()[0]; ++row) {
    for (std::int64_t column = 0; column < beam.shape()[1]; ++column) {
      beam(row, column) = std::abs(2 * row - 127) < 42 && std::abs(2 * column - 127) < 42 ? 1.0F : 0.0F;
    }
  }
  EXPECT_NEAR(holotone::spot_width_m(options, beam.view())[0], 128.0 / 42 * width_m[0], 1e-9 * width_m[0]);
  const auto narrow = spots_at({{5, 5, 0}, {7, 5, 0}});
  EXPECT_TRUE(spot_remarks(narrow, options).empty());
  EXPECT_EQ(spot_remarks(narrow, options, beam.view()).size(), 1U);
  const auto central = spot_remarks(spots_at({{0.5, -0.5, 0}, {9, 0, 0}}), options);
  ASSERT_EQ(central.size(), 1U);
  EXPECT_NE(central[0].find("1 spot"), std::string::npos);
  EXPECT_NE(central[0].find("zero order"), std::string::npos);
  const auto fine = spot_remarks(spots_at({{60, 0, 3}}), options);
  ASSERT_EQ(fine.size(), 1U);
  EXPECT_NE(fine[0].find("two pixels"), std::string::npos);
}

TEST_F(SpotLists, CodesShowTheSpots) {
  const auto options = panel();
  const auto spots = holotone::spot_lattice(4, 3, 1.2e-3, SpotLattice::square, {3e-4, 2e-4, 0});
  for (const int bits : {8, 4}) {
    const holotone::EncodeOptions encoding{.bits = bits};
    const auto made = holotone::make_spots(spots, options, encoding);
    EXPECT_EQ(made.report.rounded_steps > 0, bits == 4);
    const double step = 2 * std::numbers::pi / (1 << bits);
    std::vector<float> phase;
    for (const auto code : made.codes.host()) phase.push_back(static_cast<float>(step * code));
    const auto exact = reference::spot_intensities({128, 96, 8e-6, 1.064e-6, 0.1}, spots.position_m, phase);
    double sum = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) {
      sum += exact[i];
      EXPECT_NEAR(made.report.light.intensity[i], exact[i], 1e-4 * exact[i]);
    }
    EXPECT_NEAR(made.report.light.efficiency, sum, 1e-4);
    EXPECT_LT(made.report.light.deviation, bits == 8 ? 2e-3 : 1e-2);
    const auto file = path("light.csv");
    holotone::write_spots(file, spots, made.report.light);
    std::ifstream written(file);
    std::string line;
    std::getline(written, line);
    EXPECT_EQ(line, "x_m,y_m,z_m,intensity,share,ratio");
    std::size_t rows = 0;
    while (std::getline(written, line)) ++rows;
    EXPECT_EQ(rows, 12U);
    expect_spots(read_spots(write("again.csv", "x_m,y_m,z_m,intensity\n-0.0015,0.0014,0,1\n")),
                 {{-1.5e-3, 1.4e-3, 0, 1}});
  }
  support::expect_error(ErrorCode::invalid_argument, "encoding", [&] {
    (void)holotone::make_spots(spots, options, {.encoding = holotone::Encoding::amplitude});
  });
}

TEST_F(SpotLists, PhasesAreThoseOfTheList) {
  using std::numbers::pi;
  const auto phases = [&](const std::string& text) { return read_spots(write("p", text), 1e-3).phase_rad; };
  const auto expect_phases = [&](const std::string& text, const std::vector<double>& expected) {
    const auto found = phases(text);
    ASSERT_EQ(found.size(), expected.size()) << text;
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-6) << text << i;
  };
  expect_phases("x,y,phase_rad\n1,2,1.5\n2,3,7\n", {1.5, 7 - 2 * pi});
  expect_phases("phase [deg],x,y\n90,1,2\n-30,2,3\n", {pi / 2, -pi / 6});
  expect_phases("x,y,phase_waves\n1,2,0.25\n2,3,1e6\n", {pi / 2, 0});
  expect_phases("x,y,phase_pi\n1,2,0.5\n", {pi / 2});
  expect_phases(R"([{"x": 1, "y": 2, "phase_deg": 45}])", {pi / 4});
  expect_phases("x,y\n1,2\n", {});
  refused("x_m,y_m,phase\n1,2,3\n", "phase_deg (line 1), got 'phase'");
  refused("x_m,y_m,phase_mm\n1,2,3\n", "phase_deg (line 1), got 'phase_mm'");
  refused("x_m,y_m,phase_rad\n1,2,\n", "expected a number (line 2), got ''");
  refused("x_m,y_m,phase_rad\n1,2,nan\n", "a finite phase (line 2), got nan");
  refused(R"([{"x": 1, "y": 2, "phase_deg": 4}, {"x": 3, "y": 2}])",
          "a phase of every spot or of none (spot 1), got none", 1e-3);
  refused(R"([{"x": 3, "y": 2, "phase_deg": 4, "phase_deg": 5}])", "'phase_deg' once in an object, got it twice", 1e-3);
  refused(R"([{"x": 3, "y": 2}, {"x": 1, "y": 2, "phase_deg": 4}])",
          "a phase of every spot or of none (spot 1), got one", 1e-3);

  const auto options = panel();
  const auto spots = read_spots(write("four.csv",
                                      "x_um,y_um,intensity,phase_deg\n700,900,1,20\n-800,1000,0.5,200\n"
                                      "-400,-1300,1,-90\n1300,-500,2,70\n"));
  const auto made = holotone::make_spots(spots, options, {.bits = 8});
  std::vector<float> shown;
  for (const auto code : made.codes.host()) shown.push_back(static_cast<float>(2 * pi / 256 * code));
  const auto fields = reference::spot_fields({128, 96, 8e-6, 1.064e-6, 0.1}, spots.position_m, shown);
  std::complex<double> common;
  for (std::size_t m = 0; m < 4; ++m) common += fields[m] * std::polar(1.0, -double{spots.phase_rad[m]});
  double sum = 0;
  for (std::size_t m = 0; m < 4; ++m) {
    const double off = std::arg(fields[m] * std::polar(1.0, -double{spots.phase_rad[m]}) / common);
    EXPECT_LT(std::abs(off), 0.01);
    sum += off * off;
  }
  EXPECT_NEAR(made.report.light.phase_error_rad, std::sqrt(sum / 4), 1e-4);
  const auto file = path("phases.csv");
  holotone::write_spots(file, spots, made.report.light);
  std::ifstream written(file);
  std::string line;
  std::getline(written, line);
  EXPECT_EQ(line, "x_m,y_m,z_m,intensity,phase_rad,share,ratio");
  std::getline(written, line);
  EXPECT_NE(line.find(",1,0.34906"), std::string::npos) << line;
}

}  // namespace
