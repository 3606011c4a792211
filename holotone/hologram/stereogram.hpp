#pragma once
#include <array>
#include <cstdint>
#include <holotone/core/bounds.hpp>
#include <holotone/core/enum_names.hpp>
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
  flat,     ///< each ray a plane wave: depth only between hogels
  layered,  ///< each ray a wave with the curvature of its point's distance, in layers: depth within a hogel
};
template <>
inline constexpr auto enum_names<StereogramMethod> =
    std::array{EnumName{StereogramMethod::flat, "flat"}, EnumName{StereogramMethod::layered, "layered"}};
std::string_view to_string(StereogramMethod method);

struct StereogramOptions {
  FieldGrid grid = {};          ///< pixels of the whole panel
  std::int64_t hogel_px = 512;  ///< N: side of a hogel in pixels, 2 to 32768
  /// L: period of the finest fringe, which limits the diffraction angle: |cx|, |cy| <= lambda / L. At least 2 pitch,
  /// the finest fringe of a panel; 0: 2 pitch.
  double fringe_m = 0;
  std::optional<Viewer> viewer = {};  ///< compute only light that can reach this viewing window
  StereogramMethod method = StereogramMethod::flat;
  int layers = 32;  ///< largest number of layers of a hogel, 1 to 255; layered only
  std::uint64_t seed = 0;
};

template <>
inline constexpr Bounds bounds_of<&StereogramOptions::hogel_px>{2, 32768};
template <>
inline constexpr Bounds bounds_of<&StereogramOptions::layers>{1, 255};

/// Properties of a plan.
struct StereogramInfo {
  Shape<2> hogels{};   ///< {rows, columns}
  Shape<2> padding{};  ///< pixels of the last row and column of hogels beyond the panel, which are cut off
  double diffraction_angle_rad = 0;  ///< asin(lambda / L), 90 degrees if L < lambda
  double outside_share = 0;          ///< share of the viewing window beyond the diffraction angle, mean over the hogels
  double outside_rad = 0;            ///< largest angle of the window's corners beyond it, over the hogels; 0: none
  std::size_t workspace_bytes = 0;
};

/// Counts of rays of execute; += adds the reports of parts.
struct StereogramReport {
  std::int64_t rays = 0;      ///< rays within the diffraction angle
  std::int64_t computed = 0;  ///< rays toward the viewing window; the others cost nothing
  std::int64_t lit = 0;       ///< computed rays with light
  std::int64_t too_near = 0;  ///< layered: lit rays of points within 2 N pitch^2 / lambda of the panel, moved there
  std::int64_t cut = 0;       ///< layered: lit rays omitted because their curvature needs fringes finer than two pixels
  std::int64_t hogels = 0;
  std::int64_t layers = 0;         ///< transforms, over all hogels
  double curvature_error_rad = 0;  ///< largest phase error in a hogel's corner due to layers
  /// Largest phase error there, along or across a lit ray, because its layer has the mean of the wave's two curvatures:
  /// pi (N pitch)^2 cz (1 - cz^2) / (4 lambda d); 0 on the axis.
  double astigmatism_rad = 0;

  StereogramReport& operator+=(const StereogramReport& other);
};

/// Holographic stereogram: the panel is divided into hogels of N x N pixels. Each hogel emits the rays of the scene
/// through its centre. With I(kx, ky) the intensity along the ray of direction cosines cx = lambda kx / (N pitch), cy
/// = lambda ky / (N pitch), and m, n pixels of the hogel counted from its left and its top,
///   flat     U(n, m) = 1/N sum_k sqrt(I(k)) exp(i phi(k)) exp(2 pi i (kx m - ky n) / N)
///   layered  U(n, m) = sum_l exp(i pi c_l (x^2 + y^2) / lambda) 1/N sum_{k in l} (the same)
/// with x, y from the hogel's centre. Rays are sorted into layers by the curvature c = cz (1 + cz^2) / (2 d) of a wave
/// from a point at distance d (1/d on the axis; the mean of its two curvatures off it). Layers are equal steps of c,
/// at most `layers`, and at most as many as keep the phase in a hogel's corner within pi/8 (steps of lambda / (2 N^2
/// pitch^2)). phi is random, drawn only from the seed, the hogel's number and k: parts of a panel computed separately
/// have the same bits as the whole.
/// |kx|, |ky| <= N pitch / L and < N / 2. With a viewing window a ray is computed if its light reaches the window from
/// any point of the hogel. Then x_hogel + D cx / cz is inside the window and a margin of N pitch / 2 + lambda D / (2 N
/// pitch), and y likewise. The transform is unitary: |U|^2 is on average the mean of I over all N^2 frequencies, dark
/// ones included, for any N.
/// Cost: O(layers N^2 log N) a hogel and as many rays of the source; CPU: hogels in parallel, lines of a transform
/// without light skipped; CUDA, OpenCL: up to 1024 hogels at once, while the host finds the rays of the next.
/// Source: Lucente 1994 (hogels); the viewing window and the fringe size: Lagrange et al. 2024, sections 2 and 4.1.
class StereogramPlan {
 public:
  /// Throws invalid_argument for options out of range, and for a viewing window outside the diffraction angle (with
  /// the missing angle).
  explicit StereogramPlan(const StereogramOptions& options, Queue queue = {});
  ~StereogramPlan();
  StereogramPlan(StereogramPlan&&) noexcept;
  StereogramPlan& operator=(StereogramPlan&&) noexcept;

  /// Panel rows of a range of rows of hogels, from `first_hogel_row` on (0 is the top); the panel's end may cut the
  /// last.
  /// Throws invalid_argument for rows of hogels beyond the panel.
  [[nodiscard]] RowRange rows_of_hogels(std::int64_t first_hogel_row, std::int64_t hogel_rows) const;
  /// Computes some rows of the panel for one channel of the source, to `output` of shape {part.rows, nx} on the plan's
  /// device: the same bits as in the whole panel. Hogels that the part cuts are computed whole and count in the report,
  /// so parts of whole rows of hogels cost least. Waits until done; reports hogels of the whole panel to `progress`.
  /// Throws invalid_argument, cancelled, and the source's exceptions.
  StereogramReport execute(const ViewSource& source, int channel, const RowRange& part, View<Complex, 2> output,
                           Progress& progress = Progress::none());

  [[nodiscard]] const StereogramOptions& options() const;
  [[nodiscard]] StereogramInfo info() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// One shot for the whole panel. The field is on `device`.
Array<Complex, 2> stereogram_field(const ViewSource& source, int channel, const StereogramOptions& options,
                                   Device device = {}, Progress& progress = Progress::none());

}  // namespace holotone
