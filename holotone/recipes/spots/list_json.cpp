#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/io/file_bytes_detail.hpp>
#include <holotone/recipes/spots/list_json.hpp>
#include <set>
#include <vector>

namespace holotone::spots {

nlohmann::json parse_json(std::string_view text, const std::string& path) {
  using nlohmann::json;
  std::vector<std::set<std::string>> keys;  // of each object that is open
  std::string twice;
  const auto watch = [&](int, json::parse_event_t event, const json& value) {
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key && !keys.back().insert(value.get<std::string>()).second && twice.empty()) {
      twice = value.get<std::string>();
    }
    return true;
  };
  auto root = json::parse(text, watch, false);
  if (root.is_discarded()) throw_io(path, "JSON", "text that is none");
  if (!twice.empty()) throw_io(path, fmt::format("{} once in an object", io::in_quotes(twice)), "it twice");
  return root;
}

}  // namespace holotone::spots
