#include <cli/options/option_value.hpp>
#include <cmath>
#include <numbers>

namespace holotone::cli {
namespace {

/// "pi rad", "0.001 mrad": short, since it stands in help.
std::string angle_text(double value_rad) {
  const double half_turns = value_rad / std::numbers::pi;
  if (half_turns == 1) return "pi rad";
  if (half_turns != 0 && half_turns == std::round(half_turns)) return fmt::format("{:g}pi rad", half_turns);
  return std::abs(value_rad) < 0.1 ? fmt::format("{:g} mrad", value_rad * 1e3) : fmt::format("{:g} rad", value_rad);
}

std::string end_text(double value, ValueUnit unit) {
  switch (unit) {
    case ValueUnit::length: return format_length(value);
    case ValueUnit::angle: return angle_text(value);
    case ValueUnit::count: return fmt::format("{:.0f}", value);
    case ValueUnit::none: break;
  }
  return fmt::format("{:g}", value);
}

}  // namespace

std::string to_text(const Bounds& bounds, ValueUnit unit) {
  const bool low = std::isfinite(bounds.low);
  const bool high = std::isfinite(bounds.high);
  if (low && high) return fmt::format("{} to {}", end_text(bounds.low, unit), end_text(bounds.high, unit));
  if (low) return fmt::format(">= {}", end_text(bounds.low, unit));
  if (high) return fmt::format("<= {}", end_text(bounds.high, unit));
  return {};
}

std::string to_text(double value, ValueUnit unit) {
  return unit == ValueUnit::length  ? length_text(value)
         : unit == ValueUnit::angle ? fmt::format("{:g}rad", value)
                                    : end_text(value, unit);
}

double parse_value(std::string_view option, const std::string& text, ValueUnit unit, const Bounds& bounds) {
  const double value = unit == ValueUnit::length  ? parse_length(option, text)
                       : unit == ValueUnit::angle ? parse_angle(option, text)
                                                  : parse_number(option, text);
  if (!(value >= bounds.low && value <= bounds.high)) reject(option, to_text(bounds, unit), text);
  return value;
}

std::string feeds_of(std::string_view pretty_function) {
  // g++: "... [with auto Member = &holotone::ElectrostaticOptions::tolerance; ...]", clang: without "with auto".
  const auto begin = pretty_function.find("= &");
  if (begin == std::string_view::npos) return {};
  auto path = pretty_function.substr(begin + 3);
  path = path.substr(0, path.find_first_of(";]"));
  const auto name = path.rfind("::");
  if (name == std::string_view::npos) return {};
  auto owner = path.substr(0, name);
  if (const auto scope = owner.rfind("::"); scope != std::string_view::npos) owner.remove_prefix(scope + 2);
  const auto argument = path.substr(name + 2);
  std::string feeds = fmt::format("{}.{}", owner, argument);
  constexpr std::string_view options = "Options";
  if (owner.ends_with(options)) {
    owner.remove_suffix(options.size());
    feeds += fmt::format("|{}Plan.{}", owner, argument);
  }
  return feeds;
}

void reject_member(std::string_view pretty_function, std::string_view expected, std::string_view got) {
  const std::string feeds = feeds_of(pretty_function);
  const auto point = feeds.find('.');
  const auto end = feeds.find('|');
  throw Error(ErrorCode::invalid_argument, ErrorFields{feeds.substr(0, point), feeds.substr(point + 1, end - point - 1),
                                                       std::string(expected), fmt::format("'{}'", got)});
}

void reject_choice(std::string_view option, std::string_view text, const std::vector<std::string_view>& names) {
  throw Error(ErrorCode::invalid_argument,
              fmt::format("{}: expected {}, got '{}'{}", option, alternatives(names), text, suggestion(text, names)));
}

}  // namespace holotone::cli
