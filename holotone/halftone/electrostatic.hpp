#pragma once
#include <cstdint>
#include <functional>
#include <holotone/core/array.hpp>
#include <holotone/core/bounds.hpp>
#include <holotone/core/enum_names.hpp>
#include <holotone/core/progress.hpp>
#include <memory>
#include <string>
#include <string_view>

namespace holotone {

/// Method of the sum over dots.
enum class ForceSum {
  ewald,   ///< near part of the force from neighbours, the smooth rest from one real grid: fast, tolerance-controlled
  taylor,  ///< three sums of Gwosdek et al.: Taylor-regularised kernel, manual window cut-off and degree; CPU only
  direct,  ///< every pair: cost O(count^2)
};

/// Method of finding the neighbours of a dot.
enum class NearField {
  cells,  ///< dots sorted into cells: finds all neighbours
  map,  ///< Gwosdek et al.'s map of one dot a cell: misses neighbours in dense areas (see missed_neighbours); CPU only
};

/// Attraction A of the image's pixels. ElectrostaticPlan has the sums; the two differ in s and between the centres.
enum class ImageForce {
  spots,  ///< each pixel a small round spot of ink: s(r) as there, a cubic spline between the pixels' centres
  /// Gwosdek et al. 2012, Eq. (1): s = 1, but s(0) = 0 (a pixel does not act at its own centre), bilinear between the
  /// centres. It attracts like a more blurred image. set_ink computes a table on the host, by six float64 transforms
  /// of twice the page for `ewald` and three for the others.
  points,
};

template <>
inline constexpr auto enum_names<ForceSum> =
    std::array{EnumName<ForceSum>{ForceSum::ewald, "ewald"}, EnumName<ForceSum>{ForceSum::taylor, "taylor"},
               EnumName<ForceSum>{ForceSum::direct, "direct"}};
template <>
inline constexpr auto enum_names<NearField> =
    std::array{EnumName<NearField>{NearField::cells, "cells"}, EnumName<NearField>{NearField::map, "map"}};

struct ElectrostaticOptions {
  ForceSum sum = ForceSum::ewald;
  /// Root mean square error of the net force for dots placed at random with the ink's density, relative to the root
  /// mean square of that force; 1e-5 to 1e-1. `ewald` only. Forces on dots at rest are a thousand times smaller. With
  /// 1e-4 their spectrum and blurred error equal those of exact sums; with 5e-4 blurred PSNR above 80 dB does not.
  double tolerance = 1e-4;
  int window_cutoff = 5;              ///< m of Gwosdek et al.: a window spans 2 m nodes; 2 to 5. `taylor` only
  int taylor_degree = 5;              ///< p-hat of Gwosdek et al.; 2 to 12. `taylor` only
  NearField near = NearField::cells;  ///< method for `ewald` and `taylor`
  bool deterministic = false;         ///< same bits in every run on CUDA too, slower; the CPU is always deterministic
  /// Mean density at the dots relative to the page's mean: mean of ink^2 / (mean of ink)^2. Only balances work between
  /// grid and neighbours; 1 to 1e6. `ewald` only.
  double crowding = 1;
  /// Called after each stage of forces() and step(), for profiles; on CUDA when the stage is enqueued (steps are then
  /// not recorded as a graph). Stages have names such as "spread"; "sort" after a step belongs to the next.
  std::function<void(std::string_view stage)> on_stage{};
  ImageForce image = ImageForce::spots;  ///< for every ForceSum
  /// N of Gwosdek et al., modes along an axis, 64 to 8192, rounded up to a size with fast transforms; 0: sqrt(p-hat
  /// dots), at least 64. `taylor` only
  std::int64_t taylor_modes = 0;
  /// epsilon_I of Gwosdek et al. as a share of p-hat / N, 0.25 to 1. They print p-hat / (oversampled N), a half: errors
  /// at p-hat = 3 and 4 then form lattices of dots (docs/halftoning.md). `taylor` only
  double taylor_radius = 1;
};

template <>
inline constexpr Bounds bounds_of<&ElectrostaticOptions::tolerance>{1e-5, 0.1};
template <>
inline constexpr Bounds bounds_of<&ElectrostaticOptions::window_cutoff>{2, 5};
template <>
inline constexpr Bounds bounds_of<&ElectrostaticOptions::taylor_degree>{2, 12};
template <>
inline constexpr Bounds bounds_of<&ElectrostaticOptions::crowding>{1, 1e6};
template <>
inline constexpr Bounds bounds_of<&ElectrostaticOptions::taylor_radius>{0.25, 1};

enum class Descent {
  momentum,  ///< heavy ball; a velocity that points against the force is reset
  plain,     ///< Gwosdek et al.: a fixed step along the force
};

/// Move of a dot at p under the force F. rho(p) is the ink's density in dots a square pixel, smoothed over about a
/// dot's spacing and at least a twelfth of its mean.
///   t     = tau                   limit = largest_move               (density_scaled = false; tau in square pixels)
///   t     = tau / rho(p)          limit = largest_move / sqrt(rho(p))  (density_scaled = true; both without unit)
///   plain      d = t F
///   momentum   v <- 0 if v.F < 0;  v <- momentum v + t F, shortened to `limit`;  d = v
/// d is shortened to `limit`, and p + d is projected to the nearest point of the page; a component of v that left it
/// becomes 0. Plain steps are stable while t < 1 / (pi rho).
struct StepRule {
  Descent descent = Descent::momentum;
  double tau = 0.1;
  double momentum = 0.9;       ///< 0 to 0.999
  bool density_scaled = true;  ///< steps and limits in units of the local spacing of dots
  double largest_move = 0.5;
  /// Factor of the force -edge_correction grad ln(ink) that step() and move() add: 0 to 1. It corrects the contrast of
  /// edges, which dots at rest exaggerate. Point charges are pushed toward higher density by about grad rho / (4 rho)
  /// more than a smeared charge. This is the pressure of a plane of charges, whose energy is -ln(rho) / 4 each up to a
  /// constant. The ink is smoothed over a third of the dots' spacing and at least a twelfth of its mean. Theory gives
  /// 1/4 for smooth ink; the default is smaller because the spot of a pixel's ink already blurs a little.
  double edge_correction = 0.2;

  /// Gwosdek et al., Eq. (1): p <- p + 0.1 F, at most a pixel.
  static constexpr StepRule paper() { return {Descent::plain, 0.1, 0, false, 1, 0}; }
};

template <>
inline constexpr Bounds bounds_of<&StepRule::edge_correction>{0, 1};

/// Magnitudes of the forces in the last step(), move() or forces(), 1/px.
struct ForceStatistics {
  double mean = 0;
  double rms = 0;
};

/// Parameters that a plan chose.
struct ElectrostaticInfo {
  Shape<2> grid{};            ///< padded grid {ny, nx}; zeros for `direct`
  int width = 0;              ///< nodes of the window along an axis
  double splitting_px = 0;    ///< radius of the charge clouds of `ewald`, of the regularised kernel of `taylor`
  double cutoff_px = 0;       ///< neighbours within this distance are summed directly
  double expected_error = 0;  ///< expected error of the net force, defined as `tolerance`; 0 if unknown
  std::size_t bytes = 0;      ///< memory of the plan on its device
  std::string arithmetic;     ///< number format and method of the sums: "float32 ..."
};

/// Dots as charged particles that repel each other and are attracted by an image's ink, under the 2-D Coulomb force.
///
/// The page is [0, nx] x [0, ny] in pixels, y down; pixel (row, col) has its centre at (col + 0.5, row + 0.5). Dots
/// have charge 1. The ink is scaled to the total charge of the dots: q_c = ink_c count / sum of ink for the pixel with
/// centre c. The net force on dot i at p_i is, in 1/px,
///
///   F_i = A(p_i) - sum_{j != i} (p_j - p_i) / |p_j - p_i|^2
///   A(k) = sum_c q_c s(|c - k|) (c - k) / |c - k|^2   at every pixel's centre k (on the page and off it)
///   s(r) = 1 - exp(-u) (1 - 2 u + u^2 / 2),   u = (r / 0.75 px)^2
///
/// and A between the centres is the cubic spline through these values. A pixel's ink is thus a small round spot.
/// Gwosdek et al. instead omit c = k and interpolate linearly (ImageForce::points). Dots at the same position repel
/// each other in a pseudo-random direction as if they were 1/64 of the mean spacing apart.
///
/// An image with far fewer pixels than dots makes a step slow (neighbours within some pixels are summed directly). One
/// with far more pixels than dots makes set_ink slow: resample ink to about a pixel a dot.
///
/// Cost of an iteration O(count + nodes log nodes), of `direct` O(count^2). Only the constructor allocates, and
/// set_ink of `direct`, `taylor`, ImageForce::points and NearField::map. All views are on the plan's device; on CUDA
/// everything but set_ink, set_positions and statistics only enqueues.
///
/// Sources: Schmaltz, Gwosdek, Bruhn, Weickert 2010; Teuber et al. 2011; Gwosdek, Schmaltz, Weickert, Teuber 2012
/// ("Fast electrostatic halftoning", Eq. (1) to (12)); split into near and far: Ewald 1921, Hockney and Eastwood 1981.
class ElectrostaticPlan {
 public:
  /// `page` {ny, nx}, extents 1 to 32768; `maximum_dots` 0 to 2^30. Throws invalid_argument for these and for options
  /// out of range, unsupported for a ForceSum that the device lacks, out_of_memory, device.
  ElectrostaticPlan(Shape<2> page, std::int64_t maximum_dots, Queue queue = {},
                    const ElectrostaticOptions& options = {});
  ~ElectrostaticPlan();
  ElectrostaticPlan(ElectrostaticPlan&&) noexcept;
  ElectrostaticPlan& operator=(ElectrostaticPlan&&) noexcept;

  /// Sets the attracting image: {ny, nx}, ink >= 0 in any unit (linear: twice the ink, twice the dots). Throws
  /// invalid_argument for a value that is not finite or negative (with the pixel), and if there is no ink.
  void set_ink(View<const float, 2> ink);

  /// Sets x, y of each dot in pixels: {count, 2}, count <= maximum_dots. Positions outside the page are projected to
  /// its nearest point; velocities become 0. Throws invalid_argument for a coordinate that is not finite (with the
  /// first).
  void set_positions(View<const float, 2> positions);

  /// Writes positions {count, 2}, in the order of set_positions.
  void positions(View<float, 2> positions);

  /// Writes F_i at the present positions {count, 2}, in the same order. Throws invalid_argument before set_ink.
  void forces(View<float, 2> forces);

  /// Runs one iteration: computes the forces (with edge_correction) and moves the dots.
  void step(const StepRule& rule = {});

  /// Moves the dots by the caller's forces, {count, 2} (several inks: weighted sums of the forces within and across
  /// classes). Density, velocities and edge_correction are this plan's own. Throws invalid_argument before set_ink.
  void move(View<const float, 2> forces, const StepRule& rule = {});

  /// Displaces every dot by a random vector, uniform in a disc of `radius` pixels, and projects it onto the page. Dot
  /// i uses random_bits(seed, 2 i) and (seed, 2 i + 1). radius >= 0.
  void shake(double radius, std::uint64_t seed);

  /// Returns the magnitudes of the last forces. Waits for the device.
  [[nodiscard]] ForceStatistics statistics();

  /// Counts the pairs within the cut-off that NearField::map misses at the present positions, once from each side; 0
  /// with NearField::cells. For diagnosis: costs more than a step.
  [[nodiscard]] std::int64_t missed_neighbours();

  [[nodiscard]] const Shape<2>& page() const;
  [[nodiscard]] std::int64_t count() const;
  [[nodiscard]] std::int64_t maximum_dots() const;
  [[nodiscard]] const Queue& queue() const;
  [[nodiscard]] ElectrostaticInfo info() const;

  class Engine;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

struct DescentOptions {
  StepRule rule = {};
  std::int64_t iterations = 300;  ///< maximum number of iterations, 0 to 1e9
  /// The mean force is read every `check_interval` iterations. The descent stops after `patience` readings in a row
  /// that are not below (1 - min_improvement) times the smallest before. min_improvement = 0 and patience = 0:
  /// never.
  std::int64_t check_interval = 10;
  std::int64_t patience = 3;
  double min_improvement = 0.01;
  /// Initial radius of shaking in mean spacings of dots, sqrt(page / count); 0: none. Every `shake_interval`
  /// iterations dots are shaken with a radius that falls linearly to 0 at half of `iterations`; until then the descent
  /// does not stop.
  double shake = 0;
  std::int64_t shake_interval = 10;
  std::uint64_t seed = 1;
  std::int64_t frame_interval = 0;  ///< iterations between calls of on_frame; 0: none
};

template <>
inline constexpr Bounds bounds_of<&DescentOptions::iterations>{0, 1e9};
template <>
inline constexpr Bounds bounds_of<&DescentOptions::min_improvement>{0, 1};
template <>
inline constexpr Bounds bounds_of<&DescentOptions::shake>{0, 100};

struct DescentReport {
  std::int64_t iterations = 0;
  bool converged = false;  ///< true if stopped by the mean force, not by the limit
  ForceStatistics force;   ///< forces of the last iteration
};

/// Moves the plan's dots until the mean force stops improving. Calls `on_frame(iteration)`, if set, before the first
/// iteration, every frame_interval iterations and after the last; it may read positions. Progress: "moving dots",
/// updated at every reading. Throws invalid_argument for options out of range, cancelled.
DescentReport electrostatic_halftone(ElectrostaticPlan& plan, const DescentOptions& options = {},
                                     Progress& progress = Progress::none(),
                                     const std::function<void(std::int64_t)>& on_frame = {});

}  // namespace holotone
