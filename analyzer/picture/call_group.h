// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a picture shows of calls by colour: for what they wait, and else what they work on.
#pragma once

#include <cstddef>
#include <cstdint>

#include "analyzer/read/catalog.h"

namespace uscope::analyzer {

enum class CallGroup : std::uint8_t {
  kWaitLock,     // futexes
  kWaitTimer,    // for a time to pass
  kWaitProcess,  // for a child
  kWaitPeer,     // other calls that wait: for peers, descriptors, signals
  kFile,
  kNetwork,
  kMemory,
  kOther,
  kNone,  // no system call
};
constexpr std::size_t kCallGroups = 8;  // without kNone

[[nodiscard]] CallGroup group_of(const Kind& kind);

}  // namespace uscope::analyzer
