#pragma once
#include <atomic>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

namespace holotone::web {

/// What the server sends to a page. Without payload: the text message `text`. With one: a binary message of the length
/// of `text` (uint32, little-endian), `text` and the payload. The text is JSON in UTF-8.
struct Message {
  std::string text;
  std::shared_ptr<const std::string> payload;
};

/// What answers a page's requests. All calls come from one thread, one at a time. An exception becomes one "error"
/// message with its what().
class Handler {
 public:
  virtual ~Handler() = default;
  /// The answer to "open".
  virtual Message opened() = 0;
  /// The answer to a "show", whose fields have the protocol's types (ClientMessage). Once `cancelled` is true nobody
  /// wants the answer any more: end soon, with any answer or exception.
  virtual Message answer(const nlohmann::json& show, const std::atomic<bool>& cancelled) = 0;
  /// Called about once a second while a page is connected and no request waits.
  virtual void idle() {}
};

}  // namespace holotone::web
