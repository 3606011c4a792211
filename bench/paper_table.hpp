#pragma once
// Shared by the programs of the papers' tables: options, measurements, printing, JSON.
#include <CLI/CLI.hpp>
#include <bench/measure.hpp>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace bench {

struct TableOptions {
  holotone::Device device;
  std::int64_t max_points = 0;
  std::string json;    ///< file to write, or empty
  bool small = false;  ///< sizes that take seconds, for a test of the program
};

/// Description of a program.
struct TableProgram {
  std::string name;
  std::string description;
  std::string heading;                           ///< first line of the output, before the device and the commit
  std::int64_t cpu_points = 0;                   ///< largest cloud on the CPU without --max-points
  std::function<void(CLI::App&)> add_options{};  ///< options of the program's own
};

/// main() of a program: parses `--device`, `--max-points` (default: all rows on a GPU), `--processor-time`, `--small`,
/// `--json` and `--help`, and calls print(options, results). results begins with program, commit, device, driver and
/// date, and is written to the file of --json. bench/check_papers.py tests it with --small. Returns the exit code;
/// errors are printed as one line.
int run_table_program(int argc, char** argv, const TableProgram& program,
                      const std::function<void(const TableOptions&, nlohmann::json&)>& print);

/// One measured time.
struct Measured {
  double milliseconds = 0;
  double relative_error = 0;
};

/// Case of both papers: 1920x1024, 8 um, 532 nm, z 0.5 to 0.6 m, no band limit (exactly the papers' formula),
/// tolerance 1e-3. With --small the panel has an eighth of the rows and columns.
cases::PointCloudCase paper_case(std::int64_t points, bool small);

/// Measures one method on one cloud; throws as measure_work does.
Measured measure(const cases::PointCloudCase& c, const reference::PointWaves& points, const cases::PixelSample& samples,
                 holotone::PointMethod method, PointCloudRun::Output output, holotone::Device device);

/// Times work(), which enqueues a sum on `queue`, and calls error(), the relative error of what it wrote. Throws
/// std::runtime_error, which names `name`, if that exceeds the case's tolerance.
Measured measure_work(const std::string& name, const cases::PointCloudCase& c, const holotone::Queue& queue,
                      const std::function<void()>& work, const std::function<double()>& error);

/// A column of a table: a method measured on one cloud.
struct Column {
  std::string heading;
  std::string key;  ///< "direct": direct_ms and direct_error in JSON
  Measured measured;
};

/// Appends to the last row of `rows`, and to their heading if it is the first row: milliseconds of each column, the
/// ratio of each to the last one, and the largest error. Sets `<key>_ms` and `<key>_error` in `json`.
void add_columns(const std::vector<Column>& columns, std::vector<std::vector<std::string>>& rows, nlohmann::json& json);

/// "12.3", "0.0456": three significant digits, plain notation.
std::string three_digits(double value);
/// The same; "-" for none.
std::string cell(std::optional<double> value);
/// Sets json[key], unless there is no value.
void set(nlohmann::json& json, const char* key, std::optional<double> value);

/// Rows as text: the first row is the heading; columns are aligned.
void print_table(const std::vector<std::vector<std::string>>& rows);

}  // namespace bench
