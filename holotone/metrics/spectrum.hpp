#pragma once
#include <cstdint>
#include <holotone/core/array.hpp>
#include <holotone/core/enum_names.hpp>
#include <holotone/core/progress.hpp>
#include <holotone/metrics/region.hpp>
#include <memory>
#include <vector>

namespace holotone {

/// Window function of a piece of a point set.
enum class SpectrumWindow {
  rectangle,  ///< no weights: the sharp edges leak along the axes
  hann,       ///< (1 - cos 2 pi x / w)(1 - cos 2 pi y / h): leaks far less, blurs by two frequencies
};
template <>
inline constexpr auto enum_names<SpectrumWindow> =
    std::array{EnumName<SpectrumWindow>{SpectrumWindow::rectangle, "rectangle"},
               EnumName<SpectrumWindow>{SpectrumWindow::hann, "hann"}};

struct SpectrumOptions {
  Region region{};                 ///< part of the page to measure, pixels
  std::int64_t segments = 10;      ///< equal pieces of the region whose periodograms are averaged
  double largest_frequency = 0.7;  ///< highest frequency along x and along y, cycles a pixel
  SpectrumWindow window = SpectrumWindow::rectangle;
  double tolerance = 1e-6;  ///< relative l2 error of the transforms by the non-uniform FFT
};

/// Size of a SpectrumPlan, available before it allocates memory.
struct SpectrumSize {
  Shape<2> pieces{};         ///< rows and columns of pieces
  Shape<2> frequencies{};    ///< frequencies of a piece, at most 2^29 + 1 a side
  std::int64_t annuli = 0;   ///< number of annuli of radial_spectrum; 0: the pieces are too narrow for one
  std::int64_t workers = 1;  ///< number of pieces transformed at a time
  double bytes = 0;          ///< approximate memory, bytes
};

/// Throws as SpectrumPlan, except for too many frequencies and out_of_memory. Cost O(segments).
SpectrumSize spectrum_size(const SpectrumOptions& options);

/// Power spectrum over frequencies of both signs on both axes.
struct Spectrum {
  /// {ny, nx}, odd. Element (r, c) is the power at f = ((c - (nx - 1) / 2) step_x, (r - (ny - 1) / 2) step_y), y down.
  Array<float, 2> power;
  double step_x = 0;              ///< frequency step along x, cycles a pixel
  double step_y = 0;              ///< frequency step along y, cycles a pixel
  double density = 0;             ///< density of the region, dots a square pixel
  std::int64_t periodograms = 0;  ///< number of periodograms averaged
  std::int64_t points = 0;        ///< number of dots in all periodograms
};

/// Power spectra of point sets at their exact positions:
///   P(f) = < |sum_j exp(-2 pi i f.x_j)|^2 / n >
/// The mean is over the periodograms of `segments` equal pieces of the region (Bartlett's estimate, as Ulichney
/// averages). n is the number of dots of a piece; pieces without dots are skipped. f are the multiples of (1 / w, 1 /
/// h) of a piece w x h, where a uniform density has power only at 0. Random dots have P = 1. With the Hann window
/// terms are weighted, the transform of the mean density is subtracted, and n is the sum of squared weights.
/// Pieces form the grid of rows and columns that makes them as square as possible. Every `add` averages another point
/// set into the spectrum: ten halftones with different seeds give the same estimate as ten pieces. Host memory; on all
/// CPU threads.
/// Cost O(points log^2(1 / tolerance) + F log F) for F frequencies of a piece, each piece. Memory about 82 F bytes,
/// for each thread if there are at least as many pieces as threads.
/// Source: R. Ulichney, Digital Halftoning (1987), chapter 3.
class SpectrumPlan {
 public:
  /// Throws invalid_argument for a region that is not positive, segments < 1, a largest frequency not > 0, more than
  /// 2^28 frequencies a piece, or a tolerance outside 1e-12 to 0.1; out_of_memory.
  explicit SpectrumPlan(const SpectrumOptions& options);
  ~SpectrumPlan();
  SpectrumPlan(SpectrumPlan&&) noexcept;
  SpectrumPlan& operator=(SpectrumPlan&&) noexcept;

  /// Adds positions {count, 2}; those outside the region are ignored. Throws invalid_argument for another shape or
  /// coordinates that are not finite; cancelled.
  void add(View<const float, 2> position, Progress& progress = Progress::none());
  /// Spectrum of all sets added; power is 0 if they have no dot in the region.
  [[nodiscard]] Spectrum spectrum() const;

  /// Rows and columns of pieces.
  [[nodiscard]] Shape<2> pieces() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// One-shot SpectrumPlan.
Spectrum power_spectrum(View<const float, 2> position, const SpectrumOptions& options,
                        Progress& progress = Progress::none());

/// Spectrum averaged over circles around f = 0. Entry i is the annulus |f| in [(i + 1/2) width, (i + 3/2) width), with
/// centre (i + 1) width, in cycles a pixel.
struct RadialSpectrum {
  double width = 0;
  std::vector<double> frequency;   ///< centre of the annulus, cycles a pixel
  std::vector<double> power;       ///< RAPS: mean of P over the annulus
  std::vector<double> anisotropy;  ///< s^2 / RAPS^2, s^2 the sample variance of P in the annulus; NaN where RAPS is 0
  std::vector<std::int64_t> samples;  ///< number of frequencies in the annulus; half are independent: P(-f) = P(f)
};

/// Radially averaged power spectrum and anisotropy (Ulichney 1987). Annuli beyond the spectrum's largest frequency are
/// omitted. Random dots have RAPS 1 and anisotropy 1 / K after K periodograms: -10 dB at ten, which is the floor.
/// `width` 0: the larger step of the spectrum. Throws invalid_argument for a negative width or a spectrum smaller than
/// one annulus. Cost O(frequencies).
RadialSpectrum radial_spectrum(const Spectrum& spectrum, double width = 0);

/// 10 log10 of an anisotropy.
double anisotropy_db(double anisotropy);

/// Summary of a radial spectrum over annuli of at least `min_samples` frequencies (low_power: over all annuli).
struct RadialSummary {
  double low_power = 0;   ///< mean power up to half the principal frequency, weighted by samples; NaN without annuli
  double peak_power = 0;  ///< largest RAPS
  double peak_frequency = 0;      ///< frequency of the peak, cycles a pixel
  double mean_anisotropy_db = 0;  ///< mean of the annuli's anisotropies in dB
  double largest_anisotropy_db = 0;
  double floor_db = 0;  ///< anisotropy of random dots: -10 log10(periodograms)
  std::int64_t annuli = 0;
};
RadialSummary summarise(const RadialSpectrum& radial, const Spectrum& spectrum, std::int64_t min_samples = 200);

}  // namespace holotone
