#include "aggregates.hpp"
#include <algorithm>
#include <cstring>
#include <deque>
#include <fmt/ranges.h>
#include <holotone/core/units.hpp>
#include <utility>

namespace holotone::python {
namespace {

/// "name=value" of a member, for any state of its object.
std::string member_text(nb::handle self, const char* name) {
  nb::object value = nb::steal(PyObject_GetAttrString(self.ptr(), name));
  nb::object repr = nb::steal(value.is_valid() ? PyObject_Repr(value.ptr()) : nullptr);
  const char* const text = repr.is_valid() ? PyUnicode_AsUTF8(repr.ptr()) : nullptr;
  if (!text) PyErr_Clear();
  return fmt::format("{}={}", name, text && std::strlen(text) <= 80 ? text : "...");
}

/// Throws invalid_argument unless numbers have the last extents of a member: {n, 2}; flat ones their product.
void require_extents(const std::string& type, const std::string& member, nb::handle value,
                     const std::vector<std::int64_t>& extents) {
  if (extents.empty()) return;
  std::int64_t product = 1;
  for (const std::int64_t extent : extents) product *= extent;
  const auto shape = nb::cast<std::vector<std::int64_t>>(nb::module_::import_("numpy").attr("shape")(value));
  std::int64_t size = 1;
  for (const std::int64_t extent : shape) size *= extent;
  const bool is_shaped =
      shape.size() == extents.size() + 1 && std::equal(extents.begin(), extents.end(), shape.begin() + 1);
  if (size == 0 || is_shaped || (shape.size() == 1 && product > 0 && size % product == 0)) return;
  throw_argument(type, member, fmt::format("numbers {{n, {}}}", fmt::join(extents, ", ")),
                 fmt::format("{{{}}}", fmt::join(shape, ", ")));
}

/// Numbers of a member in its shape; flat if the extents have changed since.
nb::object in_shape(nb::object numbers, const std::vector<std::int64_t>& extents) {
  if (extents.empty()) return numbers;
  std::int64_t product = 1;
  for (const std::int64_t extent : extents) product *= extent;
  if (product <= 0 || nb::cast<std::int64_t>(numbers.attr("size")) % product != 0) return numbers;
  return numbers.attr("reshape")(-1, *nb::tuple(nb::cast(extents)));
}

bool are_equal(nb::handle a, nb::handle b) {
  nb::object numpy = nb::module_::import_("numpy");
  if (nb::isinstance(a, numpy.attr("ndarray"))) return nb::cast<bool>(numpy.attr("array_equal")(a, b));
  return a.equal(b);
}

/// Throws invalid_argument if numbers that an object has do not fit the extents that another member gives them now.
void require_fit(const AggregateType& type, const void* object, const char* changed) {
  for (const Member& member : type.members) {
    if (!member.kind->count) continue;
    std::int64_t numbers = 1;
    for (const std::int64_t extent : type.extents(object, member.name)) numbers *= extent;
    const auto size = static_cast<std::int64_t>(member.kind->count(member.of(object)));
    if (size == 0 || (numbers > 0 && size % numbers == 0)) continue;
    throw_argument(type.name, changed, fmt::format("a number that fits the {} numbers of {}", size, member.name),
                   fmt::format("one with {} for each", numbers));
  }
}

bool is_argument(const Member& member) { return member.kind->is == MemberKind::Is::argument; }

/// Members that its constructor takes.
std::vector<std::string_view> attribute_names(const AggregateType& type) {
  std::vector<std::string_view> names;
  for (const Member& member : type.members) {
    if (!is_argument(member)) names.emplace_back(member.name);
  }
  return names;
}

}  // namespace

const char* kept_text(std::string text) {
  static std::deque<std::string> all;
  return all.emplace_back(std::move(text)).c_str();
}

std::string unknown_name(const std::string& name, std::span<const std::string_view> names) {
  const std::string near = nearest_name(name, names.data(), names.size());
  return fmt::format("there is no argument {}{}", name, near.empty() ? "" : ": is " + near + " meant?");
}

std::string names_and_comments(const char* documented, std::span<const std::string_view> names,
                               std::span<const std::string_view> values, std::string_view before) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string comment(documentation(fmt::format("{}::{}", documented, values[i])));
    if (comment.empty()) continue;
    text += fmt::format("{}\"{}\": {}", text.empty() ? before : "; ", names[i], comment);
  }
  return text;
}

void Member::take(void* object, nb::handle value, Call& call, const std::string& argument) const {
  kind->swap(of(object), kind->made(value, call, argument).get());
}

std::string AggregateType::comment(const Member& member) const {
  return std::string(documentation(fmt::format("{}::{}", documented, member.name)));
}

nb::object AggregateType::get(void* object, const Member& member, nb::handle owner) const {
  nb::object value = member.kind->get(member.of(object), owner);
  if (member.kind->is != MemberKind::Is::list) return value;
  value = in_shape(value, extents(object, member.name));
  value.attr("setflags")(nb::arg("write") = false);  // a copy: what is written to it would be lost
  return value;
}

void AggregateType::set(void* object, const Member& member, nb::handle value) const {
  if (!member.kind->made) throw nb::attribute_error("this member cannot be replaced");
  Call call(name);
  const Owned given = member.kind->made(value, call, member.name);
  if (member.kind->is == MemberKind::Is::list) {
    require_extents(name, member.name, value, extents(object, member.name));
  }
  member.kind->swap(member.of(object), given.get());
  if (!member.kind->is_integral) return;
  try {
    require_fit(*this, object, member.name);
  } catch (const Error&) {
    member.kind->swap(member.of(object), given.get());
    throw;
  }
}

Owned AggregateType::make(const nb::args& unnamed, const nb::kwargs& values) const {
  if (unnamed.size() > 0) {
    const auto names = attribute_names(*this);
    throw nb::type_error(fmt::format("{}: expected members by name, as in {}={}", name,
                                     names.empty() ? std::string_view() : names[0], shown(unnamed[0]))
                             .c_str());
  }
  Owned object = create();
  Call call(name);
  for (const auto& [key, value] : values) {
    const auto wanted = nb::cast<std::string>(key);
    const auto member = std::ranges::find(members, wanted, &Member::name);
    if (member == members.end()) {
      throw nb::type_error(fmt::format("{}: {}", name, unknown_name(wanted, attribute_names(*this))).c_str());
    }
    if (is_argument(*member)) {
      throw nb::type_error(fmt::format("{}: {} is an argument of plans and functions", name, wanted).c_str());
    }
    member->take(object.get(), value, call, wanted);
  }
  for (const Member& member : members) {
    if (member.kind->count && values.contains(member.name)) {
      require_extents(name, member.name, values[member.name], extents(object.get(), member.name));
    }
  }
  return object;
}

std::string constructor_text(const AggregateType& type) {
  Signature signature;
  const Owned defaults = type.create();
  for (const Member& member : type.members) {
    if (is_argument(member)) continue;
    const bool is_aggregate = member.kind->is == MemberKind::Is::aggregate;
    signature.add(member.name, member.kind->type_text(),
                  is_aggregate ? nb::none() : member.kind->copy(member.of(defaults.get())), true);
  }
  return signature.text("__init__", true, "None");
}

std::string getter_text(const Member& member) {
  return fmt::format("def {}(self, /) -> {}", member.name, member.kind->value_text());
}

std::string setter_text(const Member& member) {
  return fmt::format("def {}(self, value: {}, /) -> None", member.name, member.kind->type_text());
}

void define_comparison(nb::handle aggregate, const AggregateType& type) {
  struct Untyped {};
  auto bound = nb::borrow<nb::class_<Untyped>>(aggregate);
  bound.def("__eq__", [&type](nb::handle self, nb::handle other) {
    if (!self.type().is(other.type())) return false;
    return std::ranges::all_of(attribute_names(type), [&](std::string_view name) {
      return are_equal(self.attr(name.data()), other.attr(name.data()));
    });
  });
  bound.def("__reduce__", [&type](nb::handle self) {
    if (!type.move_to) throw nb::type_error(fmt::format("{} cannot be pickled", type.name).c_str());
    nb::dict members;
    for (const std::string_view name : attribute_names(type)) members[name.data()] = self.attr(name.data());
    nb::object make = nb::module_::import_("functools").attr("partial")(self.type(), **members);
    return nb::make_tuple(make, nb::tuple());
  });
  bound.def("__repr__", [&type](nb::handle self) {
    if (!nb::inst_ready(self)) return fmt::format("{}(not made)", type.name);
    std::vector<std::string> texts;
    for (const std::string_view name : attribute_names(type)) texts.push_back(member_text(self, name.data()));
    return fmt::format("{}({})", type.name, fmt::join(texts, ", "));
  });
}

}  // namespace holotone::python
