#include <algorithm>
#include <bench/gwosdek_halftones.hpp>
#include <bench/gwosdek_pictures.hpp>
#include <fmt/format.h>
#include <holotone/halftone/ink.hpp>
#include <holotone/io/images/image.hpp>
#include <holotone/metrics/blurred_comparison.hpp>
#include <tests/cases/halftone.hpp>

namespace bench {
namespace {

using holotone::Array;
using holotone::Device;
using holotone::ForceSum;

/// Figures 2 and 3 with the paper's times on a GTX 480.
struct Picture {
  std::string figure;
  std::int64_t side;
  std::int64_t dots;
  double published_ms;       ///< an iteration
  double published_seconds;  ///< 200 iterations
};
const Picture pictures[] = {{"2 (Trui)", 256, 30150, 33.6, 6.72}, {"3 (Tiger)", 1024, 647770, 820, 164}};
constexpr std::int64_t published_iterations = 200;
/// With --small, pictures have an eighth of the side.
constexpr std::int64_t small_share = 8;
constexpr std::int64_t direct_limit_cpu = 65536;  // larger ones take minutes

/// Speed-ups as published: fast over direct on the CPU and on the GPU; GPU over CPU with direct and with fast sums;
/// fast on the GPU over direct on the CPU.
constexpr std::array<double, 5> table_1[] = {{2.54, 1.62, 70.67, 41.12, 104.38},
                                             {9.28, 6.69, 78.84, 56.00, 519.85},
                                             {36.81, 24.06, 81.97, 53.58, 1972.48},
                                             {152.78, 86.17, 85.45, 48.20, 7363.50}};
constexpr const char* speedups[] = {"fast / direct, CPU", "fast / direct, GPU", "GPU / CPU, direct", "GPU / CPU, fast",
                                    "total"};
constexpr const char* speedup_keys[] = {"fast_over_direct_cpu", "fast_over_direct_gpu", "gpu_over_cpu_direct",
                                        "gpu_over_cpu_fast", "total"};

/// Milliseconds of an iteration, by place and sum.
struct Times {
  std::optional<double> direct_cpu;
  std::optional<double> fast_cpu;
  std::optional<double> direct_gpu;
  std::optional<double> fast_gpu;

  [[nodiscard]] std::array<std::optional<double>, 5> ratios() const {
    const auto ratio = [](std::optional<double> slow, std::optional<double> fast) -> std::optional<double> {
      return slow && fast ? std::optional(*slow / *fast) : std::nullopt;
    };
    return {ratio(direct_cpu, fast_cpu), ratio(direct_gpu, fast_gpu), ratio(direct_cpu, direct_gpu),
            ratio(fast_cpu, fast_gpu), ratio(direct_cpu, fast_gpu)};
  }
};

std::string text(std::optional<double> value) { return value ? three_digits(*value) : "-"; }

bool on_gpu(const TableOptions& options) { return options.device.backend != holotone::Backend::cpu; }

holotone::ElectrostaticOptions sum_options(ForceSum sum) {
  holotone::ElectrostaticOptions options;
  options.sum = sum;
  options.tolerance = 5e-4;
  return options;
}

/// Milliseconds of an iteration with the paper's steps.
double step_ms(const HalftoneCase& of, ForceSum sum, Device device) {
  auto plan = halftone_plan(of, sum_options(sum), 1, device);
  const int rounds = sum == ForceSum::direct && of.dots > 100000 ? 1 : 5;
  return 1e3 * seconds_of(plan.queue(), rounds, [&] { plan.step(holotone::StepRule::paper()); });
}

/// Adds the times on the CPU.
void measure_cpu(const HalftoneCase& of, Times& times) {
  times.fast_cpu = step_ms(of, ForceSum::ewald, Device{});
  if (of.dots <= direct_limit_cpu) times.direct_cpu = step_ms(of, ForceSum::direct, Device{});
}

Times measure(const HalftoneCase& of, const TableOptions& options) {
  Times times;
  measure_cpu(of, times);
  if (on_gpu(options)) {
    times.fast_gpu = step_ms(of, ForceSum::ewald, options.device);
    times.direct_gpu = step_ms(of, ForceSum::direct, options.device);
  }
  return times;
}

void add(const Times& times, nlohmann::json& json) {
  const auto set = [&](const char* key, std::optional<double> value) {
    if (value) json[key] = *value;
  };
  set("direct_cpu_ms", times.direct_cpu);
  set("fast_cpu_ms", times.fast_cpu);
  set("direct_gpu_ms", times.direct_gpu);
  set("fast_gpu_ms", times.fast_gpu);
  const auto ratios = times.ratios();
  for (std::size_t i = 0; i < ratios.size(); ++i) set(speedup_keys[i], ratios[i]);
}

/// The picture's middle square with `side` pixels a side. Its codes are ink, black 1, as in the paper.
Array<float, 2> read_ink(const std::vector<std::string>& files, std::size_t number, std::int64_t side) {
  if (files.empty()) return cases::halftone_ink(std::llround(0.6 * static_cast<double>(side * side)));
  const auto pixels = to_float(holotone::read_image(files[std::min(number, files.size() - 1)]));
  holotone::InkOptions options;
  options.tone = holotone::PixelTone::linear;
  const auto whole = ink_from_pixels(pixels.view(), options);
  const auto [ny, nx] = whole.shape();
  const auto least = std::min(ny, nx);
  Array<float, 2> middle({least, least});
  for (std::int64_t row = 0; row < least; ++row)
    std::copy_n(whole.data() + ((ny - least) / 2 + row) * nx + (nx - least) / 2, least, middle.data() + row * least);
  return resampled_ink(middle.view(), {side, side});
}

HalftoneCase make_case(const std::vector<std::string>& files, std::size_t number, bool small) {
  const auto& picture = pictures[number];
  const std::int64_t share = small ? small_share : 1;
  return {read_ink(files, number, picture.side / share), picture.dots / (share * share), 300};
}

}  // namespace

void print_gwosdek_speedups(const TableOptions& options, nlohmann::json& results) {
  fmt::print("\nTable 1, speed-ups: published (Core 2 Duo E8200, GeForce GTX 480), then here{}\n\n",
             on_gpu(options) ? " (this machine's CPU)" : "");
  std::vector<std::vector<std::string>> rows = {{"dots"}};
  for (const char* name : speedups) {
    rows[0].emplace_back(name);
    rows[0].emplace_back("here");
  }
  for (std::size_t row = 0; row < results["table_1"].size(); ++row) {
    const auto& measured = results["table_1"][row];
    const std::int64_t count = measured["dots"];
    const auto direct = measured.contains("direct_ms") ? std::optional<double>(measured["direct_ms"]) : std::nullopt;
    Times times;
    if (on_gpu(options)) {
      measure_cpu({cases::halftone_ink(count), count, 0}, times);
      times.direct_gpu = direct;
      times.fast_gpu = measured["ewald_ms"];
    } else {
      times.direct_cpu = direct;
      times.fast_cpu = measured["ewald_ms"];
    }
    const auto ratios = times.ratios();
    rows.push_back({std::to_string(count)});
    nlohmann::json json = {{"dots", count}};
    for (std::size_t i = 0; i < ratios.size(); ++i) {
      rows.back().push_back(fmt::format("{:g}", table_1[row][i]));
      rows.back().push_back(text(ratios[i]));
      json[fmt::format("published_{}", speedup_keys[i])] = table_1[row][i];
    }
    add(times, json);
    results["speedups"].push_back(json);
  }
  print_table(rows);
}

void print_gwosdek_pictures(const TableOptions& options, const std::vector<std::string>& files,
                            nlohmann::json& results) {
  fmt::print("\nFigures 2 and 3: an iteration in milliseconds (published: GTX 480), {} iterations in seconds\n\n",
             published_iterations);
  std::vector<std::vector<std::string>> rows = {
      {"figure", "pixels", "dots", "published ms", "fast here", "direct here", "published s", "seconds here"}};
  for (const char* name : speedups) rows[0].emplace_back(name);
  for (std::size_t number = 0; number < std::size(pictures); ++number) {
    const auto& picture = pictures[number];
    const auto of = make_case(files, number, options.small);
    if (of.dots > options.max_points) continue;
    const Times times = measure(of, options);
    auto plan = halftone_plan(of, sum_options(ForceSum::ewald), 1, options.device);
    const Stopwatch clock;
    for (std::int64_t i = 0; i < published_iterations; ++i) plan.step(holotone::StepRule::paper());
    plan.queue().synchronize();
    const double seconds = clock.seconds();
    rows.push_back({picture.figure, fmt::format("{0} x {0}", of.ink.shape()[0]), std::to_string(of.dots),
                    fmt::format("{:g}", picture.published_ms), text(on_gpu(options) ? times.fast_gpu : times.fast_cpu),
                    text(on_gpu(options) ? times.direct_gpu : times.direct_cpu),
                    fmt::format("{:g}", picture.published_seconds), three_digits(seconds)});
    for (const auto& ratio : times.ratios()) rows.back().push_back(text(ratio));
    nlohmann::json json = {{"figure", picture.figure},
                           {"pixels", of.ink.size()},
                           {"dots", of.dots},
                           {"published_fast_gpu_ms", picture.published_ms},
                           {"published_seconds", picture.published_seconds},
                           {"seconds", seconds}};
    add(times, json);
    results["pictures"].push_back(json);
  }
  print_table(rows);
}

void print_gwosdek_figure_4(const TableOptions& options, const std::vector<std::string>& files,
                            const std::string& panels, nlohmann::json& results) {
  const auto of = make_case(files, 0, options.small);
  const auto side = of.ink.shape()[0];
  fmt::print(
      "\nFigure 4 (figure only) on the smaller picture: {} dots on {} x {} pixels, {} iterations; blurred PSNR in dB "
      "by\n"
      "sigma in pixels, over the whole page\n\n",
      of.dots, side, side, of.iterations);
  std::vector<HalftoneMethod> methods(1, {"direct", sum_options(ForceSum::direct)});
  for (const auto& family :
       {taylor_methods("Taylor, ", 1, 0), taylor_methods("Taylor, p / n, ", 0.5, published_modes(of.dots))})
    methods.insert(methods.end(), family.begin(), family.end());
  methods.push_back({"Ewald (default)", holotone::ElectrostaticOptions{}});
  methods.push_back(voronoi_method());
  const holotone::BlurOptions blur{{1, 1.5, 2, 3, 4, 6, 8}, 0, false};
  std::vector<std::vector<std::string>> rows(1, {"forces"});
  for (const double sigma : blur.sigma) rows[0].push_back(fmt::format("{:g} px", sigma));
  std::vector<Array<float, 2>> shown;
  for (const auto& method : methods) {
    auto position = halftone(method, of, 1, options.device);
    rows.push_back({method.name});
    nlohmann::json json = {{"forces", method.name}, {"dots", of.dots}};
    for (const auto& row : compare_blurred(std::as_const(position).view(), of.ink.view(), blur)) {
      rows.back().push_back(fmt::format("{:.2f}", row.psnr_db));
      json["psnr_db"].push_back(row.psnr_db);
    }
    results["figure_4"].push_back(json);
    const bool printed = method.forces && method.forces->taylor_radius < 1 && method.forces->taylor_degree == 3;
    if (printed || !method.forces || method.forces->sum == ForceSum::ewald) shown.push_back(std::move(position));
  }
  print_table(rows);
  if (panels.empty()) return;
  std::vector<DotsPanel> parts;
  parts.reserve(shown.size());
  const double from = 0.25 * static_cast<double>(side);
  for (const auto& position : shown)
    parts.push_back({position.view(), from, from, 2 * from, radius_for_ink(of.ink.view(), of.dots)});
  std::swap(parts[0], parts[1]);  // the default, the printed radius, Voronoi
  write_panels(panels, parts, 3);
}

}  // namespace bench
