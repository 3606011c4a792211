#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <holotone/core/error.hpp>
#include <holotone/io/fields/field_numbers_detail.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/printable_detail.hpp>
#include <holotone/io/stated_numbers_detail.hpp>

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
  std::string text;
  for (std::size_t i = 0; i < std::min(arrays.size(), max_listed); ++i) {
    text += fmt::format("{}{} {}", i == 0 ? "" : ", ", printable(arrays[i].name), array_text(arrays[i]));
  }
  return arrays.size() > max_listed ? fmt::format("{} and {} more", text, arrays.size() - max_listed) : text;
}

/// The arrays that can be a field, or all if none can.
std::string list_candidates(const std::vector<StoredArray>& arrays) {
  std::vector<StoredArray> shown;
  std::ranges::copy_if(arrays, std::back_inserter(shown), is_number_array);
  return arrays.empty() ? "none" : list_text(shown.empty() ? arrays : shown);
}

std::string_view without_slash(std::string_view name) { return name.substr(name.starts_with('/') ? 1 : 0); }

/// The array of a name, in which the slash before the first group may be missing.
const StoredArray* find_named(const std::vector<StoredArray>& arrays, std::string_view name) {
  const auto found =
      std::ranges::find_if(arrays, [&](const auto& array) { return without_slash(array.name) == without_slash(name); });
  return found == arrays.end() ? nullptr : &*found;
}

/// Velox writes frames last: /Data/Image/IDENTIFIER/Data beside Metadata.
bool is_of_velox(const StoredArray& array, const std::vector<StoredArray>& arrays) {
  if (!array.name.starts_with("/Data/Image/") || !array.name.ends_with("/Data")) return false;
  return find_named(arrays, array.name.substr(0, array.name.rfind('/')) + "/Metadata") != nullptr;
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
             fmt::format("{}; the file has {}", in_quotes(part), list_candidates(arrays)));
  }
  const auto& extents = found->extents;
  ChosenArray chosen{static_cast<std::size_t>(found - arrays.data()), {}};
  const std::string is = fmt::format("{}, which is {}", printable(found->name), array_text(*found));
  if (found->kind == Kind::other) throw_io(path, "an array of numbers", is);
  if (extents.size() == 3 && is_of_velox(*found, arrays)) {
    throw_io(path, "arrays {frames, ny, nx}", is + ", {ny, nx, frames} of Velox");
  }
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

/// True for an array that may be a picture, or several, of numbers.
bool is_picture(const StoredArray& array) {
  const std::string_view name = array.name;
  const bool is_palette = name.substr(name.rfind('/') + 1) == "palette";
  return array.kind != Kind::other && !is_palette &&
         std::ranges::count_if(array.extents, [](auto extent) { return extent > 1; }) >= 2;
}

/// True for the name of a small copy, or of marks of pixels, of another array: "/Thumbnail/Data", "pixel_mask".
bool is_of_another(std::string_view name) {
  const auto group = name.substr(0, name.rfind('/'));
  const auto words = split_name_words(name.substr(group.rfind('/') == std::string_view::npos ? 0 : group.rfind('/')));
  static constexpr std::string_view others[] = {"thumbnail", "thumb", "preview", "mask", "icon"};
  return std::ranges::any_of(words,
                             [](const auto& word) { return std::ranges::find(others, word) != std::end(others); });
}

/// Arrays but the chosen one and those that belong to it, as text.
std::string list_others(const std::vector<StoredArray>& arrays, std::size_t chosen) {
  const auto& name = arrays[chosen].name;
  const auto folder = name.substr(0, name.rfind('/') + 1);
  std::vector<StoredArray> others;
  for (std::size_t i = 0; i < arrays.size(); ++i) {
    const auto& other = arrays[i].name;
    const bool is_beside = other.starts_with(folder) &&
                           belongs_to_array(std::string_view(other).substr(folder.size()), name.substr(folder.size()));
    if (i != chosen && !is_beside && is_picture(arrays[i])) others.push_back(arrays[i]);
  }
  return others.empty() ? "" : list_text(others);
}

}  // namespace

bool belongs_to_array(std::string_view member, std::string_view name) {
  if ((member == "mask" || member == "errors") && name == "data") return true;
  if (member.size() <= name.size() || !member.starts_with(name)) return false;
  static constexpr std::string_view ends[] = {"_errors",  "_error", "_uncertainties", "_mask",
                                              "_weights", "_std",   "_calibration",   "_gain"};
  return std::ranges::find(ends, member.substr(name.size())) != std::end(ends);
}

std::string also_note(std::string_view name, std::string_view also, std::string_view path) {
  return fmt::format("{}:{} is read; {} also has {}", path, printable(name), path, also);
}

std::string array_text(const StoredArray& array) {
  return fmt::format("{{{}}} {}", fmt::join(array.extents, ", "), array.type);
}

ChosenArray choose_array(const std::vector<StoredArray>& arrays, std::string_view part, std::string_view path) {
  if (!part.empty()) return choose_named(arrays, part, path);
  const auto only = [&](Kind kind) -> std::optional<ChosenArray> {
    const auto suits = [&](const auto& array) { return array.kind == kind && array.extents.size() == 2; };
    if (std::ranges::count_if(arrays, suits) != 1) return std::nullopt;
    const auto index = static_cast<std::size_t>(std::ranges::find_if(arrays, suits) - arrays.begin());
    auto also = list_others(arrays, index);
    if (!also.empty() && is_of_another(arrays[index].name)) return std::nullopt;
    return ChosenArray{index, {}, std::move(also)};
  };
  if (const auto* const field = find_named(arrays, "field"); field != nullptr && is_number_array(*field)) {
    auto chosen = choose_named(arrays, field->name, path);
    chosen.also = list_others(arrays, chosen.index);
    return chosen;
  }
  const bool complex = std::ranges::any_of(arrays, [](const auto& array) { return array.kind == Kind::complex; });
  if (const auto found = only(complex ? Kind::complex : Kind::real)) return *found;
  const bool none = std::ranges::none_of(arrays, is_number_array);
  throw_io(path, none ? "an array of shape {ny, nx}" : "one array of shape {ny, nx}, or its name as FILE:NAME",
           list_candidates(arrays));
}

}  // namespace holotone::io
