#include <charconv>
#include <cstdint>
#include <fmt/format.h>
#include <holotone/io/points/scene_formats_detail.hpp>
#include <holotone/io/printable_detail.hpp>
#include <optional>

namespace holotone::io {
namespace {

/// A name that ends in a number: "f_rest_" and 44.
struct Numbered {
  std::string_view stem;
  std::optional<std::uint32_t> number;
};

Numbered parse_numbered(std::string_view name) {
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  std::uint32_t number = 0;
  const auto parsed = std::from_chars(name.data() + digits, name.data() + name.size(), number);
  if (parsed.ec != std::errc() || parsed.ptr != name.data() + name.size()) return {name, std::nullopt};
  return {name.substr(0, digits), number};
}

bool follows(std::string_view name, std::string_view before) {
  const Numbered a = parse_numbered(before);
  const Numbered b = parse_numbered(name);
  return a.number && b.number && a.stem == b.stem && std::uint64_t{*a.number} + 1 == *b.number;
}

}  // namespace

std::string list_names(const std::vector<std::string>& names) {
  constexpr std::size_t max_listed = 12;
  std::string list;
  std::size_t listed = 0;
  for (std::size_t first = 0, last = 0; first < names.size(); first = last + 1, ++listed) {
    for (last = first; last + 1 < names.size() && follows(names[last + 1], names[last]);) ++last;
    if (listed == max_listed) return fmt::format("{} and {} more", list, names.size() - first);
    if (listed > 0) list += ", ";
    list += printable(names[first]);
    if (last > first) list += " to " + printable(names[last]);
  }
  return list;
}

}  // namespace holotone::io
