// The key by which a browser is started: it works once, and for this user alone.
#include <array>
#include <boost/asio/ip/v6_only.hpp>
#include <gtest/gtest.h>
#include <tests/support/loopback.hpp>
#include <unistd.h>
#include <web/server/address.hpp>
#include <web/server/http_answer.hpp>
#include <web/server/peer_user.hpp>

namespace holotone::web {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;

constexpr uid_t nobody = 65534;

/// A server with an opening key.
struct Opened {
  Opened() {
    thread = std::thread([this] { server.run([this] { return Clock::now() > last; }); });
  }
  ~Opened() {
    server.stop();
    thread.join();
  }
  FakeHandler handler;
  Server server{[] {
                  ServerOptions options;
                  options.port = 0;
                  return options;
                }(),
                handler};
  std::string key = server.new_opening_key();
  Clock::time_point last = Clock::now() + std::chrono::minutes(1);
  std::thread thread;
};

TEST(ViewerOpening, KeyLeadsToThePageOnce) {
  Opened opened;
  const auto port = opened.server.port();
  EXPECT_NE(opened.key, opened.server.token());
  for (const char* other : {"", "0", "00000000000000000000000000000000"}) {
    EXPECT_TRUE(answer_to(port, other).starts_with("HTTP/1.1 404")) << other;
  }
  EXPECT_TRUE(answer_to(port, opened.key, "HEAD").starts_with("HTTP/1.1 404")) << "what only looks uses nothing up";
  EXPECT_TRUE(answer_to(port, opened.key + "/").starts_with("HTTP/1.1 404"));
  EXPECT_TRUE(answer_to(port, opened.key + "/socket").starts_with("HTTP/1.1 404"));
  const std::string answer = answer_to(port, opened.key);
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 303 See Other\r\n")) << answer;
  EXPECT_NE(answer.find("\r\nLocation: /" + opened.server.token() + "/\r\n"), std::string::npos) << answer;
  EXPECT_NE(answer.find("\r\nCache-Control: no-store\r\n"), std::string::npos) << answer;
  EXPECT_TRUE(answer_to(port, opened.key).starts_with("HTTP/1.1 404")) << "the key is used up";
  EXPECT_TRUE(answer_to(port, "").starts_with("HTTP/1.1 404"));
  EXPECT_TRUE(answer_to(port, opened.server.token() + "/").starts_with("HTTP/1.1 200"));
}

TEST(ViewerOpening, KeyIsOfNoUseToAnotherUserWhoReadsIt) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a socket to another user";
  Opened opened;
  const std::string answer = answer_to(opened.server.port(), opened.key, "GET", nobody);
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 404")) << answer;
  EXPECT_EQ(answer.find(opened.server.token()), std::string::npos);
  EXPECT_TRUE(answer_to(opened.server.port(), opened.key).starts_with("HTTP/1.1 303")) << "nor can he use it up";
}

TEST(ViewerOpening, KeyNeedsTheServersName) {
  Access access{"abc", "def", {}};
  HttpRequest request(beast::http::verb::get, "/def", 11);
  EXPECT_FALSE(opens_page(request, access)) << "no host";
  request.set(beast::http::field::host, "evil.example");
  EXPECT_FALSE(opens_page(request, access));
  request.set(beast::http::field::host, "localhost:8080");
  EXPECT_TRUE(opens_page(request, access));
  access.opening_key.clear();
  EXPECT_FALSE(opens_page(request, access));
  request.target("/");
  EXPECT_FALSE(opens_page(request, access)) << "no key is not an empty one";
}

/// A connection of two sockets of this process.
struct Pair {
  Pair(const char* listening, const char* connecting) {
    tcp::acceptor acceptor(io);
    const tcp::endpoint at(asio::ip::make_address(listening), 0);
    acceptor.open(at.protocol());
    if (at.protocol() == tcp::v6()) acceptor.set_option(asio::ip::v6_only(false));
    acceptor.bind(at);
    acceptor.listen();
    client.connect({asio::ip::make_address(connecting), acceptor.local_endpoint().port()});
    acceptor.accept(server);
  }
  [[nodiscard]] bool of_this_user() const { return is_of_this_user(server.remote_endpoint(), server.local_endpoint()); }

  asio::io_context io;
  tcp::socket client{io};
  tcp::socket server{io};
};

TEST(ViewerOpening, UsersOfConnectionsAreFoundForEveryKindOfAddress) {
  const std::array<std::pair<const char*, const char*>, 5> addresses = {{{"127.0.0.1", "127.0.0.1"},
                                                                         {"127.0.0.1", "::ffff:127.0.0.1"},
                                                                         {"::", "127.0.0.1"},
                                                                         {"::", "::1"},
                                                                         {"::1", "::1"}}};
  for (const auto& [listening, connecting] : addresses) {
    const std::string what = std::string(listening) + " from " + connecting;
    try {
      Pair pair(listening, connecting);
      EXPECT_TRUE(pair.of_this_user()) << what;
      if (geteuid() != 0) continue;
      ASSERT_EQ(fchown(pair.client.native_handle(), nobody, static_cast<gid_t>(-1)), 0);
      EXPECT_FALSE(pair.of_this_user()) << what << ": of another user";
    } catch (const boost::system::system_error& error) {
      EXPECT_NE(what.find(':'), std::string::npos) << error.what();
      std::printf("%s: %s\n", what.c_str(), error.what());  // a machine without IPv6
    }
  }
}

// The system lists a socket that nobody holds any more as one of user 0.
TEST(ViewerOpening, ASocketThatIsClosedHasNoUser) {
  Pair pair("127.0.0.1", "127.0.0.1");
  asio::write(pair.client, asio::buffer("GET", 3));
  const auto peer = pair.server.remote_endpoint();
  pair.client.close();
  EXPECT_FALSE(is_of_this_user(peer, pair.server.local_endpoint()));
  EXPECT_FALSE(is_of_this_user({asio::ip::make_address("192.0.2.1"), 80}, pair.server.local_endpoint()));
}

}  // namespace
}  // namespace holotone::web
