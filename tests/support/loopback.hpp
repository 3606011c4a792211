#pragma once
#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/websocket.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <unistd.h>
#include <web/server/server.hpp>

// A server on the loopback and clients for it.
namespace holotone::web {

using Clock = std::chrono::steady_clock;
using boost::asio::ip::tcp;
using nlohmann::json;

double seconds_since(Clock::time_point start);

/// True as soon as `done` is; false if it is not within `most`.
template <typename Done>
bool within(std::chrono::milliseconds most, Done done) {
  const auto start = Clock::now();
  while (!done()) {
    if (Clock::now() - start > most) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

/// Answers as a request's state says: {"bytes": n} of payload (default 3), {"wait": true} until it is cancelled or
/// open_gate is called, {"throw": "what"}.
class FakeHandler : public Handler {
 public:
  Message opened() override;
  Message answer(const json& show, const std::atomic<bool>& cancelled) override;
  void open_gate() { gate_ = true; }

  std::atomic<int> started = 0;
  std::atomic<int> finished = 0;
  std::atomic<int> cancelled_calls = 0;

 private:
  std::atomic<bool> gate_ = false;
};

/// A server that runs in a thread of its own; for a minute at most, so that a failing test ends.
class TestServer {
 public:
  explicit TestServer(const Limits& limits = {});
  ~TestServer();
  TestServer(const TestServer&) = delete;
  TestServer& operator=(const TestServer&) = delete;

  /// Ends the server and returns the seconds that it took.
  double stop();

  FakeHandler handler;
  Server server;

 private:
  std::thread thread_;
};

/// A message from the server.
struct Answer {
  json header;
  std::string payload;
  bool binary = false;
};

/// A page's end of a WebSocket.
class Page {
 public:
  explicit Page(const TestServer& server);

  /// False if the server refused.
  [[nodiscard]] bool connected() const { return !error_; }

  void send(const std::string& text, bool binary = false);
  void show(const std::string& pane, int id, const json& state = json::object(), bool moving = false);
  void open() { send(R"({"type":"open"})"); }
  /// The next message; a test failure and an empty one if the connection ends.
  Answer read();
  /// Reads up to the close frame and returns its code; 0 if the connection ends without one.
  int close_code();
  /// Ends the connection without a close frame.
  void drop();
  /// Small buffers of the operating system, so that a server soon cannot send.
  void read_little();
  tcp::socket& socket() { return stream_.next_layer(); }

 private:
  boost::asio::io_context io_;
  boost::beast::websocket::stream<tcp::socket> stream_{io_};
  boost::beast::error_code error_;
};

/// A bare connection.
class Connection {
 public:
  explicit Connection(const TestServer& server);
  void send(const std::string& text);
  /// Asks for the WebSocket and returns the status line's code.
  std::string upgrade(const std::string& token, const std::string& host, const std::string& origin);
  /// All that comes until the server ends the connection.
  std::string rest();
  tcp::socket& socket() { return socket_; }

 private:
  boost::asio::io_context io_;
  tcp::socket socket_{io_};
};

/// "127.0.0.1:PORT"
std::string host_of(const TestServer& server);

/// "GET /TOKEN/ HTTP/1.1" and what else a browser must send.
std::string get(const TestServer& server, const std::string& name, const std::string& method = "GET");

/// The answer to a request for /`key` at a port of the loopback, from a socket of `user`.
std::string answer_to(std::uint16_t port, const std::string& key, const std::string& method = "GET",
                      uid_t user = geteuid());

}  // namespace holotone::web
