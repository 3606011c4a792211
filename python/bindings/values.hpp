#pragma once
// Values between Python and C++: numbers, strings for enums, shapes, lists, aggregates.
#include "arrays.hpp"
#include "tables.hpp"
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <holotone/core/dots.hpp>
#include <holotone/hologram/layers.hpp>
#include <holotone/smoe/fit.hpp>
#include <holotone/smoe/gradient.hpp>
#include <map>
#include <nanobind/stl/array.h>
#include <nanobind/stl/complex.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>
#include <span>

namespace holotone::python {

template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;
template <class T>
inline constexpr bool is_array = false;
template <class T, std::size_t Rank>
inline constexpr bool is_array<Array<T, Rank>> = true;
template <class T>
inline constexpr bool is_array_list = false;
template <class T, std::size_t Rank>
inline constexpr bool is_array_list<std::vector<Array<T, Rank>>> = true;
template <class T>
inline constexpr bool is_view = false;
template <class T, std::size_t Rank>
inline constexpr bool is_view<View<T, Rank>> = true;
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_function = false;
template <class R, class... P>
inline constexpr bool is_function<std::function<R(P...)>> = true;
template <class T>
inline constexpr bool is_extents = false;
template <class T, std::size_t N>
inline constexpr bool is_extents<std::array<T, N>> = std::is_arithmetic_v<T>;
template <class T>
inline constexpr bool is_complex_number = false;
template <class T>
inline constexpr bool is_complex_number<std::complex<T>> = true;
template <class T>
inline constexpr bool is_list = false;
template <class T, std::size_t N>
inline constexpr bool is_list<std::array<T, N>> = !std::is_arithmetic_v<T>;
template <class T>
inline constexpr bool is_span = false;
template <class T>
inline constexpr bool is_span<std::span<T>> = true;

/// Numbers without a structure of their own, which NumPy holds: {n}, or {n, N} of arrays of N.
template <class T>
concept Plain = std::is_arithmetic_v<T> && !std::is_same_v<T, bool>;

/// A list of numbers.
template <class T>
inline constexpr bool is_plain_list = false;
template <class T>
inline constexpr bool is_plain_list<std::vector<T>> = Plain<T> || is_extents<T>;

template <class R, class... P>
std::string callable_text(const std::function<R(P...)>* type);

/// Type of an array's elements, as NumPy writes it.
template <class T>
std::string element_text() {
  using Value = std::remove_const_t<T>;
  if constexpr (is_extents<Value>) {
    return element_text<typename Value::value_type>();
  } else {
    const char* const kind = std::is_floating_point_v<Value> ? "float"
                             : std::is_unsigned_v<Value>     ? "uint"
                             : std::is_integral_v<Value>     ? "int"
                                                             : "complex";
    return kind + std::to_string(8 * sizeof(Value));
  }
}

template <class T, std::size_t Rank>
std::string element_of_array(const View<T, Rank>* /*type*/) {
  return element_text<T>();
}
template <class T, std::size_t Rank>
std::string element_of_array(const Array<T, Rank>* /*type*/) {
  return element_text<T>();
}

/// The type of an argument as signatures write it. The stub explains its words (holotone/_types.py).
template <class T>
std::string type_text() {
  if constexpr (std::is_void_v<T>) {
    return "None";
  } else if constexpr (std::is_same_v<T, bool>) {
    return "bool";
  } else if constexpr (Named<T>) {
    return Names<T>::type;
  } else if constexpr (std::is_integral_v<T>) {
    return "int";
  } else if constexpr (std::is_floating_point_v<T>) {
    return "float";
  } else if constexpr (is_complex_number<T>) {
    return "complex";
  } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, std::string_view> ||
                       std::is_same_v<T, Device> || std::is_same_v<T, const char*>) {
    return "str";
  } else if constexpr (is_view<T> || is_array<T>) {
    return "ArrayOf[" + element_of_array(static_cast<const T*>(nullptr)) + "]";
  } else if constexpr (is_optional<T>) {
    return type_text<typename T::value_type>() + " | None";
  } else if constexpr (is_extents<T>) {
    std::string text = "tuple[";
    for (std::size_t i = 0; i < std::tuple_size_v<T>; ++i)
      text += (i ? ", " : "") + type_text<typename T::value_type>();
    return text + "]";
  } else if constexpr (is_vector<T> || is_span<T>) {
    using Value = std::remove_const_t<typename T::value_type>;
    if constexpr (std::is_same_v<Value, std::byte>) return "bytes";
    if constexpr (Plain<Value> || is_extents<Value>) return "NumbersLike";
    return "Sequence[" + type_text<Value>() + "]";
  } else if constexpr (is_list<T>) {
    return "Sequence[" + type_text<typename T::value_type>() + "]";
  } else if constexpr (is_function<T>) {
    return callable_text(static_cast<const T*>(nullptr));
  } else if constexpr (std::is_same_v<T, std::map<std::string, std::string>>) {
    return "dict[str, str]";
  } else if constexpr (Aggregate<T>) {
    return Members<T>::name;
  } else {
    return "Any";
  }
}

/// The type of a value that Python gets: arrays are NumPy's.
template <class T>
std::string value_text() {
  if constexpr (is_view<T> || is_array<T>) {
    return "NDArray[" + element_of_array(static_cast<const T*>(nullptr)) + "]";
  } else if constexpr (is_optional<T>) {
    return value_text<typename T::value_type>() + " | None";
  } else if constexpr (is_vector<T> || is_span<T>) {
    using Value = std::remove_const_t<typename T::value_type>;
    if constexpr (std::is_same_v<Value, std::byte>) return "bytes";
    if constexpr (Plain<Value> || is_extents<Value>) return "NDArray[" + element_text<Value>() + "]";
    return "list[" + value_text<Value>() + "]";
  } else if constexpr (is_list<T>) {
    return "list[" + value_text<typename T::value_type>() + "]";
  } else {
    return type_text<T>();
  }
}

/// What an argument should have been, in words.
template <class T>
std::string expected_text() {
  if constexpr (is_view<T> || is_array<T>) {
    return "an array of " + element_of_array(static_cast<const T*>(nullptr));
  } else if constexpr (is_plain_list<T>) {
    return "numbers that " + element_text<typename T::value_type>() + " can hold";
  } else {
    return type_text<T>();
  }
}

/// What a function without a result returns is of no account, or an array instead of the one given to it.
template <class R, class... P>
std::string callable_text(const std::function<R(P...)>* /*type*/) {
  std::string text;
  ((text += (text.empty() ? "" : ", ") + value_text<std::remove_cvref_t<P>>()), ...);
  return "Callable[[" + text + "], " + (std::is_void_v<R> ? "object" : type_text<R>()) + "]";
}

/// Last extents of the array that a member is: {n, 2} positions of dots, {K, d} centres of a mixture.
template <class T>
std::vector<std::int64_t> find_extents(const T& /*owner*/, std::string_view /*member*/) {
  return {};
}
std::vector<std::int64_t> find_extents(const Dots& dots, std::string_view member);
std::vector<std::int64_t> find_extents(const SmoeModel& model, std::string_view member);
std::vector<std::int64_t> find_extents(const SmoeGradient& gradient, std::string_view member);

/// UTF-8 of a string of Python; none for what is no string, or has characters without UTF-8.
std::optional<std::string> text_from(nb::handle value);
/// A string of Python. Bytes of a file that are no UTF-8 become U+FFFD.
nb::object text_for(const std::string& text);

/// A value for Python. Arrays in host memory keep their memory alive.
template <class T>
nb::object to_python(T&& value);

/// NumPy array of a vector, which it takes over.
template <class T>
nb::object to_numpy(std::vector<T>&& values) {
  auto* const kept = new std::vector<T>(std::move(values));
  nb::capsule owner(kept, [](void* memory) noexcept { delete static_cast<std::vector<T>*>(memory); });
  if constexpr (is_extents<T>) {
    using Value = typename T::value_type;
    const std::size_t shape[] = {kept->size(), std::tuple_size_v<T>};
    return nb::cast(nb::ndarray<nb::numpy, Value>(reinterpret_cast<Value*>(kept->data()), 2, shape, owner));
  } else {
    const std::size_t shape[] = {kept->size()};
    return nb::cast(nb::ndarray<nb::numpy, T>(kept->data(), 1, shape, owner));
  }
}

/// NumPy array of an Array in host memory, or an OwnArray of one on another device.
template <class T, std::size_t Rank>
nb::object array_of(Array<T, Rank>&& values) {
  if (values.device().backend != Backend::cpu) {
    OwnArray array({values.shape().begin(), values.shape().end()}, Element::of<T>(), values.device());
    copy_bytes(array.memory->data(), array.queue.device(), values.data(), values.device(), values.bytes(), array.queue);
    array.queue.synchronize();
    return nb::cast(std::move(array));
  }
  auto* const kept = new Array<T, Rank>(std::move(values));
  nb::capsule owner(kept, [](void* memory) noexcept { delete static_cast<Array<T, Rank>*>(memory); });
  const std::vector<std::size_t> shape(kept->shape().begin(), kept->shape().end());
  return nb::cast(nb::ndarray<nb::numpy, T>(kept->data(), Rank, shape.data(), owner));
}

template <class T>
nb::object to_python(T&& value) {
  using Value = std::remove_cvref_t<T>;
  if constexpr (Named<Value>) {
    return nb::cast(Names<Value>::all[static_cast<std::size_t>(value)]);
  } else if constexpr (std::is_same_v<Value, Device>) {
    return nb::cast(to_string(value));
  } else if constexpr (std::is_same_v<Value, std::map<std::string, std::string>>) {
    nb::dict texts;
    for (const auto& [key, text] : value) texts[text_for(key)] = text_for(text);
    return texts;
  } else if constexpr (is_optional<Value>) {
    return value ? to_python(*value) : nb::none();
  } else if constexpr (is_view<Value> || is_function<Value>) {
    return nb::none();  // as a default
  } else if constexpr (is_array<Value>) {
    static_assert(std::is_rvalue_reference_v<T&&>, "an array is handed over, not copied");
    return array_of(std::forward<T>(value));
  } else if constexpr (is_extents<Value>) {
    return nb::tuple(nb::cast(value));
  } else if constexpr (is_list<Value>) {
    nb::list list;
    for (auto& one : value) list.append(to_python(std::move(one)));
    return list;
  } else if constexpr (is_span<Value>) {
    nb::list list;
    for (const auto& one : value) list.append(to_python(one));
    return list;
  } else if constexpr (is_vector<Value>) {
    using Element = typename Value::value_type;
    if constexpr (std::is_same_v<Element, std::byte>) {
      return nb::bytes(value.data(), value.size());
    } else if constexpr (Plain<Element> || is_extents<Element>) {
      return to_numpy(Value(std::forward<T>(value)));
    } else {
      nb::list list;
      for (auto&& one : value) {
        if constexpr (std::is_same_v<Element, bool>) {
          list.append(nb::bool_(bool(one)));
        } else if constexpr (std::is_lvalue_reference_v<T>) {
          list.append(to_python(one));
        } else {
          list.append(to_python(std::move(one)));
        }
      }
      return list;
    }
  } else if constexpr (std::is_array_v<Value> || std::is_same_v<Value, const char*>) {
    return nb::cast(std::string(value));
  } else {
    try {
      return nb::cast(std::forward<T>(value));
    } catch (const std::bad_cast&) {
      throw std::logic_error(std::string("no class of Python for ") + typeid(Value).name());
    }
  }
}

/// NumPy array {n} of numbers of a type, from a list or an array; null if they are not or would lose their value.
nb::object flat_numbers(nb::handle value, const char* type);

/// Length of an object of Python; -1 for what has none.
std::int64_t find_length(nb::handle value);

/// List of what a sequence holds; null for what is none, or cannot be read.
nb::object list_items(nb::handle value);

/// A copy of what the library takes over.
SlicedPicture copied(const SlicedPicture& picture);

/// A value from Python. Throws invalid_argument that names the argument.
template <class T>
T from_python(nb::handle value, Call& call, const std::string& argument);

template <class T>
[[noreturn]] void refuse(const Call& call, const std::string& argument, nb::handle value) {
  throw_argument(call.function(), argument, expected_text<T>(), shown(value));
}

/// A function of C++ that calls one of Python (callbacks.hpp).
template <class R, class... P>
std::function<R(P...)> function_from(nb::handle function, const std::shared_ptr<Job>& job,
                                     const std::function<R(P...)>* type);

template <class T>
T from_python(nb::handle value, Call& call, const std::string& argument) {
  if constexpr (Named<T>) {
    if (nb::isinstance<nb::str>(value)) {
      const auto name = text_from(value);
      for (std::size_t i = 0; name && i < std::size(Names<T>::all); ++i) {
        const auto one = static_cast<T>(i);
        if (Names<T>::all[i] == *name || Names<T>::also(one) == *name) return one;
        if (std::ranges::equal(Names<T>::all[i], *name, {}, {}, [](char c) { return c == '-' ? '_' : c; })) return one;
      }
    }
    refuse<T>(call, argument, value);
  } else if constexpr (std::is_same_v<T, Device>) {
    if (!nb::isinstance<nb::str>(value)) refuse<T>(call, argument, value);
    try {
      return parse_device(text_from(value).value_or("?"));
    } catch (const Error& error) {
      throw Error(error.code(), ErrorFields{call.function(), argument, error.expected(), error.got()});
    }
  } else if constexpr (std::is_same_v<T, std::string>) {
    nb::object path = nb::borrow(value);
    if (nb::hasattr(value, "__fspath__")) path = nb::module_::import_("os").attr("fspath")(value);
    const auto text = text_from(path);
    if (!text || text->find('\0') != std::string::npos) refuse<T>(call, argument, value);
    return *text;
  } else if constexpr (std::is_same_v<T, std::map<std::string, std::string>>) {
    // Numbers are written as texts.
    if (!nb::isinstance<nb::dict>(value)) refuse<T>(call, argument, value);
    T result;
    nb::object number = nb::module_::import_("numbers").attr("Number");
    for (const auto& [key, given] : nb::cast<nb::dict>(value)) {
      nb::object one = nb::borrow(given);
      if (nb::isinstance<nb::bool_>(one)) one = nb::int_(one);
      if (nb::isinstance(one, number)) one = nb::str(one);
      const auto name = text_from(key);
      const auto text = text_from(one);
      if (!name || !text) refuse<T>(call, argument, value);
      result.emplace(*name, *text);
    }
    return result;
  } else if constexpr (is_optional<T>) {
    if (value.is_none()) return std::nullopt;
    return from_python<typename T::value_type>(value, call, argument);
  } else if constexpr (is_view<T>) {
    if (value.is_none()) return {};
    return [&]<class E, std::size_t Rank>(const View<E, Rank>*) {
      return call.view<E, Rank>(value, argument);
    }(static_cast<const T*>(nullptr));
  } else if constexpr (is_array<T>) {
    // The library takes it over: the one place where an array is copied.
    if (value.is_none()) return {};
    return [&]<class E, std::size_t Rank>(const Array<E, Rank>*) {
      return copy_of(call.view<const E, Rank>(value, argument), Device{});
    }(static_cast<const T*>(nullptr));
  } else if constexpr (is_function<T>) {
    if (value.is_none()) return {};
    if (!nb::isinstance<nb::callable>(value)) refuse<T>(call, argument, value);
    return function_from(value, call.job(), static_cast<const T*>(nullptr));
  } else if constexpr (is_vector<T>) {
    using Element = typename T::value_type;
    if constexpr (std::is_same_v<Element, std::byte>) {
      if (!nb::isinstance<nb::bytes>(value)) refuse<T>(call, argument, value);
      const auto bytes = nb::cast<nb::bytes>(value);
      const auto* const begin = static_cast<const std::byte*>(bytes.data());
      return T(begin, begin + bytes.size());
    } else if constexpr (Plain<Element>) {
      // Lists of numbers are copied: lists, tuples and arrays of any shape will do.
      const nb::object flat = flat_numbers(value, python::Element::of<Element>().name);
      nb::ndarray<nb::ro> numbers;
      if (!flat.is_valid() || !nb::try_cast(flat, numbers)) refuse<T>(call, argument, value);
      if (numbers.size() == 0) return T();
      const auto* const begin = static_cast<const Element*>(numbers.data());
      return T(begin, begin + numbers.size());
    } else if constexpr (is_extents<Element>) {
      T result;
      std::vector<std::vector<typename Element::value_type>> rows;
      if (!nb::try_cast(value, rows)) refuse<T>(call, argument, value);
      for (const auto& row : rows) {
        if (row.size() != std::tuple_size_v<Element>) refuse<T>(call, argument, value);
        std::copy(row.begin(), row.end(), result.emplace_back().begin());
      }
      return result;
    } else if constexpr (std::is_same_v<Element, bool>) {
      const nb::object items = list_items(value);
      if (!items.is_valid()) refuse<T>(call, argument, value);
      T result;
      for (nb::handle one : nb::borrow<nb::list>(items)) {
        const int is_true = PyObject_IsTrue(one.ptr());
        if (is_true < 0) {
          PyErr_Clear();
          refuse<T>(call, argument, value);
        }
        result.push_back(is_true == 1);
      }
      return result;
    } else {
      const nb::object items = list_items(value);
      if (!items.is_valid()) refuse<T>(call, argument, value);
      T result;
      std::size_t index = 0;
      for (nb::handle one : nb::borrow<nb::list>(items)) {
        result.push_back(from_python<Element>(one, call, fmt::format("{}[{}]", argument, index++)));
      }
      return result;
    }
  } else if constexpr (std::is_same_v<T, Layer> || std::is_same_v<T, SmoeFitView>) {
    // Made of arrays, which stay those of Python: any object with the members as attributes.
    T result;
    Members<T>::each([&]<class M, class C>(const char* name, M C::*member, bool) {
      const std::string full = argument + "." + name;
      if (!nb::hasattr(value, name)) throw_argument(call.function(), full, expected_text<M>(), "nothing");
      result.*member = from_python<M>(nb::object(value.attr(name)), call, full);
    });
    return result;
  } else if constexpr (std::is_same_v<T, SlicedPicture>) {
    const T* picture = nullptr;
    if (!nb::try_cast(value, picture) || !picture) refuse<T>(call, argument, value);
    return copied(*picture);
  } else if constexpr (Aggregate<T>) {
    if constexpr (std::is_copy_constructible_v<T>) {
      const T* one = nullptr;
      if (nb::try_cast(value, one) && one) return *one;
    }
    refuse<T>(call, argument, value);
  } else {
    T result{};
    if (!nb::try_cast(value, result)) refuse<T>(call, argument, value);
    return result;
  }
}

}  // namespace holotone::python
