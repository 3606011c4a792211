#include <boost/beast/core/buffers_prefix.hpp>
#include <cstdint>
#include <limits>
#include <utility>
#include <web/server/socket_session.hpp>

namespace holotone::web {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = beast::websocket;

constexpr std::size_t part_bytes = 64 * 1024;

}  // namespace

SocketSession::SocketSession(beast::tcp_stream stream, ClientNumber number, Hub& hub)
    : stream_(std::move(stream)),
      number_(number),
      hub_(hub),
      rate_(hub.limits().messages_per_s, hub.limits().messages_at_once, std::chrono::steady_clock::now()),
      pause_(stream_.get_executor()),
      deadline_(stream_.get_executor()) {}

void SocketSession::start(HttpRequest request) {
  request_ = std::move(request);
  beast::get_lowest_layer(stream_).expires_never();
  stream_.set_option(websocket::stream_base::timeout{hub_.limits().handshake, hub_.limits().idle, true});
  stream_.set_option(websocket::permessage_deflate{});  // off
  // RFC 6455, 5.2: the highest bit of a length is 0. Else Beast refuses the frame at its header. on_read has the lower
  // bound, because Beast would close without the handshake.
  stream_.read_message_max(static_cast<std::size_t>(std::numeric_limits<std::int64_t>::max()));
  stream_.auto_fragment(false);
  stream_.async_accept(request_, [self = shared_from_this()](beast::error_code error) {
    if (error || self->ending_) return self->abort();
    self->open_ = true;
    self->read();
    if (!self->waiting_.empty()) self->write_message();
  });
}

void SocketSession::abort() {
  if (!std::exchange(ending_, true)) hub_.lost(number_);
  pause_.cancel();
  deadline_.cancel();
  auto& socket = beast::get_lowest_layer(stream_).socket();
  beast::error_code ignored;
  // Processes that were forked meanwhile hold the socket too: close() alone would not end the connection.
  socket.shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
  beast::get_lowest_layer(stream_).close();
}

void SocketSession::close(websocket::close_code code) {
  if (std::exchange(ending_, true)) return;
  hub_.lost(number_);
  if (!open_) return abort();
  pause_.cancel();
  set_deadline(hub_.limits().close);
  stream_.async_close(code, [self = shared_from_this()](beast::error_code) { self->abort(); });
}

void SocketSession::read() {
  stream_.async_read_some(buffer_, part_bytes,
                          [self = shared_from_this()](beast::error_code error, std::size_t) { self->on_read(error); });
}

void SocketSession::on_read(beast::error_code error) {
  // close() ends by itself, with what it still reads.
  if (ending_) return;
  if (error) return abort();
  if (!stream_.got_text()) return close(websocket::close_code::unknown_data);
  if (buffer_.size() > hub_.limits().message_bytes) return close(websocket::close_code::too_big);
  if (!stream_.is_message_done()) return read();
  const auto bytes = buffer_.cdata();
  hub_.received(number_, {static_cast<const char*>(bytes.data()), bytes.size()});
  if (ending_) return;
  buffer_.clear();
  const auto wait = rate_.take(std::chrono::steady_clock::now());
  if (wait <= std::chrono::steady_clock::duration::zero()) return read();
  pause_.expires_after(wait);
  pause_.async_wait([self = shared_from_this()](beast::error_code cancelled) {
    if (!cancelled && !self->ending_) self->read();
  });
}

void SocketSession::send(Message message) {
  if (ending_) return;
  if (waiting_.size() >= hub_.limits().waiting_messages) return abort();
  waiting_.push_back(std::move(message));
  if (open_ && waiting_.size() == 1) write_message();
}

void SocketSession::write_message() {
  const Message& message = waiting_.front();
  Buffers buffers;
  if (message.payload) {
    for (std::size_t i = 0; i < length_.size(); ++i) {
      length_[i] = static_cast<unsigned char>(message.text.size() >> (8 * i));
    }
    buffers = {asio::buffer(length_), asio::buffer(message.text), asio::buffer(*message.payload)};
  } else {
    buffers = {asio::buffer(message.text)};
  }
  rest_ = beast::buffers_suffix<Buffers>(buffers);
  stream_.binary(message.payload != nullptr);
  write_part();
}

void SocketSession::write_part() {
  set_deadline(hub_.limits().send);
  const bool last = beast::buffer_bytes(rest_) <= part_bytes;
  stream_.async_write_some(
      last, beast::buffers_prefix(part_bytes, rest_),
      [self = shared_from_this()](beast::error_code error, std::size_t bytes) { self->on_part(error, bytes); });
}

void SocketSession::on_part(beast::error_code error, std::size_t bytes) {
  if (ending_) return;
  if (error) return abort();
  rest_.consume(bytes);
  if (beast::buffer_bytes(rest_) > 0) return write_part();
  deadline_.cancel();
  waiting_.pop_front();
  if (!waiting_.empty()) return write_message();
  hub_.sent(number_);
}

void SocketSession::set_deadline(std::chrono::milliseconds time) {
  deadline_.expires_after(time);
  deadline_.async_wait([self = shared_from_this()](beast::error_code cancelled) {
    if (!cancelled && self->deadline_.expiry() <= std::chrono::steady_clock::now()) self->abort();
  });
}

}  // namespace holotone::web
