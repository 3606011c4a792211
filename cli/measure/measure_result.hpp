#pragma once
#include <cli/measure/measure_job.hpp>
#include <holotone/metrics/blurred_comparison.hpp>
#include <holotone/metrics/neighbours.hpp>
#include <nlohmann/json_fwd.hpp>

namespace holotone::cli {

/// All measurements.
struct Measured {
  MeasuredDots source;
  std::int64_t inside = 0;  ///< dots in the interior
  double density = 0;       ///< of the interior, dots per square unit of the page
  Spectrum spectrum;
  Shape<2> pieces{};
  std::optional<RadialSpectrum> radial;  ///< none if the interior is too narrow; then `spectrum` is empty too
  RadialSummary summary;
  std::optional<PairCorrelation> pairs;  ///< none for a single dot
  NearestSummary nearest;
  /// Comparison with an image.
  Shape<2> image{};
  double ink = 0;      ///< its ink, pixels
  double charge = 0;   ///< mean pixels of ink per dot
  double spacing = 0;  ///< sqrt(image pixels / dots on the page): mean dot spacing, pixels of the image
  double scale_x = 1;
  double scale_y = 1;
  std::vector<BlurredSimilarity> blurred;
  std::vector<std::string> warnings;
};

/// Throws as the library does.
Measured measure(const MeasureJob& job, Progress& progress);

/// All measurements as one object; non-finite values are null.
nlohmann::json measured_json(const MeasureJob& job, const Measured& measured);

/// Rows "series,x,value"; x is empty for single numbers.
std::string measured_csv(const MeasureJob& job, const Measured& measured);

/// One page with all measurements: numbers, plots, the spectrum as a picture, a section of the dots.
std::string measured_html(const MeasureJob& job, const Measured& measured);

/// Lines of the short table.
std::vector<std::string> measured_lines(const MeasureJob& job, const Measured& measured);

}  // namespace holotone::cli
