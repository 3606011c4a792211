#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <fcntl.h>
#include <holotone/core/error.hpp>
#include <map>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sstream>
#include <utility>
#include <web/server/client_message.hpp>
#include <web/server/http_connection.hpp>
#include <web/server/hub.hpp>
#include <web/server/peer_user.hpp>
#include <web/server/request_check.hpp>
#include <web/server/server.hpp>
#include <web/server/socket_session.hpp>
#include <web/server/worker.hpp>

namespace holotone::web {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using asio::ip::tcp;
using std::chrono::milliseconds;

constexpr int port_tries = 20;
constexpr milliseconds poll_time{50};
constexpr milliseconds poll_time_at_end{5};
constexpr milliseconds pause_after_failed_accept{100};

/// Of the operating system for each connection: more would only hold pictures that are out of date when they arrive,
/// and keep a ping from a slow client.
constexpr int send_buffer_bytes = 256 * 1024;

/// A browser that the program starts must not hold the port.
void close_on_exec(int descriptor) { ::fcntl(descriptor, F_SETFD, FD_CLOEXEC); }

/// The system hands connections over with their first bytes, or without them after a second: the owner's come with the
/// request that shows the key, however many strangers connect meanwhile and send nothing.
void wait_for_data([[maybe_unused]] int descriptor) {
#if defined(TCP_DEFER_ACCEPT)
  constexpr int seconds = 1;
  ::setsockopt(descriptor, IPPROTO_TCP, TCP_DEFER_ACCEPT, &seconds, sizeof seconds);
#endif
}

/// By age.
template <typename Connection>
using Connections = std::map<ClientNumber, std::weak_ptr<Connection>>;

/// Those that live. They keep living while they are used: the end of one changes the map.
template <typename Connection>
std::vector<std::shared_ptr<Connection>> living(const Connections<Connection>& connections) {
  std::vector<std::shared_ptr<Connection>> result;
  for (const auto& entry : connections) {
    if (auto connection = entry.second.lock()) result.push_back(std::move(connection));
  }
  return result;
}

}  // namespace

class Server::Impl final : public Hub {
 public:
  Impl(const ServerOptions& options, Handler& handler);
  ~Impl() override { worker_.stop(); }  // it delivers to io_
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  void run(const std::function<bool()>& ended);
  void stop() noexcept { stop_ = true; }
  void broadcast(Message message);
  [[nodiscard]] std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

  [[nodiscard]] const Limits& limits() const override { return limits_; }
  [[nodiscard]] const Access& access() const override { return access_; }
  std::string new_opening_key() { return access_.opening_key = new_token(); }
  [[nodiscard]] bool admit(ClientNumber number) override;
  [[nodiscard]] bool use_opening_key(const tcp::socket& socket) override;
  void upgrade(beast::tcp_stream stream, HttpRequest request) override;
  void received(ClientNumber number, std::string_view text) override;
  void sent(ClientNumber number) override { worker_.release(number); }
  void lost(ClientNumber number) override { worker_.remove_client(number); }
  void ended(ClientNumber number) override;

 private:
  void listen(const asio::ip::address& address, std::uint16_t port);
  void accept();
  void on_accept(beast::error_code error, tcp::socket socket);
  void handle(ClientNumber number, std::string_view text);
  void poll(const std::function<bool()>& ended);
  void begin_end();
  void deliver(ClientNumber number, Message message);

  Limits limits_;
  Access access_;
  std::atomic<bool> stop_ = false;
  bool ending_ = false;
  ClientNumber last_number_ = 0;
  Connections<HttpConnection> strangers_;
  Connections<HttpConnection> connections_;
  Connections<SocketSession> sessions_;
  Worker worker_;
  asio::io_context io_{1};
  tcp::acceptor acceptor_{io_};
  asio::steady_timer poll_timer_{io_};
  asio::steady_timer accept_timer_{io_};
};

Server::Impl::Impl(const ServerOptions& options, Handler& handler)
    : limits_(options.limits),
      access_{new_token(), "", options.hosts},
      worker_(handler, limits_.waiting_requests, [this](ClientNumber number, Message message) {
        asio::post(io_,
                   [this, number, message = std::move(message)]() mutable { deliver(number, std::move(message)); });
      }) {
  beast::error_code error;
  const auto address = asio::ip::make_address(options.address, error);
  if (error) throw_argument("Server", "address", "an IPv4 or IPv6 address", options.address);
  listen(address, options.port);
  accept();
}

void Server::Impl::listen(const asio::ip::address& address, std::uint16_t port) {
  for (int i = 0; i < port_tries && port + i <= 65535; ++i) {
    const tcp::endpoint endpoint(address, static_cast<std::uint16_t>(port + i));
    beast::error_code error;
    acceptor_.open(endpoint.protocol(), error);
    if (!error) {
      close_on_exec(acceptor_.native_handle());
      wait_for_data(acceptor_.native_handle());
      acceptor_.set_option(tcp::acceptor::reuse_address(true), error);
    }
    if (!error) acceptor_.bind(endpoint, error);
    if (!error) acceptor_.listen(tcp::acceptor::max_listen_connections, error);
    if (!error) return;
    beast::error_code ignored;
    acceptor_.close(ignored);
    if (error != asio::error::address_in_use) {
      std::ostringstream name;
      name << endpoint;
      throw_io(name.str(), "an address to listen on", error.message());
    }
  }
  throw_io(address.to_string(), "a free port from " + std::to_string(port) + " on", "20 that are taken");
}

void Server::Impl::run(const std::function<bool()>& ended) {
  poll(ended);
  io_.run();
}

void Server::Impl::poll(const std::function<bool()>& ended) {
  if (!ending_ && (stop_ || (ended && ended()))) begin_end();
  if (ending_ && strangers_.empty() && connections_.empty() && sessions_.empty()) return;
  poll_timer_.expires_after(ending_ ? poll_time_at_end : poll_time);
  poll_timer_.async_wait([this, &ended](beast::error_code) { poll(ended); });
}

void Server::Impl::begin_end() {
  ending_ = true;
  worker_.cancel();
  accept_timer_.cancel();
  acceptor_.close();
  for (const auto& connection : living(strangers_)) connection->abort();
  for (const auto& connection : living(connections_)) connection->abort();
  for (const auto& session : living(sessions_)) session->close(beast::websocket::close_code::going_away);
}

void Server::Impl::accept() {
  acceptor_.async_accept([this](beast::error_code error, tcp::socket socket) { on_accept(error, std::move(socket)); });
}

void Server::Impl::on_accept(beast::error_code error, tcp::socket socket) {
  if (ending_) return;
  if (error) {
    // No descriptor is left, for example: the connections that end give theirs back.
    accept_timer_.expires_after(pause_after_failed_accept);
    accept_timer_.async_wait([this](beast::error_code) {
      if (!ending_) accept();
    });
    return;
  }
  close_on_exec(socket.native_handle());
  socket.set_option(tcp::no_delay(true), error);
  socket.set_option(asio::socket_base::send_buffer_size(send_buffer_bytes), error);
  // The newest may be the owner, whose request comes at once; the oldest has had its time.
  while (!strangers_.empty() && strangers_.size() >= limits_.strangers) {
    const auto oldest = strangers_.extract(strangers_.begin()).mapped().lock();
    if (oldest) oldest->abort();
  }
  const auto connection = std::make_shared<HttpConnection>(beast::tcp_stream(std::move(socket)), ++last_number_, *this);
  strangers_[last_number_] = connection;
  connection->start();
  accept();
}

bool Server::Impl::admit(ClientNumber number) {
  if (connections_.contains(number)) return true;
  if (connections_.size() + sessions_.size() >= limits_.connections) return false;
  return connections_.insert(strangers_.extract(number)).inserted;
}

bool Server::Impl::use_opening_key(const tcp::socket& socket) {
  beast::error_code error;
  const auto peer = socket.remote_endpoint(error);
  if (error || !is_of_this_user(peer, socket.local_endpoint(error))) return false;
  access_.opening_key.clear();
  return true;
}

void Server::Impl::upgrade(beast::tcp_stream stream, HttpRequest request) {
  const auto session = std::make_shared<SocketSession>(std::move(stream), ++last_number_, *this);
  sessions_[last_number_] = session;
  session->start(std::move(request));
}

void Server::Impl::ended(ClientNumber number) {
  strangers_.erase(number);
  connections_.erase(number);
  sessions_.erase(number);
}

void Server::Impl::received(ClientNumber number, std::string_view text) {
  try {
    handle(number, text);
  } catch (const MessageError& error) {
    deliver(number, {error_text(error.what(), error.pane(), error.id()), nullptr});
  }
}

void Server::Impl::handle(ClientNumber number, std::string_view text) {
  ClientMessage message = read_client_message(text);
  if (message.kind == ClientMessage::Kind::close) return worker_.close_pane(number, message.pane);
  const bool quick = message.moving || message.kind == ClientMessage::Kind::open;
  if (!worker_.push({number, message.pane, quick, std::move(message.json)})) {
    throw MessageError(
        "pane: expected at most " + std::to_string(limits_.waiting_requests) + " with a request, got more",
        message.pane, message.id);
  }
}

void Server::Impl::deliver(ClientNumber number, Message message) {
  const auto session = sessions_.find(number);
  if (session == sessions_.end()) return;
  if (const auto living_session = session->second.lock()) living_session->send(std::move(message));
}

void Server::Impl::broadcast(Message message) {
  asio::post(io_, [this, message = std::move(message)] {
    for (const auto& session : living(sessions_)) session->send(message);
  });
}

Server::Server(const ServerOptions& options, Handler& handler) : impl_(std::make_unique<Impl>(options, handler)) {}
Server::~Server() = default;
std::uint16_t Server::port() const { return impl_->port(); }
const std::string& Server::token() const { return impl_->access().token; }
std::string Server::new_opening_key() { return impl_->new_opening_key(); }
void Server::run(const std::function<bool()>& ended) { impl_->run(ended); }
void Server::stop() noexcept { impl_->stop(); }
void Server::broadcast(Message message) { impl_->broadcast(std::move(message)); }

}  // namespace holotone::web
