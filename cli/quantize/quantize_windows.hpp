#pragma once
#include <cli/quantize/quantize_job.hpp>
#include <holotone/optics/field.hpp>
#include <optional>
#include <string>
#include <vector>

namespace holotone::cli {

/// The part of a viewing window that light from (x_m, y_m) on the panel reaches: a window within |frequency| <= 1/2; none if there is hardly any.
std::optional<SignalWindow> reached_window(const FieldGrid& grid, const Viewer& viewer, double x_m, double y_m);

/// Hogels and their weights.
struct HogelWeights {
  DiffusionWeights weights;    ///< {hogels, taps}; one set for all but vded
  std::int64_t clipped = 0;    ///< hogels from which a part of the window is beyond the diffraction angle
  std::int64_t unreached = 0;  ///< hogels from which all of it is: they have weights 0
  int least_used = 0;          ///< weights that are not 0, of the hogel with the fewest
  int most_used = 0;
  double least_sum = 0;  ///< of moduli
  double most_sum = 0;
};

/// The job's weights for hogels of `side` pixels (0: the panel). Throws invalid_argument naming --viewer if no light reaches the window, by how many degrees.
HogelWeights hogel_weights(const QuantizeJob& job, const std::string& path, const FieldGrid& grid, std::int64_t side);

}  // namespace holotone::cli
