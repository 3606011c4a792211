#pragma once
#include <cstdint>
#include <holotone/optics/field.hpp>
#include <holotone/optics/reference_beam.hpp>
#include <holotone/optics/viewer.hpp>
#include <holotone/quantize/diffusion_weights.hpp>
#include <optional>
#include <vector>

// Weights of error diffusion for each hogel of a panel and a viewer.
namespace holotone {

/// Returns the part of the viewing window (signal_window) that light from (x_m, y_m) on the panel reaches, in the
/// panel's own frequencies: less those of the beam that lights it, the intersection with |frequency| <= 1/2. Empty if a
/// side of the intersection is below 1e-3 cycles a pixel, or below half the window's side if that is less. Throws as
/// signal_window.
std::optional<SignalWindow> reached_window(const FieldGrid& grid, const Viewer& viewer, double x_m, double y_m,
                                           const ReferenceBeam& beam = {});

/// Weights of all hogels, and their statistics.
struct HogelWeights {
  DiffusionWeights weights;    ///< {hogels, taps}, or {1, taps} common to all hogels
  std::int64_t clipped = 0;    ///< number of hogels with a part of the window beyond the diffraction angle
  std::int64_t unreached = 0;  ///< number of hogels without a reached_window: their weights are 0
  int min_used = 0;            ///< minimum number of non-zero weights of a hogel, without unreached hogels
  int max_used = 0;            ///< maximum number of non-zero weights of a hogel
  double min_sum = 0;          ///< minimum sum of |weights| of a hogel, without unreached hogels
  double max_sum = 0;          ///< maximum sum of |weights| of a hogel
};

struct WindowWeightOptions {
  std::int64_t hogel_px = 0;  ///< side of a hogel in pixels; 0: the whole panel is one hogel
  /// true: one set for each hogel, for the window seen from the hogel's centre (VDED). false: one set for all hogels,
  /// for the window seen from the panel's centre (SWED).
  bool each_hogel = true;
  WeightOptions weights{};
  ReferenceBeam beam{};  ///< lights the panel; the field is without it (remove_beam)
};

/// Computes diffusion_weights for the viewing window as seen from each hogel. Throws invalid_argument naming `viewer`,
/// with the missing angle in degrees, if light from no hogel reaches the window. Throws as diffusion_weights too. Cost:
/// that of diffusion_weights.
HogelWeights window_weights(const FieldGrid& grid, const Viewer& viewer, const WindowWeightOptions& options = {},
                            Progress& progress = Progress::none());

/// Chooses taps for a viewer who moves: diffusion_taps for the windows of every hogel, seen by viewers at 27 places of
/// the box with the corners `from` and `to` (in x, y and distance; width and height change with the distance from those
/// of `from` to those of `to`). With these taps as WeightOptions::given_taps, the weights of all frames fit one plan:
///   options.weights.given_taps = viewer_taps(grid, from, to, options);
///   ErrorDiffusionPlan plan(..., window_weights(grid, from, options).weights, grid.shape(), queue);
///   for each frame: plan.set_weights(window_weights(grid, viewer, options).weights), plan.execute(field, codes)
/// Throws as window_weights, for the 27 places together. Cost O(27 hogels).
std::vector<DiffusionTap> viewer_taps(const FieldGrid& grid, const Viewer& from, const Viewer& to,
                                      const WindowWeightOptions& options = {}, Progress& progress = Progress::none());

/// Adds the statistics of HogelWeights to given weights, such as floyd_steinberg_weights().
HogelWeights counted_weights(DiffusionWeights weights, std::int64_t clipped = 0, std::int64_t unreached = 0);

}  // namespace holotone
