#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>
#include <web/server/limits.hpp>
#include <web/server/message.hpp>

namespace holotone::web {

struct ServerOptions {
  std::string address = "127.0.0.1";  ///< IPv4 or IPv6
  std::uint16_t port = 8080;          ///< the first of 20 that are tried; 0: one that the system chooses
  std::vector<std::string> hosts;     ///< names that the page may be reached by, besides 127.0.0.1, localhost and [::1]
  Limits limits;
};

/// Serves web/page and answers its requests. Connections are served in the thread that calls run(), the handler is
/// called in one of the server's own.
class Server {
 public:
  /// Listens. Throws Error{invalid_argument} for what is no address, Error{io} if no port can be had. The handler must
  /// outlive the server.
  Server(const ServerOptions& options, Handler& handler);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// The port that was free.
  [[nodiscard]] std::uint16_t port() const;
  /// The page is at http://HOST:PORT/TOKEN/.
  [[nodiscard]] const std::string& token() const;

  /// A key for one use: the first request for http://HOST:PORT/KEY from a process of this program's user leads to the
  /// page. A program that is started may have it among its arguments, which all users can read. Call it before run().
  std::string new_opening_key();

  /// Serves until stop() or until `ended`, which is asked 20 times a second, returns true. Then informs the pages,
  /// waits up to Limits::close for them, cancels the handler's call and waits for its end. Call it once.
  void run(const std::function<bool()>& ended = {});
  /// Makes run() end. For any thread and for signal handlers.
  void stop() noexcept;
  /// Sends a message to all pages. For any thread, the handler's too, until run() has ended.
  void broadcast(Message message);

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace holotone::web
