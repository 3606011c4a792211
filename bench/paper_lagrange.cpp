// Table 3 and Figure 8 of Lagrange, Gilles, Heggarty, Fracasso, "Fast and flexible GPU implementation of the
// view-dependent error diffusion algorithm" (2024), measured here on the hologram of Tables 1 and 2: the dice, 24,576
// x 24,576 pixels of 750 nm, hogels of 2048, 635 nm, 27 weights, 8 bits of phase. The paper does not state positions
// and rotations of the dice: docs/scenes.md.
#include <bench/lagrange_figure.hpp>
#include <bench/measure.hpp>
#include <bench/paper_table.hpp>
#include <cmath>
#include <fmt/format.h>
#include <stdexcept>

namespace {

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

/// The quantised holograms, in the table's order.
std::vector<Quantised> print_table_3(const holotone::Array<holotone::Complex, 2>& field, holotone::WeightRule rule,
                                     nlohmann::json& results) {
  const auto size = static_cast<double>(field.shape()[0]);
  const double share = size * size / std::pow(static_cast<double>(bench::lagrange_whole_px), 2);
  fmt::print("Table 3: {0} x {0} pixels{1}, hogels of {2}, {3} weights, 8 bits of phase; seconds\n\n", field.shape()[0],
             share < 1 ? fmt::format(" ({} of the paper's)", percent(share, 1)) : "", bench::lagrange_hogel_px,
             bench::lagrange_taps);
  std::vector<std::vector<std::string>> rows = {{"VDED", "RTX 2080 Ti", "Core i9-9900X", "here", "Mpixel/s",
                                                 share < 1 ? "published share / here" : "published / here"}};
  std::vector<Quantised> all;
  for (const auto& [method, published] : table_3()) {
    all.push_back(bench::quantised(field, method, rule, true));
    const double seconds = all.back().seconds;
    rows.push_back({method.name, method.cpu ? "-" : three_digits(published), method.cpu ? three_digits(published) : "-",
                    three_digits(seconds), three_digits(1e-6 * size * size / seconds),
                    three_digits(share * published / seconds)});
    results["table_3"].push_back({{"method", method.name},
                                  {"p", method.parallelism},
                                  {"size", field.shape()[0]},
                                  {"published_s", published},
                                  {"seconds", seconds}});
  }
  bench::print_table(rows);
  fmt::print(
      "\nHere: p = 1, 3, 6 on {}, field and codes there, the field's scale known; p free on this machine's CPU.\n"
      "Published: the whole plugin's step, data types converted on the way.\n",
      to_string(field.device()));
  return all;
}

void print(const bench::TableOptions& table, const Options& options, nlohmann::json& results) {
  const bool cpu = table.device.backend == holotone::Backend::cpu;
  const std::int64_t size = options.size > 0 ? options.size : table.small ? 512 : cpu ? 6144 : bench::lagrange_whole_px;
  if (options.rule != "eq1" && options.rule != "least-squares") {
    throw std::runtime_error("--rule: expected eq1 or least-squares, got '" + options.rule + "'");
  }
  const auto rule = options.rule == "eq1" ? holotone::WeightRule::eq1 : holotone::WeightRule::least_squares;
  results["rule"] = options.rule;
  const auto field = bench::lagrange_field(size, options.seed, table.device);
  const auto all = print_table_3(field, rule, results);
  if (options.figure.empty()) return;
  bench::LagrangeFigure figure(field, table.small);
  figure.add("complex reference", nullptr);
  const auto truncated = bench::quantised(field, {"no VDED", 0, false, true}, rule, false);
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
      {"paper_lagrange", "Table 3 and Figure 8 of Lagrange et al., measured here",
       "Lagrange, Gilles, Heggarty, Fracasso 2024", 0, add_options},
      [&](const bench::TableOptions& table, nlohmann::json& results) { print(table, options, results); });
}
