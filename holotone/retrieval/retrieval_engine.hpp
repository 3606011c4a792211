#pragma once
// Interface between the plan (phase_retrieval.cpp), the solvers and the engines. Not for users.
#include <holotone/optics/half_pixel.hpp>
#include <holotone/retrieval/phase_retrieval.hpp>
#include <span>
#include <vector>

namespace holotone::retrieval {

/// Sums over the signal region at one position of a plane, q = a or a^2 by the loss and Q = T or T^2.
struct RegionSums {
  double energy = 0;     ///< sum of a^2
  double light = 0;      ///< sum of q^2
  double agreement = 0;  ///< sum of q Q
  double target = 0;     ///< sum of Q^2

  /// Sum of (scale q - Q)^2.
  [[nodiscard]] double error(double scale) const { return target + scale * (scale * light - 2 * agreement); }
};

/// The options with all of the region. Throws as PhaseRetrievalPlan for any out of range.
PhaseRetrievalOptions checked_options(const PhaseRetrievalOptions& options);

inline constexpr std::size_t max_positions = half_pixels.size();
inline constexpr int level_bins = 4096;

using PositionWaves = std::array<Array<Complex, 2>, max_positions>;

/// Light, its derivatives and vectors on one device. Views are already checked; vectors and phases are {frames, ny, nx}
/// on the device, all else in host memory.
class Engine {
 public:
  virtual ~Engine() = default;
  virtual void set_target(std::size_t plane, const float* amplitude) = 0;
  virtual void set_source(const Complex* light) = 0;
  /// Replaces the simulated amplitude {planes, positions, ny, nx} until the next propagate.
  virtual void set_measured(const float* amplitude) = 0;
  /// Propagates phases to all planes at some first positions: one, or all.
  virtual void propagate(const float* phase, std::size_t positions) = 0;
  /// Light from the panel at the last propagate: the mean of the frames' sum of |u|^2.
  [[nodiscard]] virtual double panel_light() const = 0;
  /// Sums of the light of the last propagate, or of the measured light; plane by plane.
  [[nodiscard]] virtual std::vector<RegionSums> sums(RetrievalLoss loss) const = 0;
  /// Derivative of the loss with scale `s` at the last propagate's phases and positions.
  virtual void differentiate(const float* phase, double s, float* derivative) = 0;
  /// The next phases of Gerchberg and Saxton's algorithm: the argument of conj(A) (A exp(i phi) - gain G), G as in
  /// differentiate.
  virtual void project(const float* phase, double s, double gain, float* next) = 0;
  /// Multiplies the targets that differentiate and project use by T / a, at one energy of all of them.
  virtual void reweigh() = 0;
  virtual void clear_weights() = 0;
  /// Amplitude {ny, nx} of the last propagate, the frames together; 0 outside the region.
  virtual void amplitude(std::size_t plane, std::size_t position, float* out) const = 0;
  /// Waves {rows, columns} over the region of a frame of the last propagate, at its positions.
  [[nodiscard]] virtual PositionWaves waves(std::size_t plane, std::int64_t frame) const = 0;

  /// Products of each vector of `a` with each of `b`: rows of b.size() values.
  [[nodiscard]] virtual std::vector<double> dots(std::span<const float* const> a,
                                                 std::span<const float* const> b) const = 0;
  /// out = sum_i factors_i vectors_i; out may be one of the vectors.
  virtual void combine(std::span<const double> factors, std::span<const float* const> vectors, float* out) const = 0;
  /// A step of Adam with the moments m and v, which the first iteration, 1, sets.
  virtual void adam(const float* derivative, float* m, float* v, float* phase, double rate, int iteration) const = 0;
  /// Numbers of phases by the distance to their nearest level on the circle, in `level_bins` equal bins up to pi.
  /// Levels are sorted and in [0, 2 pi).
  virtual std::vector<std::int64_t> level_distances(const float* phase, const std::vector<float>& levels) const = 0;
  /// Replaces phases by their nearest level where it is at most `reach` away.
  virtual void round_to_levels(float* phase, const std::vector<float>& levels, float reach) const = 0;
  /// Zeroes the derivative by phases that are exactly a level.
  virtual void hold_levels(const float* phase, const std::vector<float>& levels, float* derivative) const = 0;
};

std::unique_ptr<Engine> engine_cpu(const PhaseRetrievalOptions& options);
std::unique_ptr<Engine> engine_cuda(const PhaseRetrievalOptions& options, const Queue& queue);

}  // namespace holotone::retrieval
