#pragma once
#include <array>
#include <complex>
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/bounds.hpp>
#include <holotone/core/device.hpp>
#include <holotone/core/enum_names.hpp>
#include <holotone/core/progress.hpp>
#include <holotone/optics/row_range.hpp>
#include <memory>
#include <string>
#include <string_view>

namespace holotone {

/// Method of the sum over points.
enum class PointMethod {
  automatic,   ///< the cheapest method within the tolerance, for this device and these points
  direct,      ///< the sum as written: Shimobaba et al. 2010 Eq. (1), Mitani et al. Eq. (1)
  recurrence,  ///< two additions per pixel and point: Shimobaba et al. 2010 Eq. (2)
  separable,   ///< a matrix product by the addition theorem: Mitani et al., section 3
  fast,        ///< non-uniform FFT over tiles: cost grows little with the number of points
};

/// Wave of one point.
enum class Wave {
  automatic,  ///< spherical where Fresnel's deviates by over 0.1 rad or is slower and a method has it, else fresnel
  fresnel,    ///< phase pi ((x-xj)^2 + (y-yj)^2) / (lambda d)
  spherical,  ///< phase sign(d) k (r - |d|), amplitude without 1/r: exact
};

/// Derivative of a point's wave by one of its coordinates.
enum class PointDerivative { none, x, y, z };

template <>
inline constexpr auto enum_names<PointMethod> =
    std::array{EnumName{PointMethod::automatic, "auto"}, EnumName{PointMethod::direct, "direct"},
               EnumName{PointMethod::recurrence, "recurrence"}, EnumName{PointMethod::separable, "separable"},
               EnumName{PointMethod::fast, "fast"}};
template <>
inline constexpr auto enum_names<Wave> = std::array{
    EnumName{Wave::automatic, "auto"}, EnumName{Wave::fresnel, "fresnel"}, EnumName{Wave::spherical, "spherical"}};
template <>
inline constexpr auto enum_names<PointDerivative> =
    std::array{EnumName{PointDerivative::none, "none"}, EnumName{PointDerivative::x, "x"},
               EnumName{PointDerivative::y, "y"}, EnumName{PointDerivative::z, "z"}};

std::string_view to_string(PointMethod method);
std::string_view to_string(Wave wave);
std::string_view to_string(PointDerivative by);

/// Smallest tolerance of a plan: the accuracy of float32 sums of up to a million random waves.
constexpr double point_cloud_tolerance_floor = 2e-6;
/// Smallest tolerance of `fast`.
constexpr double point_cloud_fast_tolerance_floor = 1e-5;

struct PointCloudOptions {
  double wavelength_m = 532e-9;   ///< > 0
  double pitch_m = 8e-6;          ///< > 0
  Shape<2> shape = {1080, 1920};  ///< {ny, nx}, each 1 to 2^24
  PointMethod method = PointMethod::automatic;
  Wave wave = Wave::automatic;
  /// Relative l2 error of the complex field against the exact sum of the chosen wave,
  /// point_cloud_tolerance_floor to 1.
  double tolerance = 1e-3;
  /// True: a point lights only pixels with |x-xj| and |y-yj| <= lambda |d| / (2 pitch), so that no fringe is finer than
  /// two pixels. Wave::spherical: only plane waves of such directions, with a soft edge (docs/holograms.md).
  bool band_limit = true;
  /// True: amplitudes fall as 1 / r, r the distance from point to pixel in metres: A_j is the amplitude at one metre,
  /// |A_j / d_j| at most 1e15. Of the exact wave alone: Wave::automatic is then spherical, Wave::fresnel refused. By
  /// direct and fast.
  bool falloff = false;
  /// lambda in the formula of band_limit, > 0 and at most wavelength_m; 0: wavelength_m. The smallest of three
  /// wavelengths gives the sums of three colours the same lit pixels: white stays white (docs/holograms.md).
  double cone_wavelength_m = 0;
  /// True: a part has the same bits in every run, for any number of CPU threads, and on every plan of equal options and
  /// rows_at_once, whatever it summed before, on devices of one model. direct and recurrence are so anyway.
  /// CPU: separable, and what fast sums by products, multiply fixed blocks, one per thread: 5 to 15 % slower on one
  /// thread. CUDA: separable and fast multiply by a kernel of Holotone's own instead of the fastest of cuBLASLt; fast
  /// sorts points by their number within each bin (16 bytes more for each point and tile), adds sums as 64-bit integers
  /// and makes its tables anew for every cloud. Not for the adjoint.
  bool deterministic = false;
};

template <>
inline constexpr Bounds bounds_of<&PointCloudOptions::tolerance>{point_cloud_tolerance_floor, 1};

/// Points in the world frame (x right, y up, z toward the viewer, panel at z = 0, distance d = -z).
/// All views live on the same device: the plan's, or the CPU (then set_points uploads). n may be 0: no light.
struct PointSources {
  View<const float, 2> position_m;   ///< {n, 3}
  View<const float, 1> amplitude;    ///< {n}
  View<const float, 1> phase_rad{};  ///< {n}, or empty for zero
};

/// Outputs of execute; empty views are not written. All are on the plan's device, of shape {ny, nx}, or {part.rows, nx}
/// for a part.
struct PointCloudOutput {
  View<std::complex<float>, 2> field{};  ///< the complex sum U
  View<float, 2> real{};                 ///< Re U; cheaper if it is the only output
  View<std::uint8_t, 2> phase{};         ///< round(arg(U) / 2pi * 256) mod 256; 0 where U = 0
};

/// Choices of a plan, for `--json` and `info`.
struct PointCloudInfo {
  /// Method in use: separable also if `fast` or `automatic` was requested and products of factors are cheaper. Before
  /// set_points: the requested method.
  PointMethod method = PointMethod::automatic;
  std::string arithmetic;     ///< "fp16, three products", "float32", ...
  double expected_error = 0;  ///< relative l2 error for which the method is designed, <= tolerance
  std::size_t workspace_bytes = 0;
  Wave wave = Wave::automatic;  ///< in use; before set_points: the requested one
};

/// Sum of point waves on a panel:
///   U(x, y) = sum_j A_j exp(i phi_j) exp(i pi ((x - x_j)^2 + (y - y_j)^2) / (lambda d_j)),   d_j = -z_j
/// with pixel centres as docs/conventions.md states them. Amplitudes may be negative.
/// Wave::spherical replaces the last factor by exp(i sign(d_j) k (r - |d_j|)), r the distance from point to
/// pixel; with `falloff`, divided by r. With a band limit a point of Fresnel's wave adds nothing outside |x - x_j|,
/// |y - y_j| <= lambda |d_j| / (2 pitch); the exact wave keeps its plane waves of directions (sx, sy) times b(sx, sy)
/// (docs/holograms.md, Band limit). `fast` computes the exact wave from these plane waves, with a band limit only;
/// `direct` applies b at the direction from point to pixel, which agrees to 1e-5 up to 0.85 of a reach of 12 zones
/// sqrt(lambda |d|) or more, three zones from its end (3 % at 7 zones); below, `automatic` takes `fast`. The error of
/// `fast` does not follow tight tolerances for points nearer than 0.5 mm or so that light the panel at steep angles:
/// 2.5e-4 at 0.1 mm, 5e-3 at 0.02 mm, up to the cone.
/// Cost: direct and recurrence O(n nx ny) sines and cosines, cosines only for the real part alone; separable one matrix
/// product of 8 n nx ny operations (6 for a field by three real products, 4 for the real part alone); fast
/// O(n width^3), width that of the spreading window, and FFTs of the panel, their number proportional to the depth of
/// the scene. Workspace: info().workspace_bytes, independent of n except for a record of each point;
/// point_cloud_workspace_bytes estimates it without a plan. Source: Shimobaba et al. 2010, Eq. (1) and (2); Mitani,
/// Suzuki, Takada, Eq. (1) and section 3.
///
/// Parts. One plan computes a panel larger than memory in parts of some rows each: phases and the band limit are those
/// of the whole panel. CPU: parts have the same bits as the whole panel, for every method and division. The CPU
/// computes whole blocks of rows (direct 64, recurrence 32, separable 2^23 pixels, fast a row of tiles) and keeps the
/// last block that a part cut: parts in order from the top cost as much as the whole panel. CUDA: parts equal the whole
/// panel up to float32 rounding (direct, recurrence) or within the tolerance (separable, fast).
class PointCloudPlan {
 public:
  /// Validates; throws invalid_argument (naming option, range and value) or unsupported (a method that this device,
  /// wave or tolerance does not allow). rows_at_once: maximum rows of a part of execute, 1 to ny, which determines the
  /// workspace on CUDA; larger parts are split. 0: the whole panel.
  explicit PointCloudPlan(const PointCloudOptions& options, Queue queue = {}, std::int64_t rows_at_once = 0);
  ~PointCloudPlan();
  PointCloudPlan(PointCloudPlan&&) noexcept;
  PointCloudPlan& operator=(PointCloudPlan&&) noexcept;

  /// Sets the points, checks them (throws invalid_argument naming the first that is not finite or lies in the panel's
  /// plane, d = 0) and chooses the method. Host points are uploaded. The caller's arrays are not kept, but page-locked
  /// ones must stay unchanged until the queue's work is done. CUDA: waits for the device.
  void set_points(const PointSources& points);

  /// Computes the outputs. CUDA: enqueues on the plan's queue. It waits in two cases only. (1) The first sum of a shape
  /// in the process times the algorithms of its matrix product (separable of the real part alone, fast). (2) fast has
  /// not yet spread the points for the part, and some of them light only part of a tile. CPU: computes, reports to
  /// `progress` and can be cancelled. Throws invalid_argument without set_points before, without an output, or for an
  /// output of another shape or device; cancelled by `progress` (the outputs are then undefined).
  void execute(const PointCloudOutput& output, Progress& progress = Progress::none()) const;
  /// The same for some rows of the panel, to outputs of part.rows rows. CUDA: a part of fewer rows costs as much as
  /// rows_at_once rows. Throws invalid_argument for rows beyond the panel.
  void execute(const RowRange& part, const PointCloudOutput& output, Progress& progress = Progress::none()) const;

  /// Applies the adjoint of the sum: for each point, with h_j the wave of amplitude 1 and phase 0,
  ///   values_j = sum over the pixels lit by point j of conj(h_j(x, y)) field(x, y)
  /// so that <U, field> = sum_j conj(A_j exp(i phi_j)) values_j, with <a, b> = sum conj(a) b. values: {n}; 0 for a
  /// point that lights no pixel. Independent of the method. With a real loss E of the field, dE = Re <G, dU>, and
  /// values = adjoint(G):
  ///   dE/dA_j = Re(conj(exp(i phi_j)) values_j),   dE/dphi_j = Im(conj(A_j exp(i phi_j)) values_j)
  /// `by`: dh_j/dx_j (y_j, z_j; per metre) in place of h_j, Wave::spherical: dE/dx_j = Re(conj(A_j exp(i phi_j))
  /// adjoint(G, x)_j). Fresnel's needs the field's moments alone:
  ///   dE/dx_j = -2 pi / (lambda d_j) Im(conj(A_j exp(i phi_j)) (adjoint(x G)_j - x_j values_j)), likewise y, for the
  ///   pixels lit at x_j
  /// Cost: a matrix product of 8 n nx ny operations (CUDA: 18 of half precision), O(n (nx + ny)) sines and cosines.
  /// Workspace: 128 bytes a point and up to 40 MiB (CUDA: 384 MiB, more beyond 14,000 columns), allocated for the
  /// call. Relative l2 error below 2e-6. Wave::spherical, with a band limit: cost and workspace of `fast` (z: twice),
  /// relative l2 error at most the tolerance, of derivatives some twice that. CUDA: only enqueues, but the first call
  /// of a shape in the process times the algorithms of its matrix product and waits for them; Wave::spherical makes
  /// its tables anew. Throws unsupported on OpenCL, for Wave::spherical without a band limit or too deep for `fast`,
  /// and for a derivative of Fresnel's wave; invalid_argument without set_points before, or for another shape or
  /// device; cancelled by `progress` (the values are then undefined).
  void adjoint(View<const std::complex<float>, 2> field, View<std::complex<float>, 1> values,
               PointDerivative by = PointDerivative::none, Progress& progress = Progress::none()) const;

  [[nodiscard]] const PointCloudOptions& options() const;
  /// Choices of the plan; with PointMethod::automatic the method is chosen by set_points.
  [[nodiscard]] PointCloudInfo info() const;
  [[nodiscard]] std::int64_t point_count() const;

  /// Returns what Wave::automatic is for some points on a device, so that sums that belong together, of colours or
  /// frames, can share it; for another wave that wave. Cost: that of set_points without its tables. Throws as the
  /// constructor and set_points do, and for points that are not in host memory.
  [[nodiscard]] static Wave find_wave(const PointSources& host_points, const PointCloudOptions& options,
                                      Device device = {});

  /// Implementation of one method on one device; not for users.
  class Engine;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Approximate workspace of `method` on the CPU for `count` points, without the outputs. fast: the maximum over all
/// scenes whose tiles have grids of up to 2^27 numbers (1 GiB); only a very deep scene exceeds it. automatic: the
/// largest of the methods that it may choose. Throws invalid_argument as the plan does.
std::size_t point_cloud_workspace_bytes(const PointCloudOptions& options, PointMethod method, std::int64_t count);

/// One shot: plan, set_points, execute, wait. The field lives on `device`.
Array<std::complex<float>, 2> point_cloud_field(const PointSources& points, const PointCloudOptions& options,
                                                Device device = {}, Progress& progress = Progress::none());

/// Largest phase difference in radians between the Fresnel and the spherical wave, over all points and the pixels they
/// light (all pixels without band limit):
///   k (rho^2 / (2 |d|) - (r - |d|)),  rho the distance from the point's axis, r = sqrt(rho^2 + d^2)
/// For a point on the axis 20 cm from a PLUTO at 532 nm without band limit: 1.1 rad. Cost O(n). Throws
/// invalid_argument as the plan does, and for points that are not in host memory. Source: the next term of
/// the expansion, k rho^4 / (8 |d|^3): Goodman, Introduction to Fourier Optics, section 4.2.
double fresnel_deviation_rad(const PointSources& host_points, const PointCloudOptions& options);

/// Mean intensity over the panel's pixels without interference between the points:
/// sum over j of A_j^2 n_j / (nx ny), n_j the number of pixels that point j lights (all without band limit); with
/// falloff their mean 1 / r^2 times it, to 1e-3. Cost O(n). Throws as fresnel_deviation_rad does.
double lit_energy(const PointSources& host_points, const PointCloudOptions& options);

/// Number of points that light no pixel: with the band limit, points farther than lambda |d| / (2 pitch) from the
/// centres of all pixels in x or in y, of exact waves and 2 pixels; without it 0. Wave::automatic counts as exact. Cost
/// O(n). Throws as fresnel_deviation_rad does.
std::int64_t unlit_points(const PointSources& host_points, const PointCloudOptions& options);

}  // namespace holotone
