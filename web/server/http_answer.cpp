#include <boost/beast/websocket/rfc6455.hpp>
#include <string_view>
#include <web/server/http_answer.hpp>
#include <web/server/page_files.hpp>
#include <web/server/request_check.hpp>

namespace holotone::web {
namespace {

namespace http = boost::beast::http;
namespace websocket = boost::beast::websocket;
using Field = http::field;

constexpr std::string_view socket_name = "socket";

std::string_view view(boost::beast::string_view text) { return {text.data(), text.size()}; }

/// The only value of a field that must be there once; empty otherwise.
std::string_view only(const HttpRequest& request, Field field) {
  return request.count(field) == 1 ? view(request[field]) : std::string_view();
}

std::string_view explanation(http::status status) {
  switch (status) {
    case http::status::forbidden: return "This server does not answer to the name in the address.\n";
    case http::status::not_found: return "Nothing here: take the whole address that the program printed.\n";
    case http::status::service_unavailable: return "Too many connections: close a page.\n";
    default: return "";
  }
}

HttpResponse response(http::status status, const HttpRequest& request) {
  HttpResponse answer(status, request.version());
  answer.keep_alive(request.keep_alive() && status == http::status::ok);
  answer.set("Referrer-Policy", "no-referrer");
  answer.set("X-Content-Type-Options", "nosniff");
  answer.set(Field::cache_control, "no-store");
  return answer;
}

HttpResponse text(http::status status, const HttpRequest& request) {
  auto answer = response(status, request);
  answer.set(Field::content_type, "text/plain; charset=utf-8");
  answer.body() = explanation(status);
  answer.prepare_payload();
  if (request.method() == http::verb::head) answer.body().clear();
  return answer;
}

/// Scripts and styles of this server alone, pictures made in the page, and its own socket: Safari does not count
/// ws: as 'self'. `host` was checked.
std::string security_policy(std::string_view host) {
  return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' blob: data:; connect-src 'self' "
         "ws://" +
         std::string(host) + "; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
}

}  // namespace

bool opens_socket(const HttpRequest& request, const Access& access) {
  const std::string_view host = only(request, Field::host);
  return is_allowed_host(host, access.hosts) && is_allowed_origin(only(request, Field::origin), host) &&
         requested_name(view(request.target()), access.token) == socket_name && websocket::is_upgrade(request);
}

bool opens_page(const HttpRequest& request, const Access& access) {
  return !access.opening_key.empty() && request.method() == http::verb::get &&
         is_allowed_host(only(request, Field::host), access.hosts) &&
         equal_in_constant_time(view(request.target()), "/" + access.opening_key);
}

HttpResponse redirection(const HttpRequest& request, const Access& access) {
  auto answer = text(http::status::see_other, request);
  answer.set(Field::location, "/" + access.token + "/");
  return answer;
}

HttpResponse http_answer(const HttpRequest& request, const Access& access) {
  const std::string_view host = only(request, Field::host);
  if (!is_allowed_host(host, access.hosts)) return text(http::status::forbidden, request);
  const auto name = requested_name(view(request.target()), access.token);
  if (!name) return text(http::status::not_found, request);
  if (*name == socket_name) {
    return text(websocket::is_upgrade(request) ? http::status::forbidden : http::status::upgrade_required, request);
  }
  const PageFile* file = find_page_file(name->empty() ? "index.html" : *name);
  if (file == nullptr) return text(http::status::not_found, request);
  if (request.method() != http::verb::get && request.method() != http::verb::head) {
    auto answer = text(http::status::method_not_allowed, request);
    answer.set(Field::allow, "GET, HEAD");
    return answer;
  }
  auto answer = response(http::status::ok, request);
  answer.set(Field::content_type, boost::beast::string_view(file->media.data(), file->media.size()));
  answer.set("Content-Security-Policy", security_policy(host));
  answer.content_length(file->text.size());
  if (request.method() == http::verb::get) answer.body() = file->text;
  return answer;
}

HttpResponse refusal(http::status status, unsigned version) {
  HttpRequest request;
  request.version(version);
  request.keep_alive(false);
  return text(status, request);
}

}  // namespace holotone::web
