// The server and clients that do not behave.
#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <tests/support/loopback.hpp>

namespace holotone::web {
namespace {

using std::chrono::milliseconds;

/// A new page is served.
void expect_alive(const TestServer& server) {
  Page page(server);
  ASSERT_TRUE(page.connected());
  page.show("a", 1);
  EXPECT_EQ(page.read().header["id"], 1);
}

TEST(ViewerHostile, StrangersAreRefused) {
  TestServer server;
  const std::string& token = server.server.token();
  const std::string host = host_of(server);
  const auto status_of = [&](const std::string& a_token, const std::string& a_host, const std::string& origin) {
    return Connection(server).upgrade(a_token, a_host, origin);
  };
  EXPECT_EQ(status_of(token, host, "http://" + host), "101");
  EXPECT_EQ(status_of(std::string(32, '0'), host, "http://" + host), "404");
  EXPECT_EQ(status_of("", host, "http://" + host), "404");
  EXPECT_EQ(status_of(token, host, "http://evil.example"), "403") << "a page of another site";
  EXPECT_EQ(status_of(token, host, "null"), "403") << "a file";
  EXPECT_EQ(status_of(token, host, ""), "403") << "no page";
  EXPECT_EQ(status_of(token, "evil.example", "http://evil.example"), "403") << "DNS rebinding";
  for (const char* target : {"../../etc/passwd", "..%2f..%2fetc%2fpasswd", "/etc/passwd", "....//etc/passwd"}) {
    Connection connection(server);
    connection.send(get(server, target));
    EXPECT_TRUE(connection.rest().starts_with("HTTP/1.1 404")) << target;
  }
  expect_alive(server);
}

TEST(ViewerHostile, LargeHeadersAreRefused) {
  TestServer server;
  for (const std::size_t bytes : {20'000u, 1'000'000u}) {
    Connection connection(server);
    connection.send("GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + std::string(bytes, 'x'));
    const std::string answer = connection.rest();
    // A megabyte is not read to its end: the answer may be lost.
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 431") || (bytes > 100'000 && answer.empty())) << answer;
  }
  expect_alive(server);
}

TEST(ViewerHostile, BodiesOfAnyLengthAreRefused) {
  TestServer server;
  for (const char* body :
       {"Content-Length: 1\r\n\r\nx", "Content-Length: 1000000000\r\n\r\nx",
        "Content-Length: 9223372036854775807\r\n\r\nx",   // 2^63 - 1
        "Content-Length: 9223372036854775808\r\n\r\nx",   // 2^63
        "Content-Length: 18446744073709551615\r\n\r\nx",  // 2^64 - 1
        "Content-Length: 18446744073709551616\r\n\r\nx",  // 2^64
        "Content-Length: 99999999999999999999999\r\n\r\nx", "Content-Length: -1\r\n\r\nx",
        "Content-Length: 0x10\r\n\r\nx", "Content-Length: 0\r\nContent-Length: 1\r\n\r\nx",
        "Transfer-Encoding: chunked\r\n\r\n8000000000000000\r\nx",
        "Transfer-Encoding: chunked\r\n\r\n10000000000000000\r\nx", "Transfer-Encoding: chunked\r\n\r\n-1\r\nx"}) {
    for (const std::string& start : {std::string("POST /"), "GET /" + server.server.token() + "/"}) {
      Connection connection(server);
      connection.send(start + " HTTP/1.1\r\nHost: 127.0.0.1\r\n" + body);
      const auto begin = Clock::now();
      EXPECT_TRUE(connection.rest().starts_with("HTTP/1.1 400")) << start << body;
      EXPECT_LT(seconds_since(begin), 1) << start << body;
    }
  }
  expect_alive(server);
}

TEST(ViewerHostile, WrongMessagesGetOneErrorEach) {
  TestServer server;
  Page page(server);
  for (const char* text :
       {"", "{", "[]", "null", "{}", R"({"type":1})", R"({"type":"show"})", R"({"type":"show","pane":{}})"}) {
    page.send(text);
    const Answer answer = page.read();
    EXPECT_EQ(answer.header["type"], "error") << text;
    EXPECT_FALSE(answer.binary);
  }
  page.send(std::string(65'000, '['));
  EXPECT_EQ(page.read().header["message"], "message: expected at most 16 levels");
  page.show("a", 7);
  EXPECT_EQ(page.read().header["id"], 7);
}

TEST(ViewerHostile, WrongFramesCloseWithTheirCode) {
  TestServer server;
  Page binary(server);
  binary.send("x", true);
  EXPECT_EQ(binary.close_code(), 1003);
  Page large(server);
  large.send(std::string(70'000, ' '));
  EXPECT_EQ(large.close_code(), 1009);
  Page no_text(server);
  no_text.send("\xff\xfe");
  EXPECT_EQ(no_text.close_code(), 1007);
  Page fits(server);
  fits.send(std::string(65'536, ' '));
  EXPECT_EQ(fits.read().header["type"], "error");
  expect_alive(server);
}

/// A frame's header for a text of `length` bytes, with a mask of zeros.
std::string frame_header(unsigned char first, std::uint64_t length) {
  std::string header{static_cast<char>(first), static_cast<char>(0x80 | 127)};
  for (int shift = 56; shift >= 0; shift -= 8) header += static_cast<char>(length >> shift & 0xff);
  return header + std::string(4, '\0');
}

// The highest bit of a length must be 0: RFC 6455, 5.2. The refusal does not wait for what follows.
TEST(ViewerHostile, FramesOfImpossibleLengthAreRefusedAtTheirHeader) {
  constexpr std::uint64_t half = std::uint64_t{1} << 63;
  TestServer server;
  const std::string part("\x01\x81\0\0\0\0x", 7);  // a text's first byte, to be continued
  for (const std::uint64_t length : {half, half + 1, half + (half >> 1), ~std::uint64_t{0} - 1, ~std::uint64_t{0}}) {
    for (const std::string& frame : {frame_header(0x81, length), frame_header(0x82, length), frame_header(0x01, length),
                                     part + frame_header(0x80, length), part + frame_header(0x00, length)}) {
      Page page(server);
      ASSERT_TRUE(page.connected());
      boost::beast::error_code error;
      const auto start = Clock::now();
      boost::asio::write(page.socket(), boost::asio::buffer(frame), error);
      EXPECT_EQ(page.close_code(), 1009) << length;
      EXPECT_LT(seconds_since(start), 1);
    }
  }
  // Below, the bytes are counted as they come.
  for (const std::uint64_t length : {std::uint64_t{65'537}, half - 1}) {
    Page page(server);
    boost::beast::error_code error;
    boost::asio::write(page.socket(), boost::asio::buffer(frame_header(0x81, length) + std::string(65'537, 'x')),
                       error);
    EXPECT_EQ(page.close_code(), 1009) << length;
  }
  expect_alive(server);
}

// After its close frame the server takes nothing more for long, whatever comes.
TEST(ViewerHostile, FloodsEnd) {
  Limits limits;
  limits.idle = milliseconds(1000);
  enum { binary, text, impossible };
  for (const auto first : {binary, text, impossible}) {
    TestServer server(limits);
    Page page(server);
    if (first == impossible) {
      boost::asio::write(page.socket(), boost::asio::buffer(frame_header(0x81, ~std::uint64_t{0})));
    } else {
      page.send(std::string(70'000, ' '), first == binary);
    }
    const auto start = Clock::now();
    boost::beast::error_code error;
    const std::string noise(10'000, 'x');
    while (!error && seconds_since(start) < 10) {
      boost::asio::write(page.socket(), boost::asio::buffer(noise), error);
    }
    EXPECT_LT(seconds_since(start), 5) << first;
    expect_alive(server);
  }
}

TEST(ViewerHostile, HalfOpenConnectionsEnd) {
  Limits limits;
  limits.first_header = milliseconds(300);
  TestServer server(limits);
  std::vector<std::unique_ptr<Connection>> connections;
  for (int i = 0; i < 8; ++i) {
    connections.push_back(std::make_unique<Connection>(server));
    if (i % 2 == 0) connections.back()->send("GET / HTTP/1.1\r\nHost: ");
  }
  const auto start = Clock::now();
  // One byte at a time does not help.
  for (int i = 0; i < 20; ++i) {
    connections[0]->send("x");
    std::this_thread::sleep_for(milliseconds(25));
  }
  for (auto& connection : connections) EXPECT_EQ(connection->rest(), "");
  EXPECT_LT(seconds_since(start), 3);
  expect_alive(server);
}

TEST(ViewerHostile, ConnectionsAreBounded) {
  Limits limits;
  limits.connections = 4;
  TestServer server(limits);
  std::vector<std::unique_ptr<Page>> pages;
  for (int i = 0; i < 4; ++i) pages.push_back(std::make_unique<Page>(server));
  for (auto& page : pages) EXPECT_TRUE(page->connected());
  Connection further(server);
  further.send(get(server, ""));
  EXPECT_TRUE(further.rest().starts_with("HTTP/1.1 503"));
  pages[0]->drop();
  EXPECT_TRUE(within(milliseconds(5000), [&] { return Page(server).connected(); }));
  pages[1]->show("a", 1);
  EXPECT_EQ(pages[1]->read().header["id"], 1);
}

TEST(ViewerHostile, ASlowReaderCostsOnePictureAndEnds) {
  Limits limits;
  limits.send = milliseconds(500);
  TestServer server(limits);
  Page slow(server);
  slow.read_little();
  for (int id = 1; id <= 100; ++id) {
    for (const char* pane : {"a", "b", "c"}) slow.show(pane, id, {{"bytes", 50'000'000}}, true);
  }
  const auto start = Clock::now();
  Page other(server);
  for (int id = 1; id <= 20; ++id) {
    other.show("a", id);
    EXPECT_EQ(other.read().header["id"], id);
  }
  EXPECT_EQ(server.handler.finished, 21) << "the slow reader has one picture";
  EXPECT_TRUE(within(milliseconds(5000), [&] {
    slow.send("{}");
    boost::beast::error_code error;
    boost::asio::write(slow.socket(), boost::asio::buffer("x", 1), error);
    return error.failed();
  }));
  EXPECT_GT(seconds_since(start), 0.4);
  expect_alive(server);
}

TEST(ViewerHostile, AReaderThatIsOnlySlowIsServed) {
  Limits limits;
  limits.send = milliseconds(500);
  TestServer server(limits);
  Page slow(server);
  constexpr std::size_t size = 20'000'000;
  slow.show("a", 1, {{"bytes", size}});
  std::size_t bytes = 0;
  std::string part(100'000, ' ');
  boost::beast::error_code error;
  const auto start = Clock::now();
  while (!error && bytes < size) {
    bytes += slow.socket().read_some(boost::asio::buffer(part), error);
    std::this_thread::sleep_for(milliseconds(10));
  }
  EXPECT_FALSE(error) << error.message() << " after " << bytes;
  EXPECT_GT(seconds_since(start), 1.5) << "several times the bound";
}

TEST(ViewerHostile, MessagesToADeafClientAreBounded) {
  TestServer server;
  Page deaf(server);
  deaf.read_little();
  deaf.show("a", 1, {{"bytes", 50'000'000}});
  ASSERT_TRUE(within(milliseconds(5000), [&] { return server.handler.finished == 1; }));
  std::this_thread::sleep_for(milliseconds(100));
  for (int i = 0; i < 100; ++i) server.server.broadcast({R"({"type":"notice","message":"x"})", nullptr});
  EXPECT_EQ(deaf.close_code(), 0);
  expect_alive(server);
}

TEST(ViewerHostile, APagesPanesAreBounded) {
  TestServer server;
  Page page(server);
  page.show("first", 1, {{"wait", true}});
  ASSERT_TRUE(within(milliseconds(5000), [&] { return server.handler.started == 1; }));
  for (int i = 0; i < 65; ++i) page.show("pane" + std::to_string(i), i);
  const json error = page.read().header;
  EXPECT_EQ(error["message"], "pane: expected at most 64 with a request, got more");
  EXPECT_EQ(error["pane"], "pane64");
  server.handler.open_gate();
  for (int i = 0; i < 65; ++i) EXPECT_EQ(page.read().header["type"], "shown");
}

TEST(ViewerHostile, TheRateOfMessagesIsBounded) {
  Limits limits;
  limits.messages_per_s = 100;
  limits.messages_at_once = 10;
  TestServer server(limits);
  Page page(server);
  const auto start = Clock::now();
  for (int i = 0; i < 60; ++i) page.send("{}");
  for (int i = 0; i < 60; ++i) EXPECT_EQ(page.read().header["type"], "error");
  EXPECT_GT(seconds_since(start), 0.45);
  EXPECT_LT(seconds_since(start), 5);
}

TEST(ViewerHostile, ASilentSocketEnds) {
  Limits limits;
  limits.idle = milliseconds(400);
  TestServer server(limits);
  Page silent(server);  // answers no ping: nobody reads
  const auto start = Clock::now();
  EXPECT_TRUE(within(milliseconds(5000), [&] {
    boost::beast::error_code error;
    return silent.socket().available(error) == 0 ? false : seconds_since(start) > 1;
  }));
  std::string rest;
  boost::beast::error_code error;
  boost::asio::read(silent.socket(), boost::asio::dynamic_buffer(rest), error);
  EXPECT_EQ(error, boost::asio::error::eof);
}

/// A valid request with some bytes changed, cut or repeated.
std::string damaged(std::string text, std::mt19937& random) {
  for (unsigned changes = 1 + random() % 4; changes > 0 && !text.empty(); --changes) {
    const std::size_t at = random() % text.size();
    switch (random() % 4) {
      case 0: text[at] = static_cast<char>(random() % 128); break;
      case 1: text.erase(at, 1 + random() % 8); break;
      case 2: text.insert(at, text.substr(random() % text.size(), random() % 20)); break;
      default: text.insert(at, 1, "{}[]\",:\r\n \\"[random() % 11]);
    }
  }
  return text;
}

TEST(ViewerHostile, TenThousandMalformedRequestsAreSurvived) {
  Limits limits;
  limits.messages_per_s = limits.messages_at_once = 1e6;
  limits.first_header = limits.header = milliseconds(200);
  TestServer server(limits);
  std::mt19937 random(11);
  const auto start = Clock::now();
  const std::string show =
      R"({"type":"show","pane":"a","id":7,"document":0,"view":"light","state":{"x":0.2},"moving":true,"size":[64,48]})";
  Page page(server);
  for (int i = 0; i < 9'000; ++i) {
    page.send(damaged(show, random));
    if (i % 30 != 29) continue;
    // A request that is answered last: all before it have been read.
    const int id = 1'000'000 + i;
    page.show("end", id);
    for (Answer answer = page.read(); answer.header.value("id", -1) != id && !HasFailure(); answer = page.read()) {
    }
  }
  for (int i = 0; i < 1'000; ++i) {
    Connection connection(server);
    connection.send(damaged(get(server, "index.html"), random));
    connection.socket().shutdown(tcp::socket::shutdown_send);
    connection.rest();
  }
  EXPECT_LT(seconds_since(start), 40);
  expect_alive(server);
}

}  // namespace
}  // namespace holotone::web
