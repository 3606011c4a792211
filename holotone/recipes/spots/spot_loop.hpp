#pragma once
// Not for users. Spots of a panel that something measures: rounds of codes, measured light and targets by it.
#include <functional>
#include <holotone/recipes/hologram_file.hpp>
#include <holotone/recipes/spots.hpp>
#include <string>
#include <vector>

namespace holotone {

/// A plan of spots for codes of an encoding; sets options.levels.
SpotPlan plan_for_codes(const SpotList& spots, SpotOptions options, const EncodeOptions& encoding,
                        View<const Complex, 2> light, const Queue& queue);
/// The plan's phase as codes, with their light.
SpotHologram show_spots(const SpotPlan& plan, const SpotReport& report, const EncodeOptions& encoding);

/// Limits of what has to come out more exactly than `steps` ask for in the end.
SpotSteps stricter(const SpotSteps& steps);

/// The plan's phase as codes, and while these miss a limit of `steps`, up to ten rounds of targets by their light (as
/// SpotPlan::set_measured) and refine: the codes of the least deviation. For codes that SpotPlan does not round to: of
/// a stroke other than 2 pi, of measured levels, with a correction. `report`: of the plan's phase.
SpotHologram show_evenly(SpotPlan& plan, const SpotReport& report, const EncodeOptions& encoding,
                         const SpotSteps& steps, Progress& progress);

/// Light {n} of each spot of codes {ny, nx} that a panel shows, in any unit, >= 0.
using SpotMeter = std::function<std::vector<float>(View<const std::uint16_t, 2> codes)>;

struct SpotLoopOptions {
  int rounds = 5;  ///< changes of the targets, 1 to 1000; one more measurement than rounds
  double gain = 0.7;
  /// Called after each measurement, of number 0 to rounds.
  std::function<void(int round, const SpotLight& measured)> report;
};

/// Codes of the measurement of the least deviation.
struct MeasuredSpots {
  SpotHologram hologram;
  std::vector<float> measured;
  SpotLight light;       ///< deviation, worst and contrast of the measured over the intensities asked for
  double first = 0;      ///< deviation of the first measurement
  int round = 0;         ///< number of the measurement
  bool reached = false;  ///< both limits of the steps hold of the measured
  std::string stopped;   ///< why the loop has ended after `round` and before its last one; empty: it has not
};

/// make_spots, then rounds of SpotPlan::set_measured and refine, until the limits of `steps` hold of the measured, the
/// deviation is above 1.25 times the first one and 2 %, or a later measurement fails.
MeasuredSpots make_measured_spots(const SpotList& spots, const SpotOptions& options, const EncodeOptions& encoding,
                                  View<const Complex, 2> light, const SpotSteps& steps, const SpotMeter& meter,
                                  const SpotLoopOptions& loop, Progress& progress, const Queue& queue);

/// One round from a phase {ny, nx} whose spots were measured.
SpotHologram refine_spots(const SpotList& spots, const SpotOptions& options, const EncodeOptions& encoding,
                          View<const Complex, 2> light, const SpotSteps& steps, View<const float, 2> phase_rad,
                          const std::vector<float>& measured, double gain, Progress& progress, const Queue& queue);

/// Throws io naming the file for a field and for codes of another encoding than phase.
void require_phase_codes(const StatedHologram& stated);

/// Throws io naming the file of codes whose metadata state another wavelength, focal length or pitch than the lens's,
/// by more than 1 %.
void require_same_optics(const StatedHologram& stated, const SpotLens& lens);

/// Light in the spots of a phase {ny, nx}, relative to that of two free steps for the same spots.
double light_over_usual(const SpotList& spots, const SpotOptions& options, const EncodeOptions& encoding,
                        View<const Complex, 2> light, View<const float, 2> phase_rad, const Queue& queue);

/// Deviation, worst and contrast of measured light over the intensities asked for.
SpotLight compare_measured(const SpotList& spots, const std::vector<float>& measured);

}  // namespace holotone
