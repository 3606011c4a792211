#include <algorithm>
#include <bench/paper_table.hpp>
#include <cmath>
#include <cstdio>
#include <exception>
#include <fmt/format.h>
#include <fstream>
#include <stdexcept>

namespace bench {

namespace {

/// Parses the command line. Returns false if the program has to exit with `code`.
bool parse(int argc, char** argv, const TableProgram& program, TableOptions& options, int& code) {
  CLI::App app(program.description);
  std::string device = "auto";
  bool processor_time = false;
  app.add_option("--device", device, "cpu, cuda:0, ... or auto");
  app.add_option("--max-points", options.max_points,
                 fmt::format("Largest cloud (default on the CPU: {})", program.cpu_points));
  app.add_flag("--processor-time", processor_time,
               "Processor time of one thread, for a CPU that does other work meanwhile");
  app.add_flag("--small", options.small,
               "Reduced sizes, each timed once: tests the program in seconds and measures nothing");
  app.add_option("--json", options.json, "Also write the table to this file");
  if (program.add_options) program.add_options(app);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    code = app.exit(error) == 0 ? 0 : 2;
    return false;
  }
  options.device = holotone::parse_device(device);
  if (processor_time && options.device.backend == holotone::Backend::cpu) use_processor_time();
  if (options.small) time_once();
  if (options.max_points <= 0) {
    options.max_points = is_processor(options.device) ? program.cpu_points : INT64_MAX;
  }
  return true;
}

nlohmann::json results_head(const std::string& program, holotone::Device device) {
  const auto info = holotone::describe(device);
  return {{"program", program},           {"commit", commit()},         {"device", info.name},
          {"backend", to_string(device)}, {"device_units", info.units}, {"driver", info.detail},
          {"clock", clock_name()},        {"date_utc", utc_date()}};
}

void write_json(const std::string& path, const nlohmann::json& value) {
  std::ofstream file(path);
  file << value.dump(1) << "\n";
  file.close();
  if (!file) throw std::runtime_error(path + ": cannot be written");
}

}  // namespace

int run_table_program(int argc, char** argv, const TableProgram& program,
                      const std::function<void(const TableOptions&, nlohmann::json&)>& print) {
  try {
    TableOptions options;
    int code = 0;
    if (!parse(argc, argv, program, options, code)) return code;
    auto results = results_head(program.name, options.device);
    results["small"] = options.small;
    if (options.small) fmt::print("--small: reduced sizes; the times below measure nothing\n");
    fmt::print("{}; {}; measured on {} ({}), commit {}\n\n", program.heading, clock_name(),
               std::string(results["device"]), to_string(options.device), commit());
    print(options, results);
    if (!options.json.empty()) write_json(options.json, results);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program.name.c_str(), error.what());
    return 2;
  }
}

cases::PointCloudCase paper_case(std::int64_t points, bool small) {
  cases::PointCloudCase c;
  c.options.shape = small ? holotone::Shape<2>{128, 240} : holotone::Shape<2>{1024, 1920};
  c.options.band_limit = false;
  c.count = points;
  return c;
}

Measured measure(const cases::PointCloudCase& c, const reference::PointWaves& points, const cases::PixelSample& samples,
                 holotone::PointMethod method, PointCloudRun::Output output, holotone::Device device) {
  auto chosen = c;
  chosen.options.method = method;
  PointCloudRun run(chosen, points, samples, device, output);
  return measure_work(
      std::string(to_string(method)), c, run.queue(), [&] { run.run(); }, [&] { return run.relative_error(); });
}

Measured measure_work(const std::string& name, const cases::PointCloudCase& c, const holotone::Queue& queue,
                      const std::function<void()>& work, const std::function<double()>& error) {
  Measured measured;
  measured.milliseconds = 1e3 * seconds_of(queue, 5, work);
  measured.relative_error = error();
  if (measured.relative_error <= c.options.tolerance) return measured;
  throw std::runtime_error(fmt::format("{} with {} points: relative error {:.1e} is above {:.0e}", name, c.count,
                                       measured.relative_error, c.options.tolerance));
}

void add_columns(const std::vector<Column>& columns, std::vector<std::vector<std::string>>& rows,
                 nlohmann::json& json) {
  if (rows.size() == 2) {
    for (const auto& column : columns) rows[0].push_back(column.heading);
    for (const auto& column : columns) {
      if (&column != &columns.back()) rows[0].push_back(fmt::format("{} / {}", column.key, columns.back().key));
    }
    rows[0].emplace_back("largest error");
  }
  auto& row = rows.back();
  const double last = columns.back().measured.milliseconds;
  double largest = 0;
  for (const auto& [heading, key, measured] : columns) {
    row.push_back(three_digits(measured.milliseconds));
    largest = std::max(largest, measured.relative_error);
    json[key + "_ms"] = measured.milliseconds;
    json[key + "_error"] = measured.relative_error;
  }
  for (std::size_t i = 0; i + 1 < columns.size(); ++i) {
    row.push_back(three_digits(columns[i].measured.milliseconds / last));
  }
  row.push_back(fmt::format("{:.1e}", largest));
}

std::string three_digits(double value) {
  const int decimals = value > 0 ? std::max(0, 2 - static_cast<int>(std::floor(std::log10(value)))) : 0;
  return fmt::format("{:.{}f}", value, decimals);
}

std::string cell(std::optional<double> value) { return value ? three_digits(*value) : "-"; }

void set(nlohmann::json& json, const char* key, std::optional<double> value) {
  if (value) json[key] = *value;
}

void print_table(const std::vector<std::vector<std::string>>& rows) {
  std::vector<std::size_t> width;
  for (const auto& row : rows) {
    width.resize(std::max(width.size(), row.size()), 0);
    for (std::size_t i = 0; i < row.size(); ++i) width[i] = std::max(width[i], row[i].size());
  }
  for (const auto& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) fmt::print("{:>{}}", row[i], width[i] + (i == 0 ? 0 : 2));
    fmt::print("\n");
  }
  std::fflush(stdout);  // shows finished tables while the next one is computed
}

}  // namespace bench
