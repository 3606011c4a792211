#pragma once
// Members of aggregates as data: what reads, writes and describes one, by its type. The code that walks them is
// compiled once (members.cpp), not for each aggregate.
#include "values.hpp"
#include <cstddef>
#include <holotone/optics/field.hpp>
#include <memory>
#include <type_traits>

namespace holotone::python {

/// Text that lives as long as the module.
const char* kept_text(std::string text);

/// Message on a name that there is not, with the nearest of those there are.
std::string unknown_name(const std::string& name, std::span<const std::string_view> names);

/// An object of a type that is known to who made it.
using Owned = std::unique_ptr<void, void (*)(void*)>;

template <class T>
Owned owned(T&& value) {
  using Value = std::remove_cvref_t<T>;
  return {new Value(std::forward<T>(value)), [](void* one) { delete static_cast<Value*>(one); }};
}

/// Names of an enum, each with the comment on it: `"phase" (arg U on a phase modulator), ...`. Empty without comments.
std::string names_and_comments(const char* documented, std::span<const std::string_view> names,
                               std::span<const std::string_view> values, std::string_view before);

template <class T>
std::string names_and_comments(std::string_view before) {
  return names_and_comments(Names<T>::documented, Names<T>::all, Names<T>::values, before);
}

template <class T>
inline constexpr bool is_field = std::is_same_v<T, View<const std::complex<float>, 2>>;

/// A type of members.
struct MemberKind {
  enum class Is { value, list, aggregate, array, array_list, argument };
  Is is = Is::value;  ///< list: of numbers, an array in Python; argument: of plans and functions alone
  bool is_view = false;
  bool is_grid = false;
  bool may_be_field = false;
  bool is_integral = false;
  std::string (*type_text)() = nullptr;                          ///< of what may be given
  std::string (*value_text)() = nullptr;                         ///< of what Python gets
  std::string (*names)(std::string_view before) = nullptr;       ///< null: no enum
  nb::object (*get)(void* member, nb::handle object) = nullptr;  ///< null: of plans and functions alone
  nb::object (*copy)(const void* member) = nullptr;              ///< null: it cannot be copied
  Owned (*made)(nb::handle value, Call& call, const std::string& argument) = nullptr;  ///< null: it cannot be replaced
  void (*swap)(void* member, void* other) = nullptr;
  std::size_t (*count)(const void* member) = nullptr;  ///< of a list
};

/// False for lists of arrays, which std::vector claims to copy.
template <class M>
constexpr bool is_copied() {
  if constexpr (is_array_list<M>) return false;
  if constexpr (Aggregate<M>) {
    if (Members<M>::lists_arrays) return false;
  }
  return std::is_copy_constructible_v<M>;
}

template <class M>
nb::object get_member(void* place, [[maybe_unused]] nb::handle object) {
  M& member = *static_cast<M*>(place);
  if constexpr (is_array<M>) {
    if (member.device().backend != Backend::cpu) return to_python(member.to(member.device()));
    const std::vector<std::size_t> shape(member.shape().begin(), member.shape().end());
    using Value = std::remove_cvref_t<decltype(*member.data())>;
    return nb::cast(nb::ndarray<nb::numpy, Value>(member.data(), shape.size(), shape.data(), object));
  } else if constexpr (is_array_list<M>) {
    nb::list arrays;  // copies: functions move the arrays of such members
    for (const auto& array : member) arrays.append(to_python(array.to(array.device())));
    return arrays;
  } else if constexpr (Aggregate<M>) {
    return nb::cast(member, nb::rv_policy::reference);
  } else {
    return to_python(M(member));
  }
}

template <class M>
constexpr MemberKind make_member_kind() {
  using Is = MemberKind::Is;
  MemberKind kind;
  kind.is = is_view<M> || is_function<M> ? Is::argument
            : is_array<M>                ? Is::array
            : is_array_list<M>           ? Is::array_list
            : Aggregate<M>               ? Is::aggregate
            : is_plain_list<M>           ? Is::list
                                         : Is::value;
  kind.is_view = is_view<M>;
  kind.is_grid = std::is_same_v<M, FieldGrid>;
  kind.may_be_field = is_field<M>;
  kind.is_integral = std::is_integral_v<M>;
  kind.type_text = &type_text<M>;
  kind.value_text = &value_text<M>;
  if constexpr (Named<M>) kind.names = &names_and_comments<M>;
  if constexpr (!is_view<M> && !is_function<M>) kind.get = &get_member<M>;
  if constexpr (is_copied<M>()) {
    kind.copy = [](const void* member) { return to_python(M(*static_cast<const M*>(member))); };
  }
  if constexpr ((is_copied<M>() && std::is_copy_assignable_v<M>) || is_array<M>) {
    kind.made = [](nb::handle value, Call& call, const std::string& argument) {
      return owned(from_python<M>(value, call, argument));
    };
    kind.swap = [](void* member, void* other) { std::swap(*static_cast<M*>(member), *static_cast<M*>(other)); };
  }
  if constexpr (is_plain_list<M>) {
    kind.count = [](const void* member) { return static_cast<const M*>(member)->size(); };
  }
  return kind;
}
template <class M>
inline constexpr MemberKind member_kind = make_member_kind<M>();

struct Member {
  const char* name;
  std::ptrdiff_t offset;
  const MemberKind* kind;
  bool has_default;

  [[nodiscard]] void* of(void* object) const { return static_cast<std::byte*>(object) + offset; }
  [[nodiscard]] const void* of(const void* object) const { return static_cast<const std::byte*>(object) + offset; }
  /// A value of Python for it.
  void take(void* object, nb::handle value, Call& call, const std::string& argument) const;
};

/// An aggregate: its members, and what makes objects of it.
struct AggregateType {
  const char* name;
  const char* documented;
  std::vector<Member> members;
  Owned (*create)() = nullptr;                           ///< with the defaults; null: it has none
  void (*move_to)(void* place, void* object) = nullptr;  ///< null: Python makes none
  std::vector<std::int64_t> (*extents)(const void* object, std::string_view member);

  /// Comment on a member.
  [[nodiscard]] std::string comment(const Member& member) const;
  [[nodiscard]] nb::object get(void* object, const Member& member, nb::handle owner) const;
  void set(void* object, const Member& member, nb::handle value) const;
  /// An object of the members given by name.
  [[nodiscard]] Owned make(const nb::args& unnamed, const nb::kwargs& values) const;
};

template <class T>
AggregateType make_aggregate_type() {
  AggregateType type{Members<T>::name, Members<T>::documented, {}, {}, {}, {}};
  type.extents = [](const void* object, std::string_view member) {
    return find_extents(*static_cast<const T*>(object), member);
  };
  if constexpr (std::is_default_constructible_v<T>) {
    type.create = [] { return owned(T{}); };
    if constexpr (is_copied<T>()) {
      type.move_to = [](void* place, void* object) { new (place) T(std::move(*static_cast<T*>(object))); };
    }
  }
  alignas(T) static std::byte place[sizeof(T)];
  auto* const object = reinterpret_cast<T*>(place);  // for the distances of its members alone
  Members<T>::each([&]<class M, class C>(const char* name, M C::*member, bool has_default) {
    const auto* const at = reinterpret_cast<const std::byte*>(std::addressof(object->*member));
    type.members.push_back({name, at - place, &member_kind<M>, has_default});
  });
  return type;
}

/// Lives as long as the module.
template <class T>
const AggregateType& aggregate_type() {
  static const AggregateType type = make_aggregate_type<T>();
  return type;
}

}  // namespace holotone::python
