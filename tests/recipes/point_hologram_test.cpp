// Parts of a point hologram against the plans that it is made of, on every device.
#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <holotone/recipes/point_hologram.hpp>
#include <string>
#include <tests/support/on_each_device.hpp>

namespace holotone {
namespace {

constexpr std::int64_t rows = 20;

PointCloudOptions sum_options() {
  PointCloudOptions options;
  options.shape = {48, 65};
  options.method = PointMethod::direct;
  return options;
}

struct Points {
  Points() : position({3, 3}), amplitude({3}) {
    constexpr float places[3][3] = {{0, 0, -0.05F}, {1e-4F, -5e-5F, -0.06F}, {-8e-5F, 4e-5F, 0.04F}};
    for (std::int64_t i = 0; i < 3; ++i) {
      for (std::int64_t axis = 0; axis < 3; ++axis) position(i, axis) = places[i][axis];
      amplitude(i) = 1 + static_cast<float>(i);
    }
  }
  [[nodiscard]] PointSources sources() const { return {position.view(), amplitude.view(), {}}; }

  Array<float, 2> position;
  Array<float, 1> amplitude;
};

/// The whole panel by parts of `rows` rows, in host memory.
template <class T>
Array<T, 2> by_parts(PointHologramPlan& plan) {
  const auto [ny, nx] = sum_options().shape;
  Array<T, 2> whole({ny, nx});
  Array<T, 2> part({rows, nx}, plan.queue());
  for (std::int64_t first = 0; first < ny; first += rows) {
    const std::int64_t count = std::min(rows, ny - first);
    const View<T, 2> made(part.data(), {count, nx}, plan.queue().device());
    plan.execute({first, count}, made);
    plan.queue().synchronize();
    const auto here = copy_of(View<const T, 2>(made), Device{});
    std::ranges::copy(here.host(), whole.data() + first * nx);
  }
  return whole;
}

/// The largest difference of two codes on the circle of 256.
int code_distance(int a, int b) { return std::min((a - b) & 255, (b - a) & 255); }

TEST(PointHologram, PartsAreThoseOfTheSumAndItsCodes) {
  const Points points;
  const auto field = point_cloud_field(points.sources(), sum_options());
  const FieldGrid grid{65, 48, sum_options().pitch_m, sum_options().wavelength_m};
  for (const Device device : devices()) {
    SCOPED_TRACE(to_string(device));
    PointHologramPlan fields({sum_options(), {}, rows}, Queue::create(device));
    fields.set_points(points.sources());
    const auto summed = by_parts<Complex>(fields);
    for (std::int64_t i = 0; i < field.size(); ++i) ASSERT_LT(std::abs(summed.data()[i] - field.data()[i]), 1e-3F);

    // The sum's own phase, and codes of a carrier by a field.
    for (const double carrier : {0.0, 1e-3}) {
      const EncodeOptions encoding{.carrier_x_rad = carrier};
      EXPECT_EQ(is_sum_phase(encoding), carrier == 0);
      PointHologramPlan plan({sum_options(), encoding, rows}, Queue::create(device));
      plan.set_points(points.sources());
      const auto codes = by_parts<std::uint8_t>(plan);
      const auto expected = encode(field.view(), encoding, grid);
      for (std::int64_t i = 0; i < codes.size(); ++i)
        ASSERT_LE(code_distance(codes.data()[i], expected.data()[i]), 1) << i;
    }
  }
}

TEST(PointHologram, PartsHaveOneRange) {
  const Points points;
  const auto field = point_cloud_field(points.sources(), sum_options());
  const FieldGrid grid{65, 48, sum_options().pitch_m, sum_options().wavelength_m};
  const EncodeOptions encoding{.encoding = Encoding::amplitude, .bits = 10};
  EncodeReport range;
  const auto expected = encode(field.view(), encoding, grid, &range);
  for (const Device device : devices()) {
    SCOPED_TRACE(to_string(device));
    PointHologramPlan plan({sum_options(), encoding, rows}, Queue::create(device));
    plan.set_points(points.sources());
    float largest = 0;
    for (std::int64_t first = 0; first < 48; first += rows) {
      largest = std::max(largest, plan.measure({first, std::min(rows, 48 - first)}).amplitude_max);
    }
    EXPECT_NEAR(largest, range.amplitude_max, 1e-4 * range.amplitude_max);
    plan.set_range({-largest, largest});
    const auto codes = by_parts<std::uint16_t>(plan);
    for (std::int64_t i = 0; i < codes.size(); ++i) ASSERT_NEAR(codes.data()[i], expected.data()[i], 1) << i;
  }
}

TEST(PointHologram, FilesStateTheSum) {
  const Points points;
  PointCloudOptions sum = sum_options();
  sum.deterministic = true;
  Metadata metadata{{"distance_m", "0.25"}};
  PointCloudPlan plan(sum);
  plan.set_points(points.sources());
  describe_points(metadata, points.sources(), sum, plan.info());
  EXPECT_EQ(metadata["distance_m"], "0.25") << "what is given stays";
  EXPECT_FLOAT_EQ(std::stof(metadata["distance_min_m"]), -0.04F);
  EXPECT_FLOAT_EQ(std::stof(metadata["distance_max_m"]), 0.06F);
  EXPECT_EQ(metadata["points"], "3");
  EXPECT_EQ(metadata["object_energy"], "14") << "1 + 4 + 9";
  EXPECT_EQ(metadata["method"], "direct");
  EXPECT_EQ(metadata["deterministic"], "1");
  EXPECT_FALSE(metadata.contains("cone_wavelength_m"));
  Metadata of_colours;
  describe_points(of_colours, points.sources(), sum, plan.info(), true);
  EXPECT_NEAR(std::stod(of_colours["object_energy"]), lit_energy(points.sources(), sum), 1e-6);
  EXPECT_TRUE(of_colours.contains("cone_wavelength_m"));
}

TEST(PointHologram, OutputsOfAnotherKindAreRefused) {
  PointHologramPlan plan({sum_options(), {}, rows});
  Array<std::uint8_t, 2> codes({rows, 65});
  support::expect_error(ErrorCode::invalid_argument, "PointHologramPlan: codes: expected options with an encoding",
                        [&] {
                          plan.execute({0, rows}, codes.view());
                        });
  PointHologramPlan coded({sum_options(), EncodeOptions{}, rows});
  Array<Complex, 2> field({rows, 65});
  support::expect_error(ErrorCode::invalid_argument, "PointHologramPlan: field: expected options without an encoding",
                        [&] {
                          coded.execute({0, rows}, field.view());
                        });
}

}  // namespace
}  // namespace holotone
