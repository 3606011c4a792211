#include <gtest/gtest.h>
#include <stdexcept>
#include <tests/support/loopback.hpp>

namespace holotone::web {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace websocket = beast::websocket;

tcp::endpoint endpoint_of(const TestServer& server) {
  return {asio::ip::make_address("127.0.0.1"), server.server.port()};
}

ServerOptions make_options(const Limits& limits) {
  ServerOptions options;
  options.port = 0;
  options.limits = limits;
  return options;
}

}  // namespace

std::string host_of(const TestServer& server) { return "127.0.0.1:" + std::to_string(server.server.port()); }

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

Message FakeHandler::opened() { return {R"({"type":"documents","documents":[],"pair":null})", nullptr}; }

Message FakeHandler::answer(const json& show, const std::atomic<bool>& cancelled) {
  ++started;
  const json& state = show.at("state");
  if (state.contains("throw")) throw std::runtime_error(state["throw"].get<std::string>());
  while (state.value("wait", false) && !gate_) {
    if (cancelled) {
      ++cancelled_calls;
      throw std::runtime_error("cancelled");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  ++finished;
  const auto bytes = state.value("bytes", std::size_t{3});
  auto payload = std::make_shared<std::string>(bytes, '\0');
  for (std::size_t i = 0; i < bytes; ++i) (*payload)[i] = static_cast<char>(i % 251);
  return {json{{"type", "shown"}, {"pane", show.at("pane")}, {"id", show.at("id")}}.dump(), payload};
}

TestServer::TestServer(const Limits& limits) : server(make_options(limits), handler) {
  thread_ = std::thread(
      [this, last = Clock::now() + std::chrono::minutes(1)] { server.run([last] { return Clock::now() > last; }); });
}

TestServer::~TestServer() { stop(); }

double TestServer::stop() {
  const auto start = Clock::now();
  server.stop();
  if (thread_.joinable()) thread_.join();
  return seconds_since(start);
}

Page::Page(const TestServer& server) {
  stream_.next_layer().connect(endpoint_of(server));
  stream_.read_message_max(0);
  const std::string host = host_of(server);
  stream_.set_option(websocket::stream_base::decorator(
      [&](websocket::request_type& request) { request.set(beast::http::field::origin, "http://" + host); }));
  stream_.handshake(host, "/" + server.server.token() + "/socket", error_);
}

void Page::send(const std::string& text, bool binary) {
  stream_.binary(binary);
  beast::error_code error;
  stream_.write(asio::buffer(text), error);
}

void Page::show(const std::string& pane, int id, const json& state, bool moving) {
  send(json{{"type", "show"},
            {"pane", pane},
            {"id", id},
            {"document", 0},
            {"view", "light"},
            {"state", state},
            {"moving", moving},
            {"size", {64, 64}}}
           .dump());
}

Answer Page::read() {
  beast::flat_buffer buffer;
  beast::error_code error;
  stream_.read(buffer, error);
  if (error) {
    ADD_FAILURE() << "the connection ended: " << error.message();
    return {};
  }
  const std::string text = beast::buffers_to_string(buffer.data());
  if (stream_.got_text()) return {json::parse(text), "", false};
  std::size_t length = 0;
  for (std::size_t i = 0; i < 4; ++i)
    length |= static_cast<std::size_t>(static_cast<unsigned char>(text.at(i))) << (8 * i);
  return {json::parse(text.substr(4, length)), text.substr(4 + length), true};
}

int Page::close_code() {
  beast::flat_buffer buffer;
  beast::error_code error;
  while (!error) {
    buffer.clear();
    stream_.read(buffer, error);
  }
  return error == websocket::error::closed ? stream_.reason().code : 0;
}

void Page::drop() { stream_.next_layer().close(); }

void Page::read_little() { stream_.next_layer().set_option(asio::socket_base::receive_buffer_size(4096)); }

Connection::Connection(const TestServer& server) { socket_.connect(endpoint_of(server)); }

void Connection::send(const std::string& text) {
  beast::error_code error;
  asio::write(socket_, asio::buffer(text), error);
}

std::string Connection::upgrade(const std::string& token, const std::string& host, const std::string& origin) {
  send("GET /" + token + "/socket HTTP/1.1\r\nHost: " + host +
       "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" +
       "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n" + (origin.empty() ? "" : "Origin: " + origin + "\r\n") +
       "\r\n");
  std::string text(12, ' ');
  beast::error_code error;
  asio::read(socket_, asio::buffer(text), error);
  return text.substr(9);
}

std::string Connection::rest() {
  std::string text;
  beast::error_code error;
  asio::read(socket_, asio::dynamic_buffer(text), error);
  return text;
}

std::string get(const TestServer& server, const std::string& name, const std::string& method) {
  return method + " /" + server.server.token() + "/" + name + " HTTP/1.1\r\nHost: " + host_of(server) +
         "\r\nConnection: close\r\n\r\n";
}

std::string answer_to(std::uint16_t port, const std::string& key, const std::string& method, uid_t user) {
  asio::io_context io;
  tcp::socket socket(io);
  socket.connect({asio::ip::address_v4::loopback(), port});
  EXPECT_EQ(fchown(socket.native_handle(), user, static_cast<gid_t>(-1)), 0);
  const std::string request = method + " /" + key + " HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n";
  beast::error_code error;
  asio::write(socket, asio::buffer(request), error);
  std::string answer;
  asio::read(socket, asio::dynamic_buffer(answer), error);
  return answer;
}

}  // namespace holotone::web
