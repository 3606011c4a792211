// Rays through captured views: their intersections with the cameras' plane and the picture.
#include <tests/support/stereogram_support.hpp>

namespace holotone {
namespace {

constexpr ViewGridOptions options{0.1, 4e-3, 0.05, 0.02};  // 4 x 3 cameras, 20 x 10 pixels of 1 mm

/// Colour of camera (v, u) at a pixel: linear in each variable, so that bilinear interpolation is exact.
double code(double v, double u, double row, double column) { return 1000 + 100 * v + 30 * u + 5 * row + 2 * column; }

Array<float, 5> views(std::int64_t channels = 1) {
  Array<float, 5> all({3, 4, 10, 20, channels});
  std::int64_t i = 0;
  for (std::int64_t v = 0; v < 3; ++v) {
    for (std::int64_t u = 0; u < 4; ++u) {
      for (std::int64_t row = 0; row < 10; ++row) {
        for (std::int64_t column = 0; column < 20; ++column) {
          for (std::int64_t c = 0; c < channels; ++c) {
            all.data()[i++] = static_cast<float>(static_cast<double>(c + 1) *
                                                 code(static_cast<double>(v), static_cast<double>(u),
                                                      static_cast<double>(row), static_cast<double>(column)));
          }
        }
      }
    }
  }
  return all;
}

/// Result of the ray from (x, y) on the panel to (to_x, to_y) in the cameras' plane.
struct Seen {
  float intensity = 0;
  float distance_m = 0;
};
Seen look(const ViewGrid& grid, double x, double y, double to_x, double to_y, int channel = 0) {
  const double dx = to_x - x;
  const double dy = to_y - y;
  const double length = std::sqrt(dx * dx + dy * dy + options.view_distance_m * options.view_distance_m);
  Seen seen;
  grid.look({x, y, dx / length, dy / length, 1e-3, {1, 1}}, channel, {&seen.intensity, {1, 1}},
            {&seen.distance_m, {1, 1}});
  return seen;
}

TEST(ViewGrid, RaysMeetTheCamerasAndThePicture) {
  const ViewGrid grid(views(3), options);
  EXPECT_EQ(grid.channels(), 3);
  double worst = 0;
  for (const double u : {0.0, 1.0, 2.3, 3.0}) {
    for (const double v : {0.0, 0.7, 2.0}) {
      for (const double x : {-2e-3, 0.0, 3e-3}) {
        const double y = -0.4 * x;
        // Cameras are numbered from the left and from the top, with their centre on the axis.
        const double to_x = (u - 1.5) * 4e-3;
        const double to_y = (1 - v) * 4e-3;
        // The picture is behind the panel by half the distance of the cameras in front.
        const double column = (x - 0.5 * (to_x - x)) / 1e-3 + 9.5;
        const double row = 4.5 - (y - 0.5 * (to_y - y)) / 1e-3;
        for (int channel = 0; channel < 3; ++channel) {
          const double expected = (channel + 1) * code(v, u, row, column);
          worst = std::max(
              worst, std::abs(static_cast<double>(look(grid, x, y, to_x, to_y, channel).intensity) / expected - 1));
        }
        EXPECT_FLOAT_EQ(look(grid, x, y, to_x, to_y).distance_m, 0.05F);
      }
    }
  }
  support::expect_within("rays", worst, 5 * 6e-8);  // three interpolations, each rounded
}

// Pixels half as high as wide: rows lie twice as close, and the picture ends after 5 mm instead of 10.
TEST(ViewGrid, PixelsNeedNotBeSquare) {
  ViewGridOptions flat = options;
  flat.pixel_aspect = 0.5;
  const ViewGrid grid(views(), flat);
  for (const double y : {-1e-3, 0.0, 0.7e-3}) {
    const double to_y = -0.5e-3;
    const double row = 4.5 - (y - 0.5 * (to_y - y)) / 0.5e-3;
    const double expected = code(1 - to_y / 4e-3, 1.5, row, 9.5);
    EXPECT_NEAR(static_cast<double>(look(grid, 0, y, 0, to_y).intensity) / expected, 1, 5 * 6e-8) << y;
  }
  EXPECT_EQ(look(grid, 0, -2e-3, 0, 0).intensity, 0);  // 3 mm below the axis in the picture
  const ViewGrid square(views(), options);
  EXPECT_GT(look(square, 0, -2e-3, 0, 0).intensity, 0);
}

TEST(ViewGrid, BeyondHalfACameraPitchItIsDark) {
  const ViewGrid grid(views(), options);
  const double edge = 1.5 * 4e-3;
  EXPECT_EQ(grid.missed_share(), 0);
  EXPECT_FLOAT_EQ(look(grid, 0, 0, edge + 1.9e-3, 0).intensity, static_cast<float>(code(1, 3, 4.5, 9.5 - 3.95)));
  EXPECT_EQ(grid.missed_share(), 0);
  EXPECT_EQ(look(grid, 0, 0, edge + 2.1e-3, 0).intensity, 0);
  EXPECT_EQ(look(grid, 0, 0, 0, -6.1e-3).intensity, 0);
  EXPECT_DOUBLE_EQ(grid.missed_share(), 2.0 / 3);
  // Beyond the picture's edge: x = -10.2 mm there.
  EXPECT_EQ(look(grid, -5e-3, 0, 5.4e-3, 0).intensity, 0);
  EXPECT_GT(look(grid, -5e-3, 0, 4.8e-3, 0).intensity, 0);
}

// As that of a model without v.
TEST(ViewGrid, OneRowOfCamerasIsSeenFromEveryHeight) {
  Array<float, 5> row({1, 4, 10, 20, 1});
  std::copy_n(views().data(), row.size(), row.data());
  const ViewGrid grid(std::move(row), options);
  for (const double to_y : {-4e-3, 0.0, 5e-3}) {
    EXPECT_FLOAT_EQ(look(grid, 0, 0, 2e-3, to_y).intensity,
                    static_cast<float>(code(0, 2, 4.5 + 0.5 * to_y / 1e-3, 9.5 - 1)))
        << to_y;
  }
  EXPECT_EQ(grid.missed_share(), 0);
  EXPECT_EQ(look(grid, 0, 0, 8.1e-3, 0).intensity, 0);
}

TEST(ViewGrid, WhereThereIsNoRayThereIsNoLight) {
  const ViewGrid grid(views(), options);
  Array<float, 2> intensity({1, 3});
  grid.look({0, 0, 0, 0, 0.6, {1, 3}}, 0, intensity.view(), {});
  EXPECT_GT(intensity.data()[0], 0);
  EXPECT_EQ(intensity.data()[1], 0);
  EXPECT_EQ(intensity.data()[2], 0);
}

TEST(ViewGrid, DepthMapsAreTheNearestPixels) {
  Array<float, 4> depth({3, 4, 10, 20});
  for (std::int64_t i = 0; i < depth.size(); ++i) depth.data()[i] = static_cast<float>(i);
  const ViewGrid grid(views(), options, std::move(depth));
  // Camera (1, 2), and pixel (4.5 - 0.3 / 1, 9.5 - 1) moved by the ray's slope.
  const auto seen = look(grid, 0, 0, 0.5 * 4e-3 + 1e-3, 0.6e-3);
  EXPECT_EQ(seen.distance_m, static_cast<float>(((1 * 4 + 2) * 10 + 5) * 20 + 8));
}

TEST(ViewGrid, RefusesWhatIsNone) {
  const auto refuses = [](const char* text, ViewGridOptions wrong, std::int64_t channels = 1) {
    support::expect_error(ErrorCode::invalid_argument, text, [&] { const ViewGrid grid(views(channels), wrong); });
  };
  refuses("view_distance_m", {0, 4e-3, 0, 0.02});
  refuses("camera_pitch_m", {0.1, -1, 0, 0.02});
  refuses("size_m", {0.1, 4e-3, 0, NAN});
  refuses("pixel_aspect", {0.1, 4e-3, 0, 0.02, 0});
  refuses("distance_m: expected more than -10 cm, behind the cameras' plane, got -10 cm", {0.1, 4e-3, -0.1, 0.02});
  refuses("with 1 or 3 channels, got {3, 4, 10, 20, 2}", options, 2);
  support::expect_error(ErrorCode::invalid_argument, "depth_m: expected shape {3, 4, 10, 20}", [] {
    const ViewGrid grid(views(), options, Array<float, 4>({3, 4, 10, 21}));
  });
}

TEST(ViewGrid, RefusesToLookWithAnotherChannelOrShape) {
  const ViewGrid grid(views(), options);
  Array<float, 2> intensity({1, 3});
  const auto refuses = [&](const char* text, int channel, Shape<2> rays, View<float, 2> distance_m) {
    support::expect_error(ErrorCode::invalid_argument, text, [&] {
      grid.look({0, 0, 0, 0, 0.1, rays}, channel, intensity.view(), distance_m);
    });
  };
  refuses("ViewGrid::look: channel: expected 0 to 0, got 1", 1, {1, 3}, {});
  refuses("channel: expected 0 to 0, got -1", -1, {1, 3}, {});
  refuses("intensity: expected shape {4, 4}", 0, {4, 4}, {});
  Array<float, 2> distance({1, 2});
  refuses("distance_m: expected shape {1, 3}", 0, {1, 3}, distance.view());
}

}  // namespace
}  // namespace holotone
