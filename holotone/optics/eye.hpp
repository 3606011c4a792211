#pragma once
#include <holotone/core/device.hpp>
#include <holotone/optics/field.hpp>
#include <memory>

namespace holotone {

enum class PupilShape { rectangle, ellipse };

/// What light has to go through to reach an eye: an opening parallel to the panel, in front of it.
struct EyePupil {
  double width_m = 0;     ///< > 0; of an ellipse its diameters
  double height_m = 0;    ///< > 0
  double distance_m = 0;  ///< > 0, from the panel toward the viewer
  double x_m = 0;         ///< of its middle, right of the panel's axis
  double y_m = 0;         ///< above it
  PupilShape shape = PupilShape::rectangle;
};

struct EyeOptions {
  FieldGrid grid = {};  ///< of the hologram
  EyePupil pupil = {};
  double output_pitch_m = 0;     ///< 0: the panel's times the least whole number that leaves at most 2048 pixels a side
  Shape<2> output_shape = {};    ///< {0, 0}: as much as covers the panel's size
  Shape<2> tile = {2048, 2048};  ///< the largest that add_tile takes
};

/// What an eye in front of a hologram sees: the field is carried to the eye's plane at z = v, cropped by the pupil P and
/// carried back to the plane it focuses on at z = -d (Lagrange et al. 2024, section 4.3):
///   G(X) = P(X) sum_f A(f) exp(2 pi i (v w + f X)),   w = sqrt(1/lambda^2 - f^2),   A the spectrum of the panel's pixels
///   I_d(x) = |sum_f B(f) exp(2 pi i (-(v + d) w + f x))|^2,   B the spectrum of G
/// Both ways are angular spectra without paraxial approximation, from tiles of the one plane to a window of the other
/// (after Matsushima, "Shifted angular spectrum method for off-axis numerical propagation", Opt. Express 18, 18453,
/// 2010): of a tile's spectrum only the frequencies whose light falls on the window are computed, |X(f) - X0| <= h with
/// X(f) = x0 + v f / w, h half the widths of window and tile, and a soft edge of 4.5 sqrt(lambda r^3 / v^2) (r: the
/// longest ray) whose own diffraction stays out of the window; spaced so that what goes by the window does not come
/// back into it. They are the sums sum_n u_n exp(-2 pi i a n k) for any spacing a, by chirps (Bluestein 1970).
///
/// The panel's light has frequencies |f| <= 1 / (2 pitch): one diffraction order. The pupil is the samples of pupil_grid();
/// one that an ellipse cuts counts by its part. Relative l2 error of the intensity against the sum of spherical waves
/// (Rayleigh and Sommerfeld's first integral) from all pixels to these samples and from them back: below 7e-5 (5e-7
/// measured) where every pixel's light of one order covers the pupil and every point of the picture can be reached by
/// light of the panel from all of the pupil. Where the order ends inside the pupil, what its edge diffracts past the
/// window comes back (1e-2 measured, of a field of noise). With n samples across the pupil, twice as many change the
/// picture by less than 0.2 / n.
///
/// Cost of a hologram of N tiles of n x n pixels: O(N (n + K) L log L), L = n + K, K = (S + n pitch)^2 / (lambda v) with
/// S the pupil's width: what can be seen, not what is on the panel. Memory, of the hologram only a tile: 8 bytes times
/// (S + n pitch)(panel + S) / (lambda v) squared for G (S = 4 mm, 18.4 mm at v = 36 mm: 0.3 GB), the same with the
/// picture's width and v + d while looking, and for the tile n K on the CPU, L^2 on CUDA.
class EyePlan {
 public:
  /// Throws invalid_argument for options out of range, a pupil that no light of the panel reaches (by how many degrees),
  /// and one that needs more than 65536 samples a side.
  explicit EyePlan(const EyeOptions& options, Queue queue = {});
  ~EyePlan();
  EyePlan(EyePlan&&) noexcept;
  EyePlan& operator=(EyePlan&&) noexcept;

  /// Adds a part of the hologram, of any shape up to options.tile and within the panel, whose first pixel is (row, col);
  /// on the plan's device. What is not added is dark. In any order, no pixel twice. CUDA: only enqueues.
  /// Throws invalid_argument after look: clear comes first.
  void add_tile(View<const Complex, 2> tile, std::int64_t row, std::int64_t col);
  /// Adds rows of the hologram, {rows, nx}, from first_row on, in tiles.
  void add_rows(View<const Complex, 2> rows, std::int64_t first_row);
  /// Forgets what was added.
  void clear();

  /// Power through the pupil, sum |G|^2 times the area of a sample, where a field of amplitude 1 has power 1 a square
  /// metre. Ends the adding. Waits for the device.
  double power();

  /// Writes the intensity seen in focus at `focus_m` behind the panel (< 0: in front), shape output_grid().shape():
  /// of each pixel the mean. Ends the adding. Takes and gives back memory of its own, and waits for it.
  /// Throws invalid_argument for a focus at the eye or behind it, or so near that it needs more than 65536 samples.
  void look(double focus_m, View<float, 2> intensity);

  [[nodiscard]] const FieldGrid& output_grid() const;
  /// The samples of G that hold the pupil, and their pitch along columns.
  [[nodiscard]] FieldGrid pupil_grid() const;
  [[nodiscard]] std::size_t workspace_bytes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The pixels of the pictures that these options ask for: EyePlan::output_grid. Throws invalid_argument.
FieldGrid picture_grid(const EyeOptions& options);

/// The most bytes that an EyePlan takes on its device, looking at this focus. Throws what EyePlan and look would.
std::size_t eye_bytes(const EyeOptions& options, double focus_m, Device device = {});

}  // namespace holotone
