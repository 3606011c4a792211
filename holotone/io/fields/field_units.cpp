#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fmt/format.h>
#include <holotone/io/fields/field_units_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/file_part_detail.hpp>
#include <holotone/io/images/value_unit_detail.hpp>
#include <holotone/io/logarithm_unit_detail.hpp>
#include <holotone/io/printable_detail.hpp>
#include <holotone/io/text_reader_detail.hpp>
#include <numbers>

namespace holotone::io {
namespace {

constexpr double turn = 2 * std::numbers::pi;

struct Unit {
  std::string_view name;
  double rad;
};
constexpr Unit units[] = {
    {"1", 1},
    {"rad", 1},
    {"rads", 1},
    {"radian", 1},
    {"radians", 1},
    {"deg", turn / 360},
    {"degs", turn / 360},
    {"degree", turn / 360},
    {"degrees", turn / 360},
    {"\u00B0", turn / 360},
    {"mrad", 1e-3},
    {"milliradian", 1e-3},
    {"milliradians", 1e-3},
    {"urad", 1e-6},
    {"\u00B5rad", 1e-6},
    {"\u03BCrad", 1e-6},
    {"microradian", 1e-6},
    {"microradians", 1e-6},
    {"wave", turn},
    {"waves", turn},
    {"turn", turn},
    {"turns", turn},
    {"cycle", turn},
    {"cycles", turn},
    {"lambda", turn},
    {"\u03BB", turn},
    {"wavelength", turn},
    {"wavelengths", turn},
    {"2pi", turn},
    {"2 pi", turn},
    {"2pi rad", turn},
    {"2 pi rad", turn},
    {"2*pi", turn},
    {"2\u03C0", turn},
    {"pi", turn / 2},
    {"pi rad", turn / 2},
    {"\u03C0", turn / 2},
};

std::string lower_case(std::string_view text) {
  std::string lower(trim(text));
  std::ranges::transform(lower, lower.begin(),
                         [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  return lower;
}

}  // namespace

bool is_unit_key(std::string_view key) {
  const std::string lower = lower_case(key);
  return lower == "units" || lower == "unit" || lower == "phase_units" || lower == "phase_unit";
}

std::string take_unit(Metadata& metadata) {
  std::string unit;
  std::erase_if(metadata, [&](const auto& entry) {
    if (!is_unit_key(entry.first)) return false;
    if (unit.empty()) unit = trim(entry.second);
    return true;
  });
  return unit;
}

void refuse_logarithm_name(const std::string& path, std::string_view name) {
  name = name.substr(name.rfind('/') + 1);
  if (names_logarithm(name)) throw_io(path, linear_numbers, "the name " + in_quotes(name));
}

void refuse_logarithms(const std::string& path, const Metadata& metadata) {
  for (const auto& [key, value] : metadata) {
    const bool is_unit = is_unit_key(key) || key == unit_key;
    const bool is_name = key == "long_name" || key == "standard_name" || key == "quantity";
    if ((is_unit && is_logarithm(value)) || (is_name && names_logarithm(value))) {
      throw_io(path, linear_numbers, fmt::format("{} {}", printable(key), in_quotes(value)));
    }
  }
  refuse_logarithm_name(path, std::filesystem::path(split_part(path).file).stem().string());
}

std::string unit_of_name(std::string_view name) {
  const auto at = name.rfind('_');
  const bool follows_word =
      at != std::string_view::npos && at > 0 && std::isalpha(static_cast<unsigned char>(name[at - 1])) != 0;
  const std::string lower = lower_case(name);
  if (!follows_word || (lower.find("phase") == std::string::npos && lower.find("phi") == std::string::npos)) return {};
  const auto unit = name.substr(at + 1);
  return parse_phase_unit(unit) && unit != "1" ? std::string(unit) : std::string();
}

std::optional<double> parse_phase_unit(std::string_view unit) {
  const auto* const known = std::ranges::find(units, lower_case(unit), &Unit::name);
  return known == std::end(units) ? std::nullopt : std::optional(known->rad);
}

}  // namespace holotone::io
