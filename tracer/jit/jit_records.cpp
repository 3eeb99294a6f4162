// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/jit/jit_records.h"

namespace uscope::tracer {

Result<void> write_jit_name(trace::RecordSink& sink, const JitNews::Name& name, std::uint64_t time) {
  usc_jit_name record{};
  record.head.time = time;
  record.mm = name.mm.value();
  record.name_bytes = static_cast<__u16>(name.entry.name.size());
  record.address = name.entry.address;
  record.start = name.entry.start;
  record.size = name.entry.size;
  return sink.append_own(record, name.entry.name);
}

}  // namespace uscope::tracer
