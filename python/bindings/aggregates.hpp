#pragma once
// Aggregates of the library as classes of Python.
#include "arguments.hpp"

/// std::vector claims that lists of arrays, which only move, can be copied.
template <class T>
struct nanobind::detail::is_copy_constructible<T, std::enable_if_t<holotone::python::Members<T>::lists_arrays, int>>
    : std::false_type {};

namespace holotone::python {

template <class Type, class>
using As = Type;

/// A function of an aggregate.
template <class T, class Pointer>
void member_function(const char* name, const char* documented, Pointer pointer,
                     std::initializer_list<const char*> parameters) {
  auto bound = nb::borrow<nb::class_<T>>(nb::type<T>());
  const std::string full = fmt::format("{}.{}", Members<T>::name, name);
  const auto define = [&]<class R, class... P>(R (T::*one)(P...) const) {
    std::string text = fmt::format("def {}(self", name);
    [[maybe_unused]] auto parameter = parameters.begin();
    ((text += fmt::format(", {}: {}", *parameter++, type_text<std::remove_cvref_t<P>>())), ...);
    text += fmt::format("{}) -> {}", sizeof...(P) > 0 ? ", /" : "", value_text<std::remove_cvref_t<R>>());
    bound.def(
        name,
        [one, full](const T& self, As<nb::handle, P>... values) {
          Call call(full);
          std::size_t at = 0;
          // in the order of the list, so of the names
          std::tuple<std::remove_cvref_t<P>...> taken{
              from_python<std::remove_cvref_t<P>>(values, call, fmt::format("argument {}", ++at))...};
          return std::apply([&](const auto&... value) { return to_python((self.*one)(value...)); }, taken);
        },
        nb::sig(kept_text(text)), kept_text(std::string(documentation(documented))));
  };
  define(pointer);
}

/// ==, repr and pickling.
void define_comparison(nb::handle aggregate, const AggregateType& type);
/// Signatures of its constructor and of a member's accessors.
std::string constructor_text(const AggregateType& type);
std::string getter_text(const Member& member);
std::string setter_text(const Member& member);

/// An aggregate as a class: made by keywords, its members as attributes.
template <class T>
void aggregate() {
  const AggregateType& type = aggregate_type<T>();
  auto bound = nb::borrow<nb::class_<T>>(nb::type<T>());
  for (const Member& member : type.members) {
    using Is = MemberKind::Is;
    const Is is = member.kind->is;
    if (is == Is::argument) continue;
    const auto get = [&type, &member](T& self) { return type.get(&self, member, nb::find(self)); };
    const auto set = [&type, &member](T& self, nb::handle value) { type.set(&self, member, value); };
    const auto getter = nb::for_getter(nb::sig(kept_text(getter_text(member))));
    const auto setter = nb::for_setter(nb::sig(kept_text(setter_text(member))));
    const char* const comment = kept_text(type.comment(member));
    if (is == Is::array || is == Is::array_list) {
      bound.def_prop_ro(member.name, get, getter, comment);
    } else if (is == Is::aggregate) {
      bound.def_prop_rw(member.name, get, set, nb::for_getter(nb::keep_alive<0, 1>()), getter, setter,
                        nb::for_setter(nb::arg("value").none()), comment);
    } else {
      bound.def_prop_rw(member.name, get, set, getter, setter, nb::for_setter(nb::arg("value").none()), comment);
    }
  }
  if (type.move_to) {
    bound.def(
        "__init__",
        [&type](T* self, const nb::args& unnamed, const nb::kwargs& values) {
          type.move_to(self, type.make(unnamed, values).get());
        },
        nb::sig(kept_text(constructor_text(type))));
  }
  define_comparison(bound, type);
}

}  // namespace holotone::python
