#pragma once
#include <cstdint>
#include <holotone/optics/field.hpp>
#include <holotone/optics/viewer.hpp>
#include <holotone/quantize/diffusion_weights.hpp>
#include <optional>

// Weights of error diffusion for a panel and a viewer, hogel by hogel.
namespace holotone {

/// The part of a viewing window (signal_window) that light from (x_m, y_m) on the panel reaches: a window within
/// |frequency| <= 1/2. None where less than 1e-3 cycles a pixel, or half of a smaller window, is left of a side.
/// Throws as signal_window.
std::optional<SignalWindow> reached_window(const FieldGrid& grid, const Viewer& viewer, double x_m, double y_m);

/// Hogels' weights, and how they differ.
struct HogelWeights {
  DiffusionWeights weights;    ///< {hogels, taps}, or one set for all
  std::int64_t clipped = 0;    ///< hogels from which a part of the window is beyond the diffraction angle
  std::int64_t unreached = 0;  ///< hogels from which all of it is: they have weights 0
  int least_used = 0;          ///< weights that are not 0, of the hogel with the fewest; unreached ones apart
  int most_used = 0;
  double least_sum = 0;  ///< of moduli, over a hogel's weights; unreached ones apart
  double most_sum = 0;
};

struct WindowWeightOptions {
  std::int64_t hogel_px = 0;  ///< side of a hogel; 0: the panel is one
  /// A set for each hogel, for the window as seen from its middle (VDED); false: one for all, as seen from the
  /// panel's (SWED).
  bool each_hogel = true;
  WeightOptions weights{};
};

/// diffusion_weights for the windows that a viewer looks through. Throws invalid_argument naming `viewer` where light
/// from no hogel reaches its window, by how many degrees; and as diffusion_weights. Cost: that of diffusion_weights.
HogelWeights window_weights(const FieldGrid& grid, const Viewer& viewer, const WindowWeightOptions& options = {});

/// Counts and sums of weights from elsewhere, such as floyd_steinberg_weights().
HogelWeights counted_weights(DiffusionWeights weights, std::int64_t clipped = 0, std::int64_t unreached = 0);

}  // namespace holotone
