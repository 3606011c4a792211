#pragma once
#include <array>
#include <holotone/core/bounds.hpp>
#include <holotone/core/enum_names.hpp>
#include <holotone/core/progress.hpp>
#include <holotone/optics/reconstruction.hpp>
#include <holotone/retrieval/solver.hpp>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace holotone {

/// Part of the picture in which light is asked for; outside it light may be anything.
struct SignalRegion {
  std::int64_t row = 0;
  std::int64_t column = 0;
  std::int64_t rows = 0;     ///< 0: the whole picture
  std::int64_t columns = 0;  ///< 0: the whole picture
};

/// Plane with a target.
struct RetrievalPlane {
  /// Finite. Free space: of the plane behind the panel; negative in front, as for points. With a lens: of the plane
  /// beyond the focal plane.
  double distance_m = 0.2;
  double weight = 1;  ///< of its errors in the loss, finite, > 0
  /// Only light through this pupil forms the picture, as in ReconstructionPlan. Free space only.
  std::optional<Aperture> pupil = {};
};

/// Errors that the loss counts.
enum class RetrievalLoss {
  amplitude,  ///< s a - T
  intensity,  ///< s a^2 - T^2: bright parts count more
};
template <>
inline constexpr auto enum_names<RetrievalLoss> =
    std::array{EnumName{RetrievalLoss::amplitude, "amplitude"}, EnumName{RetrievalLoss::intensity, "intensity"}};

/// A modulator's deviations from a phase with unit amplitude.
struct PanelResponse {
  /// Share of a pixel's area that modulates, > 0 to 1. Its square aperture gives the light of spatial frequency f the
  /// amplitude sinc(w fx) sinc(w fy), w = sqrt(fill_factor) pitch. 0: none, as if pixels were points.
  double fill_factor = 0;
  /// Amplitude of the unmodulated light (zero order) relative to the modulated, 0 to 10.
  double zero_order = 0;
};
template <>
inline constexpr Bounds bounds_of<&PanelResponse::fill_factor>{0, 1};
template <>
inline constexpr Bounds bounds_of<&PanelResponse::zero_order>{0, 10};

struct PhaseRetrievalOptions {
  FieldGrid grid = {};                        ///< panel, and picture of the same number of pixels
  std::vector<RetrievalPlane> planes = {{}};  ///< 1 to 256
  double focal_length_m = 0;                  ///< of a lens behind which the picture lies, > 0; 0: no lens
  std::int64_t frames = 1;                    ///< shown in turn, whose light adds: 1 to 256
  SignalRegion region = {};                   ///< within the picture
  RetrievalLoss loss = RetrievalLoss::amplitude;
  PanelResponse response = {};
  /// Share of the panel's light that the picture is to get, > 0 to 1: fixes the scale s. 0: the best scale, whatever
  /// the light. One plane; not with RetrievalLoss::intensity.
  double efficiency = 0;
  /// The loss compares light and picture also half a pixel beside the samples, along x, along y and along both: four
  /// positions. False: at the samples alone, which leaves the light between them to chance.
  bool between_samples = true;
};
/// Of the number of planes.
template <>
inline constexpr Bounds bounds_of<&PhaseRetrievalOptions::planes>{1, 256};
template <>
inline constexpr Bounds bounds_of<&PhaseRetrievalOptions::frames>{1, 256};
template <>
inline constexpr Bounds bounds_of<&PhaseRetrievalOptions::efficiency>{0, 1};

/// How near the light in one plane comes to its target in the signal region. The scale between both is common to all
/// planes.
struct RetrievalQuality {
  double psnr_db = 0;        ///< of the amplitude at the picture's samples, peak: the largest of all targets
  double psnr_worst_db = 0;  ///< the least of the four half-pixel positions
  double efficiency = 0;     ///< light in the signal region over light from the panel
};

/// The least of each figure over planes. Throws invalid_argument for none.
RetrievalQuality worst_of(std::span<const RetrievalQuality> planes);

/// Phases of a panel whose light, propagated, has the amplitude of a picture.
///   L = 1/2 sum_k w_k sum_p sum_r (s a_kp(r) - T_kp(r))^2,   a_kp^2 = 1/N sum_t |P_kp u_t|^2,
///   u_t = A (exp(i phi_t) + z),   s = sum w <a, T> / sum w <a, a>
///   dL/dphi_t = 1/N Im( conj(A exp(i phi_t)) sum_kp w_k P_kp^H [ s (s a_kp - T_kp) P_kp u_t / a_kp ] )
/// over the planes k, the positions p, the pixels r of the signal region and the frames t = 1 .. N. A is the light that
/// falls on the panel, z its zero order. P is the band-limited angular spectrum over -distance_m on an array of twice
/// the panel (PropagationPlan), times the pixels' aperture; P_p the same with the picture's samples moved by half a
/// pixel. T_p is the target there, interpolated by its Fourier series with mirrored borders. RetrievalLoss::intensity
/// has a^2 and T^2 in place of a and T. With an efficiency e the scale is fixed, s^2 = sum_r T^2 / (e sum |u|^2), the
/// mean over the positions.
/// With a lens P is the Fourier transform of the panel, from its front to its back focal plane:
///   P u(X) = 1 / sqrt(nx ny) sum_x u(x) exp(-2 pi i x X / (lambda f)) exp(-i pi d |x|^2 / (lambda f^2))
/// with picture pixels of lambda f / (n pitch) along each axis: nx ny of them cover one diffraction order, a square.
/// Goodman, Introduction to Fourier Optics, Eq. (5-19).
/// Source of the gradient: Wirtinger calculus as in Chakravarthula et al., "Wirtinger holography for near-eye
/// displays", 2019.
/// Relative error of the gradient against float64: below 1e-4.
/// Cost of a gradient: N (2 + 2 K P) transforms of the padded array (with a lens: of the panel), K the number of
/// planes, P of positions; six more a plane with a pupil. CUDA shares transforms along rows and columns among the four
/// positions on panels with kernels of their own (padded_filter_cuda.cu). Memory: retrieval_bytes. CPU and CUDA.
class PhaseRetrievalPlan {
 public:
  /// Throws invalid_argument for an option out of range; unsupported for OpenCL.
  explicit PhaseRetrievalPlan(const PhaseRetrievalOptions& options, Queue queue = {});
  ~PhaseRetrievalPlan();
  PhaseRetrievalPlan(PhaseRetrievalPlan&&) noexcept;
  PhaseRetrievalPlan& operator=(PhaseRetrievalPlan&&) noexcept;

  /// Amplitude {ny, nx} of the picture in a plane, finite, >= 0. Zero everywhere is a dark plane; one plane must have
  /// light in the region. Throws invalid_argument.
  void set_target(View<const float, 2> amplitude, std::size_t plane = 0);
  /// Light {ny, nx} that falls on the panel: a beam of amplitude and phase, finite, not zero everywhere. Without it 1.
  /// Throws invalid_argument.
  void set_source(View<const Complex, 2> light);

  /// Loss of phases {frames, ny, nx} in radians; writes its derivative of the same shape. Throws invalid_argument
  /// unless all targets are set.
  double gradient(View<const float, 3> phase_rad, View<float, 3> derivative);

  /// Lowers the loss from a given start. `phase_rad` holds the best phases at any time (wgs: the last), also if
  /// `progress` cancels.
  /// With level phases it holds at last the nearest levels. Throws invalid_argument for an option out of range.
  RetrievalResult optimize(View<float, 3> phase_rad, const SolverOptions& solver = {},
                           Progress& progress = Progress::none());

  /// Quality in each plane.
  [[nodiscard]] std::vector<RetrievalQuality> quality(View<const float, 3> phase_rad);
  /// Optical vortices in each plane, of all frames: zeros of the light around which its phase turns by 2 pi, where the
  /// target is brighter than 1 % of its largest intensity. Found between samples half a pixel apart. Source: Nye and
  /// Berry, "Dislocations in wave trains", 1974.
  [[nodiscard]] std::vector<std::int64_t> vortices(View<const float, 3> phase_rad);
  /// Intensity {planes, 4, ny, nx} at the half_pixels in host memory: the mean of the frames; 0 outside the region.
  [[nodiscard]] Array<float, 4> light(View<const float, 3> phase_rad);
  [[nodiscard]] const PhaseRetrievalOptions& options() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Start of an optimization: uniform in [-spread_rad, spread_rad] by seed. 0.5 rad gives a smooth phase, whose picture
/// is sharp, with hardly any defocus; pi a random phase, which fills the pupil, with speckle.
Array<float, 3> starting_phase(Shape<3> shape, double spread_rad = 0.5, std::uint64_t seed = 1);

/// Smooth start with a lens: adds the phase of a lens whose light spreads evenly over the signal region,
///   phi(x) = pi (alpha x^2 + beta x),   alpha = columns / nx^2,   beta = 2 (column + columns / 2 - nx / 2) / nx
/// along x in pixels from the panel's middle, and the same along y. Throws invalid_argument as the plan does.
void spread_over_region(View<float, 3> phase_rad, const PhaseRetrievalOptions& options);

/// Approximate memory on the device of a plan and its solver. Throws as the plan.
std::size_t retrieval_bytes(const PhaseRetrievalOptions& options, const SolverOptions& solver = {}, Device device = {});

}  // namespace holotone
