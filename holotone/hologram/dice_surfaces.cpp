#include <algorithm>
#include <cmath>
#include <holotone/hologram/dice_surfaces.hpp>
#include <holotone/hologram/scene.hpp>
#include <limits>

namespace holotone::dice {
namespace {

constexpr double pip_place = 0.5;    // in units of half a side
constexpr double pip_radius = 0.19;  // in units of half a side
/// Numbers on +x, -x, +y, -y, +z, -z; seen from their common corner, 1, 2, 3 are counter-clockwise.
constexpr std::array<int, 6> numbers{3, 4, 1, 6, 2, 5};

double dot(const Vec3d& a, const Vec3d& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/// Rotates a vector from a die's own frame to the world's.
Vec3d turned(const Die& die, Vec3d v) {
  const auto rotate = [&](std::size_t from, std::size_t to, double angle) {
    const double a = v[from];
    const double b = v[to];
    v[from] = a * std::cos(angle) - b * std::sin(angle);
    v[to] = a * std::sin(angle) + b * std::cos(angle);
  };
  rotate(0, 1, die.roll_rad);
  rotate(2, 0, die.turn_rad);
  rotate(1, 2, die.tilt_rad);
  return v;
}

/// True if the position (a, b) on a face, each from -1 to 1, is on a pip.
bool on_pip(int number, double a, double b) {
  const auto near = [&](double x, double y) {
    return (a - x) * (a - x) + (b - y) * (b - y) <= pip_radius * pip_radius;
  };
  constexpr double p = pip_place;
  if (number % 2 == 1 && near(0, 0)) return true;
  if (number >= 2 && (near(p, p) || near(-p, -p))) return true;
  if (number >= 4 && (near(p, -p) || near(-p, p))) return true;
  return number == 6 && (near(0, p) || near(0, -p));
}

}  // namespace

Surfaces::Surfaces(const DiceSceneOptions& options)
    : board_half_(0.5 * options.board.size_m), board_z_(-options.board.distance_m), squares_(options.board.squares) {
  const Vec3d light = scene::unit(options.light);
  const auto add = [&](const Vec3d& normal, const Vec3f& plain, const Vec3f& mark) {
    normals_.push_back(normal);
    const double shade = options.ambient + (1 - options.ambient) * std::max(0.0, dot(normal, light));
    for (Vec3f colour : {plain, mark}) {
      for (float& value : colour) value = static_cast<float>(static_cast<double>(value) * shade);
      if (options.channels == 1) colour = {static_cast<float>(luminance(colour)), 0, 0};
      colours_.push_back(colour);
    }
  };
  for (const Die& die : options.dice) {
    Box box{{die.x_m, die.y_m, -die.distance_m}, {}, 0.5 * die.side_m};
    for (std::size_t k = 0; k < 3; ++k) {
      Vec3d axis{};
      axis[k] = 1;
      axis = turned(die, axis);
      box.axis[k] = axis;
      add(axis, die.colour, die.pip_colour);
      add({-axis[0], -axis[1], -axis[2]}, die.colour, die.pip_colour);
    }
    boxes_.push_back(box);
  }
  add({0, 0, 1}, options.board.light_colour, options.board.dark_colour);
}

void Surfaces::meet(const Box& box, int number, const Ray& ray, Hit& hit) const {
  const Vec3d from{ray.origin[0] - box.centre[0], ray.origin[1] - box.centre[1], ray.origin[2] - box.centre[2]};
  // Most rays miss the bounding sphere of the die.
  const double along = dot(from, ray.direction);
  const double length2 = dot(ray.direction, ray.direction);
  if ((dot(from, from) - 3.0001 * box.half * box.half) * length2 > along * along) return;
  Vec3d origin{};
  Vec3d direction{};
  double enter = -std::numeric_limits<double>::infinity();
  double leave = std::numeric_limits<double>::infinity();
  std::size_t entered = 0;
  for (std::size_t k = 0; k < 3; ++k) {
    origin[k] = dot(from, box.axis[k]);
    direction[k] = dot(ray.direction, box.axis[k]);
    if (direction[k] == 0) {
      if (std::abs(origin[k]) > box.half) return;
      continue;
    }
    const double one = (-box.half - origin[k]) / direction[k];
    const double other = (box.half - origin[k]) / direction[k];
    if (std::min(one, other) > enter) {
      enter = std::min(one, other);
      entered = k;
    }
    leave = std::min(leave, std::max(one, other));
  }
  if (enter > leave || enter < ray.nearest || (hit.colour >= 0 && enter >= hit.t)) return;
  const std::size_t face = 2 * entered + (direction[entered] > 0 ? 1 : 0);
  const std::size_t a = (entered + 1) % 3;
  const std::size_t b = (entered + 2) % 3;
  const bool pip = on_pip(numbers[face], (origin[a] + enter * direction[a]) / box.half,
                          (origin[b] + enter * direction[b]) / box.half);
  hit = {2 * (6 * number + static_cast<int>(face)) + (pip ? 1 : 0), enter};
}

Hit Surfaces::first(const Ray& ray) const {
  Hit hit;
  const double t = (board_z_ - ray.origin[2]) / ray.direction[2];
  if (ray.direction[2] != 0 && t >= ray.nearest) {
    const double x = ray.origin[0] + t * ray.direction[0] + board_half_;
    const double y = board_half_ - (ray.origin[1] + t * ray.direction[1]);
    const double side = 2 * board_half_;
    if (x >= 0 && x <= side && y >= 0 && y <= side) {
      const auto square = [&](double v) { return std::min(static_cast<int>(v / side * squares_), squares_ - 1); };
      hit = {2 * (count() - 1) + (square(x) + square(y)) % 2, t};
    }
  }
  for (std::size_t i = 0; i < boxes_.size(); ++i) meet(boxes_[i], static_cast<int>(i), ray, hit);
  return hit;
}

double Surfaces::area_m2(int surface) const {
  const bool board = surface == count() - 1;
  const double half = board ? board_half_ : boxes_[static_cast<std::size_t>(surface / 6)].half;
  return 4 * half * half;
}

Vec3d Surfaces::at(int surface, double u, double v) const {
  if (surface == count() - 1) return {(2 * u - 1) * board_half_, (2 * v - 1) * board_half_, board_z_};
  const Box& box = boxes_[static_cast<std::size_t>(surface / 6)];
  const auto k = static_cast<std::size_t>(surface % 6 / 2);
  const Vec3d& out = normal(surface);
  Vec3d point{};
  for (std::size_t i = 0; i < 3; ++i) {
    const double inside = (2 * u - 1) * box.axis[(k + 1) % 3][i] + (2 * v - 1) * box.axis[(k + 2) % 3][i];
    point[i] = box.centre[i] + box.half * (out[i] + inside);
  }
  return point;
}

}  // namespace holotone::dice
