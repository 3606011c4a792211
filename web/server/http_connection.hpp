#pragma once
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <cstddef>
#include <memory>
#include <optional>
#include <web/server/hub.hpp>

namespace holotone::web {

/// A connection that sends HTTP requests, one after the other. Only what is served keeps it open: any refusal ends it.
class HttpConnection : public std::enable_shared_from_this<HttpConnection> {
 public:
  HttpConnection(boost::beast::tcp_stream stream, ClientNumber number, Hub& hub);
  ~HttpConnection() { hub_.ended(number_); }
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  void start() { read(hub_.limits().first_header); }
  void abort();

 private:
  using Parser = boost::beast::http::request_parser<boost::beast::http::empty_body>;

  void read(std::chrono::milliseconds time);
  void on_read(boost::beast::error_code error);
  void answer(HttpRequest request);
  void refuse(boost::beast::http::status status);
  void send(HttpResponse response);
  void linger(std::size_t bytes_left);

  boost::beast::tcp_stream stream_;
  ClientNumber number_;
  Hub& hub_;
  boost::beast::flat_buffer buffer_;
  std::optional<Parser> parser_;
  HttpResponse response_;
};

}  // namespace holotone::web
