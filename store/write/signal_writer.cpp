// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/write/signal_writer.h"

#include <string>
#include <string_view>
#include <utility>

#include "support/text.h"
#include "trace/signal_info.h"

namespace uscope::store {
namespace {

std::optional<std::int64_t> number_or_null(std::uint32_t number) {
  return number ? std::optional(std::int64_t{number}) : std::nullopt;
}

std::optional<std::string> name_or_null(const char* name) {
  std::string text = trace_text(trace::fixed_text(name, USC_SIGNAL_NAME_BYTES));
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

}  // namespace

Result<void> SignalWriter::prepare() {
  auto rows = database_.rows("signal", 23);
  if (!rows) return rows.error();
  rows_ = std::move(*rows);
  return {};
}

trace::OrderedEvent SignalWriter::keep(const trace::RawRecord& record) {
  const auto signal = record.as<usc_signal>();
  std::uint32_t number = 0;
  if (free_.empty()) {
    kept_.push_back(signal);
    number = static_cast<std::uint32_t>(kept_.size());
  } else {
    number = free_.back();
    free_.pop_back();
    kept_[number - 1] = signal;
  }
  trace::OrderedEvent event{trace::Event(trace::event_of_signal(signal))};
  event.signal = number;
  return event;
}

Result<void> SignalWriter::write(EventRowId event_id, const trace::OrderedEvent& event) {
  if (event.signal == 0) return {};
  const usc_signal& signal = kept_[event.signal - 1];
  free_.push_back(event.signal);
  const bool delivered = (signal.flags & USC_SIGNAL_DELIVERED) != 0;
  const bool to_process = (signal.flags & USC_SIGNAL_TO_GROUP) != 0;
  const trace::SignalInfo info = trace::signal_info(signal);
  return rows_->add(
      event_id, signal.number, signal.code,
      delivered ? std::nullopt : std::optional(std::string_view(trace::signal_result_name(signal.result))),
      delivered ? std::optional<std::int64_t>() : std::optional<std::int64_t>((signal.flags & USC_SIGNAL_BLOCKED) != 0),
      number_or_null(signal.sender_pid), number_or_null(signal.sender_tid), name_or_null(signal.sender),
      signal.receiver_pid, to_process ? std::optional<std::int64_t>() : number_or_null(signal.receiver_tid),
      name_or_null(signal.receiver), info.pid, info.uid, info.status, info.value, info.address, info.band, info.fd,
      info.timer, info.overrun, info.syscall,
      delivered ? std::optional<std::int64_t>(static_cast<std::int64_t>(signal.handler))
                : std::optional<std::int64_t>(),
      maybe_id(frames_.handler(signal.handler_frame, trace::MmId(signal.mm))));
}

}  // namespace uscope::store
