// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "live/window/kept_descriptors.h"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>

#include "descriptors/descriptor_calls.h"
#include "syscalls/syscall_table.h"
#include "trace/record_type.h"
#include "uscope/descriptor_calls.h"

namespace uscope::live {
namespace {

using descriptors::DescriptorCall;

DescriptorCall call_of(const usc_event& event) {
  static const std::vector<DescriptorCall> all = [] {
    std::vector<DescriptorCall> made;
    for (std::uint32_t abi = 0; abi < USC_ABI_COUNT; abi++)
      for (std::uint32_t nr = 0; nr < syscalls::kSyscallNumbers; nr++)
        made.push_back(descriptors::descriptor_call(syscalls::syscall_name(static_cast<usc_abi>(abi), nr)));
    return made;
  }();
  const bool is_call =
      event.source == USC_SOURCE_SYSCALL && event.abi < USC_ABI_COUNT && event.kind < syscalls::kSyscallNumbers;
  return is_call ? all[event.abi * syscalls::kSyscallNumbers + event.kind] : DescriptorCall::kNone;
}

bool is_rename(const usc_event& event) {
  const DescriptorCall call = call_of(event);
  return call == DescriptorCall::kRename || call == DescriptorCall::kRenameAt;
}

// What a call does to some numbers of its process's table, and nothing else.
enum class Does { kNothing, kOpens, kUses, kCloses, kMore };

struct Deed {
  Does does = Does::kMore;
  std::array<int, 2> fds{-1, -1};
};

int first_argument(const usc_event& event) {
  return static_cast<int>(event.args[0]);
}

Deed of_first(Does does, const usc_event& event) {
  return {does, {first_argument(event), -1}};
}

bool has_folder(const usc_event& event) {
  const auto letters = syscalls::syscall_arguments(static_cast<usc_abi>(event.abi), event.kind);
  return letters.value_or("").starts_with('D') && first_argument(event) != AT_FDCWD;
}

std::array<int, 2> pair_of(const DescriptorChange& change) {
  std::array<int, 2> fds{-1, -1};
  for (const KeptRecord& bytes : change.strings) {
    const auto& string = as<usc_string>(bytes);
    const std::string_view tail = trace::tail_of(string);
    if (string.kind == USC_STRING_PAIR && tail.size() >= sizeof(fds)) std::memcpy(fds.data(), tail.data(), sizeof(fds));
  }
  return fds;
}

Deed deed_of(const DescriptorChange& change) {
  const usc_event& event = change.event;
  if (event.how != USC_HOW_RETURNED) return {};
  const Deed opens = event.result < 0 ? Deed{Does::kNothing} : Deed{Does::kOpens, {static_cast<int>(event.result), -1}};
  const auto command = static_cast<std::uint32_t>(event.args[1]);
  switch (call_of(event)) {
    case DescriptorCall::kOpen:
      // A path that begins at a descriptor's folder is named by that.
      return has_folder(event) && event.result >= 0 ? Deed{} : opens;
    case DescriptorCall::kLabel:  // signalfd() of one that is there opens none
      return event.result >= 0 && event.result == first_argument(event) ? Deed{} : opens;
    case DescriptorCall::kMemfd:
    case DescriptorCall::kSocket:
    case DescriptorCall::kAccept:
    case DescriptorCall::kPidfd:
      return opens;
    case DescriptorCall::kPair:
      return event.result < 0 ? opens : Deed{Does::kOpens, pair_of(change)};
    case DescriptorCall::kBind:
    case DescriptorCall::kConnect:
    case DescriptorCall::kOwnName:
    case DescriptorCall::kPeerName:
      return of_first(Does::kUses, event);
    case DescriptorCall::kFcntl:
      if (usc_fcntl_changes_descriptors(command) == 0) return {Does::kNothing};
      return command == F_SETFD ? of_first(Does::kUses, event) : Deed{};
    case DescriptorCall::kIoctl:
      if (usc_ioctl_changes_descriptors(command) == 0) return {Does::kNothing};
      return usc_ioctl_moves_descriptors(command) != 0 ? Deed{} : of_first(Does::kUses, event);
    case DescriptorCall::kClose:
      return event.result == 0 ? of_first(Does::kCloses, event) : Deed{};
    case DescriptorCall::kExec:
      return event.result < 0 ? Deed{Does::kNothing} : Deed{};
    default:
      return {};
  }
}

}  // namespace

bool KeptDescriptors::is_change(const usc_event& event) {
  return call_of(event) != DescriptorCall::kNone;
}

void KeptDescriptors::take(const usc_record& record) {
  switch (record.type) {
    case USC_RECORD_FD:
      found_[trace::ProcessId(trace::record_as<usc_fd>(record).process)].push_back(keep(record));
      break;
    case USC_RECORD_IO_URING:
      rings_[trace::ProcessId(trace::record_as<usc_io_uring>(record).process)].push_back(keep(record));
      break;
    case USC_RECORD_LOSS: {
      const auto& loss = trace::record_as<usc_loss>(record);
      losses_[{loss.cause, loss.process}] = keep(record);
      break;
    }
    default:
      break;
  }
}

void KeptDescriptors::add(std::vector<DescriptorChange>&& changes) {
  recent_.insert(recent_.end(), std::make_move_iterator(changes.begin()), std::make_move_iterator(changes.end()));
  merge();
}

void KeptDescriptors::add(DescriptorChange&& change) {
  constexpr std::size_t kMostRecent = 4096;
  recent_.push_back(std::move(change));
  if (recent_.size() >= kMostRecent) merge();
}

bool KeptDescriptors::add_string(const usc_string& string) {
  const auto is_its_call = [&string](const DescriptorChange& change) {
    return change.event.head.task == string.head.task && change.event.entry_ns == string.entry_ns;
  };
  auto call = std::find_if(recent_.rbegin(), recent_.rend(), is_its_call);
  if (call != recent_.rend()) {
    call->strings.push_back(keep(string.head));
    return true;
  }
  const auto first = std::lower_bound(
      changes_.begin(), changes_.end(), string.entry_ns,
      [](const DescriptorChange& change, std::uint64_t entry_ns) { return change.event.entry_ns < entry_ns; });
  for (auto at = first; at != changes_.end() && at->event.entry_ns == string.entry_ns; ++at) {
    if (!is_its_call(*at)) continue;
    at->strings.push_back(keep(string.head));
    return true;
  }
  return false;
}

void KeptDescriptors::merge() {
  const auto earlier = [](const DescriptorChange& a, const DescriptorChange& b) {
    return a.event.entry_ns < b.event.entry_ns;
  };
  std::sort(recent_.begin(), recent_.end(), earlier);
  const auto middle = static_cast<std::ptrdiff_t>(changes_.size());
  changes_.insert(changes_.end(), std::make_move_iterator(recent_.begin()), std::make_move_iterator(recent_.end()));
  recent_.clear();
  std::inplace_merge(changes_.begin(), changes_.begin() + middle, changes_.end(), earlier);
}

Result<void> KeptDescriptors::write(WindowTrace& to) const {
  const auto put = [&to](const KeptRecord& record) { return write_kept(to, record); };
  for (const auto* list : {&found_, &rings_})
    for (const auto& [process, records] : *list)
      for (const KeptRecord& record : records)
        if (auto done = put(record); !done) return done;
  for (const auto& [key, loss] : losses_)
    if (auto done = put(loss); !done) return done;
  for (const auto* list : {&changes_, &recent_})
    for (const DescriptorChange& change : *list) {
      for (const KeptRecord& string : change.strings)
        if (auto done = put(string); !done) return done;
      usc_event event = change.event;
      event.flags |= USC_EVENT_FOLLOWED;
      if (auto done = to.append(event.head); !done) return done;
    }
  return {};
}

void KeptDescriptors::forget(const ProcessOf& process_of, const std::unordered_set<trace::ProcessId>& needed,
                             const Copies& copies) {
  merge();
  const auto is_over = [&](const auto& entry) { return needed.count(entry.first) == 0; };
  std::erase_if(found_, is_over);
  std::erase_if(rings_, is_over);
  std::erase_if(losses_, [&](const auto& entry) {
    const trace::ProcessId process(entry.first.second);
    return process && needed.count(process) == 0;
  });
  std::erase_if(changes_, [&](const DescriptorChange& change) {
    return needed.count(process_of(trace::TaskId(change.event.head.task))) == 0;
  });
  drop_renames();
  drop_closed(process_of, copies);
  if (changes_.size() <= most_) return;
  // What /proc said was before all of them.
  found_.clear();
  changes_.erase(changes_.begin(), changes_.begin() + static_cast<std::ptrdiff_t>(changes_.size() / 2));
}

std::unordered_set<trace::TaskId> KeptDescriptors::tasks() const {
  std::unordered_set<trace::TaskId> tasks;
  for (const auto* list : {&changes_, &recent_})
    for (const DescriptorChange& change : *list) tasks.insert(trace::TaskId(change.event.head.task));
  return tasks;
}

void KeptDescriptors::drop(const std::vector<bool>& gone) {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < changes_.size(); i++)
    if (!gone[i]) {
      if (kept != i) changes_[kept] = std::move(changes_[i]);
      kept++;
    }
  changes_.resize(kept);
}

// A rename says that paths with such a component may lead elsewhere, of which only the last time matters.
void KeptDescriptors::drop_renames() {
  std::vector<bool> gone(changes_.size());
  std::set<std::vector<std::string>> later;
  for (std::size_t i = changes_.size(); i > 0; i--) {
    const DescriptorChange& change = changes_[i - 1];
    if (!is_rename(change.event) || change.event.how != USC_HOW_RETURNED) continue;
    std::vector<std::string> texts{change.event.result < 0 ? "failed" : ""};
    for (const KeptRecord& bytes : change.strings) texts.emplace_back(trace::tail_of(as<usc_string>(bytes)));
    std::sort(texts.begin(), texts.end());
    gone[i - 1] = change.event.result < 0 || !later.insert(std::move(texts)).second;
  }
  drop(gone);
}

// A number that was opened and closed is free again, as if nothing had been. This holds where nothing made a copy of it
// meanwhile and no call on it overlaps another one.
void KeptDescriptors::drop_closed(const ProcessOf& process_of, const Copies& copies) {
  struct Open {
    std::vector<std::size_t> calls;  // places in changes_: the opening one, and those that used it
    std::uint64_t begun = 0;
  };
  struct Process {
    std::unordered_map<int, Open> open;
    std::unordered_map<int, std::uint64_t> busy;  // until when a call on this number was under way
    std::uint64_t all_busy = 0;                   // until when one was that may be on any
  };
  std::unordered_map<trace::ProcessId, Process> processes;
  std::vector<bool> gone(changes_.size());
  std::vector<std::uint8_t> numbers(changes_.size(), 1);  // that a call stands for still
  const auto was_copied = [&](trace::ProcessId process, std::uint64_t from, std::uint64_t until) {
    const auto [first, last] = copies.equal_range(process);
    return std::any_of(first, last, [&](const auto& copy) {
      return copy.second == kAlways || (copy.second >= from && copy.second <= until);
    });
  };
  const auto use = [&](std::size_t place, Does does, int fd) {
    const usc_event& event = changes_[place].event;
    const trace::ProcessId id = process_of(trace::TaskId(event.head.task));
    Process& process = processes[id];
    std::uint64_t& busy = process.busy[fd];
    const bool overlaps = event.entry_ns <= std::max(busy, process.all_busy);
    busy = std::max<std::uint64_t>(busy, event.head.time);
    const auto at = process.open.find(fd);
    if (overlaps || does == Does::kOpens) {
      if (at != process.open.end()) process.open.erase(at);
      if (!overlaps) process.open[fd] = {{place}, event.entry_ns};
    } else if (at != process.open.end()) {
      at->second.calls.push_back(place);
      if (does != Does::kCloses) return;
      if (!was_copied(id, at->second.begun, event.head.time))
        for (const std::size_t call : at->second.calls) gone[call] = --numbers[call] == 0;
      process.open.erase(at);
    }
  };
  for (std::size_t i = 0; i < changes_.size(); i++) {
    const usc_event& event = changes_[i].event;
    const trace::ProcessId id = process_of(trace::TaskId(event.head.task));
    const Deed deed = deed_of(changes_[i]);
    const bool makes = call_of(event) == DescriptorCall::kMake;
    // A new process that is still known has its copy from here.
    const bool is_copied = makes && event.how == USC_HOW_RETURNED && !was_copied(id, event.entry_ns, event.head.time);
    if (is_copied || deed.does == Does::kNothing) {
      gone[i] = true;
    } else if (deed.does == Does::kMore) {
      Process& process = processes[id];
      if (!makes) process.open.clear();
      process.all_busy = std::max<std::uint64_t>(process.all_busy, event.head.time);
      if (call_of(event) == DescriptorCall::kTakeOver)
        for (auto& [other, theirs] : processes) theirs.open.clear();
    } else {
      numbers[i] = deed.fds[1] < 0 ? 1 : 2;
      for (const int fd : deed.fds)
        if (fd >= 0) use(i, deed.does, fd);
    }
  }
  drop(gone);
}

}  // namespace uscope::live
