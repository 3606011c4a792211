#pragma once
#include <boost/beast/http.hpp>
#include <string>
#include <vector>

namespace holotone::web {

/// Who may read: those who know the token and reach this server by one of its names.
struct Access {
  std::string token;
  std::string opening_key;         ///< leads to the page once; empty: to nothing
  std::vector<std::string> hosts;  ///< besides 127.0.0.1, localhost and [::1]
};

using HttpRequest = boost::beast::http::request<boost::beast::http::empty_body>;
using HttpResponse = boost::beast::http::response<boost::beast::http::string_body>;

/// True if a request opens the WebSocket and comes from the page of this server.
bool opens_socket(const HttpRequest& request, const Access& access);

/// True if a request asks for the page by the opening key.
bool opens_page(const HttpRequest& request, const Access& access);

/// The answer to it: the page's address.
HttpResponse redirection(const HttpRequest& request, const Access& access);

/// The answer to any other request: a file of the page, or a refusal that repeats nothing of the request.
HttpResponse http_answer(const HttpRequest& request, const Access& access);

/// A refusal that ends the connection.
HttpResponse refusal(boost::beast::http::status status, unsigned version);

}  // namespace holotone::web
