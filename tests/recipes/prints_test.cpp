// Prints by bands of rows on several devices against sums of the whole panel, and what a stopped print leaves.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <gtest/gtest.h>
#include <holotone/hologram/scene.hpp>
#include <holotone/io/fields/field_file.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/recipes/point_hologram.hpp>
#include <holotone/recipes/prints.hpp>
#include <string>
#include <tests/io/field_builders.hpp>
#include <tests/support/cancelling.hpp>
#include <tests/support/on_each_device.hpp>
#include <variant>
#include <vector>

namespace holotone {
namespace {

namespace fs = std::filesystem;
using support::expect_error;

PointCloudOptions make_sum(PointMethod method) {
  PointCloudOptions sum;
  sum.shape = {65, 96};
  sum.method = method;
  return sum;
}

PointCloud make_cloud(int count) {
  PointCloud cloud;
  for (int i = 0; i < count; ++i) {
    const float turn = 2.4F * static_cast<float>(i);
    const float radius = 2e-5F * std::sqrt(static_cast<float>(i));
    cloud.position.push_back({radius * std::cos(turn), radius * std::sin(turn), i % 2 == 0 ? -0.05F : 0.03F});
    cloud.amplitude.push_back(1 + 0.1F * static_cast<float>(i % 7));
    cloud.colour.push_back({1, 0.5F, static_cast<float>(i % 3) / 2});
  }
  return cloud;
}

/// Every device alone and, to share the bands, thrice.
std::vector<std::vector<Device>> device_lists() {
  std::vector<std::vector<Device>> lists;
  for (const Device device : devices()) {
    lists.push_back({device});
    lists.push_back({device, device, device});
  }
  return lists;
}

double relative_error(View<const Complex, 2> made, View<const Complex, 2> expected) {
  double error = 0;
  double norm = 0;
  for (std::int64_t i = 0; i < expected.size(); ++i) {
    error += static_cast<double>(std::norm(made.data()[i] - expected.data()[i]));
    norm += static_cast<double>(std::norm(expected.data()[i]));
  }
  return std::sqrt(error / norm);
}

class PrintsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::path(::testing::TempDir()) / ::testing::UnitTest::GetInstance()->current_test_info()->name();
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder_ / name).string(); }
  [[nodiscard]] bool writes_tiff() const {
    try {
      print_points(make_cloud(1),
                   {{.output = path("a.tif"), .sum = make_sum(PointMethod::direct), .encoding = EncodeOptions{}}});
    } catch (const Error& error) {
      if (error.code() != ErrorCode::unsupported) throw;
      return false;
    }
    return true;
  }

  fs::path folder_;
};

TEST_F(PrintsTest, AFieldIsTheSumOfTheWholePanel) {
  const auto cloud = make_cloud(60);
  const CloudSources points(cloud);
  for (const auto& on : device_lists()) {
    SCOPED_TRACE(to_string(on.front()) + " x " + std::to_string(on.size()));
    const auto sum = make_sum(PointMethod::direct);
    const auto made = print_points(cloud, {{.output = path("a.npy"), .sum = sum}}, {.devices = on, .rows_at_once = 20});
    ASSERT_EQ(made.size(), 1u);
    EXPECT_EQ(made[0].bands, 4);
    EXPECT_EQ(made[0].resumed_rows, 0);
    EXPECT_EQ(made[0].rates.pixels, 65 * 96);
    EXPECT_EQ(made[0].metadata.at("encoding"), "complex");
    EXPECT_EQ(made[0].metadata.at("rows_at_once"), "20");
    EXPECT_EQ(made[0].metadata.at("points"), "60");
    const auto field = read_field(path("a.npy"));
    const auto whole = point_cloud_field(points.sources(), sum);
    EXPECT_LT(relative_error(field.values.view(), whole.view()), 5e-6);
  }
}

// Direct sums and recurrences depend on a band's rows only in rounding. Other methods keep their tolerance in both.
TEST_F(PrintsTest, EveryMethodKeepsItsTolerance) {
  struct Case {
    PointMethod method;
    Wave wave;
    double max;
  };
  constexpr double rounding = 2e-6;
  constexpr double tolerance = 1e-3;
  for (const auto& [method, wave, max] : {Case{PointMethod::direct, Wave::spherical, rounding},
                                          Case{PointMethod::recurrence, Wave::fresnel, tolerance / 2},
                                          Case{PointMethod::separable, Wave::fresnel, 2 * tolerance},
                                          Case{PointMethod::fast, Wave::fresnel, 2 * tolerance},
                                          Case{PointMethod::automatic, Wave::fresnel, 2 * tolerance}}) {
    SCOPED_TRACE(to_string(method));
    const auto cloud = make_cloud(method == PointMethod::fast ? 3000 : 60);
    auto sum = make_sum(method);
    sum.wave = wave;
    sum.tolerance = tolerance;
    const auto whole = point_cloud_field(CloudSources(cloud).sources(), sum);
    for (const std::int64_t rows : {20, 47, 1000}) {
      const auto made = print_points(cloud, {{.output = path("a.npy"), .sum = sum}},
                                     {.devices = {Device{}, Device{}}, .rows_at_once = rows});
      EXPECT_EQ(made[0].bands, rows == 20 ? 4 : rows == 47 ? 2 : 1);
      EXPECT_LE(relative_error(read_field(path("a.npy")).values.view(), whole.view()), max) << rows;
    }
  }
}

// Codes by bands are those of the whole panel, with every table and grating in its place.
TEST_F(PrintsTest, CodesAreThoseOfTheWholePanel) {
  if (!writes_tiff()) GTEST_SKIP() << "a build without libtiff";
  const auto cloud = make_cloud(40);
  const auto sum = make_sum(PointMethod::direct);
  const FieldGrid grid{96, 65, sum.pitch_m, sum.wavelength_m};
  const auto whole = point_cloud_field(CloudSources(cloud).sources(), sum);
  constexpr double degree = M_PI / 180;
  for (const EncodeOptions& codes :
       {EncodeOptions{}, EncodeOptions{.bits = 10, .carrier_x_rad = 0.5 * degree, .carrier_y_rad = -0.3 * degree},
        EncodeOptions{.encoding = Encoding::amplitude,
        .reference_angle_x_rad = degree,
        .amplitude_min = -20,
        .amplitude_max = 20},
        EncodeOptions{.encoding = Encoding::burckhardt, .bits = 12, .amplitude_max = 20},
        EncodeOptions{.encoding = Encoding::double_phase, .amplitude_max = 40}}) {
    SCOPED_TRACE(to_string(codes.encoding));
    const auto expected = encode(whole.view(), codes, grid);
    for (const std::size_t devices : {1, 3}) {
      print_points(cloud, {{.output = path("a.tif"), .sum = sum, .encoding = codes}},
                   {.devices = std::vector<Device>(devices), .rows_at_once = 20});
      const auto image = read_image(path("a.tif"));
      std::int64_t differ = 0;  // a code at the boundary of two may be the other one: bands round differently
      std::visit(
          [&](const auto& pixels) {
            ASSERT_EQ(pixels.size(), expected.size());
            for (std::int64_t i = 0; i < pixels.size(); ++i) {
              differ += static_cast<double>(pixels.data()[i]) != static_cast<double>(expected.data()[i]) ? 1 : 0;
            }
          },
          image.pixels);
      EXPECT_LE(differ, 65 * 96 / 200);
    }
  }
}

TEST_F(PrintsTest, CodesHaveOneMeasuredRange) {
  if (!writes_tiff()) GTEST_SKIP() << "a build without libtiff";
  const auto cloud = make_cloud(40);
  const CloudSources points(cloud);
  const auto sum = make_sum(PointMethod::direct);
  const FieldGrid grid{96, 65, sum.pitch_m, sum.wavelength_m};
  const auto whole = point_cloud_field(points.sources(), sum);
  for (const auto encoding : {Encoding::amplitude, Encoding::double_phase}) {
    const EncodeOptions codes{.encoding = encoding, .bits = 10};
    EncodeReport range;
    const auto expected = encode(whole.view(), codes, grid, &range);
    for (const auto& on : device_lists()) {
      SCOPED_TRACE(to_string(on.front()));
      const auto made = print_points(cloud, {{.output = path("a.tif"), .sum = sum, .encoding = codes}},
                                     {.devices = on, .rows_at_once = 20});
      EXPECT_NEAR(std::stof(made[0].metadata.at("amplitude_max")), range.amplitude_max, 1e-4F * range.amplitude_max);
      const auto image = read_image(path("a.tif"));
      const auto& pixels = std::get<Array<std::uint16_t, 3>>(image.pixels);
      std::int64_t differ = 0;
      for (std::int64_t i = 0; i < pixels.size(); ++i) {
        differ += std::abs(pixels.data()[i] - expected.data()[i]) % 1023 > 1 ? 1 : 0;
      }
      EXPECT_LE(differ, 65 * 96 / 500);
    }
  }
}

TEST_F(PrintsTest, AStoppedPrintIsResumed) {
  const auto cloud = make_cloud(60);
  const auto prints_of = [&](const char* kind) {
    std::vector<PointPrint> prints;
    for (int colour = 0; colour < 2; ++colour) {
      prints.push_back({.output = path(kind + std::to_string(colour) + ".npy"),
                        .sum = make_sum(PointMethod::direct),
                        .colour = colour,
                        .metadata = {{"seed", "3"}}});
    }
    return prints;
  };
  const PrintOptions options{.rows_at_once = 5};
  print_points(cloud, prints_of("whole"), options);
  support::Cancelling cancelling(40);
  expect_error(ErrorCode::cancelled, "cancelled", [&] { print_points(cloud, prints_of("a"), options, cancelling); });
  EXPECT_FALSE(fs::exists(path("a0.npy")));
  const auto made = print_points(cloud, prints_of("a"), options);
  EXPECT_GE(made[0].resumed_rows, 25);
  EXPECT_LE(made[0].resumed_rows, 40);
  EXPECT_EQ(made[1].resumed_rows, 0);
  for (const char* name : {"0.npy", "1.npy"}) {
    const auto a = read_field(path(std::string("a") + name));
    const auto whole = read_field(path(std::string("whole") + name));
    EXPECT_EQ(relative_error(a.values.view(), whole.values.view()), 0) << name;
    EXPECT_EQ(made[0].metadata.at("seed"), "3");
  }
  const auto red = read_field(path("a0.npy"));
  const auto green = read_field(path("a1.npy"));
  EXPECT_GT(relative_error(red.values.view(), green.values.view()), 0.1);
}

TEST_F(PrintsTest, PartsAreRowsOfTheWhole) {
  const auto cloud = make_cloud(30);
  const auto sum = make_sum(PointMethod::direct);
  print_points(cloud, {{.output = path("whole.npy"), .sum = sum}}, {.rows_at_once = 20});
  const auto whole = read_field(path("whole.npy"));
  EXPECT_EQ(part_of_bands(65, 20, 1, 2), (RowRange{0, 40}));
  EXPECT_EQ(part_of_bands(65, 20, 2, 2), (RowRange{40, 25}));
  expect_error(ErrorCode::invalid_argument, "parts", [] { (void)part_of_bands(65, 20, 1, 5); });
  expect_error(ErrorCode::invalid_argument, "part", [] { (void)part_of_bands(65, 20, 3, 2); });
  if (!field_builders::has_hdf5()) GTEST_SKIP() << "a build without HDF5";
  const auto rows = part_of_bands(65, 20, 2, 2);
  const auto made = print_points(cloud, {{.output = path("part.h5"), .sum = sum}}, {.rows_at_once = 20, .rows = rows});
  const auto part = read_field(path("part.h5"));
  EXPECT_EQ(part.metadata.at("block_first_row"), "40");
  EXPECT_EQ(part.metadata.at("block_of_rows"), "65");
  EXPECT_EQ(part.metadata.count("block_crc32"), 1u);
  const View<const Complex, 2> expected(whole.values.data() + 40 * 96, {25, 96});
  EXPECT_EQ(relative_error(part.values.view(), expected), 0);
}

TEST_F(PrintsTest, BandsAreLargeAndOfWholeTiles) {
  EXPECT_EQ(rows_of_bands({1000, 1000}), 1000);
  EXPECT_EQ(rows_of_bands({100'000, 100'000}), 1536) << "2^27 pixels are 1342 rows, of 75 bands";
  EXPECT_EQ(rows_of_bands({1024, 65536}), 512);
}

TEST_F(PrintsTest, WhatCannotBePrintedIsNamed) {
  const auto cloud = make_cloud(3);
  const auto refused = [&](const char* argument, const PointPrint& print, const PrintOptions& options) {
    expect_error(ErrorCode::invalid_argument, argument, [&] { print_points(cloud, {print}, options); });
  };
  const PointPrint field{.output = path("a.npy"), .sum = make_sum(PointMethod::direct)};
  PointPrint codes{.output = path("a.tif"), .sum = make_sum(PointMethod::automatic), .encoding = EncodeOptions{}};
  codes.encoding->encoding = Encoding::amplitude;
  refused("encoding.amplitude_max", codes, {});
  refused("devices", field, {.devices = {}});
  refused("devices", field, {.devices = {Device{}, Device{Backend::cuda, 0}}});
  refused("rows_at_once", field, {.rows_at_once = -1});
  refused("part", field, {.rows = {60, 10}});
  refused("colour", {.output = path("a.npy"), .sum = make_sum(PointMethod::direct), .colour = 3}, {});
  expect_error(ErrorCode::invalid_argument, "prints", [&] { print_points(cloud, {}); });
  expect_error(ErrorCode::unsupported, "a.png: expected .h5, .hdf5 or .npy",
               [&] { print_points(cloud, {{.output = path("a.png"), .sum = make_sum(PointMethod::direct)}}); });
  EXPECT_TRUE(fs::is_empty(folder_));
}

}  // namespace
}  // namespace holotone
