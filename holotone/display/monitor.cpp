#include <algorithm>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <holotone/core/error.hpp>
#include <holotone/display/monitor.hpp>

namespace holotone {

std::string to_string(const Monitor& monitor) {
  return fmt::format("{}: {}, {} x {} pixels, {:.4g} Hz, at {}, {}", monitor.number, monitor.name, monitor.nx,
                     monitor.ny, monitor.refresh_hz, monitor.x_px, monitor.y_px);
}

namespace {

std::string to_list(const std::vector<Monitor>& monitors) {
  std::string list;
  for (const auto& monitor : monitors) list += (list.empty() ? "" : "; ") + to_string(monitor);
  return list.empty() ? "no monitor" : list;
}

bool is_called(const Monitor& monitor, std::string_view which) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::search(monitor.name.begin(), monitor.name.end(), which.begin(), which.end(),
                     [&](char a, char b) { return lower(a) == lower(b); }) != monitor.name.end();
}

}  // namespace

Monitor find_monitor(std::string_view which, const std::vector<Monitor>& among) {
  int number = 0;
  const auto parsed = std::from_chars(which.data(), which.data() + which.size(), number);
  const bool is_number = parsed.ec == std::errc() && parsed.ptr == which.data() + which.size();
  std::vector<Monitor> found;
  for (const Monitor& monitor : among) {
    if (!is_number && monitor.name == which) return monitor;  // a whole name wins over names that contain it
    const bool matches = is_number ? monitor.number == number
                                   : !which.empty() && (which == fmt::format("{}x{}", monitor.nx, monitor.ny) ||
                                                        is_called(monitor, which));
    if (matches) found.push_back(monitor);
  }
  if (found.size() == 1) return found.front();
  throw_argument("find_monitor", "monitor", fmt::format("number, name or size of one of: {}", to_list(among)),
                 found.empty() ? fmt::format("'{}'", which) : fmt::format("'{}', which {} have", which, found.size()));
}

}  // namespace holotone
