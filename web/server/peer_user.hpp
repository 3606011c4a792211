#pragma once
#include <boost/asio/ip/tcp.hpp>

namespace holotone::web {

/// True if the other end of the TCP connection from `peer` to `here` is a socket of this program's user on this
/// machine, as /proc/net/tcp and tcp6 list it. False too where there are no such files.
bool is_of_this_user(const boost::asio::ip::tcp::endpoint& peer, const boost::asio::ip::tcp::endpoint& here);

}  // namespace holotone::web
