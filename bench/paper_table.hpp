#pragma once
// What the two papers' table programs share: options, measuring old against new, printing, JSON.
#include <CLI/CLI.hpp>
#include <bench/measure.hpp>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace bench {

struct TableOptions {
  holotone::Device device;
  std::int64_t max_points = 0;
  std::string json;  ///< file to write, or empty
};

/// `--device`, `--max-points` (default: all rows on CUDA, `cpu_points` on the CPU), `--processor-time`,
/// `--json`, `--help`. Prints and
/// returns an exit code through `code` when the program should end at once.
/// `add` may add options of the program's own.
bool parse_table_options(int argc, char** argv, const std::string& description, std::int64_t cpu_points,
                         TableOptions& options, int& code, const std::function<void(CLI::App&)>& add = {});

/// One measured time.
struct Measured {
  double milliseconds = 0;
  double relative_error = 0;
};

/// The case both papers are measured on: 1920x1024, 8 um, 532 nm, z 0.5 to 0.6 m, no band limit (the papers' formula to
/// the letter), tolerance 1e-3.
cases::PointCloudCase paper_case(std::int64_t points);

/// One method on one cloud; throws std::runtime_error if its result misses the tolerance.
Measured measure(const cases::PointCloudCase& c, const reference::PointWaves& points, const cases::PixelSample& samples,
                 holotone::PointMethod method, PointCloudRun::Output output, holotone::Device device);

/// "12.3", "0.0456": three significant digits, plain notation.
std::string three_digits(double value);

/// Rows as text: the first row is the heading; columns are aligned.
void print_table(const std::vector<std::vector<std::string>>& rows);

/// What every results file starts with: program, commit, device, driver, date.
nlohmann::json results_head(const std::string& program, holotone::Device device);

void write_json(const std::string& path, const nlohmann::json& value);

}  // namespace bench
