#include <algorithm>
#include <bench/gwosdek_halftones.hpp>
#include <bench/gwosdek_quality.hpp>
#include <bench/paper_table.hpp>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <holotone/metrics/blurred_comparison.hpp>
#include <holotone/metrics/spectrum.hpp>
#include <tests/reference/electrostatic.hpp>

namespace bench {
namespace {

using holotone::Array;
using holotone::Device;

constexpr double interior_share = 0.8;
constexpr std::int64_t min_samples = 200;

/// Grey 0.85. With `small` a quarter of the dots.
HalftoneCase grey(bool small) {
  const std::int64_t side = small ? 112 : 224;
  HalftoneCase made{Array<float, 2>({side, side}), small ? 1882 : 7526, small ? 100 : 300};
  for (float& value : made.ink.host()) value = 0.15F;
  return made;
}

/// A method whose halftones are compared; without one the reference, float64 direct sums.
struct Row {
  std::string name;
  std::optional<HalftoneMethod> method;
};

/// Measured quality of one halftone.
struct Quality {
  std::vector<double> psnr;  ///< by sigma
  std::vector<double> raps;  ///< by annulus
  std::vector<double> anisotropy_db;
};

double compute_margin(const HalftoneCase& of) {
  return 0.5 * (1 - interior_share) * static_cast<double>(of.ink.shape()[0]);
}

holotone::BlurOptions blur_of(const HalftoneCase& of) { return {{1, 1.5, 2, 3, 4, 6, 8}, compute_margin(of), false}; }

Quality quality_of(const HalftoneCase& of, const Array<float, 2>& position, std::vector<double>& frequency) {
  Quality quality;
  for (const auto& row : holotone::compare_blurred(position.view(), of.ink.view(), blur_of(of)))
    quality.psnr.push_back(row.psnr_db);
  const double side = interior_share * static_cast<double>(of.ink.shape()[0]);
  holotone::SpectrumOptions options;
  options.region = {compute_margin(of), compute_margin(of), side, side};
  options.segments = 1;
  options.window = holotone::SpectrumWindow::hann;
  const auto radial = holotone::radial_spectrum(holotone::power_spectrum(position.view(), options));
  frequency.clear();
  for (std::size_t i = 0; i < radial.power.size(); ++i) {
    if (radial.samples[i] < min_samples) continue;
    frequency.push_back(radial.frequency[i]);
    quality.raps.push_back(radial.power[i]);
    quality.anisotropy_db.push_back(holotone::anisotropy_db(radial.anisotropy[i]));
  }
  return quality;
}

/// Net forces in float64 as in tests/reference/electrostatic.hpp, on all threads.
void direct_forces(const reference::Attraction& attraction, const Array<float, 2>& position, Array<float, 2>& force) {
  const std::int64_t dots = position.shape()[0];
#pragma omp parallel for
  for (std::int64_t i = 0; i < dots; ++i) {
    const double x = static_cast<double>(position(i, 0));
    const double y = static_cast<double>(position(i, 1));
    auto sum = attraction.at(x, y);
    for (std::int64_t j = 0; j < dots; ++j) {
      const double dx = x - static_cast<double>(position(j, 0));
      const double dy = y - static_cast<double>(position(j, 1));
      const double square = dx * dx + dy * dy;
      const double size = square > 0 ? 1 / square : 0;
      sum[0] += dx * size;
      sum[1] += dy * size;
    }
    force(i, 0) = static_cast<float>(sum[0]);
    force(i, 1) = static_cast<float>(sum[1]);
  }
}

/// A halftone by float64 direct sums. Moves use a plan's density and velocities, but not its forces.
Array<float, 2> exact_halftone(const HalftoneCase& of, const reference::Attraction& attraction, std::uint64_t seed) {
  auto plan = halftone_plan(of, {}, seed, Device{});
  Array<float, 2> force({of.dots, 2});
  for (std::int64_t i = 0; i < of.iterations; ++i) {
    direct_forces(attraction, read_positions(plan), force);
    plan.move(std::as_const(force).view());
  }
  return read_positions(plan);
}

double mean_of(const std::vector<Quality>& all, const std::function<double(const Quality&)>& value) {
  double sum = 0;
  for (const auto& one : all) sum += value(one);
  return sum / static_cast<double>(all.size());
}

/// Number of annuli whose mean over the seeds lies within mean +- 1.96 standard deviations of the reference's seeds.
std::int64_t inside_band(const std::vector<Quality>& all, const std::vector<Quality>& expected,
                         std::vector<double> Quality::*values) {
  std::int64_t inside = 0;
  for (std::size_t i = 0; i < (expected[0].*values).size(); ++i) {
    const auto value = [&](const Quality& one) { return (one.*values)[i]; };
    const double mean = mean_of(expected, value);
    double variance = 0;
    for (const auto& one : expected) variance += std::pow(value(one) - mean, 2);
    const double deviation = std::sqrt(variance / static_cast<double>(std::max<std::size_t>(1, expected.size() - 1)));
    inside += std::abs(mean_of(all, value) - mean) <= 1.96 * deviation ? 1 : 0;
  }
  return inside;
}

std::vector<Row> table_rows(std::int64_t dots) {
  std::vector<Row> all = {{"direct, float64", std::nullopt}};
  const auto add = [&](const HalftoneMethod& method) { all.push_back({method.name, method}); };
  for (const auto& method : taylor_methods("Taylor, ", 1, 0)) add(method);
  for (const auto& method : taylor_methods("Taylor, p / n, ", 0.5, published_modes(dots))) add(method);
  for (const double tolerance : {5e-4, 1e-4}) {
    holotone::ElectrostaticOptions options;
    options.tolerance = tolerance;
    const bool standard = tolerance == holotone::ElectrostaticOptions{}.tolerance;
    add({fmt::format("Ewald, {:g}{}", tolerance, standard ? " (default)" : ""), options});
  }
  add(voronoi_method());
  return all;
}

/// Means over the seeds, and the shares of annuli in the reference's band.
struct Summary {
  nlohmann::json json;
  std::vector<std::string> cells;
};

Summary summarize(const std::string& name, const std::vector<Quality>& all, const std::vector<Quality>& expected,
                  const std::vector<double>& frequency) {
  Summary summary{{{"forces", name}}, {name}};
  double gap = 0;
  for (std::size_t i = 0; i < expected[0].psnr.size(); ++i) {
    const auto psnr = [i](const Quality& one) { return one.psnr[i]; };
    summary.cells.push_back(fmt::format("{:.2f}", mean_of(all, psnr)));
    summary.json["psnr_db"].push_back(mean_of(all, psnr));
    gap = std::max(gap, std::abs(mean_of(all, psnr) - mean_of(expected, psnr)));
  }
  const auto annuli = std::ssize(frequency);
  const auto raps = inside_band(all, expected, &Quality::raps);
  const auto anisotropy = inside_band(all, expected, &Quality::anisotropy_db);
  const double mean_anisotropy = mean_of(all, [](const Quality& one) {
    double sum = 0;
    for (const double value : one.anisotropy_db) sum += value;
    return sum / static_cast<double>(one.anisotropy_db.size());
  });
  double largest_anisotropy = -INFINITY;
  for (const auto& one : all) {
    const double largest = *std::max_element(one.anisotropy_db.begin(), one.anisotropy_db.end());
    largest_anisotropy = std::max(largest_anisotropy, largest);
  }
  std::size_t peak = 0;
  const auto raps_at = [&](std::size_t i) { return mean_of(all, [i](const Quality& one) { return one.raps[i]; }); };
  for (std::size_t i = 0; i < frequency.size(); ++i) peak = raps_at(i) > raps_at(peak) ? i : peak;
  for (const auto& cell :
       {fmt::format("{} of {}", raps, annuli), fmt::format("{} of {}", anisotropy, annuli),
        fmt::format("{:.2f} dB", mean_anisotropy), fmt::format("{:.1f} dB", largest_anisotropy),
        fmt::format("{:.1f} at {:.3f}", raps_at(peak), frequency[peak]), fmt::format("{:.3f} dB", gap)})
    summary.cells.push_back(cell);
  summary.json.update({{"annuli", annuli},
                       {"raps_in_band", raps},
                       {"anisotropy_in_band", anisotropy},
                       {"mean_anisotropy_db", mean_anisotropy},
                       {"largest_anisotropy_db", largest_anisotropy},
                       {"raps_peak", raps_at(peak)},
                       {"raps_peak_frequency", frequency[peak]},
                       {"largest_psnr_gap_db", gap}});
  return summary;
}

}  // namespace

void print_gwosdek_quality(Device device, std::int64_t seeds, bool small, const std::string& panels,
                           nlohmann::json& results) {
  const auto of = grey(small);
  const auto side = of.ink.shape()[0];
  const double density = static_cast<double>(of.dots) / static_cast<double>(side * side);
  fmt::print(
      "\nFigures 4 and 5 (figures only): grey 0.85, {} dots on {} x {} pixels, {} iterations, means of {} seeds;\n"
      "blurred PSNR in dB by sigma in pixels, then RAPS and anisotropy inside the direct sums' 95 % band, the largest\n"
      "anisotropy of a seed and the peak of RAPS (principal frequencies: {:.3f} of squares, {:.3f} of hexagons)\n\n",
      of.dots, side, side, of.iterations, seeds, std::sqrt(density), std::sqrt(2 / std::sqrt(3.0) * density));
  const reference::Attraction attraction(side, side, {of.ink.data(), of.ink.data() + of.ink.size()},
                                         static_cast<double>(of.dots));
  std::vector<std::vector<std::string>> rows(1, {"forces"});
  for (const double sigma : blur_of(of).sigma) rows[0].push_back(fmt::format("{:g} px", sigma));
  for (const char* name :
       {"RAPS in band", "anisotropy in band", "mean anisotropy", "largest", "RAPS peak", "largest PSNR gap"})
    rows[0].emplace_back(name);
  std::vector<Quality> expected;
  std::vector<double> frequency;
  std::vector<Array<float, 2>> shown;  // m = 3, 4, 5 with the printed radius, after the reference
  for (const auto& row : table_rows(of.dots)) {
    std::vector<Quality> all;
    for (std::int64_t seed = 1; seed <= seeds; ++seed) {
      auto made = row.method ? halftone(*row.method, of, static_cast<std::uint64_t>(seed), device)
                             : exact_halftone(of, attraction, static_cast<std::uint64_t>(seed));
      all.push_back(quality_of(of, made, frequency));
      const bool printed = row.method && row.method->forces && row.method->forces->taylor_radius < 1;
      if (seed == 1 && (!row.method || printed)) shown.push_back(std::move(made));
    }
    if (!row.method) expected = all;
    const auto summary = summarize(row.name, all, expected, frequency);
    rows.push_back(summary.cells);
    results["quality"].push_back(summary.json);
  }
  print_table(rows);
  if (panels.empty()) return;
  std::vector<DotsPanel> parts;
  parts.reserve(shown.size());
  for (const auto& position : shown)
    parts.push_back({position.view(), 0.35 * static_cast<double>(side), 0.35 * static_cast<double>(side), 64, 0.5});
  write_panels(panels, parts, 4);
}

}  // namespace bench
