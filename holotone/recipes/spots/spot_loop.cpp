#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/core/units.hpp>
#include <holotone/recipes/hologram_file.hpp>
#include <holotone/recipes/metadata_keys.hpp>
#include <holotone/recipes/spots/spot_loop.hpp>
#include <holotone/retrieval/spots/spot_limits.hpp>
#include <holotone/retrieval/spots/spot_targets.hpp>
#include <utility>

namespace holotone {
namespace {

View<const float, 1> view_of_measured(const std::vector<float>& measured) {
  return {measured.data(), {std::ssize(measured)}};
}

}  // namespace

SpotLight compare_measured(const SpotList& spots, const std::vector<float>& measured) {
  std::vector<double> target;
  target.reserve(spots.intensity.size());
  for (const float intensity : spots.intensity) target.push_back(std::sqrt(static_cast<double>(intensity)));
  if (measured.size() != target.size()) {
    throw_argument("compare_measured", "measured", fmt::format("{} intensities", target.size()),
                   fmt::format("{}", measured.size()));
  }
  return spots::compare_light({measured.begin(), measured.end()}, target);
}

MeasuredSpots make_measured_spots(const SpotList& spots, const SpotOptions& options, const EncodeOptions& encoding,
                                  View<const Complex, 2> light, const SpotSteps& steps, const SpotMeter& meter,
                                  const SpotLoopOptions& loop, Progress& progress, const Queue& queue) {
  auto plan = plan_for_codes(spots, options, encoding, light, queue);
  // What a measurement asks for has to come out more exactly than the measured limits.
  constexpr double share = 0.3;
  auto within = steps;
  within.max_deviation = std::max(share * steps.max_deviation, bounds_of<&SpotSteps::max_deviation>.low);
  within.max_worst = std::max(share * steps.max_worst, bounds_of<&SpotSteps::max_worst>.low);
  auto shown = show_spots(plan, plan.solve(within, progress), encoding);
  MeasuredSpots best;
  for (int round = 0;; ++round) {
    progress.step("measurements", round, loop.rounds + 1);
    auto measured = meter(shown.codes.view());
    const auto seen = compare_measured(spots, measured);
    if (loop.report) loop.report(round, seen);
    const bool reached = spots::reaches(seen, steps);
    if (round < loop.rounds && !reached) plan.set_measured(view_of_measured(measured), loop.gain);
    if (round == 0) best.first = seen.deviation;
    if (round == 0 || seen.deviation < best.light.deviation) {
      best.hologram = std::move(shown);
      best.measured = std::move(measured);
      best.light = seen;
      best.round = round;
      best.reached = reached;
    }
    if (round == loop.rounds || reached) return best;
    shown = show_spots(plan, plan.refine(within, progress), encoding);
  }
}

SpotHologram refine_spots(const SpotList& spots, const SpotOptions& options, const EncodeOptions& encoding,
                          View<const Complex, 2> light, const SpotSteps& steps, View<const float, 2> phase_rad,
                          const std::vector<float>& measured, double gain, Progress& progress, const Queue& queue) {
  auto plan = plan_for_codes(spots, options, encoding, light, queue);
  plan.start_from(phase_rad);
  plan.set_measured(view_of_measured(measured), gain);
  return show_spots(plan, plan.refine(steps, progress), encoding);
}

void require_same_optics(const std::string& path, const SpotLens& lens) {
  constexpr double same = 0.01;
  Metadata metadata;
  const auto complete = [&](const StatedHologram& stated) {
    metadata = stated.metadata;
    stated.metadata.insert({{"wavelength_m", number_text(lens.wavelength_m)}, {"pitch_m", number_text(lens.pitch_m)}});
  };
  (void)read_hologram(path, {.adjust = complete});
  const auto require = [&](std::string_view name, const char* key, double wanted_m) {
    const auto stated_m = checked_number(path, metadata, key);
    if (!stated_m || std::abs(*stated_m - wanted_m) <= same * wanted_m) return;
    throw_io(path, fmt::format("codes for a {} of {}, as asked for", name, format_length(wanted_m)),
             format_length(*stated_m));
  };
  require("wavelength", "wavelength_m", lens.wavelength_m);
  require("focal length", "focal_length_m", lens.focal_length_m / lens.magnification);
  require("pixel pitch", "pitch_m", lens.pitch_m);
}

double light_over_usual(const SpotList& spots, const SpotOptions& options, const EncodeOptions& encoding,
                        View<const Complex, 2> light, View<const float, 2> phase_rad, const Queue& queue) {
  auto plan = plan_for_codes(spots, options, encoding, light, queue);
  const double usual = plan.solve({.free_steps = 2, .kept_steps = 0}).light.efficiency;
  return plan.light_in_spots(phase_rad).efficiency / usual;
}

}  // namespace holotone
