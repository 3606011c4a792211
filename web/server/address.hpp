#pragma once
#include <cstdint>
#include <string>

// How a user gets to the page.
namespace holotone::web {

/// "http://127.0.0.1:8080/TOKEN/" for a server that listens on `address`. One that listens on every address (0.0.0.0,
/// ::) is reached by the loopback.
std::string page_url(const std::string& address, std::uint16_t port, const std::string& token);

/// "http://127.0.0.1:8080/KEY" for the same server and a key of Server::new_opening_key.
std::string opening_url(const std::string& address, std::uint16_t port, const std::string& key);

/// "ssh -L 8080:127.0.0.1:8080 user@machine": run on the user's own machine, the URL then works there.
std::string tunnel_command(const std::string& address, std::uint16_t port);

/// Opens the user's browser by xdg-open. False if there is no display or no xdg-open, or if that fails within a second.
bool open_browser(const std::string& url);

}  // namespace holotone::web
