// Places of spots by frequencies, angles and pixels of a camera: numbers by hand.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <holotone/core/error.hpp>
#include <holotone/recipes/spot_picture.hpp>
#include <holotone/recipes/spots.hpp>
#include <numbers>
#include <tests/reference/spots.hpp>
#include <tests/support/io_support.hpp>
#include <tests/support/on_each_device.hpp>

namespace {

using holotone::CameraMap;
using holotone::ErrorCode;
using holotone::read_camera_map;
using holotone::read_spots;
using holotone::SpotLens;

constexpr SpotLens lens{
    .wavelength_m = 1e-6, .focal_length_m = 0.2, .pitch_m = 8e-6, .magnification = 0.5, .refractive_index = 1.33};

class SpotPlaces : public testing::Test {
 protected:
  [[nodiscard]] std::string write(const std::string& text) const {
    io_support::write_raw(folder_.file("file"), text);
    return folder_.file("file");
  }
  [[nodiscard]] std::array<double, 3> place(const std::string& text, const CameraMap& camera = {}) const {
    const auto spots = read_spots(write(text), 0, lens, camera);
    EXPECT_EQ(spots.position_m.size(), 1U);
    const auto& [x, y, z] = spots.position_m.at(0);
    return {x, y, z};
  }
  void refused(const std::string& text, const std::string& words) const {
    support::expect_error(ErrorCode::io, words, [&] { (void)read_spots(write(text), 0, lens); });
  }
  void map_refused(const std::string& text, const std::string& words) const {
    support::expect_error(ErrorCode::io, words, [&] { (void)read_camera_map(write(text), lens); });
  }

 private:
  io_support::TemporaryFolder folder_;
};

void expect_place(const std::array<double, 3>& got, const std::array<double, 3>& expected) {
  for (std::size_t axis = 0; axis < 3; ++axis) EXPECT_NEAR(got[axis], expected[axis], 1e-6 * std::abs(expected[axis]));
}

// x = lambda f / M times cycles a metre: 4e-7 m^2.
TEST_F(SpotPlaces, FrequenciesBecomePlaces) {
  constexpr double reach = 4e-7;
  expect_place(place("kx_per_mm,ky_per_mm\n2,-3\n"), {2e3 * reach, -3e3 * reach, 0});
  expect_place(place("kx [1/mm]; ky [cycles/mm]\n2;-3\n"), {2e3 * reach, -3e3 * reach, 0});
  expect_place(place("kx_per_px,ky_per_px\n0.125,0\n"), {0.125 / 8e-6 * reach, 0, 0});
  expect_place(place("kx_rad_per_px,ky_rad_per_px\n0.5,0\n"), {0.5 / 2 / std::numbers::pi / 8e-6 * reach, 0, 0});
  expect_place(place("kx (rad/um),ky_rad_per_um\n0.01,0.02\n"),
               {1e4 / 2 / std::numbers::pi * reach, 2e4 / 2 / std::numbers::pi * reach, 0});
  // sin = x / f of the panel's image, whose angles are 1 / M times those of the panel.
  expect_place(place("kx_norm,ky_knorm\n0.001,-0.002\n"), {0.001 * 0.4, -0.002 * 0.4, 0});
  expect_place(place(R"([{"kx_norm": 0.001, "ky_norm": 0.002, "z_um": 5}])"), {0.001 * 0.4, 0.002 * 0.4, 5e-6});
  expect_place(place("ky_norm,kx_norm,intensity\n0.001,0.002,3\n"), {0.002 * 0.4, 0.001 * 0.4, 0});
  EXPECT_TRUE(read_spots(write("kx_norm,ky_norm,defocus_per_m\n0.01,0,1\n"), 0, lens).are_angles);
  EXPECT_FALSE(read_spots(write("kx_norm,ky_norm,z_um\n0.01,0,1\n"), 0, lens).are_angles);
  EXPECT_FALSE(read_spots(write("x_um,y_um\n0.1,1\n"), 0, lens).are_angles);
}

// A wave of curvature D on the panel, pi rho^2 D / lambda, is pi (M rho)^2 z / (n lambda f^2) on its image.
TEST_F(SpotPlaces, CurvaturesBecomeDepths) {
  const double z = 1.33 * 0.2 * 0.2 * 0.25 / 0.25;
  expect_place(place("x_um,y_um,defocus_per_m\n1,2,0.25\n"), {1e-6, 2e-6, z});
  expect_place(place("x_um,y_um,defocus [1/mm]\n1,2,0.00025\n"), {1e-6, 2e-6, z});
}

TEST_F(SpotPlaces, PixelsOfACameraBecomePlaces) {
  const auto map = read_camera_map(write("# bench\nx_um, 5, 0.5, -100\ny_mm, 0.0002, -0.004, 2\n"), lens);
  EXPECT_FALSE(map.has_angles);
  const auto [x, y] = holotone::place_of_pixel(map, {300, 200});
  EXPECT_NEAR(x, 1500e-6, 1e-12);
  EXPECT_NEAR(y, 1.26e-3, 1e-12);
  const auto pixel = holotone::pixel_of_place(map, {x, y});
  EXPECT_NEAR(pixel[0], 300, 1e-9);
  EXPECT_NEAR(pixel[1], 200, 1e-9);
  expect_place(place("x_px,y_px,z_um\n300,200,3\n", map), {1500e-6, 1.26e-3, 3e-6});
  expect_place(place(R"({"unit": "px", "spots": [[300, 200]]})", map), {1500e-6, 1.26e-3, 0});
  const auto same = read_camera_map(write(R"({"x_um": [5, 0.5, -100], "y_mm": [0.0002, -0.004, 2]})"), lens);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_DOUBLE_EQ(same.to_spots_m[1][i], map.to_spots_m[1][i]);
  const auto angles = read_camera_map(write("ky_norm,0,-2e-5,0.01\nkx_norm,2e-5,0,-0.01\n"), lens);
  EXPECT_TRUE(angles.has_angles);
  EXPECT_NEAR(holotone::place_of_pixel(angles, {600, 100})[0], 0.002 * 0.4, 1e-12);
  EXPECT_NEAR(holotone::place_of_pixel(angles, {600, 100})[1], 0.008 * 0.4, 1e-12);
  EXPECT_TRUE(read_spots(write("x_px,y_px\n1,2\n"), 0, lens, angles).are_angles);
  EXPECT_FALSE(read_spots(write("x_px,y_px\n1,2\n"), 0, lens, map).are_angles);
}

// pixel = M (k - a) + b at k = (0.01, 0.02): M (0.009, 0.018) + b, worked out by hand. slmsuite's second axis is down.
TEST_F(SpotPlaces, CalibrationsOfSlmsuiteAreRead) {
  for (const char* text : {R"({"M": [[10000, 2000], [-1000, 9000]], "b": [320, 240], "a": [0.001, 0.002]})",
                           R"({"M": [10000, 2000, -1000, 9000], "b": [[320], [240]], "a": [[0.001], [0.002]]})"}) {
    const auto map = read_camera_map(write(text), lens);
    const auto [x, y] = holotone::place_of_pixel(map, {320 + 90 + 36, 240 - 9 + 162});
    EXPECT_NEAR(x, 0.01 * 0.4, 1e-9);
    EXPECT_NEAR(y, -0.02 * 0.4, 1e-9);
    EXPECT_TRUE(map.has_angles);
  }
}

TEST_F(SpotPlaces, WhatSaysNoPlaceIsRefusedByName) {
  refused("kx,ky\n1,2\n", "kx");
  refused("kx_um,ky_um\n1,2\n", "kx_um");
  refused("x_norm,y_norm\n1,2\n", "x_norm");
  refused("kx_norm,y_um\n1,2\n", "one of each");
  refused("x_um,kx_norm,y_um\n1,2,3\n", "both");
  refused("x_um,y_um,z_um,defocus_per_m\n1,2,3,4\n", "z or defocus");
  refused("x_um,y_um,defocus_um\n1,2,3\n", "defocus_um");
  refused("x_um,y_um,defocus_rad_per_m\n1,2,3\n", "defocus_rad_per_m");
  refused("x_px,y_px\n1,2\n", "camera map");
  refused("x_px,y_um\n1,2\n", "both in pixels (line 2)");
  refused("x_um,y_um,z_px\n1,2,3\n", "z_px");
  refused(R"({"unit": "px", "spots": [[1, 2, 3]]})", "unit");
  refused(R"([{"x_um": 1, "x_mm": 2, "y_um": 3}])", "spot 0");
  refused("kx_norm,ky_norm\n1,inf\n", "line 2");
  support::expect_error(ErrorCode::invalid_argument, "lens.focal_length_m",
                        [&] { (void)read_spots(write("kx_norm,ky_norm\n1,2\n")); });
  support::expect_error(ErrorCode::invalid_argument, "lens.pitch_m", [&] {
    (void)read_spots(write("kx_per_px,ky_per_px\n1,2\n"), 0, {.wavelength_m = 1e-6, .focal_length_m = 1});
  });
}

TEST_F(SpotPlaces, WhatIsNoMapIsRefusedByName) {
  map_refused("x_um,1,0,0\n", "no y");
  map_refused("1,0,0\n0,1,0\n", "line 1");
  map_refused("x,1,0,0\ny,0,1,0\n", "units");
  map_refused("x_px,1,0,0\n", "units");
  map_refused("z_um,1,0,0\n", "rows x and y");
  map_refused("x_um,1,0,0\nx_um,0,1,0\n", "again");
  map_refused("x_um,1,0,0\ny_um,0,one,0\n", "line 2");
  map_refused("x_um,1,0,0\ny_um,0,nan,0\n", "line 2");
  map_refused("x_um,1,2,0\ny_um,2,4,0\n", "inverse");
  map_refused("", "content");
  map_refused("# none\n", "rows x and y");
  map_refused("[1, 2]", "rows x and y");
  map_refused("{", "JSON");
  map_refused(R"({"x_um": [1, 2]})", "3 numbers");
  map_refused(R"({"x_um": [1, 2, "a"]})", "3 numbers");
  map_refused(R"({"M": [[1, 0], [0, 1]]})", "\"b\"");
  map_refused(R"({"M": [[1, 0], [0, 1]], "b": [1, 2]})", "\"a\" beside \"M\"");
  map_refused(R"({"M": [[1, 0], [0, 0]], "b": [1, 2], "a": [0, 0]})", "inverse");
  map_refused(R"({"M": [[1, 0], [0, 1]], "b": [1, 2], "a": [0, 0], "c": 1})", "c");
  map_refused("x_um;5,1;0,03;-3300\ny_um;0;-5;0\n", "numbers with a point, such as 300.5 (line 1)");
  map_refused(std::string("x_um\0", 5), "file");
}

TEST_F(SpotPlaces, DamagedFilesAreSurvived) {
  const auto map = [](const std::string& file) { (void)read_camera_map(file, lens); };
  io_support::expect_survival("camera_map", "x_um, 5, 0.5, -100\ny_um, 0.2, -4, 2000\n", ".csv", 2000, map);
  io_support::expect_survival("camera_map_json",
                              R"({"M": [[10000, 2000], [-1000, 9000]], "b": [320, 240], "a": [0.001, 0.002]})", ".json",
                              2000, map);
  const auto list = [](const std::string& file) {
    (void)read_spots(file, 0, lens, {.to_spots_m = {{{1e-6, 0, 0}, {0, -1e-6, 0}}}});
  };
  io_support::expect_survival("spots_in_k_space", "kx_per_mm,ky_norm,defocus_per_m,intensity\n1,0.02,3,4\n5,0.06,7,8\n",
                              ".csv", 2000, list);
  io_support::expect_survival("spots_in_pixels", "x_px,y_px,z_um\n10,5,1\n20,8,2\n", ".csv", 2000, list);
}

// Two dots joined at a corner, one of a gradient, one too dim: centroids and sums by hand.
TEST(SpotPictures, RegionsBecomeSpots) {
  holotone::Array<float, 2> light({6, 9});
  std::ranges::fill(light.host(), 0.0F);
  light(1, 1) = 4;
  light(2, 2) = 2;
  light(4, 6) = 3;
  light(4, 7) = 1;  // below half of 4
  light(0, 8) = 1.9F;
  const auto found = holotone::spots_in_picture(light.view(), 2e-6, 0.5, {1e-6, 0, 3e-6});
  ASSERT_EQ(found.spots.position_m.size(), 2U);
  const auto& first = found.spots.position_m[0];
  EXPECT_NEAR(first[0], 1e-6 + 2e-6 * (8.0 / 6 - 4), 1e-12);
  EXPECT_NEAR(first[1], 2e-6 * (2.5 - 8.0 / 6), 1e-12);
  EXPECT_NEAR(first[2], 3e-6, 1e-12);
  EXPECT_FLOAT_EQ(found.spots.intensity[0], 6);
  // With the dimmer pixel beside it.
  EXPECT_FLOAT_EQ(found.spots.intensity[1], 4);
  EXPECT_NEAR(found.spots.position_m[1][0], 1e-6 + 2e-6 * 2.25, 1e-12);
  EXPECT_NEAR(found.spots.position_m[1][1], -2e-6 * 1.5, 1e-12);
  EXPECT_NEAR(found.light_share, 10 / 11.9, 1e-6);
  EXPECT_EQ(found.widest_px, 2);
  EXPECT_EQ(holotone::spots_in_picture(light.view(), 1, 0.25).spots.position_m.size(), 3U);
  const auto refused = [&](const char* words, double pixel_m, double threshold) {
    support::expect_error(ErrorCode::invalid_argument, words,
                          [&] { (void)holotone::spots_in_picture(light.view(), pixel_m, threshold); });
  };
  refused("pixel_m", 0, 0.5);
  refused("threshold", 1, 0);
  light(0, 0) = -1;
  refused("light", 1, 0.5);
  std::ranges::fill(light.host(), 0.0F);
  refused("black", 1, 0.5);
  holotone::Array<float, 2> many({700, 700});
  for (std::int64_t i = 0; i < many.size(); ++i) {
    many.data()[i] = i / 700 % 2 == 0 && i % 700 % 2 == 0 ? 1.0F : 0.0F;
  }
  support::expect_error(ErrorCode::invalid_argument, "100000",
                        [&] { (void)holotone::spots_in_picture(many.view(), 1); });
}

// Blurred dots of one width: intensities are as their peaks, places their middles; near ones share the pixels between.
TEST(SpotPictures, BlurredDotsKeepTheirLight) {
  struct Dot {
    double column;
    double row;
    double peak;
  };
  const std::vector<Dot> dots{{40.3, 20.6, 0.8}, {150.2, 20.4, 0.6}, {60.5, 100.25, 1}, {120, 70, 0.9}, {129, 70, 0.7}};
  holotone::Array<float, 2> light({150, 200});
  for (std::int64_t row = 0; row < 150; ++row) {
    for (std::int64_t column = 0; column < 200; ++column) {
      double sum = 0;
      for (const auto& dot : dots) {
        const double square =
            std::pow(static_cast<double>(column) - dot.column, 2) + std::pow(static_cast<double>(row) - dot.row, 2);
        sum += dot.peak * std::exp(-square / (2 * 1.5 * 1.5));
      }
      light(row, column) = static_cast<float>(sum);
    }
  }
  const auto expect_dots = [&](double tolerance) {
    const auto found = holotone::spots_in_picture(light.view(), 1);
    ASSERT_EQ(found.spots.position_m.size(), dots.size());
    EXPECT_LE(found.widest_px, 5);
    for (const auto& dot : dots) {
      bool is_found = false;
      for (std::size_t m = 0; m < dots.size(); ++m) {
        const double right = found.spots.position_m[m][0] + 99.5 - dot.column;
        const double down = 74.5 - found.spots.position_m[m][1] - dot.row;
        if (std::hypot(right, down) > 0.1) continue;
        is_found = true;
        // A Gaussian's light is 2 pi sigma^2 times its peak.
        EXPECT_NEAR(found.spots.intensity[m] / (2 * std::numbers::pi * 2.25), dot.peak, tolerance * dot.peak);
      }
      EXPECT_TRUE(is_found) << dot.column;
    }
  };
  expect_dots(0.02);
  EXPECT_GT(holotone::spots_in_picture(light.view(), 1).light_share, 0.98);
  // A dim background does not join what lies between the dots.
  for (float& value : light.host()) value += 0.005F;
  expect_dots(0.06);
}

// The light at the pixels of the plane is that of float64 sums at their places, gaps and zero order too.
TEST(SpotPictures, TheFocalPlaneIsThatOfTheSpots) {
  holotone::SpotOptions options;
  options.grid = {64, 48, 8e-6, 1.064e-6};
  options.focal_length_m = 0.1;
  const auto spots = holotone::spot_lattice(3, 2, 9e-4, holotone::SpotLattice::square, {6e-4, -4e-4, 0});
  const auto made = holotone::make_spots(spots, options, {.bits = 8});
  std::vector<std::array<float, 3>> places;
  for (int row = 0; row < 6; ++row) {
    for (int column = 0; column < 9; ++column) {
      places.push_back(
          {static_cast<float>(6e-4 + 2.5e-4 * (column - 4)), static_cast<float>(-4e-4 - 2.5e-4 * (row - 2.5)), 0.0F});
    }
  }
  const std::vector<float> phase(made.shown_rad.host().begin(), made.shown_rad.host().end());
  const auto exact = reference::spot_intensities({64, 48, 8e-6, 1.064e-6, 0.1}, places, phase);
  const auto light = light_in_focal_plane(made.shown_rad.view(), options, {6e-4, -4e-4}, 2.5e-4, {6, 9});
  const double largest = *std::ranges::max_element(exact);
  for (std::size_t i = 0; i < exact.size(); ++i) EXPECT_NEAR(light.data()[i], exact[i], 1e-5 * largest);
  // With other light on the panel, as the plan has it.
  options.response = {.fill_factor = 0.8, .zero_order = 0.3};
  options.zero_order_phase_rad = 1;
  holotone::Array<holotone::Complex, 2> beam(options.grid.shape());
  for (std::int64_t i = 0; i < beam.size(); ++i) {
    beam.data()[i] = holotone::Complex(1 + 0.3F * static_cast<float>(i % 64) / 64, 0.1F);
  }
  holotone::SpotPlan plan(options);
  plan.set_light(beam.view());
  plan.set_spots({places.front().data(), {54, 3}});
  const auto expected = plan.light_in_spots(made.shown_rad.view()).intensity;
  const auto seen = light_in_focal_plane(made.shown_rad.view(), options, {6e-4, -4e-4}, 2.5e-4, {6, 9}, beam.view());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(seen.data()[i], expected[i], 1e-5);
}

// 2.7 mm and margins across: a bar of 1 mm, white, beneath the spots; they are bright where they belong.
TEST(SpotPictures, APictureHasAScaleBar) {
  holotone::SpotOptions options;
  options.grid = {64, 64, 8e-6, 1.064e-6};
  options.focal_length_m = 0.1;
  const auto spots = holotone::spot_lattice(4, 4, 9e-4, holotone::SpotLattice::square, {6e-4, -4e-4, 0});
  const auto made = holotone::make_spots(spots, options, {.bits = 8});
  const auto picture = draw_spots(spots, made.shown_rad.view(), options);
  const double extent_m = 1.1 * 2.7e-3 + 8 * 1.064e-7 / (64 * 8e-6);
  const double pixel_m = extent_m / 640;
  // The sheet's border and caption are around 640 x 640 pixels.
  const auto [rows, columns] = picture.shape();
  EXPECT_GT(rows, columns);
  const std::int64_t border = (columns - 640) / 2;
  ASSERT_GE(border, 0);
  std::int64_t longest = 0;
  for (std::int64_t row = border + 600; row < border + 640; ++row) {
    std::int64_t run = 0;
    for (std::int64_t column = 0; column < columns; ++column) {
      run = picture(row, column) == 255 ? run + 1 : 0;
      longest = std::max(longest, run);
    }
  }
  EXPECT_NEAR(static_cast<double>(longest) * pixel_m, 1e-3, 1.5 * pixel_m);
  for (const auto& place : spots.position_m) {
    const auto column = border + std::lround(320 + (static_cast<double>(place[0]) - 6e-4) / pixel_m);
    const auto row = border + std::lround(320 - (static_cast<double>(place[1]) + 4e-4) / pixel_m);
    EXPECT_EQ(picture(row, column), 255);
  }
  EXPECT_LT(picture(border + 320, border + 320), 100);
  const auto wide = holotone::spot_lattice(2, 1, 0.3);
  support::expect_error(ErrorCode::invalid_argument, "widths",
                        [&] { (void)draw_spots(wide, made.shown_rad.view(), options); });
}

}  // namespace
