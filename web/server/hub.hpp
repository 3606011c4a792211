#pragma once
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <string_view>
#include <web/server/http_answer.hpp>
#include <web/server/limits.hpp>
#include <web/server/work_queue.hpp>

namespace holotone::web {

/// What connections need of the server. All calls come from its I/O thread.
class Hub {
 public:
  virtual ~Hub() = default;
  [[nodiscard]] virtual const Limits& limits() const = 0;
  [[nodiscard]] virtual const Access& access() const = 0;
  /// A connection has shown the key: strangers no longer end it. False if there are too many such connections.
  [[nodiscard]] virtual bool admit(ClientNumber number) = 0;
  /// A connection asks for the page by the opening key: true if its user may have the page. The key is then used up.
  [[nodiscard]] virtual bool use_opening_key(const boost::asio::ip::tcp::socket& socket) = 0;
  /// A connection becomes a WebSocket.
  virtual void upgrade(boost::beast::tcp_stream stream, HttpRequest request) = 0;
  /// A text message came.
  virtual void received(ClientNumber number, std::string_view text) = 0;
  /// All messages to a client are on their way.
  virtual void sent(ClientNumber number) = 0;
  /// A WebSocket is no longer of use: the client left, or was sent away.
  virtual void lost(ClientNumber number) = 0;
  /// A connection of either kind has ended.
  virtual void ended(ClientNumber number) = 0;
};

}  // namespace holotone::web
