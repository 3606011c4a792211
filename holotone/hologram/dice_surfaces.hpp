#pragma once
// Intersections of rays with dice and board. Not for users.
#include <holotone/hologram/dice_scene.hpp>
#include <holotone/hologram/scene_checks.hpp>

namespace holotone::dice {

using scene::Vec3d;

/// origin + t direction, for t >= `nearest`.
struct Ray {
  Vec3d origin{};
  Vec3d direction{};
  double nearest = 0;
};

/// First intersection of a ray.
struct Hit {
  int colour = -1;  ///< number of a surface and its mark (a pip, a dark square): 2 surface + mark; -1: nothing
  double t = 0;
};

/// Faces of the dice, six each (+x, -x, +y, -y, +z, -z of the die's own frame), then the board.
class Surfaces {
 public:
  explicit Surfaces(const DiceSceneOptions& options);

  [[nodiscard]] Hit first(const Ray& ray) const;
  /// Shaded colour, linear light; the first channel is the luminance if the scene has one channel. `colour` as in Hit.
  [[nodiscard]] const Vec3f& colour(int colour) const { return colours_[static_cast<std::size_t>(colour)]; }
  [[nodiscard]] int count() const { return static_cast<int>(colours_.size() / 2); }
  [[nodiscard]] double area_m2(int surface) const;
  [[nodiscard]] const Vec3d& normal(int surface) const { return normals_[static_cast<std::size_t>(surface)]; }
  /// A point of a surface, u and v from 0 to 1.
  [[nodiscard]] Vec3d at(int surface, double u, double v) const;

 private:
  struct Box {
    Vec3d centre;
    std::array<Vec3d, 3> axis;  ///< axes of its own frame, in world coordinates
    double half;
  };
  void meet(const Box& box, int number, const Ray& ray, Hit& hit) const;

  std::vector<Box> boxes_;
  double board_half_;
  double board_z_;
  int squares_;
  std::vector<Vec3d> normals_;
  std::vector<Vec3f> colours_;
};

}  // namespace holotone::dice
