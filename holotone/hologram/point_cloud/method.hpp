#pragma once
// The one place that chooses a point cloud's method and its parameters, by measured prices. Not for users.
#include <holotone/hologram/point_cloud/engine.hpp>
#include <holotone/hologram/point_cloud/fast_grid.hpp>
#include <holotone/hologram/point_cloud/fast_layout.hpp>
#include <optional>
#include <span>

namespace holotone::point_cloud {

/// What a cloud is summed by.
struct MethodChoice {
  PointMethod method = PointMethod::automatic;  ///< never automatic once chosen
  FastLayout layout;                            ///< of fast on the CPU
  FastChoice fast;      ///< of fast on CUDA; holds for the cloud it was made for and those near it
  int fast_number = 0;  ///< another one for each new `fast`
};

/// Picoseconds of a pixel, fixed, and of a pixel and point.
struct MethodPrice {
  PointMethod method;
  double fixed_ps;
  double pair_ps;
};

/// The prices of the sums whose cost does not depend on where the points lie, in the order direct, recurrence,
/// separable.
std::span<const MethodPrice> method_prices(Backend backend, double tolerance);
/// That of one of these.
MethodPrice method_price(Backend backend, double tolerance, PointMethod method);
/// Of the parts of fast on the CPU.
FastCosts fast_cpu_costs();

/// Chooses for one cloud after the other. On CUDA the choice stays while clouds stay where they were, with their
/// tables.
class MethodChooser {
 public:
  MethodChooser(const PointCloudOptions& options, std::int64_t rows_at_once, Backend backend);

  /// Looks at the points only where fast could be the cheapest, and there on CUDA at their summary alone.
  const MethodChoice& choose(const EnginePoints& points);

 private:
  [[nodiscard]] PointMethod cheapest(std::int64_t points) const;
  void choose_layout(std::span<const PixelPoint> points);
  void choose_grid(const EnginePoints& points);

  PointCloudOptions options_;
  std::int64_t rows_at_once_;
  Backend backend_;
  MethodChoice choice_;
  FastPrecision precision_;  ///< CUDA
  FastCloud planned_;        ///< CUDA: the cloud that choice_.fast was made for; no points: none
};

}  // namespace holotone::point_cloud
