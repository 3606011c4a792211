#pragma once
// Aggregates of the library as classes of Python.
#include "arguments.hpp"

/// std::vector claims that lists of arrays, which only move, can be copied.
template <class T>
struct nanobind::detail::is_copy_constructible<T, std::enable_if_t<holotone::python::Members<T>::lists_arrays, int>>
    : std::false_type {};

namespace holotone::python {

/// Text that lives as long as the module.
const char* kept_text(std::string text);

/// Message on a name that there is not, with the nearest of those there are.
std::string unknown_name(const std::string& name, std::span<const std::string_view> names);

bool are_equal(nb::handle a, nb::handle b);

/// "name=value" of a member, for any state of its object.
std::string member_text(nb::handle self, const char* name);

/// Throws invalid_argument unless numbers have the last extents of a member: {n, 2}; flat ones their product.
void require_extents(const std::string& type, const std::string& member, nb::handle value,
                     const std::vector<std::int64_t>& extents);

/// Numbers of a member in its shape; flat if the extents have changed since.
nb::object in_shape(nb::object numbers, const std::vector<std::int64_t>& extents);

/// Throws invalid_argument if numbers that an object has do not fit the extents that another member gives them now.
template <class T>
void require_fit(const T& self, const std::string& type, const std::string& changed) {
  Members<T>::each([&]<class M, class C>(const char* name, M C::*member, bool) {
    if constexpr (is_plain_list<M>) {
      std::int64_t numbers = 1;
      for (const std::int64_t extent : find_extents(self, name)) numbers *= extent;
      const auto size = static_cast<std::int64_t>((self.*member).size());
      if (size == 0 || (numbers > 0 && size % numbers == 0)) return;
      throw_argument(type, changed, fmt::format("a number that fits the {} numbers of {}", size, name),
                     fmt::format("one with {} for each", numbers));
    }
  });
}

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

template <class T>
std::string first_member() {
  std::string first;
  Members<T>::each([&]<class M, class C>(const char* name, M C::*, bool) {
    if (first.empty()) first = name;
  });
  return first;
}

/// An aggregate as a class: made by keywords, its members as attributes.
template <class T>
void aggregate() {
  auto bound = nb::borrow<nb::class_<T>>(nb::type<T>());
  Signature signature;
  constexpr bool is_made =
      std::is_default_constructible_v<T> && std::is_copy_constructible_v<T> && !Members<T>::lists_arrays;
  const char* const type = Members<T>::name;
  Members<T>::each([&]<class M, class C>(const char* name, M C::*member, bool) {
    const auto comment = kept_text(std::string(documentation(std::string(Members<T>::documented) + "::" + name)));
    if constexpr (is_view<M> || is_function<M>) {
      return;  // arguments of functions only
    } else if constexpr (is_array<M>) {
      bound.def_prop_ro(
          name,
          [member](nb::handle self) {
            auto& array = nb::cast<T&>(self).*member;
            if (array.device().backend != Backend::cpu) return to_python(array.to(array.device()));
            const std::vector<std::size_t> shape(array.shape().begin(), array.shape().end());
            using Value = std::remove_cvref_t<decltype(*array.data())>;
            return nb::cast(nb::ndarray<nb::numpy, Value>(array.data(), shape.size(), shape.data(), self));
          },
          nb::sig(kept_text(fmt::format("def {}(self, /) -> {}", name, value_text<M>()))), comment);
    } else if constexpr (is_array_list<M>) {
      bound.def_prop_ro(
          name,
          [member](const T& self) {  // copies: functions move the arrays of such members
            nb::list arrays;
            for (const auto& array : self.*member) arrays.append(to_python(array.to(array.device())));
            return arrays;
          },
          nb::sig(kept_text(fmt::format("def {}(self, /) -> {}", name, value_text<M>()))), comment);
    } else if constexpr (Aggregate<M>) {
      bound.def_prop_rw(
          name, [member](T& self) -> M& { return self.*member; },
          [member, name, type]([[maybe_unused]] T& self, [[maybe_unused]] nb::handle value) {
            if constexpr (std::is_copy_assignable_v<M>) {
              Call call(type);
              self.*member = from_python<M>(value, call, name);
            } else {
              throw nb::attribute_error("this member cannot be replaced");
            }
          },
          nb::rv_policy::reference_internal,
          nb::for_setter(nb::sig(kept_text(fmt::format("def {}(self, value: {}, /) -> None", name, type_text<M>())))),
          nb::for_setter(nb::arg("value").none()), comment);
    } else {
      bound.def_prop_rw(
          name,
          [member, name](const T& self) {
            nb::object value = in_shape(to_python(M(self.*member)), find_extents(self, name));
            // A copy: what is written to it would be lost.
            if constexpr (is_plain_list<M>) value.attr("setflags")(nb::arg("write") = false);
            return value;
          },
          [member, name, type](T& self, nb::handle value) {
            Call call(type);
            M given = from_python<M>(value, call, name);
            if constexpr (is_plain_list<M>) require_extents(type, name, value, find_extents(self, name));
            std::swap(self.*member, given);
            if constexpr (std::is_integral_v<M>) {
              try {
                require_fit(self, type, name);
              } catch (const Error&) {
                self.*member = given;
                throw;
              }
            }
          },
          nb::for_getter(nb::sig(kept_text(fmt::format("def {}(self, /) -> {}", name, value_text<M>())))),
          nb::for_setter(nb::arg("value").none()), comment);
    }
  });
  if constexpr (is_made) {
    const T defaults{};
    Members<T>::each([&]<class M, class C>(const char* name, M C::*member, bool) {
      if constexpr (!is_view<M> && !is_function<M>) {
        signature.add(name, type_text<M>(), Aggregate<M> ? nb::none() : to_python(M(defaults.*member)), true);
      }
    });
    bound.def(
        "__init__",
        [type](T* self, const nb::args& unnamed, const nb::kwargs& values) {
          if (unnamed.size() > 0) {
            throw nb::type_error(
                fmt::format("{}: expected members by name, as in {}={}", type, first_member<T>(), shown(unnamed[0]))
                    .c_str());
          }
          T made{};
          Call call(type);
          for (const auto& [key, value] : values) {
            const auto wanted = nb::cast<std::string>(key);
            bool is_member = false;
            Members<T>::each([&]<class M, class C>(const char* name, M C::*member, bool) {
              if constexpr (!is_view<M> && !is_function<M>) {
                if (wanted != name) return;
                made.*member = from_python<M>(value, call, wanted);
                is_member = true;
              }
            });
            if (!is_member) {
              std::vector<std::string_view> names;
              Members<T>::each([&]<class M, class C>(const char* name, M C::*, bool) {
                if constexpr (!is_view<M> && !is_function<M>) names.emplace_back(name);
                if constexpr (is_view<M> || is_function<M>) is_member = is_member || wanted == name;
              });
              if (is_member) {
                throw nb::type_error(fmt::format("{}: {} is an argument of plans and functions", type, wanted).c_str());
              }
              throw nb::type_error(fmt::format("{}: {}", type, unknown_name(wanted, names)).c_str());
            }
          }
          Members<T>::each([&]<class M, class C>(const char* name, M C::*, bool) {
            if constexpr (is_plain_list<M>) {
              if (values.contains(name)) require_extents(type, name, values[name], find_extents(made, name));
            }
          });
          new (self) T(std::move(made));
        },
        nb::sig(kept_text(signature.text("__init__", true, "None"))));
  }
  bound.def("__eq__", [](nb::handle self, nb::handle other) {
    if (!self.type().is(other.type())) return false;
    bool equal = true;
    Members<T>::each([&]<class M, class C>(const char* name, M C::*, bool) {
      if constexpr (!is_view<M> && !is_function<M>) equal = equal && are_equal(self.attr(name), other.attr(name));
    });
    return equal;
  });
  bound.def("__reduce__", [type](nb::handle self) {
    if (!is_made) throw nb::type_error(fmt::format("{} cannot be pickled", type).c_str());
    nb::dict members;
    Members<T>::each([&]<class M, class C>(const char* name, M C::*, bool) {
      if constexpr (!is_view<M> && !is_function<M>) members[name] = self.attr(name);
    });
    nb::object make = nb::module_::import_("functools").attr("partial")(self.type(), **members);
    return nb::make_tuple(make, nb::tuple());
  });
  bound.def("__repr__", [type](nb::handle self) {
    if (!nb::inst_ready(self)) return std::string(type) + "(not made)";
    std::string text = std::string(type) + "(";
    Members<T>::each([&]<class M, class C>(const char* name, M C::*, bool) {
      if constexpr (!is_view<M> && !is_function<M>) {
        text += (text.back() == '(' ? "" : ", ") + member_text(self, name);
      }
    });
    return text + ")";
  });
}

}  // namespace holotone::python
