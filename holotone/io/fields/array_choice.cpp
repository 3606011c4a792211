#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <holotone/core/error.hpp>
#include <holotone/io/fields/field_numbers_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/printable_detail.hpp>

namespace holotone::io {
namespace {

using Kind = StoredArray::Kind;

/// Arrays that can be a field, or a part of one.
bool is_number_array(const StoredArray& array) {
  return array.kind != Kind::other && (array.extents.size() == 2 || array.extents.size() == 3);
}

/// "/a {4, 6} complex64, /b {4, 6} float32 and 3 more".
std::string list_text(const std::vector<StoredArray>& arrays) {
  constexpr std::size_t max_listed = 12;
  std::vector<const StoredArray*> shown;
  for (const auto& array : arrays) {
    if (is_number_array(array)) shown.push_back(&array);
  }
  if (arrays.empty()) return "none";
  if (shown.empty()) {
    for (const auto& array : arrays) shown.push_back(&array);
  }
  std::string text;
  for (std::size_t i = 0; i < std::min(shown.size(), max_listed); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", printable(shown[i]->name), array_text(*shown[i]));
  }
  return shown.size() > max_listed ? fmt::format("{} and {} more", text, shown.size() - max_listed) : text;
}

std::string_view without_slash(std::string_view name) { return name.substr(name.starts_with('/') ? 1 : 0); }

/// The array of a name, in which the slash before the first group may be missing.
const StoredArray* find_named(const std::vector<StoredArray>& arrays, std::string_view name) {
  const auto found =
      std::ranges::find_if(arrays, [&](const auto& array) { return without_slash(array.name) == without_slash(name); });
  return found == arrays.end() ? nullptr : &*found;
}

ChosenArray choose_named(const std::vector<StoredArray>& arrays, std::string_view part, std::string_view path) {
  std::string_view slice;
  const StoredArray* found = find_named(arrays, part);
  if (const auto colon = part.rfind(':'); found == nullptr && colon != std::string_view::npos) {
    slice = part.substr(colon + 1);
    found = find_named(arrays, part.substr(0, colon));
  }
  if (found == nullptr) {
    throw_io(path, "the name of an array in the file as the part",
             fmt::format("{}; the file has {}", in_quotes(part), list_text(arrays)));
  }
  const auto& extents = found->extents;
  ChosenArray chosen{static_cast<std::size_t>(found - arrays.data()), {}};
  const std::string is = fmt::format("{}, which is {}", printable(found->name), array_text(*found));
  if (found->kind == Kind::other) throw_io(path, "an array of numbers", is);
  if (extents.size() == 2 && slice.empty()) return chosen;
  if (extents.size() == 3 && !slice.empty()) {
    constexpr auto most = static_cast<std::uint64_t>(INT64_MAX);
    chosen.slice = part_index(slice, static_cast<std::int64_t>(std::min(extents[0], most)), "arrays", path);
    return chosen;
  }
  throw_io(path,
           extents.size() == 3 ? fmt::format("one of the arrays, {}:1 to {}:{}", found->name, found->name, extents[0])
                               : std::string("an array of shape {ny, nx}"),
           is);
}

}  // namespace

std::string array_text(const StoredArray& array) {
  return fmt::format("{{{}}} {}", fmt::join(array.extents, ", "), array.type);
}

ChosenArray choose_array(const std::vector<StoredArray>& arrays, std::string_view part, std::string_view path) {
  if (!part.empty()) return choose_named(arrays, part, path);
  const auto only = [&](Kind kind) -> std::optional<ChosenArray> {
    const auto suits = [&](const auto& array) { return array.kind == kind && array.extents.size() == 2; };
    if (std::ranges::count_if(arrays, suits) != 1) return std::nullopt;
    return ChosenArray{static_cast<std::size_t>(std::ranges::find_if(arrays, suits) - arrays.begin()), {}};
  };
  if (const auto* const field = find_named(arrays, "field"); field != nullptr && is_number_array(*field)) {
    return choose_named(arrays, field->name, path);
  }
  const bool complex = std::ranges::any_of(arrays, [](const auto& array) { return array.kind == Kind::complex; });
  if (const auto found = only(complex ? Kind::complex : Kind::real)) return *found;
  const bool none = std::ranges::none_of(arrays, is_number_array);
  throw_io(path, none ? "an array of shape {ny, nx}" : "one array of shape {ny, nx}, or its name as FILE:NAME",
           list_text(arrays));
}

}  // namespace holotone::io
