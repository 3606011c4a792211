#pragma once
#include <holotone/core/device.hpp>
#include <holotone/core/enum_names.hpp>
#include <holotone/optics/field.hpp>
#include <memory>

namespace holotone {

enum class PupilShape { rectangle, ellipse };
template <>
inline constexpr auto enum_names<PupilShape> = std::array{EnumName<PupilShape>{PupilShape::rectangle, "rectangle"},
                                                          EnumName<PupilShape>{PupilShape::ellipse, "ellipse"}};

/// Pupil of an eye: an opening parallel to the panel, in front of it.
struct EyePupil {
  double width_m = 0;     ///< > 0; diameter of an ellipse
  double height_m = 0;    ///< > 0
  double distance_m = 0;  ///< > 0, from the panel toward the viewer
  double x_m = 0;         ///< centre, right of the panel's axis
  double y_m = 0;         ///< centre, above the panel's axis
  PupilShape shape = PupilShape::rectangle;
};

struct EyeOptions {
  FieldGrid grid = {};  ///< grid of the hologram
  EyePupil pupil = {};
  double output_pitch_m = 0;     ///< 0: the panel's pitch times the least integer that gives at most 2048 pixels a side
  Shape<2> output_shape = {};    ///< {0, 0}: the number of pixels that covers the panel
  Shape<2> tile = {2048, 2048};  ///< largest tile of add_tile
};

/// Numerical reconstruction for an eye in front of a hologram. The field is propagated to the eye's plane at z = v,
/// cropped by the pupil P and propagated back to the plane of focus at z = -d (Lagrange et al. 2024, section 4.3):
///   G(X) = P(X) sum_f A(f) exp(2 pi i (v w + f X)),   w = sqrt(1/lambda^2 - f^2),   A the spectrum of the panel
///   I_d(x) = |sum_f B(f) exp(2 pi i (-(v + d) w + f x))|^2,   B the spectrum of G
/// Both propagations are angular spectra without paraxial approximation, from tiles of one plane to a window of the
/// other (after Matsushima, "Shifted angular spectrum method for off-axis numerical propagation", Opt. Express 18,
/// 18453, 2010). Of a tile's spectrum only the frequencies whose light falls on the window are computed: |X(f) - X0|
/// <= h with X(f) = x0 + v f / w, h half the widths of window and tile. The edge of this band is soft, 4.5 sqrt(lambda
/// r^3 / v^2) wide (r: the longest ray), so that its own diffraction stays outside the window. The frequencies'
/// spacing keeps light that passes outside the window from aliasing into it. The sums are sum_n u_n exp(-2 pi i a n k)
/// for any spacing a, by chirps (Bluestein 1970).
///
/// The panel's light has frequencies |f| <= 1 / (2 pitch): one diffraction order. The pupil is the samples of
/// pupil_grid(); samples cut by the edge of an ellipse are weighted by area. The reference of the intensity's relative
/// l2 error is the sum of spherical waves (Rayleigh and Sommerfeld's first integral) from all pixels to these samples
/// and back. The error is below 7e-5 (5e-7 measured) under two conditions. Every pixel's light of one order covers the
/// pupil. Light of the panel from all of the pupil reaches every point of the picture. If the order ends inside the
/// pupil, light that its edge diffracts past the window aliases back (1e-2 measured, for a field of noise). With n
/// samples across the pupil, doubling n changes the picture by less than 0.2 / n.
///
/// Cost of a hologram of N tiles of n x n pixels: O(N (n + K) L log L), L = n + K, K = (S + n pitch)^2 / (lambda v)
/// with S the pupil's width. Only light that reaches the pupil is computed. Memory: one tile of the hologram; 8 bytes
/// times (S + n pitch)(panel + S) / (lambda v) squared for G (S = 4 mm, 18.4 mm at v = 36 mm: 0.3 GB); the same with
/// the picture's width and v + d during look; for the tile n K on the CPU, L^2 on CUDA.
class EyePlan {
 public:
  /// Throws invalid_argument for options out of range, for a pupil outside the panel's diffraction angle (by how many
  /// degrees), and for one that needs more than 65536 samples a side.
  explicit EyePlan(const EyeOptions& options, Queue queue = {});
  ~EyePlan();
  EyePlan(EyePlan&&) noexcept;
  EyePlan& operator=(EyePlan&&) noexcept;

  /// Adds a part of the hologram on the plan's device, of any shape up to options.tile and within the panel. Its first
  /// pixel is (row, col). Parts are added in any order, each pixel at most once. Pixels not added are dark. CUDA: only
  /// enqueues.
  /// Throws invalid_argument after look until clear is called.
  void add_tile(View<const Complex, 2> tile, std::int64_t row, std::int64_t col);
  /// Adds rows {rows, nx} of the hologram from first_row on, in tiles.
  void add_rows(View<const Complex, 2> rows, std::int64_t first_row);
  /// Removes all tiles added.
  void clear();

  /// Power through the pupil: sum |G|^2 times the area of a sample. A field of amplitude 1 has power 1 a square metre.
  /// No tiles can be added after it until clear is called. Waits for the device.
  double power();

  /// Writes the intensity at the eye for a focus `focus_m` behind the panel (< 0: in front), shape
  /// output_grid().shape(), as the mean over each pixel. No tiles can be added until clear is called. Allocates and
  /// frees memory of its own. Waits for the device.
  /// Throws invalid_argument for a focus at the eye or behind it, or so near that it needs more than 65536 samples.
  void look(double focus_m, View<float, 2> intensity);

  /// Samples {rows, columns} of look_field: an equal number in each pixel of the picture, as many as its light
  /// requires. Throws as look.
  [[nodiscard]] Shape<2> field_shape(double focus_m) const;
  /// Writes the complex field whose squared modulus look averages, field_shape(focus_m). Waits for the device. Throws
  /// unsupported on OpenCL; else as look.
  void look_field(double focus_m, View<Complex, 2> field);
  /// Applies the adjoint of the map from the panel, added by add_rows at once, to look_field:
  /// <look_field(U), field> = <U, panel> with <a, b> = sum conj(a) b. Exact but for rounding: the map is a product of
  /// phases, soft edges and Fourier sums, and this takes their conjugates in reverse order, at the same frequencies.
  /// Tiles of another division have other frequencies; their map differs by the error stated above.
  /// field: field_shape(focus_m); panel: the shape of options.grid. Does not use or change the tiles added. Cost as
  /// adding all tiles and look. Memory during the call: that of look, then that of the plan once more, and the samples
  /// of the pupil. Waits for the device. Throws unsupported on OpenCL; invalid_argument as look, or for another shape.
  void adjoint(double focus_m, View<const Complex, 2> field, View<Complex, 2> panel) const;

  [[nodiscard]] const FieldGrid& output_grid() const;
  /// Grid of the samples of G that cover the pupil, with their pitch along columns.
  [[nodiscard]] FieldGrid pupil_grid() const;
  [[nodiscard]] const EyeOptions& options() const;
  [[nodiscard]] std::size_t workspace_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Grid of the pictures of a plan with these options: EyePlan::output_grid. Throws invalid_argument.
FieldGrid picture_grid(const EyeOptions& options);

/// Peak bytes of an EyePlan on its device for this focus. Throws as EyePlan and look.
std::size_t eye_bytes(const EyeOptions& options, double focus_m, Device device = {});

}  // namespace holotone
