#pragma once
#include <cli/measure/measure_job.hpp>
#include <holotone/metrics/blurred_comparison.hpp>
#include <holotone/metrics/neighbours.hpp>
#include <nlohmann/json_fwd.hpp>

namespace holotone::cli {

/// All that was measured.
struct Measured {
  MeasuredDots source;
  std::int64_t inside = 0;  ///< dots in the interior
  double density = 0;       ///< of the interior, dots a square unit of the page
  Spectrum spectrum;
  Shape<2> pieces{};
  std::optional<RadialSpectrum> radial;  ///< none where the interior is too narrow; then there is no spectrum either
  RadialSummary summary;
  std::optional<PairCorrelation> pairs;  ///< none for a single dot
  NearestSummary nearest;
  /// Against an image.
  Shape<2> image{};
  double ink = 0;      ///< its ink, pixels
  double charge = 0;   ///< pixels of ink a dot, in the mean
  double spacing = 0;  ///< sqrt(the image's pixels / dots on the page): of dots, in the mean, pixels of the image
  double scale_x = 1;
  double scale_y = 1;
  std::vector<BlurredSimilarity> blurred;
  std::vector<std::string> warnings;
};

/// Throws as the library does.
Measured measure(const MeasureJob& job, Progress& progress);

/// Everything as one object; what is not finite is null.
nlohmann::json measured_json(const MeasureJob& job, const Measured& measured);

/// Rows "series,x,value", x empty for single numbers.
std::string measured_csv(const MeasureJob& job, const Measured& measured);

/// One page with everything in it: numbers, plots, the spectrum as a picture, a piece of the dots.
std::string measured_html(const MeasureJob& job, const Measured& measured);

/// The lines of the short table.
std::vector<std::string> measured_lines(const MeasureJob& job, const Measured& measured);

}  // namespace holotone::cli
