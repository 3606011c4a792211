#pragma once
#include <chrono>
#include <cstddef>

namespace holotone::web {

/// Bounds on what clients may take. No client can make the server keep more than `strangers` times `header_bytes` and
/// `connections` times (`header_bytes` or `message_bytes`, plus `waiting_requests` messages, plus one answer).
struct Limits {
  std::size_t strangers = 64;             ///< connections that have not shown the key: the newest ends the oldest
  std::size_t connections = 64;           ///< those that have, of all kinds; a further one is answered 503
  std::size_t header_bytes = 16 * 1024;   ///< of an HTTP request; more is answered 431
  std::size_t message_bytes = 64 * 1024;  ///< of a WebSocket message; more closes with code 1009
  std::size_t waiting_requests = 64;      ///< of a client: panes with a request that waits
  std::size_t waiting_messages = 64;      ///< to a client that does not read; one more ends the connection
  double messages_per_s = 200;            ///< of a client in the long run; more are read later
  double messages_at_once = 400;          ///< of a client that was silent before
  std::chrono::milliseconds first_header{3000};  ///< until a stranger's HTTP request is complete
  std::chrono::milliseconds header{10'000};      ///< until the next one is, from the end of the last
  std::chrono::milliseconds handshake{10'000};   ///< until a WebSocket is open
  std::chrono::milliseconds idle{60'000};        ///< without a frame from a WebSocket; it is pinged after half of it
  std::chrono::milliseconds send{20'000};        ///< until a client takes the next 64 KiB
  std::chrono::milliseconds close{400};          ///< until a client answers a close frame
};

}  // namespace holotone::web
