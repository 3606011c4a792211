// The server and clients that behave.
#include <csignal>
#include <gtest/gtest.h>
#include <holotone/core/error.hpp>
#include <memory>
#include <set>
#include <tests/support/loopback.hpp>
#include <web/server/page_files.hpp>

namespace holotone::web {
namespace {

using std::chrono::milliseconds;

TEST(ViewerServer, ServesThePage) {
  TestServer server;
  Connection connection(server);
  connection.send(get(server, ""));
  const std::string answer = connection.rest();
  EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << answer.substr(0, 100);
  EXPECT_TRUE(answer.ends_with(find_page_file("index.html")->text));
  Connection head(server);
  head.send(get(server, "index.html", "HEAD"));
  EXPECT_TRUE(head.rest().ends_with("\r\n\r\n"));
}

TEST(ViewerServer, KeepsAConnectionForSeveralRequests) {
  TestServer server;
  Connection connection(server);
  std::string request = get(server, "index.html");
  request.replace(request.find("close"), 5, "keep-alive");
  connection.send(request + request + get(server, "nothing"));
  const std::string answers = connection.rest();
  std::size_t pages = 0;
  for (std::size_t at = 0; (at = answers.find("HTTP/1.1 200 OK", at)) != std::string::npos; ++at) ++pages;
  EXPECT_EQ(pages, 2u);
  EXPECT_NE(answers.find("HTTP/1.1 404 Not Found"), std::string::npos);
}

TEST(ViewerServer, AnswersThePagesRequests) {
  TestServer server;
  Page page(server);
  ASSERT_TRUE(page.connected());
  page.open();
  EXPECT_EQ(page.read().header["type"], "documents");
  page.show("a", 7);
  const Answer answer = page.read();
  EXPECT_TRUE(answer.binary);
  EXPECT_EQ(answer.header, (json{{"type", "shown"}, {"pane", "a"}, {"id", 7}}));
  EXPECT_EQ(answer.payload, std::string("\0\1\2", 3));
}

TEST(ViewerServer, SendsLargePicturesInParts) {
  TestServer server;
  Page page(server);
  for (const std::size_t bytes : {0u, 1u, 65'535u, 65'536u, 200'000u, 20'000'000u}) {
    page.show("a", 1, {{"bytes", bytes}});
    const Answer answer = page.read();
    ASSERT_EQ(answer.payload.size(), bytes);
    bool same = true;
    for (std::size_t i = 0; i < bytes; ++i) same = same && static_cast<unsigned char>(answer.payload[i]) == i % 251;
    EXPECT_TRUE(same) << bytes;
  }
}

TEST(ViewerServer, TellsTheHandlersErrors) {
  TestServer server;
  Page page(server);
  page.show("a", 7, {{"throw", "--distance: expected above 0, got -1"}});
  const json expected = {
      {"type", "error"}, {"pane", "a"}, {"id", 7}, {"message", "--distance: expected above 0, got -1"}};
  EXPECT_EQ(page.read().header, expected);
  page.show("a", 8);
  EXPECT_EQ(page.read().header["id"], 8);
}

TEST(ViewerServer, ANewerRequestReplacesOlderOnes) {
  TestServer server;
  Page page(server);
  page.show("a", 1, {{"wait", true}}, true);
  ASSERT_TRUE(within(milliseconds(5000), [&] { return server.handler.started == 1; }));
  for (int id = 2; id <= 50; ++id) page.show("a", id, json::object(), true);
  page.send("{}");
  EXPECT_EQ(page.read().header["type"], "error") << "all requests have arrived";
  server.handler.open_gate();
  EXPECT_EQ(page.read().header["id"], 1) << "a coarse picture is finished";
  EXPECT_EQ(page.read().header["id"], 50);
  EXPECT_EQ(server.handler.started, 2);
}

TEST(ViewerServer, AFullPictureIsCancelledForANewerRequest) {
  TestServer server;
  Page page(server);
  page.show("a", 1, {{"wait", true}});
  ASSERT_TRUE(within(milliseconds(5000), [&] { return server.handler.started == 1; }));
  page.show("a", 2);
  EXPECT_EQ(page.read().header["id"], 2);
  EXPECT_EQ(server.handler.cancelled_calls, 1);
}

TEST(ViewerServer, AClosedPaneAndALostClientFreeTheirWork) {
  TestServer server;
  Page page(server);
  page.show("a", 1, {{"wait", true}});
  ASSERT_TRUE(within(milliseconds(5000), [&] { return server.handler.started == 1; }));
  page.send(R"({"type":"close","pane":"a"})");
  EXPECT_TRUE(within(milliseconds(1000), [&] { return server.handler.cancelled_calls == 1; }));
  for (int id = 2; id < 10; ++id) page.show(std::string(1, static_cast<char>('a' + id)), id, {{"wait", true}});
  ASSERT_TRUE(within(milliseconds(5000), [&] { return server.handler.started == 2; }));
  Page other(server);
  other.show("a", 1);
  page.drop();
  EXPECT_EQ(other.read().header["id"], 1);
  EXPECT_EQ(server.handler.cancelled_calls, 2);
  EXPECT_EQ(server.handler.started, 3) << "what the lost client had waiting is forgotten";
}

TEST(ViewerServer, TellsAllPagesOfAChange) {
  TestServer server;
  Page first(server);
  Page second(server);
  for (Page* page : {&first, &second}) {
    page->open();
    EXPECT_EQ(page->read().header["type"], "documents");
  }
  server.server.broadcast({R"({"type":"notice","message":"slm.png changed: loaded again"})", nullptr});
  for (Page* page : {&first, &second}) EXPECT_EQ(page->read().header["type"], "notice");
}

TEST(ViewerServer, ServesFiftyClients) {
  TestServer server;
  std::vector<std::unique_ptr<Page>> pages;
  for (int i = 0; i < 50; ++i) pages.push_back(std::make_unique<Page>(server));
  for (int round = 1; round <= 5; ++round) {
    for (auto& page : pages) {
      ASSERT_TRUE(page->connected());
      for (const char* pane : {"a", "b", "c"}) page->show(pane, round, {{"bytes", 10'000}});
    }
    for (auto& page : pages) {
      std::set<std::string> panes;
      for (int i = 0; i < 3; ++i) panes.insert(page->read().header.value("pane", ""));
      EXPECT_EQ(panes.size(), 3u);
    }
  }
  EXPECT_EQ(server.handler.finished, 750);
}

TEST(ViewerServer, TakesTheNextPortIfOneIsTaken) {
  TestServer first;
  FakeHandler handler;
  ServerOptions options;
  options.port = first.server.port();
  const Server second(options, handler);
  EXPECT_GT(second.port(), first.server.port());
  EXPECT_LT(second.port(), first.server.port() + 20);
  EXPECT_NE(second.token(), first.server.token());
}

TEST(ViewerServer, NamesWhatItCannotListenOn) {
  FakeHandler handler;
  const auto listen_error = [&](const std::string& address) -> std::string {
    try {
      ServerOptions options;
      options.address = address;
      const Server server(options, handler);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_EQ(listen_error("localhost"), "Server: address: expected an IPv4 or IPv6 address, got localhost");
  EXPECT_TRUE(listen_error("203.0.113.1").starts_with("203.0.113.1:8080: expected an address to listen on, got "));
}

TEST(ViewerServer, EndsWithinASecond) {
  TestServer server;
  Page idle(server);
  Page busy(server);
  Page deaf(server);
  deaf.read_little();
  deaf.show("a", 1, {{"bytes", 50'000'000}});
  ASSERT_TRUE(within(milliseconds(5000), [&] { return server.handler.finished == 1; }));
  busy.show("a", 1, {{"wait", true}});
  ASSERT_TRUE(within(milliseconds(5000), [&] { return server.handler.started == 2; }));
  Connection half(server);
  half.send("GET /");
  int codes[2] = {0, 0};
  std::thread reader([&] {
    codes[0] = idle.close_code();
    codes[1] = busy.close_code();
  });
  EXPECT_LT(server.stop(), 1.0);
  reader.join();
  EXPECT_EQ(codes[0], 1001);
  EXPECT_EQ(codes[1], 1001);
  EXPECT_EQ(server.handler.cancelled_calls, 1);
  EXPECT_EQ(half.rest(), "");
}

Server* server_to_stop = nullptr;

TEST(ViewerServer, IsStoppedByASignal) {
  FakeHandler handler;
  ServerOptions options;
  options.port = 0;
  Server server(options, handler);
  server_to_stop = &server;
  const auto old = std::signal(SIGUSR1, [](int) { server_to_stop->stop(); });
  std::thread sender([self = pthread_self()] {
    std::this_thread::sleep_for(milliseconds(20));
    pthread_kill(self, SIGUSR1);
  });
  const auto last = Clock::now() + milliseconds(10'000);
  server.run([last] { return Clock::now() > last; });
  EXPECT_LT(Clock::now(), last);
  sender.join();
  std::signal(SIGUSR1, old);
}

}  // namespace
}  // namespace holotone::web
