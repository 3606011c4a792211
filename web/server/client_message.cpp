#include <algorithm>
#include <utility>
#include <web/server/client_message.hpp>

namespace holotone::web {
namespace {

using Json = nlohmann::json;

constexpr int max_levels = 16;
constexpr std::size_t max_pane_bytes = 64;
constexpr std::int64_t max_pixels = 16384;        // of a canvas along one side
constexpr std::int64_t max_id = (1LL << 53) - 1;  // JavaScript's integers

/// Takes a message's fields one after the other.
class Fields {
 public:
  explicit Fields(const Json& json) : json_(json) {}

  [[noreturn]] void fail(const std::string& field, const std::string& expected) const {
    throw MessageError(field + ": expected " + expected, pane_, id_);
  }

  const std::string& text(const std::string& field) const {
    const auto found = json_.find(field);
    if (found == json_.end() || !found->is_string()) fail(field, "a text");
    return found->get_ref<const std::string&>();
  }

  std::string pane() {
    const std::string& pane = text("pane");
    if (pane.empty() || pane.size() > max_pane_bytes) fail("pane", "1 to 64 bytes");
    pane_ = pane;
    return pane;
  }

  std::int64_t id() {
    const auto found = json_.find("id");
    if (found == json_.end() || !is_integer(*found, 0, max_id)) fail("id", "an integer from 0 to 2^53 - 1");
    id_ = found->get<std::int64_t>();
    return *id_;
  }

  bool moving() const {
    const auto found = json_.find("moving");
    if (found == json_.end()) return false;
    if (!found->is_boolean()) fail("moving", "true or false");
    return found->get<bool>();
  }

  void check_show() const {
    text("view");
    const auto document = json_.find("document");
    if (document == json_.end() || !(is_integer(*document, 0, max_id) || is_pair(*document, 0, max_id))) {
      fail("document", "a number from 0 on or two");
    }
    const auto state = json_.find("state");
    if (state == json_.end() || !state->is_object()) fail("state", "an object");
    const auto size = json_.find("size");
    if (size != json_.end() && !is_pair(*size, 1, max_pixels)) fail("size", "two integers from 1 to 16384");
  }

 private:
  static bool is_integer(const Json& value, std::int64_t low, std::int64_t high) {
    if (value.is_number_unsigned() && value.get<std::uint64_t>() > static_cast<std::uint64_t>(high)) return false;
    return value.is_number_integer() && value.get<std::int64_t>() >= low && value.get<std::int64_t>() <= high;
  }

  static bool is_pair(const Json& value, std::int64_t low, std::int64_t high) {
    return value.is_array() && value.size() == 2 &&
           std::ranges::all_of(value, [&](const Json& one) { return is_integer(one, low, high); });
  }

  const Json& json_;
  std::optional<std::string> pane_;
  std::optional<std::int64_t> id_;
};

Json parse(std::string_view text) {
  const auto check_level = [](int level, Json::parse_event_t event, const Json&) {
    const bool opens = event == Json::parse_event_t::array_start || event == Json::parse_event_t::object_start;
    if (opens && level >= max_levels) {
      throw MessageError("message: expected at most 16 levels", std::nullopt, std::nullopt);
    }
    return true;
  };
  Json json;
  try {
    json = Json::parse(text, check_level);
  } catch (const Json::parse_error& error) {
    throw MessageError("message: expected JSON, got something else at byte " + std::to_string(error.byte), std::nullopt,
                       std::nullopt);
  } catch (const Json::exception&) {
    throw MessageError("message: expected numbers within double precision", std::nullopt, std::nullopt);
  }
  if (!json.is_object()) throw MessageError("message: expected an object", std::nullopt, std::nullopt);
  return json;
}

}  // namespace

ClientMessage read_client_message(std::string_view text) {
  ClientMessage message;
  message.json = parse(text);
  Fields fields(message.json);
  const std::string& type = fields.text("type");
  if (type == "open") {
    message.kind = ClientMessage::Kind::open;
  } else if (type == "close") {
    message.kind = ClientMessage::Kind::close;
    message.pane = fields.pane();
  } else if (type == "show") {
    message.kind = ClientMessage::Kind::show;
    message.pane = fields.pane();
    message.id = fields.id();
    message.moving = fields.moving();
    fields.check_show();
  } else {
    fields.fail("type", "open, show or close");
  }
  return message;
}

std::string error_text(const std::string& message, const std::optional<std::string>& pane,
                       const std::optional<std::int64_t>& id) {
  Json json = {{"type", "error"}, {"message", message}};
  if (pane) json["pane"] = *pane;
  if (id) json["id"] = *id;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace holotone::web
