// Table 1 and the figures of Gwosdek, Schmaltz, Weickert, Teuber, "Fast electrostatic halftoning" (2012), measured
// here: time of an iteration by direct and by fast summation, their break-even point, initialisation, and quality
// against direct float64 sums.
#include <algorithm>
#include <bench/gwosdek_baseline.hpp>
#include <bench/gwosdek_pictures.hpp>
#include <bench/gwosdek_quality.hpp>
#include <bench/paper_table.hpp>
#include <cmath>
#include <fmt/format.h>
#include <holotone/halftone/electrostatic.hpp>
#include <holotone/halftone/sampling.hpp>
#include <optional>
#include <span>
#include <tests/cases/halftone.hpp>

namespace {

using holotone::Array;
using holotone::Device;
using holotone::ElectrostaticOptions;
using holotone::ForceSum;
using holotone::View;

/// Seconds of one iteration as published: CPU (Intel Core 2 Duo E8200, 2.66 GHz) and GPU (NVIDIA GTX 480). The text
/// has 2^20 dots in the largest row, its table prints 1,045,876.
struct Published {
  std::int64_t dots;
  double direct_cpu;
  double fast_cpu;
  double direct_gpu;
  double fast_gpu;
};
constexpr Published table_1[] = {{16384, 2.12, 0.84, 0.03, 0.02},
                                 {65536, 33.90, 3.65, 0.43, 0.07},
                                 {262144, 542.64, 14.74, 6.62, 0.28},
                                 {1048576, 8853.46, 57.95, 103.61, 1.20}};
constexpr std::int64_t break_even_gpu = 11500;    // GPU direct and GPU fast
constexpr std::int64_t break_even_cpu = 620000;   // GPU direct and CPU fast
constexpr std::int64_t direct_limit_cpu = 65536;  // larger ones take minutes
/// With --small, dots are fewer by this factor, and the break-even point is looked for among three sizes.
constexpr std::int64_t small_share = 64;
constexpr std::int64_t break_even_sizes[] = {512, 1024, 2048, 4096, 8192, 16384, 32768};

std::int64_t count_dots(const Published& published, const bench::TableOptions& options) {
  return options.small ? published.dots / small_share : published.dots;
}

/// A plan with an image and dots placed by it.
class Dotted {
 public:
  Dotted(std::int64_t count, Device device, const ElectrostaticOptions& options)
      : queue_(holotone::Queue::create(device)), ink_(cases::halftone_ink(count)) {
    const bench::Stopwatch clock;
    plan_.emplace(ink_.shape(), count, queue_, options);
    queue_.synchronize();
    constructor_ms = 1e3 * clock.seconds();
    device_ink_ = copy_of(std::as_const(ink_).view(), device);
    const auto dots = importance_sampled_dots(std::as_const(ink_).view(), count, 1);
    host_dots_ = copy_of(View<const float, 2>(dots.position.data(), {count, 2}), Device{});
    dots_ = copy_of(std::as_const(host_dots_).view(), device);
    queue_.synchronize();
    ink_ms = 1e3 * bench::seconds_of(queue_, 3, [&] { plan_->set_ink(std::as_const(device_ink_).view()); });
    place();
  }
  void place() { plan_->set_positions(std::as_const(dots_).view()); }
  double step_ms(int rounds) {
    const double seconds = bench::seconds_of(queue_, rounds, [&] { plan_->step(holotone::StepRule::paper()); });
    place();
    return 1e3 * seconds;
  }
  void step() { plan_->step(holotone::StepRule::paper()); }
  double shake_ms() {
    const double radius = 0.1;
    const double seconds = bench::seconds_of(queue_, 5, [&] { plan_->shake(radius, 1); });
    place();
    return 1e3 * seconds;
  }
  /// Copies between ordinary host memory and the device.
  double upload_ink_ms() { return copy_ms(std::as_const(ink_).view(), device_ink_.view()); }
  double upload_dots_ms() { return copy_ms(std::as_const(host_dots_).view(), dots_.view()); }
  double download_dots_ms() { return copy_ms(std::as_const(dots_).view(), host_dots_.view()); }
  [[nodiscard]] const holotone::Queue& queue() const { return queue_; }
  Array<float, 2> forces() {
    Array<float, 2> force({plan_->count(), 2}, queue_);
    plan_->forces(force.view());
    return force.to(Device{});
  }
  double constructor_ms = 0;
  double ink_ms = 0;

 private:
  double copy_ms(View<const float, 2> from, View<float, 2> to) const {
    return 1e3 * bench::seconds_of(queue_, 5, [&] {
             copy<float, 2>(to, from, queue_);
             queue_.synchronize();
           });
  }

  holotone::Queue queue_;
  Array<float, 2> ink_;
  Array<float, 2> host_dots_;
  Array<float, 2> device_ink_;
  Array<float, 2> dots_;
  std::optional<holotone::ElectrostaticPlan> plan_;
};

/// The fast sum at an error of 5e-4, as bench/halftone_bench.cpp.
ElectrostaticOptions sum_options(ForceSum sum) {
  ElectrostaticOptions options;
  options.sum = sum;
  options.tolerance = 5e-4;
  return options;
}

/// Milliseconds of an iteration.
double step_ms(std::int64_t count, Device device, ForceSum sum) {
  return Dotted(count, device, sum_options(sum)).step_ms(sum == ForceSum::direct && count > 100000 ? 1 : 5);
}

/// rms of the difference relative to the rms of `expected`.
double relative_difference(const Array<float, 2>& got, const Array<float, 2>& expected) {
  double difference = 0;
  double norm = 0;
  for (std::int64_t i = 0; i < got.size(); ++i) {
    difference += std::pow(static_cast<double>(got.data()[i]) - static_cast<double>(expected.data()[i]), 2);
    norm += std::pow(static_cast<double>(expected.data()[i]), 2);
  }
  return std::sqrt(difference / norm);
}

std::string milliseconds(std::optional<double> value) { return value ? bench::three_digits(*value) : "-"; }

void print_table_1(const bench::TableOptions& options, nlohmann::json& results) {
  fmt::print(
      "Table 1: one iteration, milliseconds; published on a Core 2 Duo E8200 and a GeForce GTX 480, here on {}\n\n",
      to_string(options.device));
  std::vector<std::vector<std::string>> rows = {{"dots", "direct, CPU", "direct, GPU", "direct here", "fast, CPU",
                                                 "fast, GPU", "Taylor here", "Ewald here", "fast GPU / here",
                                                 "direct CPU / here", "force error"}};
  for (const auto& published : table_1) {
    const auto count = count_dots(published, options);
    if (count > options.max_points) continue;
    const bool gpu = options.device.backend != holotone::Backend::cpu;
    Dotted ewald(count, options.device, sum_options(ForceSum::ewald));
    const double fast = ewald.step_ms(5);
    std::optional<double> taylor;
    try {
      taylor = step_ms(count, options.device, ForceSum::taylor);
    } catch (const holotone::Error& error) {
      if (error.code() != holotone::ErrorCode::unsupported) throw;
    }
    std::optional<double> direct;
    std::optional<double> error;
    if (gpu || count <= direct_limit_cpu) {
      Dotted pairs(count, options.device, sum_options(ForceSum::direct));
      error = relative_difference(ewald.forces(), pairs.forces());
      direct = pairs.step_ms(count > 100000 ? 1 : 3);
    }
    rows.push_back(
        {std::to_string(count), bench::three_digits(1e3 * published.direct_cpu),
         bench::three_digits(1e3 * published.direct_gpu), milliseconds(direct),
         bench::three_digits(1e3 * published.fast_cpu), bench::three_digits(1e3 * published.fast_gpu),
         milliseconds(taylor), bench::three_digits(fast), bench::three_digits(1e3 * published.fast_gpu / fast),
         bench::three_digits(1e3 * published.direct_cpu / fast), error ? fmt::format("{:.1e}", *error) : "-"});
    nlohmann::json row = {{"dots", count},
                          {"published_direct_cpu_ms", 1e3 * published.direct_cpu},
                          {"published_fast_cpu_ms", 1e3 * published.fast_cpu},
                          {"published_direct_gpu_ms", 1e3 * published.direct_gpu},
                          {"published_fast_gpu_ms", 1e3 * published.fast_gpu},
                          {"ewald_ms", fast},
                          {"constructor_ms", ewald.constructor_ms},
                          {"ink_ms", ewald.ink_ms}};
    if (direct) row["direct_ms"] = *direct;
    if (taylor) row["taylor_ms"] = *taylor;
    if (error) row["force_error"] = *error;
    results["table_1"].push_back(row);
  }
  bench::print_table(rows);
  fmt::print(
      "\nThe paper's table prints 1045876 dots where its text has 2^20 = 1048576, in the largest row.\n"
      "Force error: net force against this device's direct sums.\n");
}

/// Number of dots at which two curves over the sizes cross, log-linear between sizes; 0: no crossing.
double crossing(const std::vector<double>& slow_at_last, const std::vector<double>& fast_at_last) {
  for (std::size_t i = 1; i < slow_at_last.size(); ++i) {
    const double before = std::log(slow_at_last[i - 1] / fast_at_last[i - 1]);
    const double after = std::log(slow_at_last[i] / fast_at_last[i]);
    if (before <= 0 && after > 0) {
      return std::exp2(std::log2(static_cast<double>(break_even_sizes[i - 1])) + before / (before - after));
    }
  }
  return 0;
}

void print_figure_6(const bench::TableOptions& options, nlohmann::json& results) {
  fmt::print("\nFigure 6 (figure only but for the break-even points): milliseconds of an iteration\n\n");
  std::vector<std::vector<std::string>> rows = {{"dots", "direct", "fast"}};
  const std::span sizes(break_even_sizes, options.small ? 3 : std::size(break_even_sizes));
  std::vector<double> direct;
  std::vector<double> fast;
  for (const auto count : sizes) {
    direct.push_back(step_ms(count, options.device, ForceSum::direct));
    fast.push_back(step_ms(count, options.device, ForceSum::ewald));
    rows.push_back({std::to_string(count), bench::three_digits(direct.back()), bench::three_digits(fast.back())});
    results["figure_6"].push_back({{"dots", count}, {"direct_ms", direct.back()}, {"fast_ms", fast.back()}});
  }
  bench::print_table(rows);
  const double here = crossing(direct, fast);
  const std::string text = here > 0                        ? fmt::format("{:.0f}", here)
                           : direct.front() > fast.front() ? fmt::format("below {}", sizes.front())
                                                           : fmt::format("above {}", sizes.back());
  fmt::print(
      "\nFast pays from {} dots here; published {} (both on the GPU) and {} (fast on the CPU, direct on the GPU).\n",
      text, break_even_gpu, break_even_cpu);
  results["break_even"] = text;
}

void print_figure_7(const bench::TableOptions& options, nlohmann::json& results) {
  fmt::print("\nFigure 7 (figure only): initialisation, milliseconds\n\n");
  std::vector<std::vector<std::string>> rows = {{"pixels", "tables and memory", "attraction of the image"}};
  for (const auto& published : table_1) {
    const auto count = count_dots(published, options);
    if (count > options.max_points) continue;
    const Dotted dotted(count, options.device, sum_options(ForceSum::ewald));
    const auto pixels = holotone::element_count(cases::halftone_ink(count).shape());
    rows.push_back(
        {std::to_string(pixels), bench::three_digits(dotted.constructor_ms), bench::three_digits(dotted.ink_ms)});
    results["figure_7"].push_back(
        {{"pixels", pixels}, {"constructor_ms", dotted.constructor_ms}, {"ink_ms", dotted.ink_ms}});
  }
  bench::print_table(rows);
}

/// What the paper's text calls the work of a stage (sections 3 to 5). The labels of its Figure 8 are only in the
/// picture.
std::string published_name(std::string_view stage) {
  constexpr std::pair<std::string_view, std::string_view> names[] = {{"sort", "near-field map"},
                                                                     {"spread", "B transposed"},
                                                                     {"transforms", "F and D transposed, b_j, D, F"},
                                                                     {"far field and image", "B, image force"},
                                                                     {"neighbours", "near field"},
                                                                     {"move", "move"},
                                                                     {"forces and move", "B, near field, image, move"}};
  for (const auto& [name, published] : names) {
    if (name == stage) return std::string(published);
  }
  return "-";
}

struct Stage {
  std::string name;
  double ms = 0;
};

/// Stages of an iteration in order of execution, each waited for.
std::vector<Stage> stages_of(std::int64_t count, Device device) {
  constexpr int steps = 20;
  std::vector<Stage> stages;
  std::optional<bench::Stopwatch> clock;
  const holotone::Queue* queue = nullptr;
  ElectrostaticOptions timed = sum_options(ForceSum::ewald);
  timed.on_stage = [&](std::string_view name) {
    if (!clock) return;
    queue->synchronize();
    auto found = std::find_if(stages.begin(), stages.end(), [&](const Stage& stage) { return stage.name == name; });
    if (found == stages.end()) found = stages.insert(stages.end(), {std::string(name), 0.0});
    found->ms += 1e3 * clock->seconds() / steps;
    clock.emplace();
  };
  Dotted dotted(count, device, timed);
  queue = &dotted.queue();
  dotted.step_ms(1);  // warms up
  queue->synchronize();
  clock.emplace();
  for (int i = 0; i < steps; ++i) dotted.step();
  return stages;
}

/// What is not part of every iteration goes to results[key + "_once"].
void print_stages(std::int64_t count, Device device, const std::string& key, nlohmann::json& results) {
  fmt::print("\nFigure 8 (figure only): {} dots by stage, waited for after each, milliseconds\n\n", count);
  std::vector<std::vector<std::string>> rows = {{"stage", "in the paper's text", "counts", "ms"}};
  const auto row = [&](const std::string& list, const Stage& stage, const std::string& published,
                       const std::string& counts) {
    rows.push_back({stage.name, published, counts, bench::three_digits(stage.ms)});
    results[list].push_back(
        {{"stage", stage.name}, {"ms", stage.ms}, {"published_name", published}, {"counts", counts}});
  };
  for (const auto& stage : stages_of(count, device)) row(key, stage, published_name(stage.name), "each iteration");
  Dotted dotted(count, device, sum_options(ForceSum::ewald));
  const auto once = key + "_once";
  row(once, {"shake", dotted.shake_ms()}, "shaking", "each shaking");
  row(once, {"tables and memory", dotted.constructor_ms}, "transform of the kernel", "once");
  row(once, {"attraction of the image", dotted.ink_ms}, "image forces", "once");
  if (device.backend != holotone::Backend::cpu) {
    row(once, {"image to the device", dotted.upload_ink_ms()}, "memory copy", "copies");
    row(once, {"dots to the device", dotted.upload_dots_ms()}, "memory copy", "copies");
    row(once, {"dots from the device", dotted.download_dots_ms()}, "memory copy", "copies");
  }
  bench::print_table(rows);
}

void print_figure_8(const bench::TableOptions& options, nlohmann::json& results) {
  constexpr std::int64_t trui = 30150;  // the paper's case
  print_stages(std::min(options.max_points, count_dots(std::end(table_1)[-1], options)), options.device, "figure_8",
               results);
  print_stages(std::min(options.max_points, options.small ? trui / small_share : trui), options.device, "figure_8_trui",
               results);
}

}  // namespace

int main(int argc, char** argv) {
  std::int64_t seeds = 0;
  std::vector<std::string> pictures;
  std::string panels;
  const auto add_options = [&](CLI::App& app) {
    app.add_option("--quality-seeds", seeds, "Figures 4 and 5 too: halftones a method (10 as the claims say)");
    app.add_option("--picture", pictures,
                   "Pictures of Figures 2 and 3, one or two (default: one that the program makes)")
        ->expected(1, 2);
    app.add_option("--panels", panels, "With --quality-seeds: writes dots to PANELS_grey.png and PANELS_picture.png");
  };
  const auto panel = [&](const char* name) {
    return panels.empty() ? std::string() : fmt::format("{}_{}.png", panels, name);
  };
  return bench::run_table_program(argc, argv,
                                  {"paper_gwosdek", "Table 1 and figures of Gwosdek et al., measured here",
                                   "Gwosdek, Schmaltz, Weickert, Teuber 2012", 1048576, add_options},
                                  [&](const bench::TableOptions& options, nlohmann::json& results) {
                                    print_table_1(options, results);
                                    bench::print_gwosdek_baseline(options, results);
                                    bench::print_gwosdek_speedups(options, results);
                                    bench::print_gwosdek_pictures(options, pictures, results);
                                    print_figure_6(options, results);
                                    print_figure_7(options, results);
                                    print_figure_8(options, results);
                                    bench::print_image_forces(options, results);
                                    if (seeds <= 0) return;
                                    bench::print_gwosdek_figure_4(options, pictures, panel("picture"), results);
                                    bench::print_gwosdek_quality(options.device, seeds, options.small, panel("grey"),
                                                                 results);
                                  });
}
