#include <algorithm>
#include <utility>
#include <web/server/http_connection.hpp>

namespace holotone::web {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;

constexpr std::chrono::seconds lingering{1};
constexpr std::size_t lingering_bytes = 64 * 1024;

}  // namespace

HttpConnection::HttpConnection(beast::tcp_stream stream, ClientNumber number, Hub& hub)
    : stream_(std::move(stream)), number_(number), hub_(hub), buffer_(hub.limits().header_bytes) {}

void HttpConnection::abort() {
  beast::error_code ignored;
  // Processes that were forked meanwhile hold the socket too: close() alone would not end the connection.
  stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_both, ignored);
  stream_.close();
}

void HttpConnection::read(std::chrono::milliseconds time) {
  parser_.emplace();
  parser_->header_limit(static_cast<std::uint32_t>(hub_.limits().header_bytes));
  stream_.expires_after(time);
  http::async_read(stream_, buffer_, *parser_,
                   [self = shared_from_this()](beast::error_code error, std::size_t) { self->on_read(error); });
}

void HttpConnection::on_read(beast::error_code error) {
  if (error == http::error::header_limit || error == http::error::buffer_overflow) {
    return refuse(http::status::request_header_fields_too_large);
  }
  if (error == http::error::end_of_stream || error == http::error::partial_message) return abort();
  if (error && error.category() == beast::error_code(http::error::bad_target).category()) {
    return refuse(http::status::bad_request);
  }
  if (error) return abort();
  answer(parser_->release());
}

void HttpConnection::answer(HttpRequest request) {
  const Access& access = hub_.access();
  if (opens_page(request, access) && hub_.use_opening_key(stream_.socket())) return send(redirection(request, access));
  const bool is_socket = opens_socket(request, access);
  // A client speaks WebSocket only after the answer.
  if (is_socket && buffer_.size() != 0) return refuse(http::status::bad_request);
  HttpResponse response = is_socket ? HttpResponse() : http_answer(request, access);
  if (response.result() != http::status::ok) return send(std::move(response));
  if (!hub_.admit(number_)) return refuse(http::status::service_unavailable);
  if (!is_socket) return send(std::move(response));
  hub_.upgrade(std::move(stream_), std::move(request));
}

void HttpConnection::refuse(http::status status) { send(refusal(status, 11)); }

void HttpConnection::send(HttpResponse response) {
  response_ = std::move(response);
  stream_.expires_after(hub_.limits().send);
  http::async_write(stream_, response_, [self = shared_from_this()](beast::error_code error, std::size_t) {
    if (error) return self->abort();
    if (self->response_.keep_alive()) return self->read(self->hub_.limits().header);
    self->stream_.socket().shutdown(asio::ip::tcp::socket::shutdown_send, error);
    self->stream_.expires_after(lingering);
    self->buffer_.clear();
    self->linger(lingering_bytes);
  });
}

// A socket that is closed with bytes unread resets the connection, and the client may lose the answer.
void HttpConnection::linger(std::size_t bytes_left) {
  if (bytes_left == 0) return abort();
  const std::size_t most = std::min({bytes_left, buffer_.max_size(), std::size_t{4096}});
  stream_.async_read_some(buffer_.prepare(most),
                          [self = shared_from_this(), bytes_left](beast::error_code error, std::size_t bytes) {
                            if (error) return self->abort();
                            self->linger(bytes_left - bytes);
                          });
}

}  // namespace holotone::web
