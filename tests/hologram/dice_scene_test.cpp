// The dice along rays, compared with plane intersections by hand and with triangles in float64.
#include <algorithm>
#include <limits>
#include <tests/hologram/dice_support.hpp>
#include <tests/reference/scene.hpp>

namespace dice {
namespace {

using holotone::ErrorCode;
using holotone::Eye;
using support::expect_within;

TEST(DiceScene, RaysMeetThePlanesOfAStraightDie) {
  // x from -1 to 3 mm, y from -4 to 0 mm, 48 to 52 mm behind the panel.
  const DiceScene scene(plain({.x_m = 1e-3, .y_m = -2e-3, .distance_m = 0.05, .side_m = 4e-3}));
  struct Case {
    double x, y, cx, cy, distance_m;
    bool red;
  };
  const auto slope = [](double cx, double cy) { return cx / std::sqrt(1 - cx * cx - cy * cy); };
  const double s = slope(0.1, 0.0);   // of a ray with cx = 0.1, to the right
  const double t = slope(0.3, 0.04);  // of a ray that also goes up
  const std::vector<Case> cases = {
      {1e-3, -2e-3, 0, 0, 0.048, true},               // the front
      {6e-3, -2e-3, 0.1, 0, 0.048, true},             // crosses the front at x = 1.18 mm
      {0.003 + s * 0.05, -2e-3, 0.1, 0, 0.05, true},  // through the right side x = 3 mm, at a depth of 50 mm
      {0.003 + s * 0.0481, -2e-3, 0.1, 0, 0.0481, true},
      {0.003 + s * 0.0521, -2e-3, 0.1, 0, 0.1, false},  // passes beside it
      {3.1e-3, -2e-3, 0, 0, 0.1, false},
      {1e-3, 1e-4, 0, 0, 0.1, false},
      {0.003 + t * 0.049, -2e-3 + 0.04 / 0.3 * t * 0.049, 0.3, 0.04, 0.049, true},
  };
  double worst = 0;
  for (const auto& c : cases) {
    const auto look = look_along(scene, c.x, c.y, c.cx, c.cy);
    EXPECT_EQ(look.colour[0], c.red ? 1 : 0) << c.x << " " << c.cx;
    EXPECT_EQ(look.colour[1], c.red ? 0 : 1) << c.x << " " << c.cx;
    worst = std::max(worst, std::abs(look.distance_m - c.distance_m) / c.distance_m);
  }
  expect_within("distance, relative", worst, 0x1p-24);
  EXPECT_EQ(look_along(scene, 11e-3, 0, 0, 0).colour, (std::array<double, 3>{0, 0, 0}));
  // Direction cosines with a sum of squares above 1 are no rays and give black.
  EXPECT_EQ(look_along(scene, 1e-3, -2e-3, 0.9, 0.9).colour, (std::array<double, 3>{0, 0, 0}));
}

TEST(DiceScene, TurnedDiceAreWhereTheirTrianglesAre) {
  const DiceSceneOptions options;
  const DiceScene scene(options);
  const auto mesh = triangles(options);
  const double pitch = 0.37e-3;
  const auto picture = scene.picture({.shape = {41, 53}, .pitch_m = pitch});
  double worst = 0;
  int on_dice = 0;
  for (std::int64_t row = 0; row < 41; ++row) {
    for (std::int64_t col = 0; col < 53; ++col) {
      const Point below{static_cast<double>(col - 26) * pitch, static_cast<double>(20 - row) * pitch, -1};
      const double height = reference::height_of_cover(below, mesh.position, mesh.triangle);
      const double expected = std::isfinite(height) ? 1 - height : 0;
      const auto got = static_cast<double>(picture.distance_m(row, col));
      // At the board's edge a pixel may have light although its centre has none.
      if (expected != 0) worst = std::max(worst, std::abs(got - expected) / expected);
      on_dice += expected != 0 && expected < 0.1025;
    }
  }
  EXPECT_GT(on_dice, 700);
  // The reference's triangles are a metre away from the origins of its rays.
  expect_within("distance, relative", worst, 0x1p-24 + 4e-15 / 0.08);
}

TEST(DiceScene, WhatIsNearerHidesWhatIsFarther) {
  // A red die at 48 mm in front of a blue one of the same size at 78 mm, both on the axis.
  auto options = plain({.distance_m = 0.05, .side_m = 4e-3});
  options.dice.push_back(options.dice[0]);
  options.dice[1].distance_m = 0.08;
  options.dice[1].colour = options.dice[1].pip_colour = {0, 0, 1};
  for (const bool reversed : {false, true}) {
    if (reversed) std::swap(options.dice[0], options.dice[1]);
    const DiceScene scene(options);
    EXPECT_EQ(look_along(scene, 0, 0, 0, 0).colour, (std::array<double, 3>{1, 0, 0}));
    // Light along (0.1, 0, cz) from the blue die's front at x = -1 mm passes the red one's back, 52 mm behind the
    // panel. There it is at x = -1 mm + 26 mm tan = 1.6 mm, inside the die. At tan = 0.2 it is at 4.2 mm, beside it.
    for (const auto& [tangent, red] : {std::pair{0.1, true}, {0.2, false}}) {
      const double cx = tangent / std::hypot(1, tangent);
      const auto look = look_along(scene, -1e-3 + 0.078 * tangent, 0, cx, 0);
      EXPECT_EQ(look.colour, (std::array<double, 3>{red ? 1.0 : 0.0, 0, red ? 0.0 : 1.0})) << tangent;
    }
  }
}

TEST(DiceScene, RefusesWhatIsOutOfRange) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const auto refused = [](const std::string& text, const auto& change) {
    DiceSceneOptions options;
    change(options);
    support::expect_error(ErrorCode::invalid_argument, text, [&] { const DiceScene scene(options); });
  };
  for (const double bad : {nan, 0.0, -1.0, 1e9, static_cast<double>(INFINITY)}) {
    refused("dice[1].side_m", [&](auto& o) { o.dice[1].side_m = bad; });
    refused("board.size_m", [&](auto& o) { o.board.size_m = bad; });
    if (bad == 0) continue;
    refused("ambient", [&](auto& o) { o.ambient = bad; });
    if (bad == -1) continue;
    refused("dice[0].x_m", [&](auto& o) { o.dice[0].x_m = bad; });
    refused("dice[2].turn_rad", [&](auto& o) { o.dice[2].turn_rad = bad; });
    refused("board.distance_m", [&](auto& o) { o.board.distance_m = bad; });
  }
  refused("light", [](auto& o) { o.light = {0, 0, 0}; });
  refused("light", [&](auto& o) { o.light = {0, nan, 0}; });
  refused("channels", [](auto& o) { o.channels = 2; });
  refused("strata", [](auto& o) { o.strata = 0; });
  refused("board.squares", [](auto& o) { o.board.squares = 0; });
  refused("dice[0].colour", [](auto& o) { o.dice[0].colour = {1, 2, 0}; });

  const DiceScene scene;
  const auto no_picture = [&](const std::string& text, const holotone::DicePictureOptions& options) {
    support::expect_error(ErrorCode::invalid_argument, text, [&] { (void)scene.picture(options); });
  };
  no_picture("shape", {.shape = {0, 10}});
  no_picture("shape", {.shape = {10, 100000}});
  for (const double bad : {nan, 0.0, -1.0, 1e9}) no_picture("pitch_m", {.shape = {4, 4}, .pitch_m = bad});
  no_picture("plane_m", {.shape = {4, 4}, .plane_m = nan});
  no_picture("plane_m", {.shape = {4, 4}, .plane_m = -0.04, .eye = Eye{0, 0, 0.036}});
  no_picture("eye.distance_m", {.shape = {4, 4}, .eye = Eye{0, 0, -0.036}});
  no_picture("eye.pupil_m", {.shape = {4, 4}, .eye = Eye{0, 0, 0.036, nan}});

  const auto no_points = [&](const std::string& text, const holotone::DicePointsOptions& options) {
    support::expect_error(ErrorCode::invalid_argument, text, [&] { (void)scene.points(options); });
  };
  no_points("count", {.count = 0});
  no_points("count", {.count = 2'000'000'000});
  no_points("eye.x_m", {.count = 4, .eye = Eye{nan, 0, 0.036}});

  Array<float, 2> view({2, 3});
  const auto no_look = [&](const std::string& text, const Rays& rays, int channel) {
    support::expect_error(ErrorCode::invalid_argument, text, [&] { scene.look(rays, channel, view.view(), {}); });
  };
  no_look("step", {0, 0, 0, 0, 0, {2, 3}}, 0);
  no_look("step", {0, 0, 0, 0, nan, {2, 3}}, 0);
  no_look("x_m", {nan, 0, 0, 0, 1e-3, {2, 3}}, 0);
  no_look("first_y", {0, 0, 0, static_cast<double>(INFINITY), 1e-3, {2, 3}}, 0);
  no_look("channel", {0, 0, 0, 0, 1e-3, {2, 3}}, 3);
  no_look("intensity", {0, 0, 0, 0, 1e-3, {3, 3}}, 0);
}

}  // namespace
}  // namespace dice
