#pragma once
#include <array>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Descriptions of the page's controls. Values are in SI units; the page shows value * factor and the unit.
namespace holotone::cli {

struct Unit {
  std::string_view name;
  double factor = 1;
};

/// The unit in which lengths like this one are shown: um, mm, cm or m.
Unit length_unit(double like_m);

/// A slider from low to high.
struct NumberControl {
  std::string_view label;
  double value = 0;
  double low = 0;
  double high = 1;
  double step = 0;  ///< 0: a thousandth of the range
  Unit unit{};
  bool logarithmic = false;
};

/// A place in a plane, y up.
struct PlaceControl {
  std::string_view label;
  std::array<double, 2> value{};
  std::array<double, 2> low{};
  std::array<double, 2> high{};
  Unit unit{};
};

nlohmann::json make_json(const NumberControl& control);
nlohmann::json make_json(const PlaceControl& control);
/// A choice of (value, label) pairs; the first is the default.
nlohmann::json choice_control(std::string_view label, const std::vector<std::pair<std::string, std::string>>& choices);
/// The part of the page that is seen, {x, y, width, height}; all of it at first.
nlohmann::json window_control(double width, double height);

/// A view of a document and the names of its controls.
nlohmann::json view_json(std::string_view name, std::string_view title, std::string_view kind,
                         const std::vector<std::string>& controls = {});

}  // namespace holotone::cli
