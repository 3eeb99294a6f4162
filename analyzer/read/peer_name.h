// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the name of a socket says of its peer: "socket:[to inet:10.0.0.7:80]" was connected by the program,
// "socket:[from inet:10.0.0.7:50123]" was accepted, "socket:[with …]" was open before tracing.
#pragma once

#include <string>
#include <string_view>

namespace uscope::analyzer {

[[nodiscard]] inline bool is_connected(std::string_view name) {
  return name.starts_with("socket:[to ");
}
[[nodiscard]] inline bool is_accepted(std::string_view name) {
  return name.starts_with("socket:[from ");
}

// "socket:[with inet:10.0.0.7]" of a socket of one peer that was open before; empty for anything else.
[[nodiscard]] inline std::string host_of_earlier(std::string_view name) {
  if (!name.starts_with("socket:[with inet")) return "";
  return std::string(name.substr(0, name.rfind(':'))) + "]";
}

// "socket:[from inet:10.0.0.7]" of a client "socket:[from inet:10.0.0.7:50123]"; empty for anything else.
[[nodiscard]] inline std::string host_of_peer(std::string_view name) {
  if (!name.starts_with("socket:[from inet")) return "";
  return std::string(name.substr(0, name.rfind(':'))) + "]";
}

}  // namespace uscope::analyzer
