// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "live/window/window_trace.h"

#include <utility>

#include "support/private_file.h"
#include "trace/raw_header.h"

namespace uscope::live {

Result<WindowTrace> WindowTrace::begin(int folder, std::uint64_t start_ns, std::int64_t utc_offset_ns) {
  auto file = open_nameless(folder);
  if (!file) return file.error();
  auto written = duplicate(file->get());
  if (!written) return written.error();
  auto writer = trace::RawWriter::create(std::move(*written), "in the folder for temporary files",
                                         trace::header_of_this_machine(start_ns, utc_offset_ns, 1));
  if (!writer) return writer.error();
  return WindowTrace(std::move(*file), std::move(*writer));
}

Result<void> WindowTrace::append(const usc_record& record) {
  const auto* bytes = reinterpret_cast<const char*>(&record);
  record_.assign(bytes, bytes + record.size);
  auto& copy = *reinterpret_cast<usc_record*>(record_.data());
  copy.cpu = USC_CPU_USER;
  return writer_.append(copy);
}

Result<UniqueFd> WindowTrace::end() {
  usc_cpu_total total{};
  total.head.type = USC_RECORD_CPU_TOTAL;
  total.head.size = sizeof(total);
  if (auto done = writer_.append(total.head); !done) return done.error();
  if (auto done = writer_.flush(); !done) return done.error();
  return std::move(file_);
}

}  // namespace uscope::live
