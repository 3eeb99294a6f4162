// Socket addresses as bytes that a traced program passed: hostile, of any length.
#pragma once

#include <string>
#include <string_view>

namespace uscope {

// "inet:127.0.0.1:80", "inet6:[::1]:80" (with "%3" behind a link-local address's scope), "unix:/run/x", "unix:@name"
// (abstract), "unix:" (unnamed), "netlink:pid=12 groups=0x1", "packet:protocol=0x3 ifindex=2", else "family 42:" and
// the bytes in hexadecimal. Also where the bytes end too early for their family. Names stay as they are, byte by byte.
[[nodiscard]] std::string socket_address_text(std::string_view bytes);

}  // namespace uscope
