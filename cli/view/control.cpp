#include <cli/view/control.hpp>
#include <cmath>

namespace holotone::cli {

Unit length_unit(double like_m) {
  const double size = std::abs(like_m);
  if (size < 1e-3) return {"um", 1e6};
  if (size < 1e-2) return {"mm", 1e3};
  if (size < 1) return {"cm", 1e2};
  return {"m", 1};
}

nlohmann::json make_json(const NumberControl& control) {
  constexpr double steps = 1000;
  return {{"kind", "number"},
          {"label", control.label},
          {"value", control.value},
          {"min", control.low},
          {"max", control.high},
          {"step", control.step > 0 ? control.step : (control.high - control.low) / steps},
          {"unit", control.unit.name},
          {"factor", control.unit.factor},
          {"logarithmic", control.logarithmic}};
}

nlohmann::json make_json(const PlaceControl& control) {
  return {{"kind", "place"},     {"label", control.label},    {"value", control.value},       {"min", control.low},
          {"max", control.high}, {"unit", control.unit.name}, {"factor", control.unit.factor}};
}

nlohmann::json choice_control(std::string_view label, const std::vector<std::pair<std::string, std::string>>& choices) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [value, text] : choices) list.push_back({value, text});
  return {{"kind", "choice"}, {"label", label}, {"value", choices.front().first}, {"choices", list}};
}

nlohmann::json window_control(double width, double height) {
  return {{"kind", "window"}, {"label", "Part shown"}, {"value", {0.0, 0.0, width, height}}};
}

nlohmann::json view_json(std::string_view name, std::string_view title, std::string_view kind,
                         const std::vector<std::string>& controls) {
  return {{"name", name}, {"title", title}, {"kind", kind}, {"controls", controls}};
}

}  // namespace holotone::cli
