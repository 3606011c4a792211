#pragma once
// Checks of what SpotPlan is given. Not for users.
#include <holotone/retrieval/spots/spot_engine.hpp>

namespace holotone::spots {

// Each throws invalid_argument, `where` naming the function.
void validate(const SpotOptions& options);
void require_steps(const char* where, const SpotSteps& steps);
/// Amplitudes of intensities {n}, the largest 1; of an empty view all.
std::vector<double> checked_targets(View<const float, 1> intensity, std::size_t count, const char* where);
/// Ids {n}; of an empty view 0 to n - 1.
std::vector<std::int64_t> checked_ids(View<const std::int64_t, 1> id, std::size_t count, const char* where);
/// exp(i phase) {n}; of an empty view none.
std::vector<Wave> checked_units(View<const float, 1> phase_rad, std::size_t count, const char* where);

}  // namespace holotone::spots
