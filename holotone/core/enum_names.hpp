#pragma once
#include <array>
#include <optional>
#include <string_view>

// Names of the values of enums, as options, files and JSON spell them.
namespace holotone {

template <class Enum>
struct EnumName {
  Enum value;
  std::string_view name;
};
template <class Enum>
EnumName(Enum, std::string_view) -> EnumName<Enum>;  // clang 14 deduces no aggregates by itself

/// The names of an enum's values. A specialization beside the enum is their only declaration:
/// `template <> inline constexpr auto enum_names<Wave> = std::array{EnumName{Wave::fresnel, "fresnel"}, ...};`
template <class Enum>
inline constexpr auto enum_names = std::array<EnumName<Enum>, 0>{};

/// Name of a value; "" for one without a name. The text ends with a zero.
template <class Enum>
constexpr std::string_view name_of(Enum value) {
  for (const auto& known : enum_names<Enum>) {
    if (known.value == value) return known.name;
  }
  return "";
}

/// Value of a name, if there is one.
template <class Enum>
constexpr std::optional<Enum> find_value(std::string_view name) {
  for (const auto& known : enum_names<Enum>) {
    if (known.name == name) return known.value;
  }
  return std::nullopt;
}

}  // namespace holotone
