// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Formats socket addresses that a traced program passed: hostile bytes, of any length.
#pragma once

#include <string>
#include <string_view>

namespace uscope {

// Returns "inet:127.0.0.1:80", "inet6:[::1]:80" (with "%3" after the address if it has a scope), "unix:/run/x",
// "unix:@name" (abstract; without the zeros of a name that fills the structure), "unix:" (unnamed),
// "netlink:pid=12 groups=0x1", "packet:protocol=0x3 ifindex=2", "vsock:2:1234", "vsock:any:1234", or
// otherwise "family 42:" and the bytes in hexadecimal, also if there are too few bytes for the family ("address:" if
// not even the family is there). Names are copied byte by byte, unescaped.
[[nodiscard]] std::string socket_address_text(std::string_view bytes);

// Whether such a text is that of an AF_UNSPEC address: connect() to one dissolves the connection.
[[nodiscard]] bool is_unspecified_address(std::string_view text);

// "inet", "packet"; of a family without a name here "family 99".
[[nodiscard]] std::string socket_family_name(int family);

// Whether such a text names nobody: port 0, no name, or not even a family.
[[nodiscard]] bool is_no_address(std::string_view text);

}  // namespace uscope
