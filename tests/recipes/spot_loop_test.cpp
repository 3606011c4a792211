// Spots measured by a simulated camera: what it integrates, tables of measured light, and the loop, whose light is
// checked by float64 sums.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <holotone/core/error.hpp>
#include <holotone/recipes/spot_camera.hpp>
#include <holotone/recipes/spots/spot_loop.hpp>
#include <limits>
#include <numbers>
#include <numeric>
#include <tests/reference/spots.hpp>
#include <tests/support/io_support.hpp>
#include <tests/support/on_each_device.hpp>

namespace {

using holotone::Array;
using holotone::CameraMap;
using holotone::ErrorCode;
using holotone::SpotList;
using holotone::SpotOptions;
using holotone::View;

// 20 um a pixel, a little turned.
constexpr CameraMap camera{.to_spots_m = {{{20e-6, 1e-6, -2e-3}, {0.5e-6, -20e-6, 2.4e-3}}}};

SpotOptions panel() {
  SpotOptions options;
  options.grid = {128, 96, 8e-6, 1.064e-6};
  options.focal_length_m = 0.1;
  return options;
}

/// Of the optics between panel and camera: 0.55 to 1 over the spots.
double transmission(const std::array<float, 3>& position) {
  const double x = position[0] / 2e-3;
  const double y = position[1] / 2e-3;
  return 1 - 0.2 * x - 0.15 * (x * x + y * y);
}

/// Light of the spots of 8-bit codes behind those optics, in float64.
std::vector<double> light_behind(const SpotList& spots, View<const std::uint16_t, 2> codes) {
  std::vector<float> phase;
  for (const auto code : codes.host()) phase.push_back(static_cast<float>(2 * std::numbers::pi / 256 * code));
  auto light = reference::spot_intensities({128, 96, 8e-6, 1.064e-6, 0.1}, spots.position_m, phase);
  for (std::size_t m = 0; m < light.size(); ++m) light[m] *= transmission(spots.position_m[m]);
  return light;
}

/// A picture of spots as wide as those of the lens, on a slope of background.
Array<float, 2> draw_picture(const SpotList& spots, const std::vector<double>& light) {
  Array<float, 2> picture({220, 220});
  for (std::int64_t row = 0; row < 220; ++row) {
    for (std::int64_t column = 0; column < 220; ++column) {
      picture(row, column) = 0.01F + 1e-5F * static_cast<float>(row);
    }
  }
  constexpr double sigma = 2.2;
  for (std::size_t m = 0; m < light.size(); ++m) {
    const auto [column, row] = pixel_of_place(camera, {spots.position_m[m][0], spots.position_m[m][1]});
    for (auto r = std::lround(row) - 12; r <= std::lround(row) + 12; ++r) {
      for (auto c = std::lround(column) - 12; c <= std::lround(column) + 12; ++c) {
        const double square = std::pow(static_cast<double>(r) - row, 2) + std::pow(static_cast<double>(c) - column, 2);
        picture(r, c) += static_cast<float>(light[m] * std::exp(-square / (2 * sigma * sigma)));
      }
    }
  }
  return picture;
}

double deviation(const std::vector<double>& light, const std::vector<float>& intensity) {
  double sum = 0;
  double square = 0;
  for (std::size_t m = 0; m < light.size(); ++m) {
    const double ratio = light[m] / static_cast<double>(intensity[m]);
    sum += ratio / static_cast<double>(light.size());
    square += ratio * ratio / static_cast<double>(light.size());
  }
  return std::sqrt(square - sum * sum) / sum;
}

TEST(SpotLoop, ACameraMakesSpotsEven) {
  const auto options = panel();
  auto spots = holotone::spot_lattice(5, 4, 6e-4, holotone::SpotLattice::square, {3e-4, 2e-4, 0});
  for (std::size_t m = 0; m < 20; m += 3) spots.intensity[m] = 2;
  const double window = spot_window_px(spots, camera, options);
  EXPECT_NEAR(window, 0.8 * 6e-4 / 20e-6, 0.05);  // 0.8 of the spacing
  const auto meter = [&](View<const std::uint16_t, 2> codes) {
    return measure_spots(draw_picture(spots, light_behind(spots, codes)).view(), spots, camera, window);
  };
  std::vector<double> seen;
  const holotone::SpotLoopOptions loop{
      .rounds = 6, .report = [&](int, const holotone::SpotLight& light) { seen.push_back(light.deviation); }};
  const auto made = make_measured_spots(spots, options, {.bits = 8}, {}, {.max_deviation = 4e-3, .max_worst = 0.02},
                                        meter, loop, holotone::Progress::none(), {});
  std::printf("measured deviation %.3f at first, %.4f after %d rounds\n", seen.front(), made.light.deviation,
              made.round);
  EXPECT_GT(seen.front(), 0.1);
  EXPECT_EQ(seen.front(), made.first);
  EXPECT_LT(made.light.deviation, 0.01);
  EXPECT_EQ(made.light.deviation, *std::ranges::min_element(seen));
  // Without the camera, by float64 sums of the codes.
  EXPECT_LT(deviation(light_behind(spots, made.hologram.codes.view()), spots.intensity), 0.01);
  // Reports stay against what was asked for: the panel's light makes up for the optics.
  EXPECT_GT(made.hologram.report.light.deviation, 0.1);
}

TEST(SpotLoop, SignalsBecomeLight) {
  // Two-photon fluorescence of saturation 50: S = I^2 / (1 + I^2 / 50).
  std::vector<float> signal;
  for (const double light : {0.0, 0.5, 3.0, 20.0}) {
    signal.push_back(static_cast<float>(light * light / (1 + light * light / 50)));
  }
  const auto light = holotone::light_from_signal(signal, {.exponent = 2, .saturation = 50});
  EXPECT_EQ(light[0], 0);
  EXPECT_NEAR(light[1], 0.5, 1e-6);
  EXPECT_NEAR(light[2], 3, 1e-5);
  EXPECT_NEAR(light[3], 20, 1e-3);
  EXPECT_EQ(holotone::light_from_signal({4, 0.25F}, {}), (std::vector<float>{4, 0.25F}));
  const auto refused = [](const std::vector<float>& measured, holotone::SpotSignal law, const std::string& words) {
    support::expect_error(ErrorCode::invalid_argument, words,
                          [&] { (void)holotone::light_from_signal(measured, law); });
  };
  refused({1, 50}, {.saturation = 50}, "saturation: expected more than the signal 50 of spot 1, got 50");
  refused({1, -1}, {}, "measured[1]: expected a signal >= 0");
  refused({std::numeric_limits<float>::quiet_NaN()}, {}, "got nan");
  refused({std::numeric_limits<float>::infinity()}, {}, "got inf");
  refused({1e10F}, {.exponent = 0.1}, "float32, got 1e+10");
  refused({1}, {.exponent = 0}, "exponent");
  refused({1}, {.saturation = -1}, "saturation");
}

TEST(SpotLoop, FluorescenceThatSaturatesMakesLightEven) {
  const auto options = panel();
  const auto spots = holotone::spot_lattice(5, 4, 6e-4, holotone::SpotLattice::square, {3e-4, 2e-4, 0});
  const holotone::SpotSignal law{.saturation = 1};
  // Between a tenth and almost all of the saturation.
  const auto fluorescence = [&](View<const std::uint16_t, 2> codes) {
    std::vector<float> seen;
    for (const double light : light_behind(spots, codes)) {
      seen.push_back(static_cast<float>(60 * light / (1 + 60 * light)));
    }
    return seen;
  };
  holotone::SpotLoopOptions loop;
  loop.gain = 1;
  const auto made = make_measured_spots(
      spots, options, {.bits = 8}, {}, {.max_deviation = 1e-3, .max_worst = 0.01},
      [&](View<const std::uint16_t, 2> codes) { return holotone::light_from_signal(fluorescence(codes), law); }, loop,
      holotone::Progress::none(), {});
  const double after = deviation(light_behind(spots, made.hologram.codes.view()), spots.intensity);
  std::printf("deviation %.3f at first, %.4f after %d rounds\n", made.first, after, made.round);
  EXPECT_GT(made.first, 0.1);
  EXPECT_LT(after, 0.01);
}

TEST(SpotLoop, AStoredPhaseIsRefinedByATable) {
  const auto options = panel();
  const auto spots = holotone::spot_lattice(5, 4, 6e-4, holotone::SpotLattice::hexagonal, {3e-4, 2e-4, 0});
  auto made = holotone::make_spots(spots, options, {.bits = 8});
  EXPECT_GT(deviation(light_behind(spots, made.codes.view()), spots.intensity), 0.1);
  for (int round = 0; round < 2; ++round) {
    Array<float, 2> phase(options.grid.shape());
    for (std::int64_t i = 0; i < phase.size(); ++i) {
      phase.data()[i] = static_cast<float>(2 * std::numbers::pi / 256 * made.codes.data()[i]);
    }
    const auto light = light_behind(spots, made.codes.view());
    made = refine_spots(spots, options, {.bits = 8}, {}, {}, phase.view(), {light.begin(), light.end()}, 1,
                        holotone::Progress::none(), {});
  }
  EXPECT_LT(deviation(light_behind(spots, made.codes.view()), spots.intensity), 0.01);
}

// One measurement with a gain of 1: the panel's light is asked for in proportion to 1 / transmission.
TEST(SpotLoop, TargetsFollowTheMeasured) {
  auto options = panel();
  holotone::SpotPlan plan(options);
  const auto spots = holotone::spot_lattice(4, 2, 6e-4, holotone::SpotLattice::square, {3e-4, 2e-4, 0});
  const View<const float, 2> places(spots.position_m.front().data(), {8, 3});
  support::expect_error(ErrorCode::invalid_argument, "solve", [&] { plan.set_measured({}); });
  support::expect_error(ErrorCode::invalid_argument, "solve", [&] { (void)plan.refine(); });
  Array<float, 2> phase(options.grid.shape());
  support::expect_error(ErrorCode::invalid_argument, "set_spots", [&] { plan.start_from(phase.view()); });
  plan.set_spots(places);
  const auto first = plan.solve().light;
  std::vector<float> measured{1, 0.5, 1, 1, 2, 1, 1, 1};
  for (std::size_t m = 0; m < 8; ++m) measured[m] *= static_cast<float>(first.intensity[m]);
  plan.set_measured({measured.data(), {8}}, 1);
  const auto report = plan.refine({.max_deviation = 1e-4, .max_worst = 1e-3});
  EXPECT_TRUE(report.reached);
  EXPECT_GT(report.light.deviation, 0.3);
  const auto& light = report.light.intensity;
  EXPECT_NEAR(light[1] / light[0], 2, 5e-3);
  EXPECT_NEAR(light[4] / light[0], 0.5, 2e-3);
  // A phase that is read back is the same; its own light as measured changes nothing.
  plan.phase(phase.view());
  holotone::SpotPlan again(options);
  again.set_spots(places);
  again.start_from(phase.view());
  const std::vector<float> even(8, 1);
  again.set_measured({even.data(), {8}}, 1);
  const auto kept = again.refine({.kept_steps = 0}).light.intensity;
  for (std::size_t m = 0; m < 8; ++m) EXPECT_NEAR(kept[m], light[m], 1e-5);
  const auto refused = [&](std::vector<float> values, const char* words, double gain = 1) {
    support::expect_error(ErrorCode::invalid_argument, words, [&] {
      plan.set_measured({values.data(), {std::ssize(values)}}, gain);
    });
  };
  refused({1, 2}, "{8}");
  refused({1, 2, 3, -1, 1, 1, 1, 1}, "spot 3");
  refused({1, 2, std::nanf(""), 1, 1, 1, 1, 1}, "spot 2");
  refused(std::vector<float>(8, 0), "light");
  refused(std::vector<float>(8, 1), "gain", 0);
  refused(std::vector<float>(8, 1), "gain", 1.5);
}

// A square of 3.5 pixels about (column 10.25, row 7) on a background: areas by hand.
TEST(SpotCamera, SquaresAreIntegratedByArea) {
  Array<float, 2> picture({20, 30});
  std::ranges::fill(picture.host(), 0.25F);
  picture(7, 10) = 1.25F;  // within
  picture(9, 10) = 2.25F;  // rows 5.25 to 8.75: a quarter of row 9
  picture(7, 12) = 4.25F;  // columns 8.5 to 12: half of column 12
  picture(0, 0) = 100;     // elsewhere
  const CameraMap map{.to_spots_m = {{{1e-6, 0, 0}, {0, -1e-6, 0}}}};
  const SpotList spots{.position_m = {{10.25e-6F, -7e-6F, 0}}, .intensity = {1}};
  const auto light = measure_spots(picture.view(), spots, map, 3.5);
  EXPECT_NEAR(light.at(0), 1 + 0.25 * 2 + 0.5 * 4, 1e-4);
  const auto refused = [&](const SpotList& list, double window, double full, const char* words) {
    support::expect_error(ErrorCode::invalid_argument, words,
                          [&] { (void)measure_spots(picture.view(), list, map, window, full); });
  };
  refused(spots, 0, 0, "window_px");
  refused(spots, 3.5, 4, "saturated");
  const SpotList beside{.position_m = {{10e-6F, -7e-6F, 0}, {28.9e-6F, -7e-6F, 0}}, .intensity = {1, 1}};
  refused(beside, 3.5, 0, "spot 1");
  support::expect_error(ErrorCode::invalid_argument, "inverse",
                        [&] { (void)measure_spots(picture.view(), spots, {}, 3); });
  // Near spots share no square; spots nearer than pixels are refused.
  const SpotList near{.position_m = {{10e-6F, -7e-6F, 0}, {15e-6F, -7e-6F, 0}}, .intensity = {1, 1}};
  EXPECT_NEAR(spot_window_px(near, map, panel()), 4, 1e-4);
  const SpotList nearer{.position_m = {{10e-6F, -7e-6F, 0}, {12e-6F, -7e-6F, 0}}, .intensity = {1, 1}};
  support::expect_error(ErrorCode::invalid_argument, "pixels of the camera",
                        [&] { (void)spot_window_px(nearer, map, panel()); });
}

TEST(SpotCamera, TablesOfMeasuredLightAreRead) {
  const io_support::TemporaryFolder folder;
  const auto file = folder.file("measured.csv");
  const auto read = [&](const std::string& text, std::int64_t count = 2) {
    io_support::write_raw(file, text);
    return holotone::read_measured_spots(file, count);
  };
  const std::vector<float> two{3, 0.5};
  EXPECT_EQ(read("x_m,measured,ratio\n1,3,9\n2,0.5,9\n"), two);
  EXPECT_EQ(read("# atoms\n3\n0.5\n"), two);
  EXPECT_EQ(read("measured\n3\n0.5\n"), two);
  EXPECT_EQ(read("[3, 0.5]"), two);
  EXPECT_EQ(read("id,measured\n1,0.5\n0,3\n"), two);
  EXPECT_EQ(read("measured,index\n3,0\n0.5,1\n"), two);
  for (const std::string id : {"ID", "Spot", "spot_id", "label", "n", "trap", "\"Trap\""}) {
    EXPECT_EQ(read(id + ",Measured\n1,0.5\n0,3\n"), two) << id;
    EXPECT_TRUE(holotone::measured_notes(file).empty());
  }
  EXPECT_EQ(read("measured [ct],n,id,std\n0.5,7,1,2\n3,8,0,2\n"), two);
  EXPECT_EQ(holotone::measured_notes(file), std::vector{file + ": ignored: 'n', 'std'"});
  EXPECT_EQ(read(",measured\n1,3\n0,0.5\n"), two);  // of pandas, whose index has no name
  EXPECT_EQ(holotone::measured_notes(file), std::vector{file + ": ignored: ''"});
  EXPECT_EQ(read("3\n0.5\n"), two);
  EXPECT_TRUE(holotone::measured_notes(file).empty());
  const auto refused = [&](const std::string& text, const char* words) {
    support::expect_error(ErrorCode::io, words, [&] { (void)read(text); });
  };
  refused("3\n", "2 measured intensities");
  refused("3,4\n5,6\n", "measured");
  refused("x,y\n3,4\n", "measured");
  refused("measured_dBm\n3\n4\n", "numbers without dB or logarithm as measured (line 1), got 'measured_dBm'");
  refused("# power in dBm\n3\n4\n", "numbers without dB or logarithm (line 1), got '# power in dBm'");
  refused("measured,x\n3,4\n5\n", "line 3");
  refused("measured\n3\n-1\n", "line 3");
  refused("measured\n3\nnan\n", "line 3");
  refused("measured\n3\nfour\n", "four");
  refused("id,measured\n1,3\n2,5\n", "ids 0 to 1, each once, as the spots of the list are counted, got 2");
  refused("id,measured\n0,3\n0,5\n", "ids 0 to 1");
  refused("id,measured\n0.5,3\n0,5\n", "ids 0 to 1");
  refused("id,measured\nnan,3\n0,5\n", "ids 0 to 1");
  refused("id,measured\na,3\n0,5\n", "line 2");
  refused("id,spot,measured\n0,0,3\n1,1,5\n", "one column 'id'");
  refused("[1, \"a\"]", "spot 1");
  refused("{}", "list");
  refused("[1,", "JSON");
  refused("x;measured\n1,5;2,5\n", "numbers with a point");
  io_support::expect_survival("measured_spots", "x_m,measured,ratio\n1,3,9\n2,0.5,9\n", ".csv", 2000,
                              [](const std::string& path) { (void)holotone::read_measured_spots(path, 2); });
  io_support::expect_survival("measured_spots_json", "[3, 0.5, 1e-3]", ".json", 2000,
                              [](const std::string& path) { (void)holotone::read_measured_spots(path, 3); });
}

// A width is lambda f / D: 1064 nm 0.1 m / (128 8 um) = 104 um of the panel here.
TEST(SpotCamera, RowsOfATableBelongToPlaces) {
  const io_support::TemporaryFolder folder;
  const auto file = folder.file("measured.csv");
  SpotList spots{.position_m = {{1e-3F, 2e-3F, 0}, {-1e-3F, 2e-3F, 0}, {5e-4F, -1e-3F, 0}}, .intensity = {1, 1, 1}};
  const auto options = panel();
  const double width_m = spot_width_m(options)[0];
  const holotone::SpotLens lens{1064e-9, 0.1, 8e-6};
  const auto read = [&](const std::string& text, double unit_m = 0) {
    io_support::write_raw(file, text);
    return holotone::read_measured_light(file, spots, options, unit_m, lens, camera);
  };
  const std::vector<float> light{1, 2, 3};
  EXPECT_EQ(read("name,x_um,measured,y_mm\nc,500,3,-1\na,1000,1,2\nb,-1000,2,2\n"), light);
  EXPECT_EQ(holotone::measured_notes(file), std::vector{file + ": ignored: 'name'"});
  EXPECT_EQ(read("x,y,z,measured\n0.5,-1,0,3\n1,2,0,1\n-1,2,0,2\n", 1e-3), light);
  EXPECT_EQ(read(R"([{"measured": 2, "x_um": -1000, "y_um": 2000}, {"x_um": 500, "y_um": -1000, "measured": 3},
                     {"x_um": 1000, "y_um": 2000, "measured": 1, "note": "first"}])"),
            light);
  // Sines of angles: x / f.
  EXPECT_EQ(read("kx_norm,ky_norm,measured\n0.005,-0.01,3\n0.01,0.02,1\n-0.01,0.02,2\n"), light);
  // Without places the order counts.
  EXPECT_EQ(read("measured,ratio\n1,5\n2,5\n3,5\n"), light);
  EXPECT_EQ(read("1\n2\n3\n"), light);
  const auto shifted = [&](double widths) {
    return fmt::format("x_m,y_m,measured\n-1e-3,2e-3,2\n{:.9g},2e-3,1\n5e-4,-1e-3,3\n", 1e-3 + widths * width_m);
  };
  EXPECT_EQ(read(shifted(0.2)), light);
  const auto refused = [&](const std::string& text, std::initializer_list<const char*> all) {
    for (const char* words : all) support::expect_error(ErrorCode::io, words, [&] { (void)read(text); });
  };
  refused(shifted(0.3), {"measured.csv", "a spot of the list (line 3)", "x = "});
  refused("x_mm,y_mm,measured\n1,2,1\n-1,2,2\n", {"a row of spot 2", "none"});
  refused("x_mm,y_mm,measured\n1,2,1\n1,2,2\n-1,2,2\n", {"one row of spot 0 (line 3)", "another"});
  refused("x,y,measured\n1,2,1\n", {"unit"});
  refused("x_mm,measured\n1,1\n", {"one column y"});
  refused("x_mm,y_mm,light\n1,2,1\n", {"one column measured", "0"});
  refused("x_mm,y_mm,measured\n1,2,-1\n", {"line 2", "intensity >= 0"});
  refused(R"([{"x_mm": 1, "y_mm": 2}])", {"column measured (spot 0)"});
  // Spots behind each other need z.
  spots.position_m[1] = {1e-3F, 2e-3F, 1e-2F};
  EXPECT_EQ(read("x_mm,y_mm,z_mm,measured\n1,2,10,2\n1,2,0,1\n0.5,-1,0,3\n"), light);
  refused("x_mm,y_mm,measured\n1,2,2\n1,2,1\n0.5,-1,3\n", {"a column z", "(line 2)"});
  io_support::expect_survival(
      "measured_places", "x_mm,y_mm,z_mm,measured\n1,2,10,2\n1,2,0,1\n0.5,-1,0,3\n", ".csv", 2000,
      [&](const std::string& path) { (void)holotone::read_measured_light(path, spots, options, 0, lens, camera); });
}

TEST(SpotCamera, DarkSpotsAreFound) {
  const SpotList spots{.position_m = {{}, {}, {}, {}}, .intensity = {1, 2, 1, 1}};
  const auto dark = holotone::find_dark_spots({1, 0.08F, 0, 1}, spots);  // ratios 1, 0.04, 0, 1: mean 0.51
  EXPECT_EQ(dark.count, 1);
  EXPECT_EQ(dark.first, 2);
  EXPECT_EQ(holotone::find_dark_spots({1, 0.05F, 1, 1}, spots).first, 1);
  EXPECT_EQ(holotone::find_dark_spots({1, 0.05F, 1, 1}, spots, 0).count, 0);
  EXPECT_EQ(holotone::find_dark_spots({0, 0, 0, 0}, spots, 0).count, 4);
  support::expect_error(ErrorCode::invalid_argument, "4 intensities",
                        [&] { (void)holotone::find_dark_spots({1}, spots); });
}

TEST(SpotLoop, CodesOfAnotherListHaveLittleLight) {
  const auto options = panel();
  const auto spots = holotone::spot_lattice(5, 4, 6e-4, holotone::SpotLattice::square, {3e-4, 2e-4, 0});
  const auto others = holotone::spot_lattice(4, 4, 5e-4, holotone::SpotLattice::square, {-1.9e-3, -1.8e-3, 0});
  const auto made = holotone::make_spots(spots, options, {.bits = 8});
  const auto share = [&](const SpotList& list) {
    return light_over_usual(list, options, {.bits = 8}, {}, made.shown_rad.view(), {});
  };
  EXPECT_GT(share(spots), 0.9);
  EXPECT_LT(share(others), 0.1);
}

}  // namespace
