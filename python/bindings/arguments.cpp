#include "arguments.hpp"
#include "functions.hpp"
#include <algorithm>
#include <cmath>
#include <holotone/core/units.hpp>
#include <holotone/smoe/render.hpp>
#include <utility>

namespace holotone::python {

void Signature::add(std::string name, std::string type, nb::object fallback, bool keyword_only, std::string comment,
                    bool may_be_field) {
  bool optional_before = false;
  for (const Parameter& one : parameters) {
    if (one.name == name) throw std::logic_error(fmt::format("two arguments are called {}", name));
    optional_before = optional_before || (!one.keyword_only && one.fallback.is_valid());
  }
  keyword_only = keyword_only || (optional_before && !fallback.is_valid());
  parameters.push_back(
      {std::move(name), std::move(type), std::move(fallback), keyword_only, std::move(comment), may_be_field});
}

namespace {

bool is_of_grid(std::string_view name) { return name == "shape" || name == "pitch_m" || name == "wavelength_m"; }

/// "an array of float32" for ArrayOf[float32].
std::string in_words(const std::string& type) {
  if (!type.starts_with("ArrayOf[")) return type == "NumbersLike" ? "numbers" : type;
  return "an array of " + type.substr(8, type.find(']') - 8);
}

/// Default as a signature shows it: "..." unless it is a literal.
std::string default_text(const nb::object& value) {
  const auto text = nb::cast<std::string>(nb::repr(value));
  for (const char* const sign : {"<", "array", "="}) {
    if (text.find(sign) != std::string::npos) return "...";
  }
  return text;
}

constexpr std::string_view any_array = "ArrayOf[";
/// A result that is NumPy's on the CPU only.
constexpr std::string_view or_own = " | Array";
/// Functions whose results holotone/_field.py puts into Fields.
constexpr std::string_view of_fields[] = {"layer_field", "point_cloud_field", "stereogram_field"};

/// A type whose ArrayOf[x] are replaced by of("[x]").
template <class Of>
std::string with_arrays(std::string type, const Of& of) {
  for (std::size_t at = type.find(any_array); at != std::string::npos; at = type.find(any_array, at)) {
    const std::size_t begin = at + any_array.size() - 1;
    const std::size_t end = type.find(']', begin) + 1;
    const std::string other = of(type.substr(begin, end - begin));
    type.replace(at, end - at, other);
    at += other.size();
  }
  return type;
}

const Parameter* named(const std::vector<Parameter>& parameters, std::string_view name) {
  const auto place = std::ranges::find(parameters, name, &Parameter::name);
  return place == parameters.end() ? nullptr : &*place;
}

/// The argument whose package is that of the results: the first array that is required.
const Parameter* tells_kind(const std::vector<Parameter>& parameters) {
  const auto place = std::ranges::find_if(parameters, [](const Parameter& one) {
    return one.type.starts_with(any_array) && one.type.ends_with("]") && !one.fallback.is_valid();
  });
  return place == parameters.end() ? nullptr : &*place;
}

/// What the package's function of a name returns.
std::string given(std::string_view name, const std::string& result) {
  return std::ranges::count(of_fields, name) > 0 ? fmt::format("Field[{}]", result) : result;
}

}  // namespace

std::string on_device(const std::string& numpy_type) { return fmt::format("{}{}", numpy_type, or_own); }

std::string Signature::text(std::string_view name, bool method, const std::string& result, bool alone) const {
  std::vector<std::string> lines;
  if (result.find(any_array) != std::string::npos) {
    if (!tells_kind(parameters)) {  // without `out`, the plan's device decides
      const std::string made =
          with_arrays(result, [](const auto& of) { return on_device(fmt::format("NDArray{}", of)); });
      lines.push_back(line(name, method, made, {{named(parameters, "out"), "None"}}));
    }
    for (const char* const kind : {"NDArray", "OtherArray"}) lines.push_back(make_line(kind, name, method, result));
  } else if (const Parameter* const device = named(parameters, "device"); device && result.ends_with(or_own)) {
    const std::string made = result.substr(0, result.size() - or_own.size());
    lines.push_back(line(name, method, given(name, made), {{device, "Literal['cpu']"}}));
  }
  lines.push_back(line(name, method, given(name, result)));  // what help shows
  std::string text = alone && lines.size() > 1 ? "@overload\n" : "";
  for (const std::string& one : lines) text += (&one == lines.data() ? "" : ": ...\n@overload\n") + one;
  return text;
}

std::string Signature::make_line(const std::string& kind, std::string_view name, bool method,
                                 const std::string& result) const {
  const auto of_kind = [&](const std::string& type) {
    return with_arrays(type, [&](const std::string& of) { return kind == "NDArray" ? kind + of : kind; });
  };
  const Parameter* const anchor = tells_kind(parameters);
  std::vector<Retyped> retyped;
  if (anchor) {
    const std::string type = of_kind(anchor->type);
    retyped.push_back({anchor, anchor->may_be_field ? fmt::format("{} | Field[{}]", type, type) : type});
  }
  if (const Parameter* const out = named(parameters, "out")) {
    std::string type = of_kind(out->type);  // "... | None"
    if (!anchor) type.resize(type.rfind(" | None"));
    retyped.push_back({out, type, !anchor});
  }
  return line(name, method, of_kind(result), retyped);
}

std::string Signature::line(std::string_view name, bool method, const std::string& result,
                            const std::vector<Retyped>& retyped) const {
  std::string text = fmt::format("def {}({}", name, method ? "self" : "");
  const bool may_be_field = std::ranges::any_of(parameters, &Parameter::may_be_field);
  const auto separate = [&] { return text.back() == '(' ? "" : ", "; };
  for (const bool keyword_only : {false, true}) {
    bool first = true;
    for (const Parameter& one : parameters) {
      if (one.keyword_only != keyword_only) continue;
      if (keyword_only && first) text += fmt::format("{}*", separate());
      first = false;
      const auto other = std::ranges::find(retyped, &one, &Retyped::parameter);
      const std::string& type = other == retyped.end() ? one.type : other->type;
      text += fmt::format("{}{}: {}", separate(), one.name, type);
      if (!one.fallback.is_valid()) {
        if (may_be_field && is_of_grid(one.name)) text += " = ...";  // of the Field
        continue;
      }
      if (other != retyped.end() && other->required) continue;
      const std::string value = default_text(one.fallback);
      const bool may_be_none = type == "Any" || type.ends_with("None");
      text += (value == "None" && !may_be_none ? " | None = " : " = ") + value;
    }
  }
  return text + ") -> " + result;
}

bool Signature::has(std::string_view name) const { return named(parameters, name) != nullptr; }

std::string Signature::comments() const {
  std::string text;
  for (const Parameter& one : parameters) {
    if (!one.comment.empty()) text += fmt::format("\n    {}: {}", one.name, one.comment);
  }
  return text;
}

Given::Given(const Signature& signature, const std::string& function, const nb::args& args, const nb::kwargs& kwargs,
             bool last)
    : signature_(signature), function_(function), values_(signature.parameters.size()) {
  const auto refuse = [&](const std::string& message) {
    if (!last) throw nb::next_overload();
    const Refusals before = std::exchange(refusals(), {});
    if (before.value) throw Error(*before.value);
    throw nb::type_error(fmt::format("{}: {}", function, message).c_str());
  };
  const auto& parameters = signature.parameters;
  std::size_t positional = 0;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (!parameters[i].keyword_only && positional < args.size()) values_[i] = args[positional++];
  }
  if (positional < args.size()) {
    const auto named = std::ranges::find_if(parameters, &Parameter::keyword_only);
    refuse(fmt::format("expected at most {} arguments without a keyword, got {}{}", positional, args.size(),
                       named == parameters.end() ? "" : ": name the others, as in " + named->name + "="));
  }
  for (const auto& [key, value] : kwargs) {
    const char* const name = PyUnicode_AsUTF8(key.ptr());
    const auto place =
        std::find_if(parameters.begin(), parameters.end(), [&](const Parameter& one) { return one.name == name; });
    if (place == parameters.end()) {
      std::vector<std::string_view> names;
      for (const Parameter& one : parameters) names.emplace_back(one.name);
      refuse(unknown_name(name, names));
    }
    auto& slot = values_[static_cast<std::size_t>(place - parameters.begin())];
    if (slot.is_valid()) refuse(fmt::format("argument {} was given twice", name));
    slot = value;
  }
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (!values_[i].is_valid() && !parameters[i].fallback.is_valid()) values_[i] = from_field(parameters[i].name);
    if (values_[i].is_valid()) {
      if (!values_[i].is_none() || parameters[i].fallback.is_valid() || parameters[i].type == "Any") continue;
      refuse_values(last, Error(ErrorCode::invalid_argument,
                                ErrorFields{function, parameters[i].name, in_words(parameters[i].type), "None"}));
    }
    if (!parameters[i].fallback.is_valid()) {
      const bool of_field = is_of_grid(parameters[i].name) && std::ranges::any_of(parameters, &Parameter::may_be_field);
      const std::string message = fmt::format("argument {} is missing{}", parameters[i].name,
                                              of_field ? " (a holotone.Field in place of the array has it)" : "");
      if (!last && refusals().missing.empty()) refusals().missing = function + ": " + message;
      refuse(message);
    }
    values_[i] = parameters[i].fallback;
  }
}

nb::handle Given::from_field(const std::string& name) {
  if (!is_of_grid(name)) return {};
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const Parameter& parameter = signature_.parameters[i];
    const nb::handle value = values_[i];
    if (!value.is_valid()) continue;
    const bool is_array = name == "shape" && (parameter.may_be_field || parameter.name == "codes") &&
                          nb::hasattr(value, "shape") && find_length(value.attr("shape")) == 2;
    if (!is_array && !nb::hasattr(value, "_holotone_values_")) continue;
    kept_.push_back(value.attr(name.c_str()));
    return kept_.back();
  }
  return {};
}

double Given::number(std::string_view name) const {
  double number = 0;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (signature_.parameters[i].name == name) (void)nb::try_cast(values_[i], number);
  }
  return number;
}

void Given::require_grid(const std::string& function, bool last, double pitch_m, double wavelength_m) const {
  const std::pair<const char*, double> all[] = {{"pitch_m", pitch_m}, {"wavelength_m", wavelength_m}};
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (!signature_.parameters[i].may_be_field || !nb::hasattr(values_[i], "_holotone_values_")) continue;
    for (const auto& [name, planned] : all) {
      const auto given = nb::cast<double>(values_[i].attr(name));
      if (std::abs(given - planned) <= 1e-6 * planned) continue;
      const std::string argument = signature_.parameters[i].name + "." + name;
      refuse_values(last, Error(ErrorCode::invalid_argument,
                                ErrorFields{function, argument, fmt::format("{:g}, that of the plan", planned),
                                            fmt::format("{:g}", given)}));
    }
  }
}

nb::handle Given::operator[](std::string_view name) const {
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (signature_.parameters[i].name == name) return values_[i];
  }
  throw std::logic_error("no argument " + std::string(name));
}

std::optional<std::string> text_from(nb::handle value) {
  if (!PyUnicode_Check(value.ptr())) return std::nullopt;
  Py_ssize_t length = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(value.ptr(), &length);
  if (text) return std::string(text, static_cast<std::size_t>(length));
  PyErr_Clear();
  return std::nullopt;
}

nb::object text_for(const std::string& text) {
  return nb::steal(PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

nb::object flat_numbers(nb::handle value, const char* type) {
  try {
    nb::object numpy = nb::module_::import_("numpy");
    if (nb::isinstance<nb::str>(value)) return {};
    nb::object array = numpy.attr("asarray")(value);
    const bool fits = nb::cast<bool>(numpy.attr("can_cast")(array.attr("dtype"), type, "same_kind"));
    nb::object converted = array.attr("astype")(type, nb::arg("copy") = false);
    if (!fits && !nb::cast<bool>(numpy.attr("array_equal")(converted, array))) return {};
    array = converted;
    return numpy.attr("ascontiguousarray")(array).attr("reshape")(-1);
  } catch (const nb::python_error&) {
    return {};
  } catch (const nb::cast_error&) {
    return {};
  }
}

std::int64_t find_length(nb::handle value) {
  const Py_ssize_t length = PyObject_Length(value.ptr());
  if (length < 0) PyErr_Clear();
  return length;
}

nb::object list_items(nb::handle value) {
  if (PySequence_Check(value.ptr()) == 0) return {};
  nb::object items = nb::steal(PySequence_List(value.ptr()));
  if (!items.is_valid()) PyErr_Clear();
  return items;
}

void describe_grid(Signature& signature) {
  signature.add("shape", "tuple[int, int]", {}, true, "(ny, nx): rows and columns");
  signature.add("pitch_m", "float", {}, true, "> 0");
  signature.add("wavelength_m", "float", {}, true, "> 0");
}

FieldGrid take_grid(Context& context) {
  const auto shape = from_python<Shape<2>>(context.given.next(), context.call, "shape");
  FieldGrid grid;
  grid.ny = shape[0];
  grid.nx = shape[1];
  grid.pitch_m = from_python<double>(context.given.next(), context.call, "pitch_m");
  grid.wavelength_m = from_python<double>(context.given.next(), context.call, "wavelength_m");
  return grid;
}

void describe_rows(Signature& signature) {
  signature.add("first_row", "int", nb::cast(0), true, "of the part, from the top");
  signature.add("rows", "int | None", nb::none(), true, "of the part; by default all from first_row on");
}

RowRange take_rows(Context& context) {
  RowRange part;
  part.first_row = from_python<std::int64_t>(context.given.next(), context.call, "first_row");
  const nb::handle rows = context.given.next();
  part.rows =
      rows.is_none() ? context.all_rows - part.first_row : from_python<std::int64_t>(rows, context.call, "rows");
  return part;
}

void describe_members(Signature& signature, const AggregateType& type) {
  const Owned defaults = type.create();
  for (const Member& member : type.members) {
    const MemberKind& kind = *member.kind;
    if (kind.is_grid) {
      describe_grid(signature);
      continue;
    }
    nb::object fallback;
    if (member.has_default && kind.copy) fallback = kind.copy(member.of(defaults.get()));
    std::string comment = type.comment(member);
    if (kind.names) comment += kind.names(comment.empty() ? "" : ": ");
    signature.add(member.name, kind.type_text(), std::move(fallback), !kind.is_view, comment, kind.may_be_field);
  }
}

void take_members(void* object, const AggregateType& type, Context& context) {
  for (const Member& member : type.members) {
    if (member.kind->is_grid) {
      *static_cast<FieldGrid*>(member.of(object)) = take_grid(context);
    } else {
      member.take(object, context.given.next(), context.call, member.name);
    }
  }
}

std::int64_t count_rows(const Given& given, std::int64_t all) {
  const nb::handle asked = given["rows"];
  const auto first_row = nb::cast<std::int64_t>(given["first_row"]);
  const auto rows = asked.is_none() ? all - first_row : nb::cast<std::int64_t>(asked);
  if (first_row < 0 || rows < 0 || rows > all - first_row) {
    const char* const argument = asked.is_none() || first_row < 0 ? "first_row" : "rows";
    throw_argument("StereogramPlan.execute", argument, fmt::format("rows of the {} there are", all),
                   fmt::format("{} from {}", rows, first_row));
  }
  return rows;
}

Shape<4> images_of(nb::handle views, std::int64_t channels) {
  if (!nb::isinstance<nb::sequence>(views) || nb::len(views) == 0) {
    throw_argument("SmoeRenderer.render", "views", "a list of at least one SmoeView", shown(views));
  }
  const SmoeView* first = nullptr;
  nb::object one(views[0]);
  if (!nb::try_cast(one, first) || !first) throw_argument("SmoeRenderer.render", "views[0]", "SmoeView", shown(one));
  return {static_cast<std::int64_t>(nb::len(views)), first->size[0], first->size[1], channels};
}

}  // namespace holotone::python
