#pragma once
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace holotone::cli {

/// Values of each control for which a stored page has pictures, by its name: those typed ("distance=18cm:22cm:9",
/// "view=5x5", "show=intensity,phase"), the usual ones, or the control's own value alone. `controls`: of a document's
/// description. Throws invalid_argument naming --stops.
nlohmann::json stops_of(const nlohmann::json& controls, const std::vector<std::string>& typed);

/// Throws invalid_argument naming --stops for a typed control that none of the documents has.
void require_known_stops(const std::vector<nlohmann::json>& all_controls, const std::vector<std::string>& typed);

/// Number of combinations of the stops of these controls.
double combination_count(const nlohmann::json& stops, const std::vector<std::string>& controls);

/// All combinations of the stops of these controls, each an object of values.
std::vector<nlohmann::json> combinations(const nlohmann::json& stops, const std::vector<std::string>& controls);

}  // namespace holotone::cli
