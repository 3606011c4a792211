#pragma once
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace holotone::web {

/// A message of a page, with all fields of the protocol's types. `id` is 0 and `pane` empty where there are none.
struct ClientMessage {
  enum class Kind { open, show, close };
  Kind kind = Kind::open;
  std::string pane;     ///< 1 to 64 bytes
  std::int64_t id = 0;  ///< 0 or above
  bool moving = false;
  nlohmann::json json;  ///< all of it
};

/// What is wrong with a message: what() is one line, without the client's text; pane and id as far as they could be
/// read.
class MessageError final : public std::runtime_error {
 public:
  MessageError(const std::string& what, std::optional<std::string> pane, std::optional<std::int64_t> id)
      : std::runtime_error(what), pane_(std::move(pane)), id_(id) {}
  [[nodiscard]] const std::optional<std::string>& pane() const noexcept { return pane_; }
  [[nodiscard]] const std::optional<std::int64_t>& id() const noexcept { return id_; }

 private:
  std::optional<std::string> pane_;
  std::optional<std::int64_t> id_;
};

/// Reads a message; throws MessageError. Objects and arrays are at most 16 deep, so that recursion is safe.
ClientMessage read_client_message(std::string_view text);

/// {"type":"error","pane":...,"id":...,"message":...} as text; what is not UTF-8 is replaced.
std::string error_text(const std::string& message, const std::optional<std::string>& pane,
                       const std::optional<std::int64_t>& id);

}  // namespace holotone::web
