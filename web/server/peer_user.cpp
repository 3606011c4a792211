#include <array>
#include <boost/asio/ip/address.hpp>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <unistd.h>
#include <web/server/peer_user.hpp>

namespace holotone::web {
namespace {

namespace ip = boost::asio::ip;
using ip::tcp;

/// IPv4 where a socket of IPv6 has such an address: either end may write it in its own way.
tcp::endpoint plain(const tcp::endpoint& endpoint) {
  const ip::address address = endpoint.address();
  if (!address.is_v6() || !address.to_v6().is_v4_mapped()) return endpoint;
  return {ip::make_address_v4(ip::v4_mapped, address.to_v6()), endpoint.port()};
}

template <typename Number>
bool read_hexadecimal(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, 16);
  return error == std::errc() && end == text.data() + text.size();
}

/// "0100007F:1F90" is 127.0.0.1:8080: words of 4 bytes as they lie in memory.
template <typename Address>
std::optional<tcp::endpoint> read_endpoint(std::string_view text) {
  typename Address::bytes_type bytes{};
  constexpr std::size_t digits = 2 * std::tuple_size_v<typename Address::bytes_type>;
  std::uint16_t port = 0;
  if (text.size() <= digits || text[digits] != ':' || !read_hexadecimal(text.substr(digits + 1), port)) return {};
  for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint32_t)) {
    std::uint32_t word = 0;
    if (!read_hexadecimal(text.substr(2 * at, 8), word)) return {};
    std::memcpy(bytes.data() + at, &word, sizeof word);
  }
  return plain({Address(bytes), port});
}

/// The user of the established connection; of one that its process has closed, the system knows no user and says 0.
template <typename Address>
std::optional<uid_t> listed_user(const char* file, const tcp::endpoint& from, const tcp::endpoint& to) {
  constexpr std::string_view established = "01";
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);  // the columns' names
  while (std::getline(stream, line)) {
    std::istringstream fields(line);
    std::string number, local, remote, state, queues, timer, retransmits;
    uid_t user = 0;
    if (!(fields >> number >> local >> remote >> state >> queues >> timer >> retransmits >> user)) continue;
    if (state == established && read_endpoint<Address>(local) == from && read_endpoint<Address>(remote) == to) {
      return user;
    }
  }
  return {};
}

}  // namespace

bool is_of_this_user(const tcp::endpoint& peer, const tcp::endpoint& here) {
  const tcp::endpoint from = plain(peer);
  const tcp::endpoint to = plain(here);
  auto user = listed_user<ip::address_v4>("/proc/net/tcp", from, to);
  if (!user) user = listed_user<ip::address_v6>("/proc/net/tcp6", from, to);
  return user == geteuid();
}

}  // namespace holotone::web
