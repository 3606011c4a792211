#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <holotone/core/error.hpp>
#include <sys/random.h>
#include <web/server/request_check.hpp>

namespace holotone::web {
namespace {

bool equal_without_case(std::string_view a, std::string_view b) {
  return std::ranges::equal(a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

/// The host's name without ":port"; empty if what follows the name is no port.
std::string_view host_name(std::string_view host) {
  const auto end = host.starts_with('[') ? host.find(']') : host.find(':');
  if (end == std::string_view::npos) return host.starts_with('[') ? std::string_view() : host;
  const auto name_end = host[end] == ']' ? end + 1 : end;
  const std::string_view rest = host.substr(name_end);
  const bool is_port = rest.size() >= 2 && rest.size() <= 6 && rest[0] == ':' &&
                       std::ranges::all_of(rest.substr(1), [](unsigned char c) { return std::isdigit(c) != 0; });
  return rest.empty() || is_port ? host.substr(0, name_end) : std::string_view();
}

}  // namespace

std::string new_token() {
  std::array<unsigned char, 16> bits{};
  ssize_t got = 0;
  do {
    got = getrandom(bits.data(), bits.size(), 0);
  } while (got < 0 && errno == EINTR);
  if (got != static_cast<ssize_t>(bits.size())) {
    throw Error(ErrorCode::device, std::string("no random numbers from the operating system: ") + std::strerror(errno));
  }
  constexpr std::string_view digits = "0123456789abcdef";
  std::string token;
  for (const unsigned char byte : bits) {
    token += digits[byte >> 4];
    token += digits[byte & 15];
  }
  return token;
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  volatile unsigned char difference = 0;  // volatile: the loop may not end early
  for (std::size_t i = 0; i < a.size(); ++i) difference = difference | static_cast<unsigned char>(a[i] ^ b[i]);
  return difference == 0;
}

bool is_allowed_host(std::string_view host, std::span<const std::string> names) {
  const std::string_view name = host_name(host);
  if (name.empty()) return false;
  const auto is_name = [&](std::string_view allowed) { return equal_without_case(name, allowed); };
  constexpr std::array<std::string_view, 3> loopback = {"127.0.0.1", "localhost", "[::1]"};
  return std::ranges::any_of(loopback, is_name) || std::ranges::any_of(names, is_name);
}

bool is_allowed_origin(std::string_view origin, std::string_view host) {
  constexpr std::string_view scheme = "http://";
  return origin.starts_with(scheme) && equal_without_case(origin.substr(scheme.size()), host);
}

std::optional<std::string_view> requested_name(std::string_view target, std::string_view token) {
  if (target.size() < token.size() + 2 || target[0] != '/' || target[token.size() + 1] != '/') return std::nullopt;
  if (!equal_in_constant_time(target.substr(1, token.size()), token)) return std::nullopt;
  return target.substr(token.size() + 2);
}

}  // namespace holotone::web
