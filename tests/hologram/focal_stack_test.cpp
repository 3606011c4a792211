// Focal stacks of pictures with depth: the blur's size and energy, occlusion, and the float64 reference.
#include <gtest/gtest.h>
#include <holotone/core/random.hpp>
#include <holotone/hologram/focal_stack.hpp>
#include <limits>
#include <numbers>
#include <tests/reference/focal_stack.hpp>

namespace {

using holotone::Array;
using holotone::ErrorCode;
using holotone::FieldGrid;
using holotone::focal_stack;
using holotone::FocalStackOptions;
using holotone::SlicedPicture;

constexpr double pitch_m = 1e-5;

FieldGrid make_grid(std::int64_t ny, std::int64_t nx) { return {nx, ny, pitch_m, 5e-7}; }

/// Random light in (0, 1), all of layer 0.
SlicedPicture flat(const FieldGrid& grid, double distance_m) {
  SlicedPicture picture{Array<float, 2>(grid.shape()), Array<std::uint16_t, 2>(grid.shape()), {distance_m}, 0};
  for (std::int64_t i = 0; i < picture.intensity.size(); ++i) {
    picture.intensity.data()[i] = holotone::random_uniform(1, static_cast<std::uint64_t>(i));
    picture.layer.data()[i] = 0;
  }
  return picture;
}

/// A background, a slanted surface of two layers, and a near square; a margin of the panel is outside of the picture.
SlicedPicture scene(const FieldGrid& grid) {
  SlicedPicture picture = flat(grid, 0.3);
  picture.distance_m = {0.3, 0.22, 0.2, -0.1};
  for (std::int64_t y = 0; y < grid.ny; ++y) {
    for (std::int64_t x = 0; x < grid.nx; ++x) {
      auto& layer = picture.layer(y, x);
      if (x > grid.nx / 2) layer = x > 3 * grid.nx / 4 ? 2 : 1;
      if (std::abs(y - grid.ny / 2) < grid.ny / 5 && std::abs(x - grid.nx / 2) < grid.nx / 6) layer = 3;
      if (y < 4) layer = SlicedPicture::nothing;
    }
  }
  return picture;
}

reference::FocalScene plain(const SlicedPicture& picture) {
  const auto [ny, nx] = picture.intensity.shape();
  reference::FocalScene result{ny, nx, pitch_m, {}, {}, picture.distance_m};
  for (const float value : picture.intensity.host()) result.intensity.push_back(static_cast<double>(value));
  for (const auto value : picture.layer.host()) result.layer.push_back(value == SlicedPicture::nothing ? -1 : value);
  return result;
}

double relative_error(const Array<float, 2>& picture, const std::vector<double>& expected) {
  double error = 0;
  double sum = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    error += std::pow(static_cast<double>(picture.host()[i]) - expected[i], 2);
    sum += expected[i] * expected[i];
  }
  return std::sqrt(error / sum);
}

double compute_sum(const Array<float, 2>& picture) {
  double sum = 0;
  for (const float value : picture.host()) sum += static_cast<double>(value);
  return sum;
}

// Discs up to 12 pixels wide, and up to 300, beyond the panel.
TEST(FocalStack, IsTheReference) {
  for (const double pupil_m : {2e-4, 5e-3}) {
    const auto grid = make_grid(40, 60);
    const auto picture = scene(grid);
    const FocalStackOptions options{{0.3, 0.21, -0.1, -0.3}, pupil_m, 0.5};
    const auto stack = focal_stack(picture, grid, options);
    ASSERT_EQ(stack.size(), 4U);
    for (std::size_t i = 0; i < stack.size(); ++i) {
      const auto expected = reference::focal_picture(plain(picture), pupil_m, 0.5, options.focus_m[i]);
      const double error = relative_error(stack[i], expected);
      std::printf("pupil %g mm, focus %5.2f m: error %.1e of 1e-6\n", pupil_m * 1e3, options.focus_m[i], error);
      EXPECT_LT(error, 1e-6);
    }
  }
}

// 6300 pixels times a disc of 2000: FFTs take less. A layer beyond the disc's reach keeps its bits.
TEST(FocalStack, FftsAreTheReference) {
  const auto grid = make_grid(90, 100);
  auto picture = flat(grid, 0.3);
  picture.distance_m = {0.4, 0.3};
  for (std::int64_t y = 0; y < grid.ny; ++y) {
    for (std::int64_t x = 0; x < grid.nx; ++x) picture.layer(y, x) = x < 70 ? 1 : 0;
  }
  const auto stack = focal_stack(picture, grid, {{0.4}, 4e-3, 0.5});  // 50 pixels
  const auto expected = reference::focal_picture(plain(picture), 4e-3, 0.5, 0.4);
  const double error = relative_error(stack[0], expected);
  std::printf("error %.1e of 1e-6\n", error);
  EXPECT_LT(error, 1e-6);
  for (std::int64_t y = 0; y < grid.ny; ++y) {
    EXPECT_NE(stack[0](y, 75), picture.intensity(y, 75)) << y;
    for (std::int64_t x = 96; x < grid.nx; ++x) EXPECT_EQ(stack[0](y, x), picture.intensity(y, x)) << y << ' ' << x;
  }
}

TEST(FocalStack, ASmallDiscIsTheIdentity) {
  const auto grid = make_grid(12, 20);
  const auto picture = flat(grid, 0.3);
  const FocalStackOptions options{{0.3, 0.3015}, 4e-3, 0.5};  // 0 and 0.75 pixels
  EXPECT_NEAR(holotone::blur_diameter_m(options, 0.3, 0.3015), 0.75 * pitch_m, 1e-9);
  for (const auto& plane : focal_stack(picture, grid, options)) {
    EXPECT_TRUE(std::equal(plane.host().begin(), plane.host().end(), picture.intensity.host().begin()));
  }
}

// D |d - f| / (v + d) = 4 mm x 0.04 / 0.8 = 20 pixels; the area is that of the disc, the energy that of the pixel.
TEST(FocalStack, APixelBecomesADiscOfItsEnergy) {
  const auto grid = make_grid(41, 43);
  auto picture = flat(grid, 0.3);
  std::fill_n(picture.intensity.data(), picture.intensity.size(), 0.0F);
  picture.intensity(20, 21) = 7;
  const FocalStackOptions options{{0.26, 0.34}, 4e-3, 0.5};
  EXPECT_NEAR(holotone::blur_diameter_m(options, 0.3, 0.26), 20 * pitch_m, 1e-12);
  const double even = 7 / (std::numbers::pi * 100);
  for (const auto& plane : focal_stack(picture, grid, options)) {
    EXPECT_NEAR(compute_sum(plane), 7, 7e-5);
    EXPECT_NEAR(static_cast<double>(plane(20, 21)), even, 1e-6);
    EXPECT_NEAR(static_cast<double>(plane(20, 30)), even, 1e-6);  // wholly within the radius of 10
    EXPECT_NEAR(static_cast<double>(plane(20, 31)), even / 2, even / 50);
    EXPECT_EQ(plane(20, 32), 0);
    EXPECT_EQ(plane(28, 29), 0);  // a corner at (7.5, 7.5) is 10.6 from the centre
    EXPECT_NEAR(static_cast<double>(plane(26, 27)), even, 1e-6);
  }
}

// A wall behind a bright post: in focus on the wall, the post's blur reaches over its edge; on the post, its edge is
// sharp and hides the wall's light.
TEST(FocalStack, NearLayersHideFarOnes) {
  const auto grid = make_grid(30, 60);
  auto picture = flat(grid, 0.3);
  picture.distance_m = {0.3, 0.2};
  for (std::int64_t i = 0; i < picture.layer.size(); ++i) {
    const bool near = i % grid.nx >= 30;
    picture.layer.data()[i] = near ? 1 : 0;
    picture.intensity.data()[i] = near ? 1 : 0.25F;
  }
  const auto stack = focal_stack(picture, grid, {{0.3, 0.2}, 7e-4, 0.5});  // discs of 10 and 8.75 pixels
  EXPECT_EQ(stack[0](15, 20), 0.25F);
  EXPECT_GT(stack[0](15, 28), 0.3F);
  EXPECT_EQ(stack[0](15, 40), 1);
  EXPECT_EQ(stack[1](15, 30), 1);
  EXPECT_EQ(stack[1](15, 29), 0.25F);
}

// The layers of a slanted surface and the edges of the picture stay as bright as they are.
TEST(FocalStack, EvenLightStaysEven) {
  const auto grid = make_grid(40, 60);
  auto picture = scene(grid);
  std::fill_n(picture.intensity.data(), picture.intensity.size(), 0.5F);
  for (const auto& plane : focal_stack(picture, grid, {{0.3, 0.1, -0.2}, 1e-3, 0.5})) {
    for (std::int64_t i = 4 * grid.nx; i < plane.size(); ++i) ASSERT_NEAR(plane.data()[i], 0.5F, 1e-6F) << i;
    EXPECT_LT(plane(0, 20), 0.25F);  // outside of the picture
  }
}

TEST(FocalStack, NamesWhatIsWrong) {
  const auto grid = make_grid(6, 8);
  const FocalStackOptions right{{0.3}, 4e-3, 0.5};
  const auto rejects = [&](const SlicedPicture& picture, const FieldGrid& on, const FocalStackOptions& options,
                           const std::string& argument) {
    try {
      focal_stack(picture, on, options);
      ADD_FAILURE() << argument << ": accepted";
    } catch (const holotone::Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::invalid_argument) << error.what();
      EXPECT_EQ(error.argument(), argument) << error.what();
    }
  };
  const double none = std::numeric_limits<double>::quiet_NaN();
  const double infinite = std::numeric_limits<double>::infinity();
  const auto picture = flat(grid, 0.3);
  rejects(picture, grid, {{}, 4e-3, 0.5}, "focus_m");
  rejects(picture, grid, {{0.3, none}, 4e-3, 0.5}, "focus_m[1]");
  rejects(picture, grid, {{infinite}, 4e-3, 0.5}, "focus_m[0]");
  rejects(picture, grid, {{-0.5}, 4e-3, 0.5}, "focus_m[0]");
  for (const double value : {0.0, -1.0, none, infinite}) {
    rejects(picture, grid, {{0.3}, value, 0.5}, "pupil_m");
    rejects(picture, grid, {{0.3}, 4e-3, value}, "viewer_m");
  }
  rejects(picture, make_grid(8, 6), right, "picture.intensity");
  rejects(picture, {8, 6, 0, 5e-7}, right, "pitch_m");
  for (const double distance : {none, infinite, -0.5, -0.6}) {
    rejects(flat(grid, distance), grid, right, "picture.distance_m[0]");
  }
  auto other = flat(grid, 0.3);
  other.distance_m = {0.2, 0.3};
  rejects(other, grid, right, "picture.distance_m[1]");
  other.distance_m = {};
  rejects(other, grid, right, "picture.distance_m");
  other = flat(grid, 0.3);
  other.layer = Array<std::uint16_t, 2>({1, 1});
  rejects(other, grid, right, "picture.layer");
  other = flat(grid, 0.3);
  other.layer(2, 3) = 1;
  rejects(other, grid, right, "picture.layer: row 2, column 3");
  for (const float value : {-1.0F, std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    other = flat(grid, 0.3);
    other.intensity(2, 3) = value;
    rejects(other, grid, right, "picture.intensity: row 2, column 3");
  }
  EXPECT_THROW(holotone::blur_diameter_m(right, none, 0.3), holotone::Error);
  EXPECT_THROW(holotone::blur_diameter_m(right, 0.3, -0.5), holotone::Error);
}

// Discs are cut off at the panel's size: memory and time stay those of a panel.
TEST(FocalStack, ALayerAtThePupilFades) {
  const auto grid = make_grid(20, 30);
  const auto picture = flat(grid, -0.5 + 1e-12);
  const auto stack = focal_stack(picture, grid, {{0.3}, 4e-3, 0.5});
  for (const float value : stack[0].host()) EXPECT_TRUE(std::isfinite(value));
}

TEST(FocalStack, CanBeCancelled) {
  struct Stop final : holotone::Progress {
    bool update(std::string_view, std::int64_t done, std::int64_t) override { return done < 1; }
  } stop;
  const auto grid = make_grid(6, 8);
  try {
    focal_stack(flat(grid, 0.3), grid, {{0.3, 0.2}, 4e-3, 0.5}, stop);
    ADD_FAILURE() << "not cancelled";
  } catch (const holotone::Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::cancelled);
  }
}

}  // namespace
