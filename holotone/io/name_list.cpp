#include <fmt/format.h>
#include <holotone/io/name_list_detail.hpp>
#include <holotone/io/printable_detail.hpp>

namespace holotone::io {

std::string list_unknown(std::string_view what, const std::vector<std::string>& names) {
  constexpr std::size_t most = 8;
  std::string text = fmt::format("{}{} ", what, names.size() == 1 ? "" : "s");
  for (std::size_t i = 0; i < names.size() && i < most; ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", printable(names[i]));
  }
  return names.size() > most ? fmt::format("{} and {} more", text, names.size() - most) : text;
}

}  // namespace holotone::io
