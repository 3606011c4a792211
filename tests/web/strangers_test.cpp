// Clients without the key, who may not keep out the one who has it.
#include <atomic>
#include <functional>
#include <gtest/gtest.h>
#include <memory>
#include <tests/support/loopback.hpp>
#include <thread>

namespace holotone::web {
namespace {

using std::chrono::milliseconds;

using Strangers = std::vector<std::unique_ptr<Connection>>;

constexpr std::size_t many = 3 * Limits{}.strangers;
constexpr double soon_s = 1;

std::string kept_alive(std::string request) {
  return request.replace(request.find("close"), std::string_view("close").size(), "keep-alive");
}

std::string without_key(const TestServer& server) {
  return "GET /0/ HTTP/1.1\r\nHost: " + host_of(server) + "\r\nConnection: keep-alive\r\n\r\n";
}

/// The owner gets the page and a picture by new connections.
void expect_let_in(const TestServer& server, const std::string& what) {
  const auto start = Clock::now();
  Connection connection(server);
  connection.send(get(server, ""));
  EXPECT_TRUE(connection.rest().starts_with("HTTP/1.1 200")) << what;
  Page page(server);
  ASSERT_TRUE(page.connected()) << what;
  page.show("a", 1);
  EXPECT_EQ(page.read().header["id"], 1) << what;
  EXPECT_LT(seconds_since(start), soon_s) << what;
}

TEST(ViewerStrangers, RefusalsEndTheConnection) {
  TestServer server;
  const std::string first_answer = kept_alive(get(server, ""));
  std::string other_host = first_answer;
  other_host.replace(other_host.find(host_of(server)), host_of(server).size(), "evil.example");
  std::string socket = first_answer;
  socket.replace(socket.find("/ HTTP"), 1, "/socket");
  const std::pair<const char*, std::string> requests[] = {
      {"404", without_key(server)},
      {"404", kept_alive(get(server, "nothing"))},
      {"403", other_host},
      {"405", kept_alive(get(server, "", "DELETE"))},
      {"426", socket},
      {"403", socket.replace(socket.find("keep-alive"), 10,
                             "upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                             "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==")}};
  for (const auto& [status, request] : requests) {
    Connection connection(server);
    const auto start = Clock::now();
    connection.send(request);
    const std::string answer = connection.rest();
    EXPECT_LT(seconds_since(start), soon_s) << request;
    EXPECT_TRUE(answer.starts_with(std::string("HTTP/1.1 ") + status)) << request << answer;
    EXPECT_NE(answer.find("\r\nConnection: close\r\n"), std::string::npos) << answer;
  }
}

TEST(ViewerStrangers, NeverKeepTheOwnerOut) {
  const std::string upgrade = "GET /0/socket HTTP/1.1\r\nConnection: upgrade\r\nUpgrade: websocket\r\n";
  const std::pair<const char*, std::function<void(const TestServer&, Connection&)>> kinds[] = {
      {"silent", [](const TestServer&, Connection&) {}},
      {"half a request", [](const TestServer&, Connection& one) { one.send("GET /0/ HTTP/1.1\r\n"); }},
      {"half an upgrade", [&](const TestServer&, Connection& one) { one.send(upgrade); }},
      {"refused", [](const TestServer& server, Connection& one) { one.send(without_key(server)); }},
      {"refused upgrade",
       [&](const TestServer& server, Connection& one) { one.send(upgrade + "Host: " + host_of(server) + "\r\n\r\n"); }},
      {"no HTTP", [](const TestServer&, Connection& one) { one.send("\x16\x03\x01"); }},
      {"a long header", [](const TestServer&, Connection& one) { one.send("GET /" + std::string(16'000, 'x')); }}};
  TestServer server;
  for (const auto& [what, begin] : kinds) {
    Strangers strangers;
    for (int round = 0; round < 3; ++round) {
      for (std::size_t i = 0; i < many; ++i)
        begin(server, *strangers.emplace_back(std::make_unique<Connection>(server)));
      expect_let_in(server, what);
    }
  }
}

// Each byte comes in time, the request never ends.
TEST(ViewerStrangers, ThatSendSlowlyNeverKeepTheOwnerOut) {
  TestServer server;
  Strangers strangers;
  for (std::size_t i = 0; i < many; ++i) {
    strangers.push_back(std::make_unique<Connection>(server));
    strangers.back()->send("GET /0/ HTTP/1.1\r\nX: ");
  }
  for (int round = 0; round < 6; ++round) {
    for (auto& stranger : strangers) stranger->send("x");
    expect_let_in(server, "slow");
    std::this_thread::sleep_for(milliseconds(50));
  }
}

// Without end, from a thread of their own: each takes the place of an older one.
TEST(ViewerStrangers, ThatConnectAgainAndAgainNeverKeepTheOwnerOut) {
  for (const char* first_bytes : {"", "GET /"}) {
    TestServer server;
    std::atomic<bool> done = false;
    std::atomic<std::size_t> count = 0;
    std::thread flood([&] {
      Strangers strangers(many);
      while (!done) {
        auto& stranger = strangers[count++ % many];
        stranger = std::make_unique<Connection>(server);
        if (*first_bytes != '\0') stranger->send(first_bytes);
      }
    });
    EXPECT_TRUE(within(milliseconds(10'000), [&] { return count > many; }));
    for (int round = 0; round < 20; ++round) {
      // Through a tunnel the request comes a round trip after the connection.
      Connection far(server);
      std::this_thread::sleep_for(milliseconds(50));
      far.send(get(server, ""));
      EXPECT_TRUE(far.rest().starts_with("HTTP/1.1 200")) << first_bytes;
      expect_let_in(server, first_bytes);
    }
    done = true;
    flood.join();
  }
}

TEST(ViewerStrangers, EndNoConnectionOfTheOwner) {
  TestServer server;
  Connection kept(server);
  const std::string request = kept_alive(get(server, "index.html"));
  kept.send(request);
  Page page(server);
  ASSERT_TRUE(page.connected());
  Strangers strangers;
  for (std::size_t i = 0; i < many; ++i) {
    strangers.push_back(std::make_unique<Connection>(server));
    strangers.back()->send("GET /");
  }
  expect_let_in(server, "beside");
  kept.send(get(server, "index.html"));
  const std::string answers = kept.rest();
  EXPECT_NE(answers.find("HTTP/1.1 200 OK", 1), std::string::npos) << "the second answer";
  page.show("a", 2);
  EXPECT_EQ(page.read().header["id"], 2);
}

TEST(ViewerStrangers, OldestEndsForTheNewest) {
  Limits limits;
  limits.strangers = 2;
  limits.first_header = milliseconds(60'000);
  TestServer server(limits);
  Strangers strangers;
  for (int i = 0; i < 3; ++i) {
    strangers.push_back(std::make_unique<Connection>(server));
    strangers.back()->send("GET /0/");
    std::this_thread::sleep_for(milliseconds(50));
  }
  EXPECT_EQ(strangers[0]->rest(), "");
  for (int i = 1; i < 3; ++i) {
    strangers[i]->send(" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n");
    EXPECT_TRUE(strangers[i]->rest().starts_with("HTTP/1.1 404")) << i;
  }
}

}  // namespace
}  // namespace holotone::web
