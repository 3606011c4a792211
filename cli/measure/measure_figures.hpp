#pragma once
#include <cli/measure/measure_plot.hpp>
#include <cli/measure/measure_result.hpp>

// Figures of the measurements, for pages.
namespace holotone::cli {

/// Radially averaged power spectrum, and anisotropy; of measurements with a `radial`.
Plot raps_plot(const Measured& m);
Plot anisotropy_plot(const Measured& m);

/// Pair correlation; of measurements with `pairs`.
Plot pairs_plot(const Measured& m);

/// PSNR, or SSIM if `structure`, after each blur.
Plot blurred_plot(const Measured& m, bool structure);

}  // namespace holotone::cli
