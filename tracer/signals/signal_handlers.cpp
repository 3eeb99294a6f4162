// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/signals/signal_handlers.h"

#include <optional>
#include <utility>

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kLastNumber = 1;  // SIG_DFL and SIG_IGN are no addresses

}  // namespace

Result<void> SignalHandlers::add(const usc_signal& signal) {
  if (signal.handler <= kLastNumber) return sink_.append(signal.head);
  newer_.push_back(signal);
  return {};
}

Result<void> SignalHandlers::work() {
  for (const usc_signal& signal : older_)
    if (auto done = write(signal); !done) return done;
  older_ = std::exchange(newer_, {});
  return {};
}

Result<void> SignalHandlers::write(usc_signal signal) {
  const trace::MmId mm(signal.mm);
  std::optional<Mapping> mapping = mappings_.find(mm, signal.handler, signal.head.time);
  if (!mapping) mapping = mappings_.find_announced_later(mm, signal.handler, signal.head.time);
  if (mapping && mapping->file == trace::kNoFile)
    signal.handler_frame = usc_frame_in_memory(signal.handler, 1);
  else if (mapping)
    signal.handler_frame =
        usc_frame_in_file(mapping->file.value(), signal.handler - mapping->start + mapping->offset, signal.handler, 1);
  return sink_.append(signal.head);
}

}  // namespace uscope::tracer
