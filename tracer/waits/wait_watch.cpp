// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/waits/wait_watch.h"

#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "support/clock.h"
#include "trace/record_type.h"
#include "tracer/waits/wait_look.h"

namespace uscope::tracer {

Result<void> WaitWatch::begin(std::uint8_t at) {
  if (errand_) return {};
  at_ = at;
  number_++;
  hung_ = 0;
  silent_.clear();
  return send();
}

bool WaitWatch::waits_for_machine() {
  if (errand_->at() != kWholeMachine) return false;
  if (!machine_) machine_.emplace();
  return machine_->look() < kMachinePatienceNs;
}

Result<void> WaitWatch::send() {
  std::vector<AskedThread> threads;
  for (const auto& [task, info] : tasks_.alive()) {
    if (info->tid == 0) continue;
    threads.push_back({task.value(), info->process.value(), info->tid, info->pid});
    if (scouts_ != nullptr && scouts_->is_let_be(info->pid)) silent_.push_back(info->pid);
  }
  if (threads.empty()) return {};
  ScoutWriter request;
  request.put(number_);
  request.put_bytes(std::as_bytes(std::span(threads)));
  request.put_bytes(std::as_bytes(std::span(silent_)));
  seen_.clear();
  machine_.reset();
  if (scouts_ == nullptr) return write(run_here(look_at_waits, request.bytes()));
  // On a loaded machine, a scout may wait for a disk or for a lock of the kernel longer than elsewhere, and a verdict
  // would hang on that. So the first of a look has more time; if its process does not answer at all, the others have
  // less.
  const std::optional<int> patience_ms = hung_ == 0 ? std::optional(kFirstPatienceMs) : std::nullopt;
  if (auto errand = scouts_->send(0, look_at_waits, request.bytes(), {}, patience_ms))
    errand_.emplace(std::move(*errand));
  return {};
}

Result<void> WaitWatch::work() {
  while (errand_) {
    ScoutMessage message;
    const Errand::Came came = errand_->next(message);
    if (came == Errand::Came::kAnswer) {
      seen_.push_back(std::move(message));
      continue;
    }
    if (came == Errand::Came::kDone) {
      errand_.reset();
      return write(std::exchange(seen_, {}));
    }
    const std::uint32_t pid = errand_->at();
    errand_->blame(pid == kWholeMachine ? 0 : pid);
    if (came == Errand::Came::kNothing && (!errand_->hangs() || waits_for_machine())) return {};
    // The look begins again without the process, or the list, that did not come.
    silent_.push_back(pid);
    errand_.reset();
    if (pid != kWholeMachine) {
      scouts_->note_unresponsive(pid);
      if (++hung_ > kMostHangs) return {};
    }
    if (auto done = send(); !done) return done;
  }
  return {};
}

Result<void> WaitWatch::append(const usc_record& record) {
  const auto copy = [&]<typename Record>(const Record& whole) {
    return sink_.append_own(whole, std::span(trace::tail_of(whole).data(), trace::tail_of(whole).size()));
  };
  switch (record.type) {
    case USC_RECORD_THREAD_LOOK:
      return copy(trace::record_as<usc_thread_look>(record));
    case USC_RECORD_WAITED:
      return copy(trace::record_as<usc_waited>(record));
    case USC_RECORD_RESOURCE:
      return append_resource(trace::record_as<usc_resource>(record));
    case USC_RECORD_HELD_LOCK:
      return copy(trace::record_as<usc_held_lock>(record));
    case USC_RECORD_MONITOR:
      return copy(trace::record_as<usc_monitor>(record));
    default:
      return copy(trace::record_as<usc_look_trouble>(record));
  }
}

// With its name as --redact and --no-strings ask for it.
Result<void> WaitWatch::append_resource(const usc_resource& resource) {
  const std::string_view text = trace::tail_of(resource).substr(0, resource.name_bytes);
  const std::string name = strings_.takes_strings() ? strings_.filter_text(std::string(text)) : std::string();
  usc_resource whole{};
  std::memcpy(static_cast<void*>(&whole), &resource, sizeof(whole));
  whole.at = at_;
  whole.name_bytes = static_cast<__u16>(name.size());
  return sink_.append_own(whole, name);
}

Result<void> WaitWatch::write_empty() {
  number_++;
  return write({});
}

Result<void> WaitWatch::write(const std::vector<ScoutMessage>& seen) {
  usc_look mark{};
  mark.head.time = monotonic_ns();
  mark.look = number_;
  mark.end = USC_LOOK_BEGIN;
  if (auto done = sink_.append_own(mark); !done) return done;
  for (const ScoutMessage& message : seen) {
    std::size_t at = 0;
    while (at + sizeof(usc_record) <= message.bytes.size()) {
      const auto& record = *reinterpret_cast<const usc_record*>(message.bytes.data() + at);
      if (auto done = append(record); !done) return done;
      at += record.size;
      mark.records++;
    }
  }
  mark.end = USC_LOOK_END;
  written_ = number_;
  return sink_.append_own(mark);
}

}  // namespace uscope::tracer
