#pragma once
#include <algorithm>
#include <cli/options/values.hpp>
#include <cstdint>
#include <functional>
#include <holotone/core/bounds.hpp>
#include <holotone/core/enum_names.hpp>
#include <initializer_list>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

// Options that are bound to the members of a typed job: conversion, check and default in one place.
namespace holotone::cli {

/// How the text of an option becomes a value in its place. The value in place when the table is made is the default.
struct OptionValue {
  /// Converts the text, checks it and stores the value. Throws invalid_argument naming the option.
  std::function<void(std::string_view option, const std::string& text)> store;
  bool flag = false;       ///< takes no text; store gets ""
  std::string standard{};  ///< the default as text; "": none
  std::string range{};     ///< accepted values for help: "1 to 8"
  std::string feeds{};     ///< as OptionRow::feeds
  /// What was typed; the parser fills it.
  std::shared_ptr<std::string> typed = std::make_shared<std::string>();
  std::shared_ptr<std::vector<std::string>> several{};  ///< the same of an option that takes several texts
};

/// Unit of a number, which its text needs.
enum class ValueUnit { none, length, angle, count };

/// "1e-05 to 0.1", "> 0", "1 um to 1000 m"; "" without ends.
std::string to_text(const Bounds& bounds, ValueUnit unit);

/// A number as it would be typed.
std::string to_text(double value, ValueUnit unit);

/// The number in `text`. Throws invalid_argument naming the option for another text, and for a value out of bounds with
/// the words of require_range.
double parse_value(std::string_view option, const std::string& text, ValueUnit unit, const Bounds& bounds);

/// "PointCloudOptions.pitch_m|PointCloudPlan.pitch_m": a member's arguments in errors of the library.
std::string feeds_of(std::string_view pretty_function);

/// Throws invalid_argument, with a suggestion, for a name that is none of `names`.
[[noreturn]] void reject_choice(std::string_view option, std::string_view text,
                                const std::vector<std::string_view>& names);

namespace detail {

template <class T>
struct Inner {
  using type = T;
};
template <class T>
struct Inner<std::optional<T>> {
  using type = T;
};
template <class T>
using InnerOf = typename Inner<T>::type;

/// The value in a place, if it holds one.
template <class T>
const T* value_in(const T& place) {
  return &place;
}
template <class T>
const T* value_in(const std::optional<T>& place) {
  return place ? &*place : nullptr;
}

/// The member that an instantiation names, in the compiler's words.
template <auto Member>
constexpr std::string_view spelled() {
  return __PRETTY_FUNCTION__;
}

template <class T>
struct MemberOf;
template <class Class, class T>
struct MemberOf<T Class::*> {
  using type = T;
  using owner = Class;
};

}  // namespace detail

/// A number in a place of type double, int, std::int64_t, std::uint64_t, or an optional of one: without it, no default.
template <class T>
OptionValue number(T& place, ValueUnit unit, const Bounds& bounds) {
  using Number = detail::InnerOf<T>;
  OptionValue value;
  value.store = [&place, unit, bounds](std::string_view option, const std::string& text) {
    if constexpr (std::is_integral_v<Number>) {
      const auto whole = [](double end) {
        constexpr auto highest = std::numeric_limits<std::int64_t>::max();
        return end < static_cast<double>(highest) ? static_cast<std::int64_t>(end) : highest;
      };
      static_cast<void>(unit);
      place = static_cast<Number>(whole_number(option, text, whole(bounds.low), whole(bounds.high)));
    } else {
      place = parse_value(option, text, unit, bounds);
    }
  };
  if (const auto* present = detail::value_in(place)) value.standard = to_text(static_cast<double>(*present), unit);
  value.range = to_text(bounds, unit);
  return value;
}

/// One of the named values.
template <class T>
OptionValue choice(T& place, std::vector<Choice<T>> choices) {
  OptionValue value;
  for (const auto& known : choices) {
    if (known.value == place) value.standard = known.name;
  }
  value.store = [&place, choices = std::move(choices)](std::string_view option, const std::string& text) {
    std::vector<std::string_view> names;
    for (const auto& known : choices) {
      if (known.name == text) {
        place = known.value;
        return;
      }
      names.push_back(known.name);
    }
    reject_choice(option, text, names);
  };
  return value;
}

/// The values of an enum that have names, or those in `only`. An empty optional has no default.
template <class T>
OptionValue choice(T& place, std::initializer_list<detail::InnerOf<T>> only = {}) {
  std::vector<Choice<T>> choices;
  for (const auto& known : enum_names<detail::InnerOf<T>>) {
    if (only.size() == 0 || std::find(only.begin(), only.end(), known.value) != only.end()) {
      choices.push_back({known.name, known.value});
    }
  }
  return choice(place, std::move(choices));
}

/// A value with its text as it was typed, which reports repeat; "": not given.
template <class T>
struct Typed {
  std::string text{};
  T value{};

  [[nodiscard]] bool given() const { return !text.empty(); }
};

/// What `parse(option, text)` makes of the text.
template <class T, class Parse>
OptionValue parsed(T& place, Parse parse, std::string standard = {}) {
  OptionValue value;
  value.store = [&place, parse](std::string_view option, const std::string& text) { place = parse(option, text); };
  value.standard = std::move(standard);
  return value;
}

template <class T, class Parse>
OptionValue parsed(Typed<T>& place, Parse parse) {
  OptionValue value;
  value.standard = place.text;
  value.store = [&place, parse](std::string_view option, const std::string& text) {
    place = {text, parse(option, text)};
  };
  return value;
}

/// Several texts, whose values are appended.
template <class T, class Parse>
OptionValue parsed_each(std::vector<T>& place, Parse parse) {
  OptionValue value;
  value.several = std::make_shared<std::vector<std::string>>();
  value.store = [&place, parse](std::string_view option, const std::string& text) {
    place.push_back(parse(option, text));
  };
  return value;
}

/// An option without a text that stores a value.
template <class T>
OptionValue setter(T& place, T stored) {
  OptionValue value;
  value.flag = true;
  value.store = [&place, stored](std::string_view, const std::string&) { place = stored; };
  return value;
}

/// Any text.
inline OptionValue text(std::string& place) {
  OptionValue value;
  value.standard = place;
  value.store = [&place](std::string_view, const std::string& typed) { place = typed; };
  return value;
}

/// A member of an aggregate by its type, with the names and, unless there are others, the bounds that the library
/// declares for it. Its name says the unit: `pitch_m` takes a length, `angle_rad` an angle. Errors about it name the
/// option.
template <auto Member, class Object>
OptionValue member(Object& object, const Bounds& bounds = bounds_of<Member>) {
  auto& place = object.*Member;
  using Value = detail::InnerOf<std::remove_reference_t<decltype(place)>>;
  OptionValue value;
  const std::string feeds = feeds_of(detail::spelled<Member>());
  if constexpr (std::is_same_v<Value, bool>) {
    value = setter(place, !place);
  } else if constexpr (std::is_enum_v<Value>) {
    value = choice(place);
  } else if constexpr (std::is_same_v<Value, std::string>) {
    value = text(place);
  } else {
    const ValueUnit unit = std::is_integral_v<Value> ? ValueUnit::count
                           : feeds.ends_with("_m")   ? ValueUnit::length
                           : feeds.ends_with("_rad") ? ValueUnit::angle
                                                     : ValueUnit::none;
    value = number(place, unit, bounds);
  }
  value.feeds = feeds;
  return value;
}

/// The same of a member with a text of its own.
template <auto Member, class Object, class Parse>
OptionValue parsed_member(Object& object, Parse parse) {
  OptionValue value = parsed(object.*Member, parse);
  value.feeds = feeds_of(detail::spelled<Member>());
  return value;
}

/// Throws invalid_argument about the option that is bound to the member that is spelled so.
[[noreturn]] void reject_member(std::string_view pretty_function, std::string_view expected, std::string_view got);

/// Throws invalid_argument about the option that is bound to a member: "--bits: expected ..., got '9'".
template <auto Member>
[[noreturn]] void reject(std::string_view expected, std::string_view got) {
  reject_member(detail::spelled<Member>(), expected, got);
}

}  // namespace holotone::cli
