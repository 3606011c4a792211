#pragma once
// Dice of known geometry, and their parts.
#include <array>
#include <cmath>
#include <cstdint>
#include <holotone/hologram/dice_scene.hpp>
#include <numbers>
#include <tests/support/on_each_device.hpp>
#include <vector>

namespace dice {

using holotone::Array;
using holotone::DiceScene;
using holotone::DiceSceneOptions;
using holotone::Die;
using holotone::Rays;

inline constexpr double pi = std::numbers::pi;
using Point = std::array<double, 3>;

/// One plain red die without rotation in front of a plain green board; no shading.
inline DiceSceneOptions plain(const Die& die, double board_m = 20e-3) {
  DiceSceneOptions options;
  options.dice = {die};
  options.dice[0].colour = options.dice[0].pip_colour = {1, 0, 0};
  options.board.size_m = board_m;
  options.board.distance_m = 0.1;
  options.board.light_colour = options.board.dark_colour = {0, 1, 0};
  options.ambient = 1;
  return options;
}

/// Colours and distance along a single ray from the panel's point (x, y) in the direction (cx, cy, cz).
struct Look {
  std::array<double, 3> colour{};
  double distance_m = 0;
};
inline Look look_along(const DiceScene& scene, double x, double y, double cx, double cy) {
  const Rays rays{x, y, cx, cy, 1e-9, {1, 1}};
  Array<float, 2> value({1, 1});
  Array<float, 2> distance({1, 1});
  Look look;
  for (int c = 0; c < scene.channels(); ++c) {
    scene.look(rays, c, value.view(), distance.view());
    look.colour[static_cast<std::size_t>(c)] = static_cast<double>(value.data()[0]);
  }
  look.distance_m = static_cast<double>(distance.data()[0]);
  return look;
}

/// Corners of a die by explicit rotation matrices: Rx(tilt) Ry(turn) Rz(roll).
inline std::vector<Point> corners(const Die& die) {
  std::vector<Point> all;
  const double h = die.side_m / 2;
  for (int i = 0; i < 8; ++i) {
    const double x = i & 1 ? h : -h;
    const double y = i & 2 ? h : -h;
    const double z = i & 4 ? h : -h;
    const double x1 = std::cos(die.roll_rad) * x - std::sin(die.roll_rad) * y;
    const double y1 = std::sin(die.roll_rad) * x + std::cos(die.roll_rad) * y;
    const double x2 = std::cos(die.turn_rad) * x1 + std::sin(die.turn_rad) * z;
    const double z2 = -std::sin(die.turn_rad) * x1 + std::cos(die.turn_rad) * z;
    const double y3 = std::cos(die.tilt_rad) * y1 - std::sin(die.tilt_rad) * z2;
    const double z3 = std::sin(die.tilt_rad) * y1 + std::cos(die.tilt_rad) * z2;
    all.push_back({die.x_m + x2, die.y_m + y3, -die.distance_m + z3});
  }
  return all;
}

/// All dice and the board as triangles.
struct Triangles {
  std::vector<Point> position;
  std::vector<std::array<std::uint32_t, 3>> triangle;
};
inline Triangles triangles(const DiceSceneOptions& options) {
  Triangles all;
  const auto quad = [&](std::uint32_t a, std::uint32_t b, std::uint32_t c, std::uint32_t d) {
    all.triangle.push_back({a, b, c});
    all.triangle.push_back({b, c, d});
  };
  for (const auto& die : options.dice) {
    const auto first = static_cast<std::uint32_t>(all.position.size());
    for (const auto& corner : corners(die)) all.position.push_back(corner);
    for (const std::uint32_t axis : {1u, 2u, 4u}) {
      const std::uint32_t other = axis == 1 ? 2 : 1;
      const std::uint32_t third = 7 - axis - other;
      for (const std::uint32_t side : {0u, axis}) {
        quad(first + side, first + side + other, first + side + third, first + side + other + third);
      }
    }
  }
  const auto first = static_cast<std::uint32_t>(all.position.size());
  const double h = options.board.size_m / 2;
  for (const double y : {-h, h}) {
    for (const double x : {-h, h}) all.position.push_back({x, y, -options.board.distance_m});
  }
  quad(first, first + 1, first + 2, first + 3);
  return all;
}

}  // namespace dice
