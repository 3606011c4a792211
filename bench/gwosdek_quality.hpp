#pragma once
// Figures 4 and 5 of Gwosdek et al. 2012: effect of the forces' accuracy on halftones.
#include <cstdint>
#include <holotone/core/device.hpp>
#include <nlohmann/json.hpp>
#include <string>

namespace bench {

/// Halftones of constant grey 0.85 from `seeds` starts: by float64 direct sums, the paper's split at m = 3, 4, 5, the
/// same with the printed epsilon_I = p / n, the default, and capacity-constrained Voronoi cells. Prints blurred PSNR
/// over sigma, and RAPS and anisotropy of the interior. Also counts the annuli of at least 200 samples in the 95 % band
/// of the direct sums' seeds. `panels`: PNG of dots by direct sums and by the printed epsilon_I, m = 3, 4, 5; or empty.
void print_gwosdek_quality(holotone::Device device, std::int64_t seeds, bool small, const std::string& panels,
                           nlohmann::json& results);

}  // namespace bench
