#pragma once
// Light of spots against what is asked for, and targets by measured light. Not for users.
#include <holotone/retrieval/spots/spot_engine.hpp>

namespace holotone::spots {

/// Deviation, worst and contrast of intensities over the squares of target amplitudes; efficiency: their sum.
SpotLight compare_light(std::vector<double> intensity, std::span<const double> target);

/// unit times the common phase of sum value conj(unit).
std::vector<Wave> turned_to(std::span<const Wave> unit, std::span<const Wave> value);

/// Root mean square difference of the phases of `value` from those of `unit`, but for a common one, which is that of
/// sum value conj(unit).
double phase_error(std::span<const Wave> value, std::span<const Wave> unit);

/// Target amplitudes, the largest 1, by which spots of the fields `value` and the measured intensities come to the
/// intensities asked^2: T_m^2 = |u_m|^2 (mean r / r_m)^gain, r = measured / asked^2, the change limited to
/// max_measured_change.
std::vector<double> targets_by_measured(std::span<const Wave> value, std::span<const double> asked,
                                        View<const float, 1> measured, double gain);

/// Change of a spot's intensity by one measurement.
inline constexpr double max_measured_change = 4;

}  // namespace holotone::spots
