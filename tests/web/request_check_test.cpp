#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <tests/support/paths.hpp>
#include <vector>
#include <web/server/client_message.hpp>
#include <web/server/http_answer.hpp>
#include <web/server/page_files.hpp>
#include <web/server/request_check.hpp>

namespace holotone::web {
namespace {

namespace http = boost::beast::http;

TEST(ViewerCheck, TokensAreRandom) {
  std::set<std::string> tokens;
  for (int i = 0; i < 100; ++i) {
    const std::string token = new_token();
    EXPECT_EQ(token.size(), 32u);
    EXPECT_EQ(token.find_first_not_of("0123456789abcdef"), std::string::npos);
    tokens.insert(token);
  }
  EXPECT_EQ(tokens.size(), 100u);
}

TEST(ViewerCheck, ComparesInConstantTime) {
  EXPECT_TRUE(equal_in_constant_time("abc", "abc"));
  EXPECT_TRUE(equal_in_constant_time("", ""));
  for (const char* other : {"abd", "xbc", "ab", "abcd", ""}) EXPECT_FALSE(equal_in_constant_time("abc", other));
}

TEST(ViewerCheck, HostsByName) {
  const std::vector<std::string> names = {"workstation.example", "192.168.1.7"};
  for (const char* host : {"127.0.0.1", "127.0.0.1:8080", "localhost:1", "LocalHost", "[::1]", "[::1]:65535",
                           "workstation.example:8080", "192.168.1.7"}) {
    EXPECT_TRUE(is_allowed_host(host, names)) << host;
  }
  for (const char* host : {"",
                           ":",
                           ":80",
                           "evil.example",
                           "127.0.0.1.evil.example",
                           "localhost.evil.example",
                           "127.0.0.1:",
                           "127.0.0.1:x",
                           "127.0.0.1:80:80",
                           "127.0.0.1:123456",
                           "127.0.0.1 ",
                           " 127.0.0.1",
                           "::1",
                           "[::1",
                           "[::1]x",
                           "[::1]:",
                           "[]",
                           "localhost@evil.example",
                           "evil.example:localhost",
                           "127.0.0.2",
                           "localhost."}) {
    EXPECT_FALSE(is_allowed_host(host, names)) << host;
  }
  EXPECT_FALSE(is_allowed_host("workstation.example", {}));
}

TEST(ViewerCheck, OriginsOfThisServersPage) {
  EXPECT_TRUE(is_allowed_origin("http://127.0.0.1:8080", "127.0.0.1:8080"));
  EXPECT_TRUE(is_allowed_origin("http://localhost", "Localhost"));
  for (const char* origin : {"", "null", "http://", "http://127.0.0.1", "http://127.0.0.1:8081",
                             "https://127.0.0.1:8080", "http://evil.example", "http://127.0.0.1:8080.evil.example",
                             "http://127.0.0.1:8080/", "file://", "127.0.0.1:8080"}) {
    EXPECT_FALSE(is_allowed_origin(origin, "127.0.0.1:8080")) << origin;
  }
}

TEST(ViewerCheck, NamesAreBehindTheToken) {
  EXPECT_EQ(requested_name("/abc/", "abc"), "");
  EXPECT_EQ(requested_name("/abc/page.js", "abc"), "page.js");
  EXPECT_EQ(requested_name("/abc/../x", "abc"), "../x") << "names are looked up, not opened";
  for (const char* target : {"", "/", "//", "/abc", "/abd/", "/ab/", "/abcd/", "abc/", "/ABC/", "*", "http://h/abc/",
                             "/x/abc/", "/%61bc/"}) {
    EXPECT_EQ(requested_name(target, "abc"), std::nullopt) << target;
  }
}

HttpRequest make_request(const std::string& target, http::verb method = http::verb::get) {
  HttpRequest request(method, target, 11);
  request.set(http::field::host, "127.0.0.1:8080");
  return request;
}

TEST(ViewerCheck, ThePageIsGivenToThoseWithTheToken) {
  const Access access{"abc", "", {}};
  const auto page = http_answer(make_request("/abc/"), access);
  EXPECT_EQ(page.result(), http::status::ok);
  EXPECT_EQ(page[http::field::content_type], "text/html; charset=utf-8");
  EXPECT_EQ(page[http::field::cache_control], "no-store");
  EXPECT_EQ(page["Referrer-Policy"], "no-referrer");
  EXPECT_EQ(page["X-Content-Type-Options"], "nosniff");
  EXPECT_NE(page["Content-Security-Policy"].find("connect-src 'self' ws://127.0.0.1:8080;"), std::string::npos);
  EXPECT_EQ(page.body(), find_page_file("index.html")->text);
  EXPECT_EQ(http_answer(make_request("/abc/index.html"), access).body(), page.body());

  const auto head = http_answer(make_request("/abc/", http::verb::head), access);
  EXPECT_EQ(head[http::field::content_length], std::to_string(page.body().size()));
  EXPECT_EQ(head.body(), "");

  const auto post = http_answer(make_request("/abc/", http::verb::post), access);
  EXPECT_EQ(post.result(), http::status::method_not_allowed);
  EXPECT_EQ(post[http::field::allow], "GET, HEAD");
}

TEST(ViewerCheck, RefusalsRepeatNothing) {
  const Access access{"abc", "", {}};
  auto two_hosts = make_request("/abc/");
  two_hosts.insert(http::field::host, "127.0.0.1:8080");
  auto no_host = make_request("/abc/");
  no_host.erase(http::field::host);
  auto other_host = make_request("/abc/");
  other_host.set(http::field::host, "evil.example");
  for (const auto& request : {two_hosts, no_host, other_host}) {
    EXPECT_EQ(http_answer(request, access).result(), http::status::forbidden);
  }
  for (const char* target :
       {"/evil/", "/abc/evil", "/abc/../evil", "/abc/%2e%2e/evil", "/abc/..\\evil", "/abc/index.html/evil",
        "/abc/index.html?evil", "/abc//evil", "/abc//etc/passwd?evil", "/abc/index.html%00evil"}) {
    const auto answer = http_answer(make_request(target), access);
    EXPECT_EQ(answer.result(), http::status::not_found) << target;
    std::ostringstream text;
    text << answer;
    EXPECT_EQ(text.str().find("evil"), std::string::npos) << target;
  }
}

TEST(ViewerCheck, SocketsAreForThePageAlone) {
  const Access access{"abc", "", {}};
  auto request = make_request("/abc/socket");
  EXPECT_EQ(http_answer(request, access).result(), http::status::upgrade_required);
  request.set(http::field::connection, "Upgrade");
  request.set(http::field::upgrade, "websocket");
  request.set(http::field::sec_websocket_key, "AAAAAAAAAAAAAAAAAAAAAA==");
  request.set(http::field::sec_websocket_version, "13");
  EXPECT_FALSE(opens_socket(request, access)) << "no origin";
  EXPECT_EQ(http_answer(request, access).result(), http::status::forbidden);
  request.set(http::field::origin, "http://127.0.0.1:8080");
  EXPECT_TRUE(opens_socket(request, access));
  EXPECT_FALSE(opens_socket(request, {"abd", "", {}}));
  auto rebound = request;
  rebound.set(http::field::host, "evil.example:8080");
  rebound.set(http::field::origin, "http://evil.example:8080");
  EXPECT_FALSE(opens_socket(rebound, access));
  EXPECT_TRUE(opens_socket(rebound, {"abc", "", {"evil.example"}})) << "a name given by the user";
  request.insert(http::field::origin, "http://evil.example");
  EXPECT_FALSE(opens_socket(request, access)) << "two origins";
}

TEST(ViewerCheck, TheProgramCarriesThePage) {
  const auto folder = std::filesystem::path(source_folder()) / "web" / "page";
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    names.insert(name);
    std::ifstream stream(entry.path(), std::ios::binary);
    const std::string text{std::istreambuf_iterator<char>(stream), {}};
    const PageFile* file = find_page_file(name);
    ASSERT_NE(file, nullptr) << name;
    EXPECT_EQ(file->text, text) << name;
    EXPECT_FALSE(file->media.starts_with("text/plain")) << name << ": no media type for this suffix";
  }
  EXPECT_EQ(page_files().size(), names.size());
  EXPECT_NE(find_page_file("index.html"), nullptr);
  EXPECT_EQ(find_page_file(""), nullptr);
}

constexpr const char* a_show = R"({"type":"show","pane":"a","id":7,"document":0,"view":"light","state":{"x":1}})";

TEST(ViewerMessages, AreRead) {
  EXPECT_EQ(read_client_message(R"({"type":"open"})").kind, ClientMessage::Kind::open);
  const auto closed = read_client_message(R"({"type":"close","pane":"b"})");
  EXPECT_EQ(closed.kind, ClientMessage::Kind::close);
  EXPECT_EQ(closed.pane, "b");
  const auto show = read_client_message(a_show);
  EXPECT_EQ(show.kind, ClientMessage::Kind::show);
  EXPECT_EQ(show.pane, "a");
  EXPECT_EQ(show.id, 7);
  EXPECT_FALSE(show.moving);
  EXPECT_EQ(show.json["state"]["x"], 1);
  const auto pair = read_client_message(
      R"({"type":"show","pane":"a","id":7,"document":[0,1],"view":"d","state":{},"moving":true,"size":[1280,720]})");
  EXPECT_TRUE(pair.moving);
}

std::string read_error(const std::string& text) {
  try {
    read_client_message(text);
  } catch (const MessageError& error) {
    return error.what();
  }
  return "";
}

TEST(ViewerMessages, OfWrongTypesAreRefusedInOneLine) {
  EXPECT_EQ(read_error("{\"type\":"), "message: expected JSON, got something else at byte 9");
  EXPECT_EQ(read_error("[1]"), "message: expected an object");
  EXPECT_EQ(read_error("{}"), "type: expected a text");
  EXPECT_EQ(read_error(R"({"type":"evil"})"), "type: expected open, show or close");
  EXPECT_EQ(read_error(R"({"type":"close"})"), "pane: expected a text");
  EXPECT_EQ(read_error(R"({"type":"close","pane":""})"), "pane: expected 1 to 64 bytes");
  EXPECT_EQ(read_error(R"({"type":"open","x":1e999})"), "message: expected numbers within double precision");
  const nlohmann::json good = nlohmann::json::parse(a_show);
  const std::vector<std::pair<std::string, nlohmann::json>> wrong = {{"id", 1.5},
                                                                     {"id", -1},
                                                                     {"id", "7"},
                                                                     {"id", 18446744073709551615u},
                                                                     {"id", nullptr},
                                                                     {"moving", 1},
                                                                     {"view", 3},
                                                                     {"document", -1},
                                                                     {"document", "0"},
                                                                     {"document", {0}},
                                                                     {"document", {0, 1, 2}},
                                                                     {"document", {0, "1"}},
                                                                     {"state", 3},
                                                                     {"state", nlohmann::json::array()},
                                                                     {"size", 3},
                                                                     {"size", {0, 5}},
                                                                     {"size", {5, 16385}},
                                                                     {"size", {1.5, 2}},
                                                                     {"size", {1, 2, 3}}};
  for (const auto& [field, value] : wrong) {
    auto json = good;
    json[field] = value;
    EXPECT_TRUE(read_error(json.dump()).starts_with(field + ": expected "))
        << json.dump() << " " << read_error(json.dump());
  }
  for (const char* field : {"type", "pane", "id", "document", "view", "state"}) {
    auto json = good;
    json.erase(field);
    EXPECT_TRUE(read_error(json.dump()).starts_with(std::string(field) + ": expected ")) << field;
  }
  try {
    read_client_message(R"({"type":"show","pane":"a","id":7,"view":0})");
    FAIL();
  } catch (const MessageError& error) {
    EXPECT_EQ(error.pane(), "a");
    EXPECT_EQ(error.id(), 7);
  }
}

TEST(ViewerMessages, DeepOnesAreRefused) {
  for (const int levels : {17, 60'000}) {
    EXPECT_EQ(read_error(std::string(levels, '[')), "message: expected at most 16 levels");
  }
  EXPECT_EQ(read_error(R"({"type":"open","x":)" + std::string(15, '[') + std::string(15, ']') + "}"), "");
  EXPECT_NE(read_error(R"({"type":"open","x":)" + std::string(16, '[') + std::string(16, ']') + "}"), "");
}

TEST(ViewerMessages, ErrorsAreAlwaysUtf8) {
  const auto json = nlohmann::json::parse(error_text("\xff.png: expected a picture", "a", 7));
  EXPECT_EQ(json["type"], "error");
  EXPECT_EQ(json["message"], "\xef\xbf\xbd.png: expected a picture");
  EXPECT_EQ(json["pane"], "a");
  EXPECT_EQ(json["id"], 7);
  EXPECT_FALSE(nlohmann::json::parse(error_text("x", {}, {})).contains("pane"));
}

}  // namespace
}  // namespace holotone::web
