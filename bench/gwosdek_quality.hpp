#pragma once
// Figures 4 and 5 of Gwosdek et al. 2012: effect of the forces' accuracy on halftones.
#include <cstdint>
#include <holotone/core/device.hpp>
#include <nlohmann/json.hpp>

namespace bench {

/// Halftones of constant grey 0.85 from `seeds` starts, with float64 direct sums, the paper's split at m = 3, 4, 5 and
/// the default. Prints blurred PSNR over sigma, and RAPS and anisotropy of the interior. Also counts the annuli of at
/// least 200 samples in the 95 % band of the direct sums' seeds.
void print_gwosdek_quality(holotone::Device device, std::int64_t seeds, nlohmann::json& results);

}  // namespace bench
