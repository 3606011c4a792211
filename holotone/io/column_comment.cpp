#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <holotone/io/column_comment_detail.hpp>
#include <holotone/io/stated_numbers_detail.hpp>
#include <initializer_list>

namespace holotone::io {
namespace {

bool is_any(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

bool is_heading(std::string_view word) {
  return is_any(word, {"column", "columns", "field", "fields", "header", "format", "names"});
}

/// The value of an attribute in a tag; empty without it.
std::string_view find_attribute(std::string_view tag, std::string_view name) {
  const auto begin = tag.find(fmt::format(" {}=\"", name));
  if (begin == std::string_view::npos) return {};
  const auto rest = tag.substr(begin + name.size() + 3);
  return rest.substr(0, rest.find('"'));
}

}  // namespace

std::vector<std::string> list_field_names(std::string_view comment) {
  constexpr std::size_t max_fields = 100;
  constexpr std::array<std::string_view, 3> axes = {"Position-0-0", "Position-1-0", "Position-2-0"};
  std::vector<std::string> names;
  for (auto at = comment.find("<field "); at != std::string_view::npos && names.size() < max_fields;
       at = comment.find("<field ", at + 1)) {
    const auto tag = comment.substr(at, comment.find('>', at) - at);
    const auto identifier = find_attribute(tag, "identifier");
    const auto unit = find_attribute(tag, "unit");
    const auto axis = static_cast<std::size_t>(std::ranges::find(axes, identifier) - axes.begin());
    if (identifier.empty()) continue;
    names.push_back(axis == axes.size() ? std::string(identifier)
                    : unit.empty()      ? std::string(1, "xyz"[axis])
                                        : fmt::format("{} [{}]", "xyz"[axis], unit));
  }
  return names;
}

std::string_view skip_heading(std::string_view comment) {
  const auto colon = comment.find(':');
  if (colon == std::string_view::npos) return comment;
  const auto words = split_name_words(comment.substr(0, colon));
  return std::ranges::any_of(words, is_heading) ? comment.substr(colon + 1) : comment;
}

bool may_name_columns(std::string_view comment) {
  constexpr std::size_t longest = 1000;
  comment = comment.substr(0, longest);
  const auto words = split_name_words(comment);
  const auto has = [&](std::string_view word) { return std::ranges::find(words, word) != words.end(); };
  const bool has_place = has("x") || has("y") || has("z");
  const bool has_places = has("x") && has("y");
  const bool has_other = std::ranges::any_of(words, [](const auto& word) {
    return is_any(word, {"frame", "intensity", "amplitude", "phase", "sigma", "id", "t", "time", "nx", "r", "red",
                         "photons", "uncertainty", "radius", "channel", "index"});
  });
  const bool is_titled = std::ranges::any_of(words, [](const auto& word) {
    return is_any(word, {"column", "columns", "field", "fields"});
  });
  const bool has_unit = has_place && comment.find_first_of("[(") != std::string_view::npos;
  if (has_places && has("z") && !has_other) return false;
  return is_titled || has_places || has_unit || (has_place && has_other);
}

}  // namespace holotone::io
