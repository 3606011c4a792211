// Table 3 and Figure 8 of Lagrange, Gilles, Heggarty, Fracasso, "Fast and flexible GPU implementation of the
// view-dependent error diffusion algorithm" (2024), measured here on the hologram of Tables 1 and 2: the dice, 24,576
// x 24,576 pixels of 750 nm, hogels of 2048, 635 nm, 27 weights, 8 bits of phase. The paper does not state positions
// and rotations of the dice: docs/scenes.md.
#include <algorithm>
#include <bench/lagrange_figure.hpp>
#include <bench/measure.hpp>
#include <bench/paper_table.hpp>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <stdexcept>
#include <unistd.h>

namespace {

namespace fs = std::filesystem;
using bench::LagrangeMethod;
using bench::Quantised;
using bench::three_digits;

struct Options {
  std::int64_t size = 0;  ///< 0: by the device
  std::string figure;
  std::string rule = "eq1";
  std::uint64_t seed = 0;
};

/// Published seconds; 0: none.
struct Row {
  LagrangeMethod method;
  double published_s;
};

const std::vector<Row>& table_3() {
  static const std::vector<Row> rows = {
      {{"p = 1", 1}, 0.164}, {{"p = 3", 3}, 0.304}, {{"p = 6", 6}, 0.507}, {{"CPU, p free", 0, true, true}, 19.24}};
  return rows;
}

std::string percent(double part, double whole) { return fmt::format("{:.0f} %", 100 * part / whole); }

/// Folder of compiled kernels, removed at the end.
class KernelFolder {
 public:
  KernelFolder() {
    std::string name = (fs::temp_directory_path() / "holotone_lagrange_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) throw std::runtime_error(name + ": no temporary folder");
    path_ = name;
  }
  ~KernelFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  KernelFolder(const KernelFolder&) = delete;
  KernelFolder& operator=(const KernelFolder&) = delete;
  /// A folder in it.
  [[nodiscard]] std::string operator()(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

/// Heading of a table of this field.
std::string heading(const std::string& name, const bench::LagrangeField& field) {
  const double share = std::pow(static_cast<double>(field.size()) / bench::lagrange_whole_px, 2);
  return fmt::format("{0}: {1} x {1} pixels{2}, hogels of {3}, 8 bits of phase", name, field.size(),
                     share < 1 ? fmt::format(" ({} of the paper's)", percent(share, 1)) : "", bench::lagrange_hogel_px);
}

/// The quantised holograms, in the table's order.
std::vector<Quantised> print_table_3(const bench::LagrangeField& field, holotone::WeightRule rule,
                                     const KernelFolder& kernels, nlohmann::json& results) {
  const auto size = static_cast<double>(field.size());
  const double share = size * size / std::pow(static_cast<double>(bench::lagrange_whole_px), 2);
  fmt::print("{}, {} weights; seconds\n\n", heading("Table 3", field), bench::lagrange_taps);
  std::vector<std::vector<std::string>> rows = {{"VDED", "RTX 2080 Ti", "Core i9-9900X", "here", "Mpixel/s",
                                                 share < 1 ? "published share / here" : "published / here"}};
  std::vector<Quantised> all;
  for (const auto& [method, published] : table_3()) {
    all.push_back(bench::quantised(field, method, rule, true, kernels("table_3")));
    const double seconds = all.back().seconds;
    rows.push_back({method.name, method.cpu ? "-" : three_digits(published), method.cpu ? three_digits(published) : "-",
                    three_digits(seconds), three_digits(1e-6 * size * size / seconds),
                    three_digits(share * published / seconds)});
    results["table_3"].push_back({{"method", method.name},
                                  {"p", method.parallelism},
                                  {"size", field.size()},
                                  {"published_s", published},
                                  {"seconds", seconds}});
  }
  bench::print_table(rows);
  fmt::print(
      "\nHere: p = 1, 3, 6 on {}, field and codes there, the field's scale known; p free on this machine's CPU.\n"
      "Published: the whole plugin's step, data types converted on the way.\n",
      to_string(field.there().device()));
  return all;
}

/// Table 3 from the field to the codes: weights, compilation and scale included, on the device and on the CPU.
void print_end_to_end(const bench::LagrangeField& field, holotone::WeightRule rule, const KernelFolder& kernels,
                      nlohmann::json& results) {
  fmt::print("\n{}; ms\n\n", heading("Table 3 from the field to the codes", field));
  std::vector<std::vector<std::string>> rows = {{"VDED", "on", "weights", "plan, compiled", "plan, from the cache",
                                                 "scale", "codes", "first run", "later run", "same plan"}};
  const bool two = field.there().device() != holotone::Device{};
  for (const bool cpu : {false, true}) {
    if (cpu && !two) break;
    for (const auto& [table_method, published] : table_3()) {
      auto method = table_method;
      method.cpu = cpu || !two;
      method.name = method.parallelism > 0 ? method.name : "p free";
      const auto device = method.cpu ? holotone::Device{} : field.there().device();
      const auto runs =
          bench::timed_runs(field, method, rule, kernels(fmt::format("{}_{}", to_string(device), method.parallelism)));
      const auto ms = [](double seconds) { return three_digits(1e3 * seconds); };
      rows.push_back({method.name, to_string(device), ms(runs.later.weights_s), ms(runs.first.plan_s),
                      ms(runs.later.plan_s), ms(std::max(0.0, runs.frame.codes_s - runs.codes_s)), ms(runs.codes_s),
                      ms(runs.first.sum_s()), ms(runs.later.sum_s()), ms(runs.frame.sum_s())});
      nlohmann::json row{{"method", method.name},
                         {"p", method.parallelism},
                         {"device", to_string(device)},
                         {"codes_seconds", runs.codes_s}};
      const std::pair<const char*, const bench::LagrangeSteps&> all[] = {
          {"first", runs.first}, {"later", runs.later}, {"same_plan", runs.frame}};
      for (const auto& [name, steps] : all) {
        row[name] = {{"weights_seconds", steps.weights_s},
                     {"plan_seconds", steps.plan_s},
                     {"scale_and_codes_seconds", steps.codes_s},
                     {"seconds", steps.sum_s()}};
      }
      results["end_to_end"].push_back(std::move(row));
    }
  }
  bench::print_table(rows);
  fmt::print(
      "\nA run: weights on the host, plan, the field's scale, codes. First run: the kernel is compiled. Later run: a "
      "new "
      "plan, its\nkernel from a cache folder. Same plan: weights replaced, as for a viewer who has moved. Scale: same "
      "plan's time for scale\nand codes less that of the codes. The paper does not say what Table 3 includes; its "
      "kernel "
      "is compiled beforehand.\n");
}

/// Selection of the weights: few for all hogels, or the largest of 27 in each. Quality against time.
void print_selection(const bench::LagrangeField& field, const KernelFolder& kernels, nlohmann::json& results) {
  constexpr int parallelism = 3;
  fmt::print("\n{}, p = {}\n\n", heading("Selection of weights", field), parallelism);
  std::vector<std::vector<std::string>> rows = {
      {"weights", "kept in each hogel", "Eq. (1), dB", "least squares, dB", "codes, ms"}};
  for (const auto& [taps, kept] : {std::pair{27, 0}, {20, 0}, {27, 20}, {14, 0}, {27, 14}, {9, 0}, {27, 9}}) {
    const LagrangeMethod method{"", parallelism, true, false, taps, kept};
    nlohmann::json row{{"weights", taps}, {"kept", kept > 0 ? kept : taps}};
    for (const auto rule : {holotone::WeightRule::eq1, holotone::WeightRule::least_squares}) {
      const bool last = rule == holotone::WeightRule::least_squares;
      const auto made = bench::quantised(field, method, rule, last, kernels("selection"));
      const auto signal = bench::signal_of(field, made);
      row[last ? "least_squares_snr_db" : "eq1_snr_db"] = signal.codes_db;
      results["truncation_snr_db"] = signal.truncated_db;
      if (last) row["seconds"] = made.seconds;
    }
    rows.push_back({std::to_string(taps), kept > 0 ? std::to_string(kept) : "all",
                    fmt::format("{:.1f}", row["eq1_snr_db"].get<double>()),
                    fmt::format("{:.1f}", row["least_squares_snr_db"].get<double>()),
                    three_digits(1e3 * row["seconds"].get<double>())});
    results["selection"].push_back(std::move(row));
  }
  bench::print_table(rows);
  fmt::print("\nSignal to noise at the eye, mean of squares of the panel; truncation {:.1f} dB.\n",
             results["truncation_snr_db"].get<double>());
}

void print(const bench::TableOptions& table, const Options& options, nlohmann::json& results) {
  const bool cpu = table.device.backend == holotone::Backend::cpu;
  const std::int64_t size = options.size > 0 ? options.size : table.small ? 512 : cpu ? 6144 : bench::lagrange_whole_px;
  if (options.rule != "eq1" && options.rule != "least-squares") {
    throw std::runtime_error("--rule: expected eq1 or least-squares, got '" + options.rule + "'");
  }
  const auto rule = options.rule == "eq1" ? holotone::WeightRule::eq1 : holotone::WeightRule::least_squares;
  results["rule"] = options.rule;
  const bench::LagrangeField field(size, options.seed, table.device);
  const KernelFolder kernels;
  const auto all = print_table_3(field, rule, kernels, results);
  print_end_to_end(field, rule, kernels, results);
  print_selection(field, kernels, results);
  if (options.figure.empty()) return;
  bench::LagrangeFigure figure(field.there(), table.small);
  figure.add("complex reference", nullptr);
  const auto truncated = bench::quantised(field, {"no VDED", 0, false, true}, rule, false, {});
  figure.add("no VDED", &truncated);
  figure.add("VDED CPU, p free", &all[3]);
  for (std::size_t i = 0; i < 3; ++i) figure.add("VDED " + table_3()[i].method.name, &all[i]);
  figure.finish(options.figure, results);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  const auto add_options = [&](CLI::App& app) {
    app.add_option("--size", options.size, "Pixels a side of the panel's middle part (CPU: 6144, else 24576)")
        ->check(CLI::Range(512, 24576));
    app.add_option("--figure", options.figure, "Figure 8 into this picture, and its table");
    app.add_option("--rule", options.rule, "eq1 (the paper's) or least-squares")->capture_default_str();
    app.add_option("--seed", options.seed, "Seed of the hologram's random phases");
  };
  return bench::run_table_program(
      argc, argv,
      {"paper_lagrange", "Table 3, the selection of weights and Figure 8 of Lagrange et al., measured here",
       "Lagrange, Gilles, Heggarty, Fracasso 2024", 0, add_options},
      [&](const bench::TableOptions& table, nlohmann::json& results) { print(table, options, results); });
}
