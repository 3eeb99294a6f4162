// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/sink.h"

#include "support/clock.h"

namespace uscope::trace {

Result<void> RecordSink::append_meta(const std::string& key, const std::string& value) {
  usc_meta record{};
  record.head.time = monotonic_ns();
  std::string tail = key;
  tail.push_back('\0');
  tail.append(value, 0, kMostMeta);
  tail.push_back('\0');
  return append_own(record, tail);
}

}  // namespace uscope::trace
