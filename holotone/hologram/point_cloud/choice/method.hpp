#pragma once
// Only place that chooses a point cloud's method and its parameters, by measured prices. Not for users.
#include <holotone/hologram/point_cloud/choice/far_grid.hpp>
#include <holotone/hologram/point_cloud/choice/fast_grid.hpp>
#include <holotone/hologram/point_cloud/choice/fast_layout.hpp>
#include <holotone/hologram/point_cloud/choice/spectrum_grid.hpp>
#include <holotone/hologram/point_cloud/engine.hpp>
#include <optional>
#include <span>
#include <vector>

namespace holotone::point_cloud {

/// Method of a cloud's sum, and its parameters.
struct MethodChoice {
  PointMethod method = PointMethod::automatic;  ///< never automatic once chosen
  FastLayout layout;                            ///< for fast on the CPU
  Shape<2> spectrum_block{};                    ///< for fast of the exact wave: extents of the panel's blocks
  /// For fast on CUDA; valid for its own cloud and similar ones. With a grid for the exact wave: coarse nodes sum it.
  FastChoice fast;
  SpectrumGrid spectrum;  ///< else, for the exact wave
  FarGrid far;            ///< takes its place if microseconds > 0
  int fast_number = 0;    ///< differs for each new `fast` or `spectrum`
  double seconds = 0;     ///< estimate for one sum
  bool timed = false;     ///< CUDA, blocks: the panel takes so long that timing the algorithms of its products pays
};

/// Cost in picoseconds: fixed per pixel, and per pair of pixel and point.
struct MethodPrice {
  PointMethod method;
  double fixed_ps;
  double pair_ps;
};

/// Returns the prices of the methods whose cost does not depend on the points' positions, in the order direct,
/// recurrence, separable.
std::span<const MethodPrice> method_prices(Backend backend, double tolerance);
/// Returns the costs of the parts of fast on the CPU.
FastCosts fast_cpu_costs();

/// The methods of which one is chosen for a cloud: the one of the options, or all that `automatic` may take. Throws
/// unsupported for a method that does not have the wave or the tolerance.
std::vector<PointMethod> possible_methods(const PointCloudOptions& options, Backend backend);

/// True if a method computes the exact wave at these options.
bool has_exact_wave(PointMethod method, const PointCloudOptions& options, Backend backend);

/// True if Wave::automatic may be the exact one, depending on the points.
bool may_be_exact(const PointCloudOptions& options, Backend backend);

/// Returns the wave of a sum for Wave::automatic: spherical where the largest deviation of Fresnel's exceeds 0.1 rad
/// (100 times a tolerance below 1e-3) and a method other than direct, or the one given, has it; automatic where both
/// will do and either may be the faster one; else Fresnel's.
Wave choose_wave(const PointCloudOptions& options, Backend backend, const PointSummary& summary);

/// Chooses the method of a sequence of clouds. On CUDA the choice and its tables are kept while clouds fill the same
/// ranges.
class MethodChooser {
 public:
  /// on_chip: the device makes masked products on chip (fast_masks_on_chip).
  MethodChooser(const PointCloudOptions& options, std::int64_t rows_at_once, Backend backend, bool on_chip = false);

  /// Reads the points only if fast may be the cheapest; on CUDA, only their summary.
  const MethodChoice& choose(const EnginePoints& points);

 private:
  [[nodiscard]] double price_seconds(PointMethod method, std::int64_t points) const;
  [[nodiscard]] PointMethod cheapest(std::int64_t points) const;
  void choose_layout(std::span<const PixelPoint> points);
  void choose_spectrum(std::span<const PixelPoint> points);
  void choose_grid(const EnginePoints& points);
  void choose_wave_grid(const EnginePoints& points);
  double choose_wave_spectrum(std::int64_t count, const PointSummary& summary);

  PointCloudOptions options_;
  std::int64_t rows_at_once_;
  Backend backend_;
  MethodChoice choice_;
  FastPrecision precision_;  ///< CUDA
  FastCloud planned_;        ///< CUDA: cloud of choice_.fast; no points: none
};

}  // namespace holotone::point_cloud
