#pragma once
#include <cstdint>
#include <holotone/core/progress.hpp>
#include <holotone/hologram/view_source.hpp>
#include <holotone/optics/field.hpp>
#include <holotone/optics/row_range.hpp>
#include <holotone/optics/viewer.hpp>
#include <memory>
#include <optional>
#include <string_view>

namespace holotone {

enum class StereogramMethod {
  flat,     ///< each ray a plane wave: depth is only from hogel to hogel
  layered,  ///< each ray a wave curved as from the distance of its point, in some layers: depth within a hogel
};
std::string_view to_string(StereogramMethod method);

struct StereogramOptions {
  FieldGrid grid = {};          ///< of the whole panel
  std::int64_t hogel_px = 512;  ///< N: side of a hogel in pixels, 2 to 32768
  /// L: period of the finest fringe that is used, which bounds the diffraction angle: |cx|, |cy| <= lambda / L. 0: 2 pitch, the finest
  /// that a panel shows; at least that.
  double fringe_m = 0;
  std::optional<Viewer> viewer = {};  ///< only light that can reach this window is computed
  StereogramMethod method = StereogramMethod::flat;
  int layers = 32;  ///< most of one hogel, 1 to 255; layered only
  std::uint64_t seed = 0;
};

/// What a plan will do.
struct StereogramInfo {
  Shape<2> hogels{};   ///< {rows, columns}
  Shape<2> padding{};  ///< pixels of the last row and column of hogels beyond the panel, which are cut off
  double diffraction_angle_rad = 0;  ///< asin(lambda / L), 90 degrees if L < lambda
  double outside_share = 0;          ///< of the viewing window, beyond the diffraction angle: the mean over the hogels
  double outside_rad = 0;  ///< how far its farthest corner is beyond that angle, seen from the worst hogel; 0: nowhere
  std::size_t workspace_bytes = 0;
};

/// What execute met; add reports of parts up with +=.
struct StereogramReport {
  std::int64_t rays = 0;      ///< within the diffraction angle
  std::int64_t computed = 0;  ///< of these, those towards the viewing window: the others cost nothing
  std::int64_t lit = 0;       ///< of these, those with light
  std::int64_t too_near =
      0;  ///< layered: lit ones from points nearer to the panel than 2 N pitch^2 / lambda, taken from there
  std::int64_t cut = 0;  ///< layered: lit ones left out because their curvature asks for fringes finer than two pixels
  std::int64_t hogels = 0;
  std::int64_t layers = 0;         ///< transforms, over all hogels
  double curvature_error_rad = 0;  ///< largest phase error in the corner of a hogel by sorting distances into layers

  StereogramReport& operator+=(const StereogramReport& other);
};

/// A holographic stereogram: the panel is cut into hogels of N x N pixels, and each sends out the rays of the scene that are seen through its
/// middle. With I(kx, ky) the intensity along the ray of direction cosines cx = lambda kx / (N pitch), cy = lambda ky / (N pitch), and m, n
/// pixels of the hogel counted from its left and its top,
///   flat     U(n, m) = 1/N sum_k sqrt(I(k)) exp(i phi(k)) exp(2 pi i (kx m - ky n) / N)
///   layered  U(n, m) = sum_l exp(i pi c_l (x^2 + y^2) / lambda) 1/N sum_{k in l} (the same)
/// x, y from the hogel's middle. Rays are sorted by the curvature c = cz (1 + cz^2) / (2 d) that the wave of a point at distance d has (1/d on
/// the axis; the mean of its two curvatures off it) into equal steps of c, no more than `layers` and no more than keep the phase in a hogel's
/// corner within pi/8 (steps of lambda / (2 N^2 pitch^2)). phi is random, drawn from the seed, the hogel's number and k alone, so that parts of
/// a panel computed apart are the same bits as the whole.
/// |kx|, |ky| <= N pitch / L and < N / 2. With a viewing window a ray is computed if the light it stands for reaches it from anywhere in the hogel:
/// if x_hogel + D cx / cz lies within the window and a margin of N pitch / 2 + lambda D / (2 N pitch), and y alike.
/// The transform is unitary: |U|^2 is on average the mean of I over all N^2 frequencies, dark ones included, for any N.
/// Cost: O(layers N^2 log N) a hogel and as many rays of the source; CPU: hogels in parallel, lines of a transform without light left out.
/// Source: Lucente 1994 (hogels); the viewing window and the fringe size: Lagrange et al. 2024, sections 2 and 4.1.
class StereogramPlan {
 public:
  /// Throws invalid_argument for options out of range, and for a viewing window that no light of the panel reaches, saying by how much.
  explicit StereogramPlan(const StereogramOptions& options, Queue queue = {});
  ~StereogramPlan();
  StereogramPlan(StereogramPlan&&) noexcept;
  StereogramPlan& operator=(StereogramPlan&&) noexcept;

  /// The panel's rows that some rows of hogels fill, from `first_hogel_row` on (0 is the top); the last may be cut by
  /// the panel's end. Throws invalid_argument for rows of hogels beyond the panel.
  [[nodiscard]] RowRange rows_of_hogels(std::int64_t first_hogel_row, std::int64_t hogel_rows) const;
  /// Some rows of the panel, by one channel of the source, to `output` of shape {part.rows, nx} on the plan's device:
  /// the same bits as in the whole panel. Hogels that the part cuts are computed whole and count in the report, so
  /// parts of whole rows of hogels cost least. Waits until it is done; reports hogels of the whole panel to `progress`.
  /// Throws invalid_argument,
  /// cancelled, and what the source throws.
  StereogramReport execute(const ViewSource& source, int channel, const RowRange& part, View<Complex, 2> output,
                           Progress& progress = Progress::none());

  [[nodiscard]] const StereogramOptions& options() const;
  [[nodiscard]] StereogramInfo info() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// One shot: the whole panel. The field lives on `device`.
Array<Complex, 2> stereogram_field(const ViewSource& source, int channel, const StereogramOptions& options,
                                   Device device = {}, Progress& progress = Progress::none());

}  // namespace holotone
