#pragma once
#include <cli/measure/measure_plot.hpp>
#include <cli/measure/measure_result.hpp>
#include <holotone/io/images/image.hpp>

// Figures of the measurements, for pages.
namespace holotone::cli {

/// Power spectrum, 512 x 512 codes: -20 dB black to +10 dB white, frequency 0 in the middle. Both axes end at the same
/// maximum. Power is averaged where the spectrum is finer than the picture.
Image spectrum_picture(const Spectrum& spectrum);

/// Radially averaged power spectrum, and anisotropy; of measurements with a `radial`.
Plot raps_plot(const Measured& m);
Plot anisotropy_plot(const Measured& m);

/// Pair correlation; of measurements with `pairs`.
Plot pairs_plot(const Measured& m);

/// PSNR, or SSIM if `structure`, after each blur.
Plot blurred_plot(const Measured& m, bool structure);

}  // namespace holotone::cli
