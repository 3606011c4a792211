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

/// A loop ends at a deviation so many times the first one and above that of a noisy picture: its map or picture does
/// not fit, and each round drives spots farther away.
constexpr double worse = 1.25;
constexpr double noise = 0.02;

View<const float, 1> view_of_measured(const std::vector<float>& measured) {
  return {measured.data(), {std::ssize(measured)}};
}

std::vector<double> amplitudes_of(const SpotList& spots) {
  std::vector<double> amplitude;
  amplitude.reserve(spots.intensity.size());
  for (const float intensity : spots.intensity) amplitude.push_back(std::sqrt(static_cast<double>(intensity)));
  return amplitude;
}

}  // namespace

SpotLight compare_measured(const SpotList& spots, const std::vector<float>& measured) {
  const auto target = amplitudes_of(spots);
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
  const auto within = stricter(steps);
  auto shown = show_evenly(plan, plan.solve(within, progress), encoding, within, progress);
  MeasuredSpots best;
  for (int round = 0;; ++round) {
    progress.step("measurements", round, loop.rounds + 1);
    std::vector<float> measured;
    try {
      measured = meter(shown.codes.view());
    } catch (const Error& error) {
      // What was measured before is not lost.
      if (round == 0 || error.code() == ErrorCode::cancelled) throw;
      best.stopped = error.what();
      return best;
    }
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
    if (round > 0 && seen.deviation > std::max(worse * best.first, noise)) {
      best.stopped = fmt::format("a deviation of {:.2g} %, more than the {:.2g} % of the first picture",
                                 100 * seen.deviation, 100 * best.first);
      return best;
    }
    if (round == loop.rounds || reached) return best;
    shown = show_spots(plan, plan.refine(within, progress), encoding);
  }
}

SpotHologram refine_spots(const SpotList& spots, const SpotOptions& options, const EncodeOptions& encoding,
                          View<const Complex, 2> light, const SpotSteps& steps, View<const float, 2> phase_rad,
                          const std::vector<float>& measured, double gain, Progress& progress, const Queue& queue) {
  auto as_measured = spots;
  {
    auto plan = plan_for_codes(spots, options, encoding, light, queue);
    plan.start_from(phase_rad);
    plan.set_measured(view_of_measured(measured), gain);  // which checks them
    std::vector<std::complex<double>> value;
    for (const double share : plan.light_in_spots(phase_rad).intensity) value.emplace_back(std::sqrt(share));
    const auto target = spots::targets_by_measured(value, amplitudes_of(spots), view_of_measured(measured), gain);
    std::ranges::transform(target, as_measured.intensity.begin(), [](double t) { return static_cast<float>(t * t); });
  }
  auto plan = plan_for_codes(as_measured, options, encoding, light, queue);
  plan.start_from(phase_rad);
  auto made = show_evenly(plan, plan.refine(steps, progress), encoding, steps, progress);
  const double phase_error_rad = made.report.light.phase_error_rad;
  made.report.light = spots::compare_light(std::move(made.report.light.intensity), amplitudes_of(spots));
  made.report.light.phase_error_rad = phase_error_rad;
  return made;
}

void require_phase_codes(const StatedHologram& stated) {
  const auto encoding = stated.is_field ? "a field" : metadata_text(stated.metadata, "encoding");
  const auto expected = to_string(Encoding::phase);
  if (encoding != expected) throw_io(stated.path, fmt::format("codes of encoding {}", expected), encoding);
}

void require_same_optics(const StatedHologram& stated, const SpotLens& lens) {
  constexpr double same = 0.01;
  const auto require = [&](std::string_view name, const char* key, double wanted_m) {
    const auto stated_m = checked_number(stated.path, stated.metadata, key);
    if (!stated_m || std::abs(*stated_m - wanted_m) <= same * wanted_m) return;
    throw_io(stated.path, fmt::format("codes for a {} of {}, as the options have it", name, format_length(wanted_m)),
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
