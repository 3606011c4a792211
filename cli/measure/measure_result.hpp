#pragma once
#include <cli/measure/measure_job.hpp>
#include <nlohmann/json_fwd.hpp>

namespace holotone::cli {

/// All measurements.
struct Measured : DotMeasures {
  MeasuredDots source;
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
