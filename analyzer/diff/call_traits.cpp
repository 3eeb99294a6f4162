// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/diff/call_traits.h"

#include <cerrno>

#include "syscalls/call_traits.h"

namespace uscope::analyzer {

bool waits(std::string_view kind) {
  const std::size_t colon = kind.find(':');  // "i386:poll"
  if (colon != std::string_view::npos) kind.remove_prefix(colon + 1);
  return syscalls::waits(kind);
}

bool is_passing(std::string_view kind, std::int64_t error) {
  if (error == EAGAIN || error == EINTR || error == EINPROGRESS || error == EALREADY) return true;
  return error == ETIMEDOUT && waits(kind);
}

}  // namespace uscope::analyzer
