#pragma once
#include <optional>
#include <span>
#include <string>
#include <string_view>

// Which requests are answered. The token keeps other users of the machine out, the host's name pages of other sites
// that point a name of theirs at this machine (DNS rebinding), the origin their WebSockets.
namespace holotone::web {

/// 128 random bits of the operating system as 32 hexadecimal digits.
std::string new_token();

/// Compares in a time that depends on the lengths alone.
bool equal_in_constant_time(std::string_view a, std::string_view b);

/// True if a Host header is 127.0.0.1, localhost, [::1] or one of `names`, with any port or none.
bool is_allowed_host(std::string_view host, std::span<const std::string> names);

/// True if an Origin header is that of a page which this server gave out under the Host of the same request.
bool is_allowed_origin(std::string_view origin, std::string_view host);

/// NAME of a request's target "/TOKEN/NAME", empty for "/TOKEN/"; nothing if the token is another one.
std::optional<std::string_view> requested_name(std::string_view target, std::string_view token);

}  // namespace holotone::web
