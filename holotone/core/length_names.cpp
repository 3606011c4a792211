#include <fmt/format.h>
#include <holotone/core/length_names.hpp>
#include <string>

namespace holotone {
namespace {

struct NamedLength {
  std::string_view name;
  double metres;
};
constexpr double survey_foot = 1200.0 / 3937.0;
constexpr NamedLength named_lengths[] = {{"m", 1},
                                         {"metre", 1},
                                         {"meter", 1},
                                         {"km", 1e3},
                                         {"kilometre", 1e3},
                                         {"dm", 0.1},
                                         {"cm", 1e-2},
                                         {"centimetre", 1e-2},
                                         {"mm", 1e-3},
                                         {"millimetre", 1e-3},
                                         {"um", 1e-6},
                                         {"\u00b5m", 1e-6},
                                         {"\u03bcm", 1e-6},
                                         {"micron", 1e-6},
                                         {"micrometre", 1e-6},
                                         {"nm", 1e-9},
                                         {"nanometre", 1e-9},
                                         {"ft", 0.3048},
                                         {"foot", 0.3048},
                                         {"feet", 0.3048},
                                         {"international foot", 0.3048},
                                         {"in", 0.0254},
                                         {"inch", 0.0254},
                                         {"inches", 0.0254},
                                         {"yd", 0.9144},
                                         {"yard", 0.9144},
                                         {"ftus", survey_foot},
                                         {"us-ft", survey_foot},
                                         {"us survey foot", survey_foot}};

}  // namespace

std::optional<double> named_length_m(std::string_view name) {
  std::string plain(name);
  if (plain.size() > 2) {  // "M" and "MM" are others
    for (char& c : plain) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 'a' - 'A') : c;
  }
  if (plain.ends_with("meter")) plain.replace(plain.size() - 2, 2, "re");
  if (plain.ends_with("meters")) plain.replace(plain.size() - 3, 3, "re");
  if (plain.ends_with("metres") || plain.ends_with("microns") || plain.ends_with("yards")) plain.pop_back();
  for (const auto& [text, metres] : named_lengths) {
    if (plain == text) return metres;
  }
  return std::nullopt;
}

std::string one_of_unit(std::string_view unit) {
  const bool has_number = !unit.empty() && std::string_view("0123456789.").find(unit.front()) != std::string_view::npos;
  return has_number ? std::string(unit) : fmt::format("1{}", unit);
}

}  // namespace holotone
