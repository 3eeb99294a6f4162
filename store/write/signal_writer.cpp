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

}  // namespace

Result<void> SignalWriter::prepare() {
  auto insert = database_.prepare(
      "INSERT INTO signal VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19, "
      "?20, ?21, ?22, ?23)");
  if (!insert) return insert.error();
  insert_.emplace(std::move(*insert));
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
  trace::OrderedEvent event{trace::event_of_signal(signal)};
  event.signal = number;
  return event;
}

Result<void> SignalWriter::write(EventRowId event_id, const trace::OrderedEvent& event) {
  if (event.signal == 0) return {};
  const usc_signal& signal = kept_[event.signal - 1];
  free_.push_back(event.signal);
  const bool delivered = (signal.flags & USC_SIGNAL_DELIVERED) != 0;
  insert_->bind(1, event_id);
  insert_->bind(2, signal.number);
  insert_->bind(3, signal.code);
  delivered ? insert_->bind_null(4) : insert_->bind(4, trace::signal_result_name(signal.result));
  insert_->bind(5, delivered ? std::nullopt : std::optional(std::int64_t{(signal.flags & USC_SIGNAL_BLOCKED) != 0}));
  bind_parties(signal);
  bind_info(signal);
  insert_->bind(22, delivered ? std::optional(static_cast<std::int64_t>(signal.handler)) : std::nullopt);
  insert_->bind(23, maybe_id(frames_.handler(signal.handler_frame, trace::MmId(signal.mm))));
  return insert_->execute();
}

void SignalWriter::bind_parties(const usc_signal& signal) {
  const auto bind_name = [&](int parameter, const char* name) {
    const std::string text = to_utf8(trace::fixed_text(name, USC_SIGNAL_NAME_BYTES));
    text.empty() ? insert_->bind_null(parameter) : insert_->bind(parameter, std::string_view(text));
  };
  insert_->bind(6, number_or_null(signal.sender_pid));
  insert_->bind(7, number_or_null(signal.sender_tid));
  bind_name(8, signal.sender);
  insert_->bind(9, std::int64_t{signal.receiver_pid});
  const bool to_process = (signal.flags & USC_SIGNAL_TO_GROUP) != 0;
  insert_->bind(10, to_process ? std::nullopt : number_or_null(signal.receiver_tid));
  bind_name(11, signal.receiver);
}

void SignalWriter::bind_info(const usc_signal& signal) {
  const trace::SignalInfo info = trace::signal_info(signal);
  int parameter = 12;
  for (const auto& field : {info.pid, info.uid, info.status, info.value, info.address, info.band, info.fd, info.timer,
                            info.overrun, info.syscall})
    insert_->bind(parameter++, field);
}

}  // namespace uscope::store
