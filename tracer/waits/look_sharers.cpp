// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What names do not tell of who shares what threads wait for: which epoll sets are one, who keeps a locked file open by
// a mapping alone, and whether asynchronous input and output may signal an eventfd.
#include <fmt/core.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <fstream>

#include "tracer/process/process_list.h"
#include "tracer/waits/look_taker.h"

namespace uscope::tracer {
namespace {

constexpr std::string_view kAsynchronous = "/[aio]";  // of io_setup(2)

}  // namespace

std::optional<std::uint64_t> WaitLook::number_of_set(const OpenFile& file, std::uint32_t pid) {
  const auto found = sets_.find(file);
  if (found == sets_.end()) return std::nullopt;
  const auto is_it = file.is(found->first);
  if (!is_it)
    trouble(pid, fmt::format("whether descriptor {} of process {} is an epoll set of another one", file.fd, pid));
  return is_it.value_or(false) ? std::optional(found->second) : std::nullopt;
}

// All epoll sets have one inode: those for which threads wait get numbers instead.
void WaitLook::mark_sets(const std::vector<Found>& all) {
  for (const Found& found : all)
    if (const OpenFile set{found.asked.pid, found.waits.epoll_fd}; set.fd >= 0) sets_.emplace(set, sets_.size() + 1);
  if (sets_.empty()) return;
  for (auto& [pid, table] : descriptors_)
    for (auto& [fd, descriptor] : table)
      if (descriptor.type == USC_RESOURCE_EPOLL)
        if (const auto number = number_of_set({pid, fd}, pid)) descriptor.object = {0, *number};
}

void WaitLook::write_mapping(std::uint32_t pid, const std::pair<std::uint64_t, std::uint64_t>& file,
                             std::string_view name) {
  usc_resource record{};
  const auto known = processes_.find(pid);
  record.process = known == processes_.end() ? 0 : known->second;
  record.pid = pid;
  record.fd = USC_RESOURCE_MAPPED;
  record.type = USC_RESOURCE_FILE;
  record.at = USC_RESOURCE_AT_LOOK;
  record.access = USC_ACCESS_READ | USC_ACCESS_WRITE;
  record.flags = USC_RESOURCE_HAS_OBJECT;
  record.dev = file.first;
  record.ino = file.second;
  name_of(pid).copy(record.comm, sizeof(record.comm) - 1);
  record.name_bytes = static_cast<__u16>(std::min(name.size(), kMostName));
  answer(record, name.substr(0, record.name_bytes));
}

void WaitLook::find_mappings_of(std::uint32_t pid) {
  desk_.goes_to(pid);
  std::ifstream maps(fmt::format("{}/maps", folder_of(living_thread_of(pid))));
  // As for shared memory, nobody counts whose mappings not even root may read.
  if (!maps && processes_.count(pid) != 0 && access(folder_of(pid).c_str(), F_OK) == 0)
    trouble(pid, fmt::format("the mappings of process {}", pid));
  bool is_asynchronous = false;
  std::set<std::pair<std::uint64_t, std::uint64_t>> told;  // it has a descriptor of, or maps in another place
  if (const auto table = descriptors_.find(pid); table != descriptors_.end())
    for (const auto& [fd, descriptor] : table->second)
      if (descriptor.object) told.insert(*descriptor.object);
  for (std::string line; std::getline(maps, line);) {
    unsigned major = 0;
    unsigned minor = 0;
    unsigned long long inode = 0;
    int at = 0;
    if (sscanf(line.c_str(), "%*x-%*x %*s %*x %x:%x %llu %n", &major, &minor, &inode, &at) != 3 || at == 0) continue;
    const std::string_view name = std::string_view(line).substr(static_cast<std::size_t>(at));
    is_asynchronous = is_asynchronous || name.starts_with(kAsynchronous);
    const std::pair<std::uint64_t, std::uint64_t> file{makedev(major, minor), inode};
    if (awaited_locks_.count(file) != 0 && told.insert(file).second) write_mapping(pid, file, name);
  }
  if (!is_asynchronous) return;
  for (const std::uint32_t waiter : at_eventfds_)
    trouble(waiter, fmt::format("which eventfds the asynchronous input and output of process {} signals", pid));
}

// A lock of flock(2), or of an open file (F_OFD_SETLK), lasts until nobody has the open file, and a mapping keeps it
// open, too. Which files have such locks, the kernel's list tells.
void WaitLook::find_mappings(const std::vector<Found>& all) {
  std::set<std::pair<std::uint64_t, std::uint64_t>> of_files;
  for (const usc_held_lock& lock : locks_)
    if (lock.kind == USC_LOCK_FLOCK || lock.kind == USC_LOCK_OFD) of_files.emplace(lock.dev, lock.ino);
  for (const auto& [pid, fd] : waited_or_in_sets(all)) {
    const auto table = descriptors_.find(pid);
    if (table == descriptors_.end()) continue;
    const auto at = table->second.find(fd);
    if (at == table->second.end()) continue;
    if (at->second.type == USC_RESOURCE_EVENTFD) at_eventfds_.insert(pid);
    if (at->second.object && of_files.count(*at->second.object) != 0) awaited_locks_.insert(*at->second.object);
  }
  for (const auto& [pid, process] : processes_)
    if (silent_.count(pid) == 0 && (!at_eventfds_.empty() || !awaited_locks_.empty())) find_mappings_of(pid);
  if (awaited_locks_.empty()) return;
  for (const std::uint32_t pid : running_processes())
    if (processes_.count(pid) == 0 && silent_.count(pid) == 0 && !is_own_process(pid)) find_mappings_of(pid);
}

}  // namespace uscope::tracer
