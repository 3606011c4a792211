#pragma once
#include <complex>
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/device.hpp>
#include <holotone/core/progress.hpp>
#include <holotone/optics/row_range.hpp>
#include <memory>
#include <string>
#include <string_view>

namespace holotone {

/// How the sum over points is computed.
enum class PointMethod {
  automatic,   ///< the cheapest that holds the tolerance on this device for this many points
  direct,      ///< the sum as written: Shimobaba et al. 2010 Eq. (1), Mitani et al. Eq. (1)
  recurrence,  ///< two additions a pixel and point: Shimobaba et al. 2010 Eq. (2)
  separable,   ///< a matrix product by the addition theorem: Mitani et al., section 3
  fast,        ///< cost hardly grows with the points
};

/// The wave of one point.
enum class Wave {
  fresnel,    ///< phase pi ((x-xj)^2 + (y-yj)^2) / (lambda d)
  spherical,  ///< phase sign(d) k (r - |d|), amplitude without 1/r; `direct` only
};

/// "auto", "direct", "recurrence", "separable", "fast".
std::string_view to_string(PointMethod method);
/// "fresnel", "spherical".
std::string_view to_string(Wave wave);

/// The tightest tolerance a plan takes: what sums of up to a million random waves keep in float32.
constexpr double point_cloud_tolerance_floor = 2e-6;
/// The tightest that `fast` holds.
constexpr double point_cloud_fast_tolerance_floor = 1e-5;

struct PointCloudOptions {
  double wavelength_m = 532e-9;   ///< > 0
  double pitch_m = 8e-6;          ///< > 0
  Shape<2> shape = {1080, 1920};  ///< {ny, nx}, each 1 to 2^24
  PointMethod method = PointMethod::automatic;
  Wave wave = Wave::fresnel;
  /// Relative l2 error of the complex field against the exact sum of the chosen wave,
  /// point_cloud_tolerance_floor to 1.
  double tolerance = 1e-3;
  /// A point lights only pixels with |x-xj| and |y-yj| <= lambda |d| / (2 pitch), so that no fringe is finer
  /// than the pitch can show.
  bool band_limit = true;
  /// Wavelength of the cone in that limit, 0 (the sum's own) or > 0 and at most wavelength_m. The smallest of three
  /// wavelengths gives the sums of three colours the same lit pixels: white stays white (docs/holograms.md).
  double cone_wavelength_m = 0;
};

/// Points in the world frame (x right, y up, z toward the viewer, panel at z = 0, distance d = -z).
/// All views live on the same device: the plan's, or the CPU (then set_points uploads). n may be 0: no light.
struct PointSources {
  View<const float, 2> position_m;   ///< {n, 3}
  View<const float, 1> amplitude;    ///< {n}
  View<const float, 1> phase_rad{};  ///< {n}, or empty for zero
};

/// What execute writes; views left empty are not written. All on the plan's device, shape {ny, nx}, or {rows, nx} of a
/// part.
struct PointCloudOutput {
  View<std::complex<float>, 2> field{};  ///< the complex sum U
  View<float, 2> real{};                 ///< Re U alone (cheaper when it is all that is asked)
  View<std::uint8_t, 2> phase{};         ///< round(arg(U) / 2pi * 256) mod 256; 0 where U = 0
};

/// What a plan decided, for `--json` and `info`.
struct PointCloudInfo {
  /// That runs: separable too where `fast` or `automatic` was asked for and products of factors are cheaper. Before
  /// set_points the one asked for.
  PointMethod method = PointMethod::automatic;
  std::string arithmetic;     ///< "fp16, three products", "float32", ...
  double expected_error = 0;  ///< relative l2 the method is designed to keep, <= tolerance
  std::size_t workspace_bytes = 0;
};

/// Sum of point waves on a panel:
///   U(x, y) = sum_j A_j exp(i phi_j) exp(i pi ((x - x_j)^2 + (y - y_j)^2) / (lambda d_j)),   d_j = -z_j
/// with pixel centres as docs/conventions.md states them. Amplitudes may be negative.
/// Wave::spherical replaces the last factor by exp(i sign(d_j) k (r - |d_j|)), r the distance from point to
/// pixel. With a band limit a point adds nothing outside |x - x_j|, |y - y_j| <= lambda |d_j| / (2 pitch).
/// Cost: direct and recurrence O(n nx ny) sines and cosines; separable one matrix product of 8 n nx ny
/// operations (6 for a field by three real products, 4 for the real part alone); fast O(n width^3) and FFTs of the
/// panel, as many as the scene is deep. Workspace:
/// info().workspace_bytes, independent of n beyond a record of each point; point_cloud_workspace_bytes before there is
/// a plan. Source: Shimobaba et al. 2010, Eq. (1) and (2); Mitani, Suzuki, Takada, Eq. (1) and section 3.
///
/// Parts. A panel larger than memory is computed by one plan, rows by rows: phases and the band limit are those of the
/// whole panel. CPU: parts put together are the whole bit for bit, by every method and however the panel is cut. The
/// CPU computes whole blocks of rows (direct 64, recurrence 32, separable 2^23 pixels, fast a row of tiles) and keeps
/// the last block that a part cut, so that parts in order from the top cost what the whole costs. CUDA: parts are the
/// whole to float32 rounding by direct and recurrence, and within the tolerance by separable and fast.
class PointCloudPlan {
 public:
  /// Validates; throws invalid_argument (naming option, range and value) or unsupported (a method this device
  /// or wave lacks). rows_at_once: the most rows that execute will be asked for, 1 to ny, which sets the workspace on
  /// CUDA; larger parts are cut. 0: the whole panel.
  explicit PointCloudPlan(const PointCloudOptions& options, Queue queue = {}, std::int64_t rows_at_once = 0);
  ~PointCloudPlan();
  PointCloudPlan(PointCloudPlan&&) noexcept;
  PointCloudPlan& operator=(PointCloudPlan&&) noexcept;

  /// Takes the points, checks them (throws invalid_argument naming the first that is not finite or lies in
  /// the panel's plane, d = 0) and chooses the method. Host points are uploaded; the caller's arrays are not
  /// kept, but page-locked ones must stay as they are until the queue has passed. CUDA: waits for the device.
  void set_points(const PointSources& points);

  /// Computes. CUDA: enqueues on the plan's queue. It waits only where the first sum of some shape in this process
  /// times the algorithms of its matrix product (separable of the real part alone, fast), and where a part that fast
  /// had not spread the points for has points that light its tiles in part. CPU: runs, reports to `progress` and can be
  /// cancelled. Throws invalid_argument if there were no set_points, no output is asked for, or one has the
  /// wrong shape or device; cancelled (outputs then hold nothing of use) if `progress` says so.
  void execute(const PointCloudOutput& output, Progress& progress = Progress::none()) const;
  /// The same of some rows of the panel, to outputs of so many rows. CUDA: a part of fewer rows costs what rows_at_once
  /// rows cost. Throws invalid_argument for rows beyond the panel.
  void execute(const RowRange& part, const PointCloudOutput& output, Progress& progress = Progress::none()) const;

  [[nodiscard]] const PointCloudOptions& options() const;
  /// What was decided; with PointMethod::automatic there is a method only after set_points.
  [[nodiscard]] PointCloudInfo info() const;
  [[nodiscard]] std::int64_t point_count() const;

  /// What each method and device implements; not for users. Each set_points may keep views until the next
  /// one.
  class Engine;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Approximate workspace of `method` on the CPU for `count` points, without the outputs. fast: the maximum over all
/// scenes whose tiles have grids of up to 2^27 numbers (1 GiB); only a very deep scene exceeds it. automatic: the largest
/// of the methods that it may choose. Throws invalid_argument as the plan does.
std::size_t point_cloud_workspace_bytes(const PointCloudOptions& options, PointMethod method, std::int64_t count);

/// One shot: plan, set_points, execute, wait. The field lives on `device`.
Array<std::complex<float>, 2> point_cloud_field(const PointSources& points, const PointCloudOptions& options,
                                                Device device = {}, Progress& progress = Progress::none());

/// Largest phase difference in radians between the Fresnel and the spherical wave over all points and the
/// pixels they light (all pixels without band limit): how far the Fresnel form is from the sphere at the
/// panel's rim.
///   k (rho^2 / (2 |d|) - (r - |d|)),  rho the distance from the point's axis, r = sqrt(rho^2 + d^2)
/// For a point on the axis 20 cm from a PLUTO at 532 nm without band limit: 1.1 rad. Cost O(n). Throws
/// invalid_argument as the plan does, and for points that are not in host memory. Source: the next term of
/// the expansion, k rho^4 / (8 |d|^3): Goodman, Introduction to Fourier Optics, section 4.2.
double fresnel_deviation_rad(const PointSources& host_points, const PointCloudOptions& options);

/// Mean over the panel's pixels of the intensity that the points would give if their waves did not interfere:
/// sum over j of A_j^2 n_j / (nx ny), n_j the number of pixels that point j lights (all without band limit). Cost O(n).
/// Throws as fresnel_deviation_rad does.
double lit_energy(const PointSources& host_points, const PointCloudOptions& options);

/// How many of the points light no pixel: with the band limit, those farther than lambda |d| / (2 pitch) from the
/// centres of all pixels in x or in y; without, none. Cost O(n). Throws as fresnel_deviation_rad does.
std::int64_t unlit_points(const PointSources& host_points, const PointCloudOptions& options);

}  // namespace holotone
