#include <algorithm>
#include <cli/options/values.hpp>
#include <cli/view/stops.hpp>
#include <cmath>

namespace holotone::cli {
namespace {

using nlohmann::json;

constexpr std::string_view option = "--stops";
constexpr std::int64_t max_stops = 1000;

struct Typed {
  std::string control;
  std::string values;
};

Typed split(const std::string& text) {
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    reject(option, "CONTROL=VALUES such as distance=18cm:22cm:9", text);
  }
  return {text.substr(0, equals), text.substr(equals + 1)};
}

bool is_length(const json& control) {
  const auto unit = control.value("unit", "");
  return unit == "um" || unit == "mm" || unit == "cm" || unit == "m";
}

double parse_value(const json& control, const std::string& text) {
  const double value = is_length(control) ? parse_length(option, text) : parse_number(option, text);
  const double low = control.at("min");
  const double high = control.at("max");
  // The slider's ends are computed: a typed end may differ in the last digit.
  const double slack = 1e-9 * (high - low);
  if (!(value >= low - slack && value <= high + slack)) {
    const auto shown = [&](double bound) {
      return is_length(control) ? format_length(bound) : fmt::format("{:g}", bound);
    };
    reject(option, fmt::format("values from {} to {}", shown(low), shown(high)), text);
  }
  return std::clamp(value, low, high);
}

json evenly(double from, double to, std::int64_t count) {
  json values = json::array();
  for (std::int64_t i = 0; i < count; ++i) {
    const double part = count == 1 ? 0.5 : static_cast<double>(i) / static_cast<double>(count - 1);
    values.push_back(from + (to - from) * part);
  }
  return values;
}

json numbers(const json& control, const std::string& text) {
  const auto first = text.find(':');
  const auto second = first == std::string::npos ? first : text.find(':', first + 1);
  if (second != std::string::npos) {
    return evenly(parse_value(control, text.substr(0, first)),
                  parse_value(control, text.substr(first + 1, second - first - 1)),
                  whole_number(option, text.substr(second + 1), 1, max_stops));
  }
  constexpr auto expected = "FROM:TO:COUNT or values with commas between";
  if (first != std::string::npos) reject(option, expected, text);
  json values = json::array();
  for (const auto& piece : list(option, text, expected)) values.push_back(parse_value(control, piece));
  return values;
}

/// Rows from the top, columns from the left, over the control's whole plane.
json grid(const json& control, const std::string& text) {
  const auto [columns, rows] = resolution(option, text);
  if (columns * rows > max_stops) reject(option, fmt::format("at most {} places", max_stops), text);
  const auto low = control.at("min").get<std::array<double, 2>>();
  const auto high = control.at("max").get<std::array<double, 2>>();
  json places = json::array();
  for (const auto& y : evenly(high[1], low[1], rows)) {
    for (const auto& x : evenly(low[0], high[0], columns)) places.push_back({x, y});
  }
  return places;
}

json choices(const json& control, const std::string& text) {
  json values = json::array();
  for (const auto& piece : list(option, text, "names with commas between")) {
    std::vector<std::string> known;
    for (const auto& choice : control.at("choices")) known.push_back(choice.at(0));
    const std::vector<std::string_view> names(known.begin(), known.end());
    if (std::ranges::find(known, piece) == known.end()) reject(option, alternatives(names), piece);
    values.push_back(piece);
  }
  return values;
}

json typed_stops(const json& control, const Typed& typed) {
  const auto kind = control.at("kind").get<std::string>();
  if (kind == "number") return numbers(control, typed.values);
  if (kind == "place") return grid(control, typed.values);
  if (kind == "choice") return choices(control, typed.values);
  reject(option, "a control that a stored page can have", typed.control);
}

/// Each value once.
json different(const json& values) {
  json once = json::array();
  for (const auto& value : values) {
    if (std::ranges::find(once, value) == once.end()) once.push_back(value);
  }
  return once;
}

/// Without typed stops: nine distances about the default, over half of the slider, or 5 x 5 views.
json usual_stops(const std::string& name, const json& control) {
  if (name == "distance") {
    const double value = control.at("value");
    const double reach = 0.25 * (control.at("max").get<double>() - control.at("min").get<double>());
    json distances = evenly(value - reach, value + reach, 9);
    distances[4] = value;
    return distances;
  }
  if (name == "view") {
    const bool line = control.at("min").at(1) == control.at("max").at(1);
    return grid(control, line ? "9x1" : "5x5");
  }
  return json::array({control.at("value")});
}

}  // namespace

json stops_of(const json& controls, const std::vector<std::string>& typed) {
  json stops = json::object();
  for (const auto& [name, control] : controls.items()) {
    stops[name] = usual_stops(name, control);
    int times = 0;
    for (const auto& text : typed) {
      const Typed wish = split(text);
      if (wish.control != name) continue;
      if (++times > 1) reject(option, fmt::format("{} once", name), text);
      stops[name] = different(typed_stops(control, wish));
    }
  }
  return stops;
}

void require_known_stops(const std::vector<json>& all_controls, const std::vector<std::string>& typed) {
  std::vector<std::string> known;
  for (const auto& controls : all_controls) {
    for (const auto& [name, control] : controls.items()) {
      if (name != "window" && std::ranges::find(known, name) == known.end()) known.push_back(name);
    }
  }
  const std::vector<std::string_view> names(known.begin(), known.end());
  for (const auto& text : typed) {
    const auto control = split(text).control;
    if (std::ranges::find(known, control) != known.end()) continue;
    reject(option,
           known.empty() ? std::string("no stops: these files have no controls")
                         : fmt::format("a control: {}", alternatives(names)),
           control);
  }
}

double combination_count(const json& stops, const std::vector<std::string>& controls) {
  double count = 1;
  for (const auto& name : controls) count *= static_cast<double>(stops.at(name).size());
  return count;
}

std::vector<json> combinations(const json& stops, const std::vector<std::string>& controls) {
  std::vector<json> all{json::object()};
  for (const auto& name : controls) {
    std::vector<json> longer;
    for (const auto& one : all) {
      for (const auto& value : stops.at(name)) {
        longer.push_back(one);
        longer.back()[name] = value;
      }
    }
    all = std::move(longer);
  }
  return all;
}

}  // namespace holotone::cli
