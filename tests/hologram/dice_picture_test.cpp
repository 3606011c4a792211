// Pictures, views and points of the dice, against projections and areas.
#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <map>
#include <tests/hologram/dice_support.hpp>
#include <tests/reference/scene.hpp>

namespace dice {
namespace {

using holotone::DicePicture;
using holotone::Eye;
using holotone::Vec3f;
using support::expect_within;

/// Bounding box {left, right, top, bottom} of pixels with more than half of a channel.
std::array<double, 4> extent(const DicePicture& picture, std::int64_t channel) {
  std::array<double, 4> box{1e9, -1e9, 1e9, -1e9};
  const auto& shape = picture.colours.shape();
  for (std::int64_t row = 0; row < shape[0]; ++row) {
    for (std::int64_t col = 0; col < shape[1]; ++col) {
      if (picture.colours(row, col, channel) < 0.5f) continue;
      const auto x = static_cast<double>(col);
      const auto y = static_cast<double>(row);
      box = {std::min(box[0], x - 0.5), std::max(box[1], x + 0.5), std::min(box[2], y - 0.5),
             std::max(box[3], y + 0.5)};
    }
  }
  return box;
}

TEST(DiceScene, CornersAppearWhereTheyAreProjected) {
  const Die die{.x_m = 1.3e-3,
                .y_m = -0.8e-3,
                .distance_m = 0.06,
                .side_m = 5e-3,
                .roll_rad = 0.3,
                .turn_rad = 0.7,
                .tilt_rad = -0.5};
  const DiceScene scene(plain(die, 40e-3));
  const std::int64_t nx = 301;
  const std::int64_t ny = 257;
  const double pitch = 0.04e-3;
  const Eye eye{2e-3, 1e-3, 0.04};
  const double plane = 0.05;
  const auto picture = scene.picture({.shape = {ny, nx}, .pitch_m = pitch, .plane_m = plane, .eye = eye});
  std::array<double, 4> box{1e9, -1e9, 1e9, -1e9};
  for (const auto& [x, y, z] : corners(die)) {
    const double scale = (eye.distance_m + plane) / (eye.distance_m - z);
    const double col = (eye.x_m + (x - eye.x_m) * scale) / pitch + 0.5 * static_cast<double>(nx - 1);
    const double row = 0.5 * static_cast<double>(ny - 1) - (eye.y_m + (y - eye.y_m) * scale) / pitch;
    box = {std::min(box[0], col), std::max(box[1], col), std::min(box[2], row), std::max(box[3], row)};
  }
  const auto got = extent(picture, 0);
  // A corner of about 90 degrees fills half of a pixel within a pixel of its tip; the sides are steeper.
  for (std::size_t i = 0; i < 4; ++i) expect_within(fmt::format("side {}, pixels", i), std::abs(got[i] - box[i]), 1.5);
}

TEST(DiceScene, TurnsGoTheSameWayAsThoseOfMeshes) {
  auto options = plain({.distance_m = 0.05, .side_m = 4e-3});
  options.board.distance_m = 0.2;
  const auto share = [&](double turn, double tilt) {
    options.dice[0].turn_rad = turn;
    options.dice[0].tilt_rad = tilt;
    return DiceScene(options);
  };
  // Turned by 30 degrees, the front's normal points to the right: to the right the front recedes.
  const auto turned = share(pi / 6, 0);
  EXPECT_LT(look_along(turned, 0, 0, 0, 0).distance_m, look_along(turned, 1e-3, 0, 0, 0).distance_m);
  // Tilted by 30 degrees, the top is nearer to the viewer: the front recedes downwards.
  const auto tilted = share(0, pi / 6);
  EXPECT_LT(look_along(tilted, 0, 0, 0, 0).distance_m, look_along(tilted, 0, -1e-3, 0, 0).distance_m);
}

TEST(DiceScene, PipsAddUpToSeven) {
  // Share of the pips in each face seen frontally: number pi r^2 / 4 with r = 0.19 of half a side.
  std::map<int, int> seen;
  const std::array<std::array<double, 2>, 6> turns = {
      {{0, 0}, {pi, 0}, {pi / 2, 0}, {-pi / 2, 0}, {0, pi / 2}, {0, -pi / 2}}};
  std::array<int, 6> numbers{};
  for (std::size_t i = 0; i < 6; ++i) {
    auto options = plain({.distance_m = 0.05, .side_m = 4e-3, .turn_rad = turns[i][0], .tilt_rad = turns[i][1]});
    options.dice[0].pip_colour = {0, 0, 1};
    const auto picture = DiceScene(options).picture({.shape = {200, 200}, .pitch_m = 0.02e-3});
    double sum = 0;
    for (std::int64_t p = 0; p < 200 * 200; ++p) sum += static_cast<double>(picture.colours.data()[3 * p + 2]);
    const double number = sum / (200.0 * 200) / (pi * 0.19 * 0.19 / 4);
    numbers[i] = static_cast<int>(std::lround(number));
    ++seen[numbers[i]];
    expect_within(fmt::format("pips, face {}", i), std::abs(number - numbers[i]), 0.02);
  }
  EXPECT_EQ(seen.size(), 6u);
  for (std::size_t i = 0; i < 6; i += 2) EXPECT_EQ(numbers[i] + numbers[i + 1], 7);
  // 2 in front, 1 on top, 3 on the right: a turn to the left brings the die's right side to the front.
  EXPECT_EQ(numbers[0], 2);
  EXPECT_EQ(numbers[3], 3);
  EXPECT_EQ(numbers[4], 1);
}

TEST(DiceScene, LightFallsByLambertsLaw) {
  auto options = plain({.distance_m = 0.05, .side_m = 4e-3, .tilt_rad = pi / 6});
  options.dice[0].colour = {0.8f, 0.4f, 0.2f};
  options.dice[0].pip_colour = options.dice[0].colour;
  options.light = {0, 3, 4};
  options.ambient = 0.25;
  // The tilted front's normal is (0, -sin 30, cos 30).
  const double shade = 0.25 + 0.75 * (-0.5 * 0.6 + std::cos(pi / 6) * 0.8);
  const auto look = look_along(DiceScene(options), 0, 0, 0, 0);
  for (std::size_t c = 0; c < 3; ++c) {
    EXPECT_NEAR(look.colour[c], shade * static_cast<double>(options.dice[0].colour[c]), 1e-7);
  }
  options.channels = 1;
  const DiceScene grey(options);
  EXPECT_EQ(grey.channels(), 1);
  EXPECT_NEAR(look_along(grey, 0, 0, 0, 0).colour[0], shade * (0.2126 * 0.8 + 0.7152 * 0.4 + 0.0722 * 0.2), 1e-7);
}

TEST(DiceScene, EdgesAreSmoothed) {
  // 5 mm in pixels of 0.0613 mm: the sides fall within pixels.
  const DiceScene scene(plain({.distance_m = 0.05, .side_m = 5e-3}));
  const double pitch = 0.0613e-3;
  const auto picture = scene.picture({.shape = {100, 101}, .pitch_m = pitch});
  double area = 0;
  for (std::int64_t p = 0; p < 100 * 101; ++p) area += static_cast<double>(picture.colours.data()[3 * p]);
  const double side = 5e-3 / pitch;
  // A pixel on a side has 4 of 16 strata drawn at random: a standard deviation of at most sqrt(4 / 4) / 16.
  expect_within("area, pixels", std::abs(area - side * side), 5 * std::sqrt(4 * side) / 16);
}

TEST(DiceScene, ViewsShiftAsPinholesDo) {
  // A small board alone: in the plane it shifts from camera to camera by pitch (1 - (v + plane) / (v + distance)).
  DiceSceneOptions options = plain({}, 2e-3);
  options.dice.clear();
  const DiceScene scene(options);
  const double pixel = 0.05e-3;
  const auto middle = [&](double x, double y) {
    const auto picture =
        scene.picture({.shape = {120, 121}, .pitch_m = pixel, .plane_m = 0.08, .eye = Eye{x, y, 0.036}});
    Point sums{};
    for (std::int64_t row = 0; row < 120; ++row) {
      for (std::int64_t col = 0; col < 121; ++col) {
        const auto value = static_cast<double>(picture.colours(row, col, 1));
        sums[0] += value;
        sums[1] += value * static_cast<double>(col - 60) * pixel;
        sums[2] += value * (59.5 - static_cast<double>(row)) * pixel;
      }
    }
    return std::array{sums[1] / sums[0], sums[2] / sums[0]};
  };
  const double left = 1 - (0.036 + 0.08) / (0.036 + 0.1);
  // Smoothing draws 1/16 of a pixel on 4 sides of 34 pixels each.
  const double tolerance = 5 * pixel * 17 * std::sqrt(2 * 34.0) / 16 / (34 * 34.0) + 1e-9;
  for (const auto& [x, y] : {std::pair{0.0, 0.0}, {4.6e-3, 0.0}, {-1.5e-3, 4.6e-3}}) {
    const auto at = middle(x, y);
    expect_within(fmt::format("x of the camera at {} mm", 1e3 * x), std::abs(at[0] - x * left), tolerance);
    expect_within(fmt::format("y of the camera at {} mm", 1e3 * y), std::abs(at[1] - y * left), tolerance);
  }
}

TEST(DiceScene, RaysAndPicturesAgree) {
  const DiceScene scene;
  const Eye eye{-3e-3, 4e-3, 0.036};
  const double pitch = 0.51e-3;
  const double plane = 0.085;
  const auto picture = scene.picture({.shape = {35, 37}, .pitch_m = pitch, .plane_m = plane, .eye = eye});
  double worst = 0;
  int same = 0;
  for (std::int64_t row = 0; row < 35; ++row) {
    for (std::int64_t col = 0; col < 37; ++col) {
      const double x = static_cast<double>(col - 18) * pitch;
      const double y = static_cast<double>(17 - row) * pitch;
      const double share = plane / (plane + eye.distance_m);  // fraction of the way from the plane to the eye at which
                                                              // the ray meets the panel
      const Point way{eye.x_m - x, eye.y_m - y, eye.distance_m + plane};
      const double length = std::sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2]);
      const auto look = look_along(scene, x + share * way[0], y + share * way[1], way[0] / length, way[1] / length);
      bool equal = true;
      for (std::int64_t c = 0; c < 3; ++c) {
        equal &= look.colour[static_cast<std::size_t>(c)] == static_cast<double>(picture.colours(row, col, c));
      }
      same += equal;
      if (look.distance_m == 0) continue;
      const double distance = static_cast<double>(picture.distance_m(row, col));
      worst = std::max(worst, std::abs(look.distance_m - distance) / distance);
    }
  }
  expect_within("distance, relative", worst, 0x1p-23);
  // A pixel is a tenth of a die wide: many contain an edge, most do not.
  EXPECT_GT(same, 35 * 37 / 2);
}

TEST(DiceScene, APupilBlursWhatIsOutOfFocus) {
  // A board of 3 mm at 100 mm, focus at 70 mm, pupil of 4 mm at 36 mm: circles of 4 mm 30 / 136 in the plane in focus.
  DiceSceneOptions options = plain({}, 3e-3);
  options.dice.clear();
  options.strata = 16;
  const DiceScene scene(options);
  const auto rows_lit = [&](double plane, double pupil) {
    const auto picture =
        scene.picture({.shape = {3, 401}, .pitch_m = 0.01e-3, .plane_m = plane, .eye = Eye{0, 0, 0.036, pupil}});
    std::array<double, 2> lit{0, 0};  // pixels with any light, and all light
    for (std::int64_t col = 0; col < 401; ++col) {
      lit[0] += picture.colours(1, col, 1) > 0;
      lit[1] += static_cast<double>(picture.colours(1, col, 1));
    }
    return lit;
  };
  const double width = 3e-3 * (0.036 + 0.07) / (0.036 + 0.1) / 0.01e-3;
  const double blur = 4e-3 * 0.03 / 0.136 / 0.01e-3;
  const auto sharp = rows_lit(0.07, 0);
  const auto blurred = rows_lit(0.07, 4e-3);
  const auto focused = rows_lit(0.1, 4e-3);
  expect_within("pinhole, width", std::abs(sharp[0] - width), 2);
  // The outermost pixels receive light from a sliver of the pupil: of 256 points perhaps none.
  expect_within("out of focus, width", std::abs(blurred[0] - width - blur), 6);
  EXPECT_LE(blurred[0], width + blur + 2);
  // 256 points per pixel: each of the two soft edges of 88 pixels has a random error below 1/16 per pixel.
  expect_within("out of focus, light", std::abs(blurred[1] - sharp[1]), 5 * std::sqrt(2 * blur) / 16);
  expect_within("in focus, width", std::abs(focused[0] - 300), 2);
}

TEST(DiceScene, PointsAreEvenOverWhatIsSeen) {
  // The eye is 36 mm in front of the panel. The die of 4 mm with its front at 48 mm hides a square of 4 mm 136 / 84 of
  // the board.
  const auto options = plain({.distance_m = 0.05, .side_m = 4e-3});
  const DiceScene scene(options);
  const std::int64_t count = 20000;
  const auto cloud = scene.points({.count = count, .eye = Eye{0, 0, 0.036}, .seed = 3});
  ASSERT_EQ(cloud.size(), static_cast<std::size_t>(count));
  ASSERT_EQ(cloud.colour.size(), cloud.size());
  const double shadow = 2e-3 * 136 / 84;
  int on_front = 0;
  double worst = 0;
  for (std::size_t i = 0; i < cloud.size(); ++i) {
    const auto [x, y, z] = cloud.position[i];
    const bool front = z > -0.09f;
    on_front += front;
    ASSERT_EQ(cloud.colour[i], (front ? Vec3f{1, 0, 0} : Vec3f{0, 1, 0}));
    ASSERT_NEAR(static_cast<double>(z), front ? -0.048 : -0.1, 1e-8);
    const double far = std::max(std::abs(static_cast<double>(x)), std::abs(static_cast<double>(y)));
    ASSERT_TRUE(front ? far <= 2e-3 + 1e-9 : far >= shadow - 1e-9) << far;
    const double cx = static_cast<double>(x);
    const double cy = static_cast<double>(y);
    const double depth = 0.036 - static_cast<double>(z);
    const double r2 = cx * cx + cy * cy + depth * depth;
    const double weight = depth / std::sqrt(r2) * 0.136 * 0.136 / r2;
    const double expected = std::sqrt((front ? 0.2126 : 0.7152) * weight);
    worst = std::max(worst, std::abs(static_cast<double>(cloud.amplitude[i]) - expected) / expected);
  }
  expect_within("amplitude, relative", worst, 2e-7);
  const double share = 16e-6 / (16e-6 + 400e-6 - 4 * shadow * shadow);
  // Independent points have a standard deviation of sqrt(n share); a low-discrepancy sequence stays below.
  expect_within("points on the front", std::abs(on_front - share * static_cast<double>(count)),
                2 * std::sqrt(share * static_cast<double>(count)));
}

TEST(DiceScene, PointsLieOnTheNearestSurface) {
  const DiceSceneOptions options;
  const DiceScene scene(options);
  const auto mesh = triangles(options);
  const auto cloud = scene.points({.count = 4000, .seed = 5});
  double worst = 0;
  for (const auto& [x, y, z] : cloud.position) {
    const Point below{static_cast<double>(x), static_cast<double>(y), -1};
    const double height = reference::height_of_cover(below, mesh.position, mesh.triangle);
    worst = std::max(worst, std::abs(static_cast<double>(z) + 1 - height));
  }
  // Half an ulp of z at 0.1 m, and of x and y at 9 mm on faces as steep as 60 degrees.
  expect_within("height, metres", worst, 3.8e-9 + 4.7e-10 * 2 * std::tan(pi / 3));
}

TEST(DiceScene, TheSameSeedIsTheSamePicture) {
  DiceSceneOptions options;
  const auto picture = [&](std::uint64_t seed) {
    options.seed = seed;
    return DiceScene(options).picture({.shape = {90, 80}, .pitch_m = 0.2e-3});
  };
  const auto a = picture(1);
  const auto b = picture(1);
  const auto c = picture(2);
  EXPECT_EQ(std::memcmp(a.colours.data(), b.colours.data(), a.colours.bytes()), 0);
  EXPECT_NE(std::memcmp(a.colours.data(), c.colours.data(), a.colours.bytes()), 0);
  EXPECT_EQ(std::memcmp(a.distance_m.data(), c.distance_m.data(), a.distance_m.bytes()), 0);
  const DiceScene scene;
  EXPECT_EQ(scene.points({.count = 100, .seed = 1}).position, scene.points({.count = 100, .seed = 1}).position);
  EXPECT_NE(scene.points({.count = 100, .seed = 1}).position, scene.points({.count = 100, .seed = 2}).position);
}

}  // namespace
}  // namespace dice
