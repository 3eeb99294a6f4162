// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/write/set_writer.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "store/write/wants_name.h"
#include "support/text.h"
#include "syscalls/syscall_table.h"
#include "trace/how.h"

namespace uscope::store {
namespace {

// The argument that has the set: a select has one for each kind of waiting, of which the first is for reading.
enum class SetCall : std::uint8_t { kNone, kPoll, kSelect, kEpoll, kBuffers };

SetCall set_call(std::uint8_t abi, std::uint32_t nr) {
  if (abi != USC_ABI_NATIVE) return SetCall::kNone;
  const std::string name = syscalls::syscall_name(USC_ABI_NATIVE, nr);
  if (name == "poll" || name == "ppoll") return SetCall::kPoll;
  if (name == "select" || name == "pselect6") return SetCall::kSelect;
  constexpr std::array<std::string_view, 10> kWithBuffers{"readv",    "preadv",  "preadv2",  "writev",  "pwritev",
                                                          "pwritev2", "recvmsg", "recvmmsg", "sendmsg", "sendmmsg"};
  if (std::find(kWithBuffers.begin(), kWithBuffers.end(), name) != kWithBuffers.end()) return SetCall::kBuffers;
  return name.starts_with("epoll_") ? SetCall::kEpoll : SetCall::kNone;
}

constexpr int kBuffers = 1;  // of what has a list of them
constexpr int kReadSet = 1;  // arguments of select
constexpr int kWriteSet = 2;
constexpr int kExceptSet = 3;

}  // namespace

Result<void> SetWriter::prepare() {
  auto rows = database_.rows("event_descriptor", 7);
  if (!rows) return rows.error();
  rows_ = std::move(*rows);
  auto buffers = database_.rows("event_buffers", 4);
  if (!buffers) return buffers.error();
  buffers_ = std::move(*buffers);
  first_ = learn(definitions_.looks.first());
  last_ = learn(definitions_.looks.last());
  return {};
}

SetWriter::Look SetWriter::learn(const LookFacts& facts) const {
  Look look;
  for (const usc_thread_look& thread : facts.threads) {
    look.threads[definitions_.process_of_task(trace::TaskId(thread.head.task)).value()]++;
    if (thread.in_call != 0 && thread.asleep != 0 && set_call(thread.abi, thread.nr) != SetCall::kNone)
      look.calls[thread.head.task].thread = &thread;
  }
  for (const usc_waited& waited : facts.waits) {
    const auto at = look.calls.find(waited.head.task);
    if (at != look.calls.end() && waited.what == USC_WAITED_DESCRIPTOR) at->second.waits.push_back(&waited);
  }
  for (const auto& resource : facts.resources)
    if (resource.record.process != 0)
      look.names.emplace(std::pair(resource.record.process, resource.record.fd), resource.text);
  return look;
}

Result<void> SetWriter::write(EventRowId event_id, const usc_event& event) {
  if (event.source != USC_SOURCE_SYSCALL || (first_.calls.empty() && last_.calls.empty())) return {};
  for (const Look* look : {&last_, &first_}) {
    auto written = write_of(*look, event_id, event);
    if (!written) return written.error();
    if (*written) return {};
  }
  return {};
}

// The look found the thread in this call, if the call has the same arguments, and had begun and was not over then.
Result<bool> SetWriter::write_of(const Look& look, EventRowId event_id, const usc_event& event) {
  const auto at = look.calls.find(event.head.task);
  if (at == look.calls.end()) return false;
  const usc_thread_look& thread = *at->second.thread;
  const bool goes_on = trace::is_unfinished(event.how);
  const bool is_same = event.abi == thread.abi && event.kind == thread.nr &&
                       std::equal(std::begin(event.args), std::end(event.args), std::begin(thread.args));
  if (!is_same || event.entry_ns > thread.head.time || (!goes_on && event.head.time < thread.head.time)) return false;
  const SetCall call = set_call(thread.abi, thread.nr);
  const std::uint32_t process = definitions_.process_of_task(trace::TaskId(event.head.task)).value();
  place_ = 0;
  for (const usc_waited* waited : at->second.waits) {
    const bool reads = waited->wants == USC_WANTS_READ || waited->wants == USC_WANTS_READ_OR_WRITE;
    const bool writes = waited->wants == USC_WANTS_WRITE || waited->wants == USC_WANTS_READ_OR_WRITE;
    Result<void> done;
    if (call == SetCall::kBuffers) {
      if (waited->pgid != 0) done = buffers_->add(event_id, kBuffers, waited->pgid, waited->pid);
    } else if (call != SetCall::kSelect) {
      done = add(look, event_id, process, *waited, 0, waited->wants);
    } else {
      if (reads) done = add(look, event_id, process, *waited, kReadSet, USC_WANTS_READ);
      if (done && writes) done = add(look, event_id, process, *waited, kWriteSet, USC_WANTS_WRITE);
      if (done && !reads && !writes) done = add(look, event_id, process, *waited, kExceptSet, USC_WANTS_OTHER);
    }
    if (!done) return done.error();
  }
  return true;
}

Result<void> SetWriter::write_passed(EventRowId event_id,
                                     std::span<const descriptors::DescriptorTracker::Passed> passed) {
  std::int64_t place = 0;
  for (const auto& [arg, fd, name, late, is_pidfd] : passed)
    if (auto done = rows_->add(event_id, arg, place++, fd, LastingText{is_pidfd ? "pidfd" : "passed"}, maybe_id(name),
                               late ? 1 : 0);
        !done)
      return done;
  return {};
}

// What a number stands for is what it stood for at the look: other threads may have replaced it since the call began.
Result<void> SetWriter::add(const Look& look, EventRowId event_id, std::uint32_t process, const usc_waited& waited,
                            int arg, std::uint8_t wants) {
  std::optional<std::int64_t> name;
  const auto known = look.names.find({process, waited.fd});
  if (known != look.names.end() && !known->second.empty()) {
    auto id = strings_.intern(trace_text(known->second));
    if (!id) return id.error();
    name = id->value();
  }
  const auto threads = look.threads.find(process);
  const bool is_alone = threads != look.threads.end() && threads->second == 1;
  return rows_->add(event_id, arg, place_++, waited.fd, LastingText{wants_name(wants)}, name, is_alone ? 0 : 1);
}

}  // namespace uscope::store
