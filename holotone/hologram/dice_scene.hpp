#pragma once
#include <array>
#include <cstdint>
#include <holotone/core/bounds.hpp>
#include <holotone/core/geometry.hpp>
#include <holotone/hologram/view_source.hpp>
#include <memory>
#include <optional>
#include <vector>

namespace holotone {

/// Cube with round pips. Opposite faces sum to seven; without rotation, 2 faces the viewer, 1 is on top, 3 on the
/// right.
struct Die {
  double x_m = 0;           ///< x of the centre
  double y_m = 0;           ///< y of the centre
  double distance_m = 0.1;  ///< distance of the centre behind the panel
  double side_m = 6e-3;
  double roll_rad = 0;  ///< first rotation, about the axis toward the viewer, counter-clockwise for the viewer
  double turn_rad = 0;  ///< second rotation, about the vertical axis: pi/2 turns the front to +x, as turn() does
  double tilt_rad = 0;  ///< third rotation, about the horizontal axis as tilt(): positive tips the top to the viewer
  Vec3f colour{};       ///< linear-light reflectances, 0 to 1
  Vec3f pip_colour{};
};

/// Square board of squares in two colours that faces the viewer, its centre on the axis.
struct Checkerboard {
  double size_m = 18.4e-3;
  double distance_m = 0.103;  ///< behind the panel
  int squares = 8;            ///< number of squares per side
  Vec3f light_colour{0.72f, 0.70f, 0.66f};
  Vec3f dark_colour{0.07f, 0.07f, 0.08f};
};

/// The three dice of Lagrange et al. 2024, Table 2: sides 6, 8 and 6 mm, at 9.7, 9.1 and 8.1 cm (top left, bottom, top
/// right). The paper does not state x, y, rotations and colours; these are our choice.
std::vector<Die> paper_dice();

struct DiceSceneOptions {
  std::vector<Die> dice = paper_dice();
  Checkerboard board{};
  std::array<double, 3> light{-0.35, 0.55, 0.9};  ///< direction toward the light, world frame
  double ambient = 0.2;                           ///< share of the brightness due to ambient light, 0 to 1
  int channels = 3;                               ///< 3: linear RGB; 1: its luminance
  int strata = 4;                                 ///< strata^2 rays for each pixel that contains an edge
  std::uint64_t seed = 0;                         ///< seed of those rays' positions
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
  double pitch_m = 18.4e-3 / 1024;  ///< pixel pitch in the picture's plane
  double plane_m = 0;               ///< distance of the picture's plane, on which the eye focuses, behind the panel
  std::optional<Eye> eye{};         ///< none: parallel rays along the axis, a viewer at infinity
};

struct DicePicture {
  Array<float, 3> colours;     ///< {ny, nx, channels}, linear light; 0 without a surface
  Array<float, 2> distance_m;  ///< behind the panel, at the centre of each pixel; 0 without a surface
};

struct DicePointsOptions {
  std::int64_t count = 50000;
  std::optional<Eye> eye{};  ///< the viewer (pupil ignored); none: at infinity on the axis
  std::uint64_t seed = 0;
};
template <>
inline constexpr Bounds bounds_of<&DicePointsOptions::count>{1, 1e9};

/// Dice before a checkerboard: the test scene of Lagrange et al. 2024, section 4 (Table 2, Figure 8). Rays are
/// intersected with the cubes and the board in float64. Surfaces are opaque and matt, without shadows:
///   intensity = colour (ambient + (1 - ambient) max(0, n . l)),
/// n the surface's normal, l the direction toward the light.
/// A ray through each corner of the pixels detects edges. A pixel with an edge is the mean of strata^2 rays, one in
/// each of its strata at a position drawn from (seed, pixel). Cost O(pixels dice), all threads. A scene is immutable
/// and may be shared between threads.
class DiceScene final : public ViewSource {
 public:
  /// Throws invalid_argument for options out of range: sides and boards from 1 nm to 1 km, distances and positions
  /// within 100 km, at most 1000 dice, 1 to 1000 squares, colours from 0 to 1, channels 1 or 3, strata 1 to 64.
  explicit DiceScene(const DiceSceneOptions& options = {});
  ~DiceScene() override;
  DiceScene(DiceScene&&) noexcept;
  DiceScene& operator=(DiceScene&&) noexcept;

  [[nodiscard]] const DiceSceneOptions& options() const;
  [[nodiscard]] int channels() const override;
  [[nodiscard]] bool has_distances() const override { return true; }
  /// Intensity along rays through a point of the panel. A surface hides surfaces farther along the ray, on either side
  /// of the panel. A pixel is a step x step cell of direction cosines. Throws invalid_argument for rays that are not
  /// finite, a step not > 0, a channel out of range, views of another shape.
  void look(const Rays& rays, int channel, View<float, 2> intensity, View<float, 2> distance_m) const override;

  /// Picture of the scene for an eye, on a plane parallel to the panel. Pixel (row, col) has its centre at x = (col -
  /// (nx-1)/2) pitch, y = ((ny-1)/2 - row) pitch there and samples the line from the eye through it. With a pupil it
  /// is the mean over strata^2 points spread evenly over the pupil. Objects on the plane are sharp: the picture is the
  /// reference for a numerical reconstruction at this distance by an eye with this pupil. The panel's edges clip
  /// nothing.
  /// Throws invalid_argument for options out of range and for a plane that is not in front of the eye.
  [[nodiscard]] DicePicture picture(const DicePictureOptions& options = {}) const;

  /// Points spread evenly by area over all surfaces visible to the eye (R3 sequence from a start drawn by the seed;
  /// Roberts 2018). Amplitudes are sqrt(luminance g); a scene of three channels also gives shaded colours. g
  /// compensates the surface's slant and, for a near eye, its distance: n . v (r_0 / r)^2 with r_0 from the eye to the
  /// board's plane. Evenly spread points then have the brightness of picture().
  /// Throws invalid_argument for a count outside 1 to 1e9 and for a scene without visible surfaces.
  [[nodiscard]] PointCloud points(const DicePointsOptions& options = {}) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace holotone
