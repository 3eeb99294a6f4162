// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "analyzer/deadlock/wait_follower.h"

namespace uscope::analyzer {

bool WaitFollower::is_make(const LastProcess& process) {
  return process.program == "make" || process.program == "gmake";
}

// GNU make has both ends of the pipe of its job server, and so has each job that takes tokens from it. Handlers of jobs
// put tokens back only when a signal ends them, and those of make leave the pipe alone.
bool WaitFollower::is_job_server(const Resource& pipe) const {
  if (pipe.type != "pipe") return false;
  std::set<std::size_t> reading;
  std::set<std::size_t> writing;
  for (const Resource* other : of_object(pipe)) {
    const auto place = places_.find(other->process_id);
    if (!other->process_id || place == places_.end() || !is_make(calls_.processes[place->second])) continue;
    if (other->reads()) reading.insert(place->second);
    if (other->writes()) writing.insert(place->second);
  }
  std::size_t process = thread_->process;
  for (std::size_t depth = 0; depth <= calls_.processes.size(); depth++) {
    if (reading.count(process) != 0 && writing.count(process) != 0) return true;
    const auto parent = places_.find(calls_.processes[process].parent_id);
    if (parent == places_.end()) return false;
    process = parent->second;
  }
  return false;
}

void WaitFollower::pipe(const LookedDescriptor& waited, const Resource& own) {
  const bool reads = waited.wants != "write";
  const bool writes = waited.wants == "write" || waited.wants == "read or write";
  Holders readers;
  Holders writers;
  for (const Resource* other : of_object(own)) {
    if (other->reads()) readers.push_back(other);
    if (other->writes()) writers.push_back(other);
  }
  if (reads && own.type == "fifo") {
    // Who opens it to write as well lets others come and go.
    const auto is_open = [&](const Resource* it) { return it->process_id == own.process_id || !it->process_id; };
    const std::string why = fmt::format("whoever opens {}", own.name);
    out_.is_at_fifo = true;
    return std::any_of(writers.begin(), writers.end(), is_open) ? outside(why) : whoever(own.name, why);
  }
  if (own.type == "fifo") out_.weak = true;
  if (reads) ends(own, writers, "the write end of");
  if (writes) {
    leave_out_idle(readers);
    ends(own, readers, "the read end of");
  }
}

// Whether all threads of a process sleep, and in something else than to read this pipe.
bool WaitFollower::reads_nothing_of(std::size_t process, const Resource& pipe) const {
  const auto threads = threads_.find(process);
  if (threads == threads_.end()) return false;
  const auto reads = [&](const LookedDescriptor& waited) {
    const auto held = by_fd_.find({calls_.processes[process].id, waited.fd});
    return waited.wants != "write" && held != by_fd_.end() && held->second->ino == pipe.ino &&
           held->second->type == pipe.type;
  };
  return std::all_of(threads->second.begin(), threads->second.end(), [&](const LookedThread* it) {
    const bool rests = it && (it->asleep || it->timed.value_or(false));
    return rests && it->state == "asleep" && !it->call.empty() &&
           std::none_of(it->descriptors.begin(), it->descriptors.end(), reads);
  });
}

// Servers keep both ends of the pipe that their logger reads. If somebody who has nothing but the read end is stopped,
// those who have both and read nothing will hardly begin to.
void WaitFollower::leave_out_idle(Holders& readers) {
  const auto place_of = [this](const Resource& held) {
    const auto place = places_.find(held.process_id);
    return held.process_id && place != places_.end() ? std::optional(place->second) : std::nullopt;
  };
  const auto has_both = [&](const Resource& reader) {
    const Holders all = of_object(reader);
    return std::any_of(all.begin(), all.end(),
                       [&](const Resource* it) { return it->process_id == reader.process_id && it->writes(); });
  };
  const auto is_stopped = [&](const Resource* reader) {
    const auto process = place_of(*reader);
    if (!process || has_both(*reader)) return false;
    const auto threads = threads_.find(*process);
    return threads != threads_.end() && std::all_of(threads->second.begin(), threads->second.end(),
                                                    [](auto* it) { return it && it->state == "stopped"; });
  };
  reader_stopped_ = std::any_of(readers.begin(), readers.end(), is_stopped);
  if (!reader_stopped_) return;
  std::erase_if(readers, [&](const Resource* reader) {
    const auto process = place_of(*reader);
    if (!process || !has_both(*reader) || !reads_nothing_of(*process, *reader)) return false;
    out_.idle.push_back({*process, reader->fd, reader->name, "the read end of"});
    return true;
  });
}

}  // namespace uscope::analyzer
