#pragma once
#include <array>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core/buffers_suffix.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/websocket.hpp>
#include <cstddef>
#include <deque>
#include <memory>
#include <web/server/hub.hpp>
#include <web/server/message.hpp>
#include <web/server/rate_limit.hpp>

namespace holotone::web {

/// A page's WebSocket.
class SocketSession : public std::enable_shared_from_this<SocketSession> {
 public:
  SocketSession(boost::beast::tcp_stream stream, ClientNumber number, Hub& hub);
  ~SocketSession() { hub_.ended(number_); }
  SocketSession(const SocketSession&) = delete;
  SocketSession& operator=(const SocketSession&) = delete;

  void start(HttpRequest request);
  /// Sends a message after those that wait.
  void send(Message message);
  /// Sends a close frame and ends: at the latest after Limits::close.
  void close(boost::beast::websocket::close_code code);
  void abort();

 private:
  using Buffers = std::array<boost::asio::const_buffer, 3>;

  void read();
  void on_read(boost::beast::error_code error);
  void write_message();
  void write_part();
  void on_part(boost::beast::error_code error, std::size_t bytes);
  void set_deadline(std::chrono::milliseconds time);

  boost::beast::websocket::stream<boost::beast::tcp_stream> stream_;
  ClientNumber number_;
  Hub& hub_;
  HttpRequest request_;
  boost::beast::flat_buffer buffer_;
  RateLimit rate_;
  boost::asio::steady_timer pause_;     ///< before the next message is read
  boost::asio::steady_timer deadline_;  ///< of a part that is sent, then of the close frame
  std::deque<Message> waiting_;         ///< the first is being sent
  std::array<unsigned char, 4> length_{};
  boost::beast::buffers_suffix<Buffers> rest_;
  bool open_ = false;
  bool ending_ = false;
};

}  // namespace holotone::web
