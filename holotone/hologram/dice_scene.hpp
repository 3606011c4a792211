#pragma once
#include <array>
#include <cstdint>
#include <holotone/core/geometry.hpp>
#include <holotone/hologram/view_source.hpp>
#include <memory>
#include <optional>
#include <vector>

namespace holotone {

/// A cube with round pips. Opposite faces add up to seven; unturned, 2 faces the viewer, 1 is on top, 3 on the right.
struct Die {
  double x_m = 0;  ///< of its middle
  double y_m = 0;
  double distance_m = 0.1;  ///< behind the panel
  double side_m = 6e-3;
  double roll_rad = 0;  ///< first about the axis toward the viewer, counter-clockwise as the viewer sees it
  double turn_rad = 0;  ///< then about the vertical axis: what faced the viewer faces +x after pi/2, as turn() does
  double tilt_rad = 0;  ///< then about the horizontal axis: positive tips the top toward the viewer, as tilt() does
  Vec3f colour{};       ///< linear-light reflectances, 0 to 1
  Vec3f pip_colour{};
};

/// Squares in two colours on a square board that faces the viewer, its middle on the axis.
struct Checkerboard {
  double size_m = 18.4e-3;
  double distance_m = 0.103;  ///< behind the panel
  int squares = 8;            ///< a side
  Vec3f light_colour{0.72f, 0.70f, 0.66f};
  Vec3f dark_colour{0.07f, 0.07f, 0.08f};
};

/// The three dice of Lagrange et al. 2024, Table 2: sides 6, 8 and 6 mm, at 9.7, 9.1 and 8.1 cm (top left, bottom, top right). Places in x and y, turns and
/// colours are not in the paper: they are ours.
std::vector<Die> paper_dice();

struct DiceSceneOptions {
  std::vector<Die> dice = paper_dice();
  Checkerboard board{};
  std::array<double, 3> light{-0.35, 0.55, 0.9};  ///< the direction toward the light, world frame
  double ambient = 0.2;                           ///< share of brightness that light from everywhere gives, 0 to 1
  int channels = 3;                               ///< 3: linear RGB; 1: its luminance
  int strata = 4;                                 ///< strata^2 rays share a pixel through which an edge goes
  std::uint64_t seed = 0;                         ///< of the places of those rays
};

/// An eye in front of the panel.
struct Eye {
  double x_m = 0;
  double y_m = 0;
  double distance_m = 0.5;  ///< in front of the panel
  double pupil_m = 0;       ///< diameter of the round pupil; 0: a pinhole, sharp at all distances
};

struct DicePictureOptions {
  Shape<2> shape{1024, 1024};
  double pitch_m = 18.4e-3 / 1024;  ///< of the picture's pixels, on its plane
  double plane_m =
      0;  ///< distance behind the panel of the plane in which the picture lies and on which the eye focuses
  std::optional<Eye> eye{};  ///< none: parallel rays along the axis, from a viewer far away
};

struct DicePicture {
  Array<float, 3> colours;     ///< {ny, nx, channels}, linear light; 0 where nothing is seen
  Array<float, 2> distance_m;  ///< behind the panel, of what is in the middle of each pixel; 0 where nothing is seen
};

struct DicePointsOptions {
  std::int64_t count = 50000;
  std::optional<Eye> eye{};  ///< who sees the points (its pupil does not count); none: a viewer far away on the axis
  std::uint64_t seed = 0;
};

/// Dice before a checkerboard: the test scene of Lagrange et al. 2024, section 4 (Table 2, Figure 8), seen along rays that are cut with the cubes and the
/// board in float64. Surfaces are opaque and matt, without shadows:
///   intensity = colour (ambient + (1 - ambient) max(0, n . l)),   n the surface's normal, l the direction toward the light.
/// A ray through each corner of the pixels decides whether an edge goes through a pixel; then strata^2 rays, one in each of its strata at a place drawn from
/// (seed, pixel), make the mean. Cost O(pixels dice), all threads; a scene never changes and may be used by several at once.
class DiceScene final : public ViewSource {
 public:
  /// Throws invalid_argument for options out of range: sides and boards from 1 nm to 1 km, distances and places within 100 km, at most 1000 dice, 1 to 1000
  /// squares, colours from 0 to 1, channels 1 or 3, strata 1 to 64.
  explicit DiceScene(const DiceSceneOptions& options = {});
  ~DiceScene() override;
  DiceScene(DiceScene&&) noexcept;
  DiceScene& operator=(DiceScene&&) noexcept;

  [[nodiscard]] const DiceSceneOptions& options() const;
  [[nodiscard]] int channels() const override;
  [[nodiscard]] bool has_distances() const override { return true; }
  /// What is seen along rays through a point of the panel: surfaces hide what lies farther along the ray, on either side of the panel. A pixel is a
  /// step x step cell of direction cosines. Throws invalid_argument for rays that are not finite, a step not > 0, a channel that is not there, views of
  /// another shape.
  void look(const Rays& rays, int channel, View<float, 2> intensity, View<float, 2> distance_m) const override;

  /// What an eye sees, drawn on a plane parallel to the panel: pixel (row, col) has its middle at x = (col - (nx-1)/2) pitch, y = ((ny-1)/2 - row) pitch
  /// there and shows what lies on the line from the eye through it. With a pupil the mean over strata^2 points of the pupil, spread evenly: what lies
  /// on the plane is sharp, which is what a reconstruction at this distance by an eye with this pupil should show. The panel's rim hides nothing.
  /// Throws invalid_argument for options out of range and a plane that the eye does not look at.
  [[nodiscard]] DicePicture picture(const DicePictureOptions& options = {}) const;

  /// Points spread evenly by area over all that the eye sees (R3 sequence from a start drawn by the seed; Roberts 2018), with amplitude sqrt(luminance g) and,
  /// of a scene in three channels, shaded colours. g makes up for the slant at which surface is seen and, of an eye that is near, for its
  /// distance, n . v (r_0 / r)^2 with r_0 from the eye to the board's plane: evenly spread points then show the brightness of picture().
  /// Throws invalid_argument for a count not in 1 to 1e9 and where nothing is seen.
  [[nodiscard]] PointCloud points(const DicePointsOptions& options = {}) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holotone
