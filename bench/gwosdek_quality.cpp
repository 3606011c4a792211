#include <bench/gwosdek_quality.hpp>
#include <bench/paper_table.hpp>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <holotone/core/error.hpp>
#include <holotone/halftone/electrostatic.hpp>
#include <holotone/halftone/sampling.hpp>
#include <holotone/metrics/blurred_comparison.hpp>
#include <holotone/metrics/spectrum.hpp>
#include <optional>
#include <tests/reference/electrostatic.hpp>

namespace bench {
namespace {

using holotone::Array;
using holotone::Device;
using holotone::View;

constexpr std::int64_t side = 224;
constexpr double ink = 0.15;  // grey 0.85
constexpr std::int64_t dots = 7526;
constexpr std::int64_t iterations = 300;
constexpr double interior_share = 0.8;
constexpr std::int64_t least_samples = 200;

Array<float, 2> grey() {
  Array<float, 2> image({side, side});
  for (std::int64_t i = 0; i < image.size(); ++i) image.data()[i] = static_cast<float>(ink);
  return image;
}

/// Halftones of one method.
struct Method {
  std::string name;
  std::optional<holotone::ElectrostaticOptions> options;  ///< none: float64 direct sums
};

/// Measured quality of one halftone.
struct Quality {
  std::vector<double> psnr;  ///< by sigma
  std::vector<double> raps;  ///< by annulus
  std::vector<double> anisotropy_db;
};

const holotone::BlurOptions blur{{1, 1.5, 2, 3, 4, 6, 8}, 0.5 * (1 - interior_share) * side, false};

Quality quality_of(const Array<float, 2>& position, std::vector<double>& frequency) {
  Quality quality;
  for (const auto& row : holotone::compare_blurred(position.view(), grey().view(), blur))
    quality.psnr.push_back(row.psnr_db);
  const double margin = 0.5 * (1 - interior_share) * side;
  holotone::SpectrumOptions options;
  options.region = {margin, margin, interior_share * side, interior_share * side};
  options.segments = 1;
  options.window = holotone::SpectrumWindow::hann;
  const auto radial = holotone::radial_spectrum(holotone::power_spectrum(position.view(), options));
  frequency.clear();
  for (std::size_t i = 0; i < radial.power.size(); ++i) {
    if (radial.samples[i] < least_samples) continue;
    frequency.push_back(radial.frequency[i]);
    quality.raps.push_back(radial.power[i]);
    quality.anisotropy_db.push_back(holotone::anisotropy_db(radial.anisotropy[i]));
  }
  return quality;
}

/// Net forces in float64 as in tests/reference/electrostatic.hpp, on all threads.
void direct_forces(const reference::Attraction& attraction, const Array<float, 2>& position, Array<float, 2>& force) {
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

Array<float, 2> halftone(const Method& method, const reference::Attraction& attraction, std::uint64_t seed,
                         Device device) {
  const auto image = grey();
  const auto start = importance_sampled_dots(image.view(), dots, seed);
  const View<const float, 2> first(start.position.data(), {dots, 2});
  // Reference moves use the plan's density and velocities, but not its forces.
  const holotone::Queue queue(method.options ? device : Device{});
  holotone::ElectrostaticPlan plan({side, side}, dots, queue,
                                   method.options.value_or(holotone::ElectrostaticOptions{}));
  const auto own_image = copy_of(image.view(), queue.device());
  const auto own_first = copy_of(first, queue.device());
  plan.set_ink(own_image.view());
  plan.set_positions(own_first.view());
  Array<float, 2> position({dots, 2}, queue);
  if (method.options) {
    for (std::int64_t i = 0; i < iterations; ++i) plan.step();
  } else {
    Array<float, 2> force({dots, 2});
    for (std::int64_t i = 0; i < iterations; ++i) {
      plan.positions(position.view());
      direct_forces(attraction, position, force);
      plan.move(std::as_const(force).view());
    }
  }
  plan.positions(position.view());
  queue.synchronize();
  return position.to(Device{});
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

std::vector<Method> methods() {
  std::vector<Method> all = {{"direct, float64", std::nullopt}};
  for (const int m : {3, 4, 5}) {
    holotone::ElectrostaticOptions options;
    options.sum = holotone::ForceSum::taylor;
    options.window_cutoff = m;
    options.taylor_degree = m;
    all.push_back({fmt::format("Taylor, m = p = {}", m), options});
  }
  for (const double tolerance : {5e-4, 1e-4}) {
    holotone::ElectrostaticOptions options;
    options.tolerance = tolerance;
    const bool standard = tolerance == holotone::ElectrostaticOptions{}.tolerance;
    all.push_back({fmt::format("Ewald, {:g}{}", tolerance, standard ? " (default)" : ""), options});
  }
  return all;
}

}  // namespace

void print_gwosdek_quality(Device device, std::int64_t seeds, nlohmann::json& results) {
  fmt::print(
      "\nFigures 4 and 5 (figures only): grey 0.85, {} dots on {} x {} pixels, {} iterations, means of {} seeds;\n",
      dots, side, side, iterations, seeds);
  fmt::print("blurred PSNR in dB by sigma in pixels, then RAPS and anisotropy inside the direct sums' 95 % band\n\n");
  const auto image = grey();
  const reference::Attraction attraction(side, side, {image.data(), image.data() + image.size()},
                                         static_cast<double>(dots));
  std::vector<std::vector<std::string>> rows(1, {"forces"});
  for (const double sigma : blur.sigma) rows[0].push_back(fmt::format("{:g} px", sigma));
  for (const char* name : {"RAPS in band", "anisotropy in band", "mean anisotropy", "largest PSNR gap"})
    rows[0].emplace_back(name);
  std::vector<Quality> expected;
  std::vector<double> frequency;
  for (const auto& method : methods()) {
    std::vector<Quality> all;
    try {
      for (std::int64_t seed = 1; seed <= seeds; ++seed) {
        all.push_back(quality_of(halftone(method, attraction, static_cast<std::uint64_t>(seed), device), frequency));
      }
    } catch (const holotone::Error& error) {
      if (error.code() != holotone::ErrorCode::unsupported) throw;
      rows.push_back({method.name, "not on " + to_string(device)});
      continue;
    }
    if (!method.options) expected = all;
    std::vector<std::string> row = {method.name};
    nlohmann::json json = {{"forces", method.name}};
    double gap = 0;
    for (std::size_t i = 0; i < blur.sigma.size(); ++i) {
      const auto psnr = [i](const Quality& one) { return one.psnr[i]; };
      row.push_back(fmt::format("{:.2f}", mean_of(all, psnr)));
      json["psnr_db"].push_back(mean_of(all, psnr));
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
    row.push_back(fmt::format("{} of {}", raps, annuli));
    row.push_back(fmt::format("{} of {}", anisotropy, annuli));
    row.push_back(fmt::format("{:.2f} dB", mean_anisotropy));
    row.push_back(fmt::format("{:.3f} dB", gap));
    rows.push_back(row);
    json["annuli"] = annuli;
    json["raps_in_band"] = raps;
    json["anisotropy_in_band"] = anisotropy;
    json["mean_anisotropy_db"] = mean_anisotropy;
    json["largest_psnr_gap_db"] = gap;
    results["quality"].push_back(json);
  }
  print_table(rows);
}

}  // namespace bench
