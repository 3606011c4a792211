#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/io/images/value_unit_detail.hpp>
#include <string>

namespace holotone::io {

void state_unit(Image& image, std::string_view unit, bool as_depth, std::string_view path) {
  constexpr std::string_view blanks = " \t\r\n";
  constexpr std::array<std::string_view, 3> radians = {"rad", "radian", "radians"};
  const auto begin = unit.find_first_not_of(blanks);
  if (begin == std::string_view::npos) return;
  unit = unit.substr(begin, unit.find_last_not_of(blanks) + 1 - begin);
  image.metadata.insert_or_assign(std::string(unit_key), std::string(unit));
  if (!as_depth && std::ranges::find(radians, unit) == radians.end()) note_unit(image.notes, unit, path);
}

void note_unit(std::vector<std::string>& notes, std::string_view unit, std::string_view path) {
  notes.push_back(fmt::format("{}: its unit {} is not applied to the values", path, in_quotes(unit)));
}

}  // namespace holotone::io
