#pragma once
#include <holotone/core/bounds.hpp>
#include <holotone/core/progress.hpp>
#include <holotone/retrieval/phase_retrieval.hpp>
#include <memory>
#include <optional>
#include <vector>

namespace holotone {

/// Panel in the back focal plane of a lens, or imaged there, and the spots' side of that lens.
struct SpotOptions {
  FieldGrid grid = {};          ///< of the panel, as it is imaged into the lens's back focal plane
  double focal_length_m = 0;    ///< 1 um to 100 m
  double refractive_index = 1;  ///< of the medium of the spots
  PanelResponse response = {};
  double zero_order_phase_rad = 0;  ///< of the unmodulated light
  int levels = 0;                   ///< equally spaced phases that the panel can show; 0: any phase
  std::uint64_t seed = 1;           ///< of the spots' phases at the start
};
template <>
inline constexpr Bounds bounds_of<&SpotOptions::focal_length_m>{1e-6, 100};
template <>
inline constexpr Bounds bounds_of<&SpotOptions::refractive_index>{1, 4};
template <>
inline constexpr Bounds bounds_of<&SpotOptions::levels>{0, 65536};

/// Steps of SpotPlan::solve.
struct SpotSteps {
  std::optional<int> free_steps{};  ///< 1 to 1000; none: 2, and up to 30 while the light in the spots grows
  std::optional<int> kept_steps{};  ///< 0 to 1000; none: until both limits hold, at most 40
  double max_deviation = 1e-3;      ///< standard deviation of intensity / target, over its mean
  double max_worst = 7e-3;          ///< largest difference of intensity / target from its mean, over the mean
};
template <>
inline constexpr Bounds bounds_of<&SpotSteps::free_steps>{1, 1000};
template <>
inline constexpr Bounds bounds_of<&SpotSteps::kept_steps>{0, 1000};
template <>
inline constexpr Bounds bounds_of<&SpotSteps::max_deviation>{1e-6, 1};
template <>
inline constexpr Bounds bounds_of<&SpotSteps::max_worst>{1e-6, 10};

/// Light of a phase in the spots. With r = intensity / target: deviation, worst and contrast are of r.
struct SpotLight {
  /// Share of each spot: |u|^2 over what one spot alone would have, |sum E conj(e)|^2 / ((sum |A|)^2 (1 + z^2)) with
  /// the zero order's amplitude z.
  std::vector<double> intensity;
  double efficiency = 0;  ///< their sum; spots nearer than a width share light, which it counts twice
  double deviation = 0;   ///< standard deviation over mean
  double worst = 0;       ///< max |r - mean| / mean
  double contrast = 0;    ///< (max - min) / (max + min)
  /// Root mean square of arg u_m - phase_m - arg sum u conj(exp(i phase)), of phases of set_phases; without them 0.
  double phase_error_rad = 0;
};

/// What a solution took, and reached.
struct SpotReport {
  SpotLight light;
  int free_steps = 0;
  int kept_steps = 0;
  int rounded_steps = 0;  ///< around the rounding to levels
  int free_spots = 0;     ///< of move: those whose phases were free, new ones and such as meet others
  bool reached = false;   ///< both limits hold; after move those of SpotSteps
};

/// Phase of a panel whose light is a set of spots at any places behind a lens: optical tweezers, atom arrays,
/// two-photon stimulation, laser marking. With the pixels (X, Y) counted from the panel's middle, Y upwards, the pitch
/// p, the focal length f and the refractive index n, the field of spot m at (x, y, z), z beyond the focal plane, is
///   u_m = 1 / (nx ny) sum A (exp(i phi) + zero order) conj(e_m),    the mean of |A|^2 = 1
///   e_m = exp 2 pi i [p (x X + y Y) / (lambda f) + n z / lambda (1 - sqrt(1 - p^2 (X^2 + Y^2) / (n f)^2))]
/// for an aplanatic lens (Abbe's sine condition); for small angles the last term is z p^2 (X^2 + Y^2) / (2 n lambda
/// f^2). The square root is kept where it matters: by groups of spots of similar z, to 0.01 rad at the panel's corner.
/// With a fill factor u_m is darker by sinc(w x / (lambda f)) sinc(w y / (lambda f)), w as in PanelResponse.
///
/// Free steps are weighted Gerchberg-Saxton steps (Di Leonardo, Ianni and Ruocco 2007; weights limited to a factor of
/// 1/4 to 4 a step):   E = unit(sum_m w_m t_m e_m),  t_m = u_m / |u_m|,  w_m *= T_m rms(|u| / T) / |u_m|
/// Kept steps keep the panel's field and add what the spots lack:
///   E <- unit(E + g sum_m s_m (T_m rms(|u| / T) u_m / |u_m| - u_m) e_m),   g = 1.5
/// They have no floor, where weights alone stop at 1 % or more on lattices. s_m is 1 but for spots nearer than a width
/// to others, which have what is added for each other too: min(1, 1.5 / sum_n sinc(distance in widths)), over these and
/// itself.
/// T^2 are the targets' intensities, which are never rescaled in place. With levels, steps with g = 1 that take u from
/// the rounded phase follow while a limit is missed.
///
/// Intensities are within 1e-4 (relative l2) of float64 sums, on CUDA 2e-4, of dense spots 6e-4. Cost of a step: matrix
/// products of 16 nx ny n operations, or on the CPU and CUDA for many spots in one plane non-uniform FFTs. CUDA
/// multiplies in fp16, and after a plan's first solve kept steps in fp8 where the card can. Views are of the host's
/// memory. CPU, CUDA, OpenCL.
class SpotPlan {
 public:
  /// Throws invalid_argument for an option out of range; unsupported for a device that lacks it.
  explicit SpotPlan(const SpotOptions& options, const Queue& queue = {});
  ~SpotPlan();
  SpotPlan(SpotPlan&&) noexcept;
  SpotPlan& operator=(SpotPlan&&) noexcept;

  /// Light {ny, nx} that falls on the panel: a beam's amplitude, and a phase such as an aberration's, which the codes
  /// correct. Finite, not zero everywhere; its scale does not matter. Without it 1. Throws invalid_argument.
  void set_light(View<const Complex, 2> light);

  /// Spots {n, 3} in metres, n >= 1, and their intensities {n} in any unit, finite, > 0; an empty view: equal. `id` {n}
  /// names them for move, each once; an empty view: 0 to n - 1. Starts anew. Throws invalid_argument naming the spot:
  /// not finite, beyond the diffraction order |x|, |y| <= lambda f / (2 p), of a depth with more than 1e5 turns of its
  /// wave at the panel's corner, or for z other than 0 a panel with light beyond n f.
  void set_spots(View<const float, 2> position_m, View<const float, 1> intensity = {},
                 View<const std::int64_t, 1> id = {});

  /// Phases {n} that the spots' fields are to have but for a common one, in radians, finite; an empty view: any, as
  /// after set_spots. Free steps then keep them as t_m, and kept steps add what u_m lacks of T_m rms(|u| / T) t_m.
  /// Starts anew. For spots that interfere, as neighbours within two widths do; others need none, and lattices lose
  /// light by equal ones. Throws invalid_argument before set_spots, for another number and a phase that is not finite.
  void set_phases(View<const float, 1> phase_rad = {});

  /// Finds the phase. The same spots, options and seed give the same phase, on CUDA to 0.005 rad rms. Throws
  /// invalid_argument before set_spots.
  SpotReport solve(const SpotSteps& steps = {}, Progress& progress = Progress::none());

  /// Takes a phase {ny, nx} as what solve has found: that of codes which a panel shows. Throws invalid_argument before
  /// set_spots.
  void start_from(View<const float, 2> phase_rad);

  /// Takes the spots' intensities {n} as a camera or atoms have measured them under the phase as it is, in any unit,
  /// finite, >= 0. Steps then aim at
  ///   T_m^2 = |u_m|^2 (mean r / r_m)^gain,   r_m = measured_m / intensity_m,
  /// the change within 1/4 to 4; gain 0.01 to 1, less for noisy measurements. Reports stay those of the intensities of
  /// set_spots: their light then differs by what the optics need. A loop over measured targets as in Nogrette et al.,
  /// Phys. Rev. X 4, 021034 (2014). Throws invalid_argument before solve or start_from, naming a spot, and if
  /// all are 0.
  void set_measured(View<const float, 1> measured, double gain = 0.7);

  /// Kept steps from the phase as it is, to the targets of set_measured; `reached` is of these. Throws invalid_argument
  /// before solve or start_from.
  SpotReport refine(const SpotSteps& steps = {}, Progress& progress = Progress::none());

  /// Moves the spots, after solve, to {n, 3}: their phases stay locked and only weights change, so that the light stays
  /// in the spots while a panel goes from one phase to the next. A tenth of a width a frame needs two steps; up to
  /// eight more follow while a locked spot is 5 % from its target, and weights that swing change by less. Phases of
  /// spots nearer than a width to another one, or to the unmodulated light's, are free in this frame: they turn to
  /// those of their light by up to 0.1 rad a step, and the frame takes twice the steps. Locked ones may be opposite
  /// there, and their weights grow without bound. Throws invalid_argument as set_spots, and for another number of
  /// spots.
  SpotReport move(View<const float, 2> position_m, int steps = 2);

  /// The same of other spots {n, 3} with their ids {n}, in any order: those that the plan has keep phases and weights,
  /// others begin with a random phase of seed and id that is free in this frame, and those left out are gone.
  /// `intensity` {n} as in set_spots. Throws as set_spots, and for an id that comes twice.
  SpotReport move(View<const float, 2> position_m, View<const std::int64_t, 1> id, View<const float, 1> intensity = {},
                  int steps = 2);

  /// For live panels: free steps, after set_spots from random phases, and then kept ones, without rounding to levels,
  /// limits or a report, for spots that do not merge: s_m is 1. CUDA only enqueues. Throws invalid_argument before
  /// set_spots, and for a number out of SpotSteps' range (0 free steps are allowed).
  void step(int free_steps, int kept_steps);
  /// For live panels: moves as `move` does, but all phases stay locked, without rounding to levels or a report. CUDA
  /// only enqueues: the host prepares a frame while the device takes the steps of the one before. Throws as move.
  void follow(View<const float, 2> position_m, int steps = 2);
  /// Light in the spots after the last steps. Waits for them. Throws invalid_argument before the first.
  [[nodiscard]] SpotLight light() const;

  /// The phase {ny, nx} in [0, 2 pi), rounded to the levels.
  void phase(View<float, 2> phase_rad) const;
  /// 8-bit codes {ny, nx} of the phase: round(256 phase / (2 pi)) modulo 256. On the host, or for CUDA on the plan's
  /// device, where they are only enqueued.
  void codes(View<std::uint8_t, 2> codes) const;
  /// Light of any phase {ny, nx} in the spots, such as that of the codes that a panel shows.
  [[nodiscard]] SpotLight light_in_spots(View<const float, 2> phase_rad) const;

  [[nodiscard]] const SpotOptions& options() const;
  [[nodiscard]] std::int64_t spots() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// From a spot's middle to its first zero in even light, {x, y, z}: lambda f / D of the panel's sides D = nx p, ny p,
/// and 8 n lambda (f / D)^2 of the larger one. Other light {ny, nx}, such as a beam in a pupil, counts as an even one
/// whose amplitude has the same standard deviation s: D = sqrt(12) s, of a round pupil 0.87 of its diameter. Throws
/// invalid_argument for light of another shape, on a device or of none.
std::array<double, 3> spot_width_m(const SpotOptions& options, View<const Complex, 2> light = {});

}  // namespace holotone
