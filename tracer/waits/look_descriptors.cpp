// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <fcntl.h>
#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "tracer/process/process_list.h"
#include "tracer/waits/look_taker.h"

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kPatienceNs = 400'000'000;
constexpr std::string_view kRing = "anon_inode:[io_uring]";

}  // namespace

void WaitLook::read_descriptors() {
  bool has_sockets = false;
  for (const auto& [pid, process] : processes_) {
    if (silent_.count(pid) != 0) continue;
    desk_.goes_to(pid);
    auto found = descriptors_of(folder_of(pid), [](const Descriptor&) { return true; });
    if (!found) {
      if (access(fmt::format("/proc/{}", pid).c_str(), F_OK) == 0)
        trouble(pid, fmt::format("the descriptors of process {}", pid));
      continue;
    }
    for (const auto& [fd, descriptor] : *found) has_sockets |= descriptor.type == USC_RESOURCE_INET;
    descriptors_.emplace(pid, std::move(*found));
    // Which table a number is of is not told apart.
    for (const std::string& folder : other_tables(pid)) {
      trouble(pid, fmt::format("a thread of process {} that has descriptors of its own", pid));
      if (auto others = descriptors_of(folder, [](const Descriptor&) { return true; }))
        other_descriptors_.emplace_back(pid, std::move(*others));
    }
  }
  if (!has_sockets) return;
  sockets_ = list_sockets();
  if (!sockets_) trouble(0, "the kernel's list of sockets");
  const std::string own = link_target("/proc/self/ns/net");
  for (auto& [pid, all] : descriptors_) {
    bool any = false;
    for (auto& [fd, descriptor] : all) {
      if (descriptor.type != USC_RESOURCE_INET) continue;
      any = true;
      const auto facts = sockets_ ? sockets_->find(number_in(descriptor.name)) : decltype(sockets_->end()){};
      if (sockets_ && facts != sockets_->end() && facts->second.is_unix) descriptor.type = USC_RESOURCE_UNIX;
      if (descriptor.sends_descriptors) in_flight(pid, processes_[pid], descriptor.name);
    }
    if (any && link_target(fmt::format("/proc/{}/ns/net", pid)) != own)
      trouble(pid, fmt::format("the sockets of process {}, which has a network namespace of its own", pid));
  }
}

// What lies in a socket's queue may be the other end of anything, and whoever reads it gets it.
void WaitLook::in_flight(std::uint32_t pid, std::uint32_t process, const std::string& socket) {
  usc_resource record{};
  record.process = process;
  record.pid = pid;
  record.fd = USC_RESOURCE_IN_FLIGHT;
  record.at = USC_RESOURCE_AT_LOOK;
  record.access = USC_ACCESS_READ | USC_ACCESS_WRITE;
  name_of(pid).copy(record.comm, sizeof(record.comm) - 1);
  record.name_bytes = static_cast<__u16>(socket.size());
  answer(record, socket);
}

void WaitLook::describe_socket(Descriptor& descriptor, usc_resource& record) {
  if (!sockets_) return;
  const std::uint64_t inode = number_in(descriptor.name);
  const auto facts = sockets_->find(inode);
  if (facts == sockets_->end()) return;
  const SocketFacts& socket = facts->second;
  record.type = socket.is_unix ? USC_RESOURCE_UNIX : USC_RESOURCE_INET;
  record.flags |= USC_RESOURCE_LISTENING_KNOWN;
  if (socket.listens) record.flags |= USC_RESOURCE_LISTENS;
  if (socket.peer != 0) {
    record.flags |= USC_RESOURCE_HAS_PEER;
    record.peer = socket.peer;
  }
  descriptor.queued = socket.queued;
  if (!socket.address.empty()) descriptor.name = fmt::format("socket:[{} unix:{}]", inode, socket.address);
}

void WaitLook::write_resources(std::uint32_t pid, std::uint32_t process, Descriptors& all) {
  const std::string comm = name_of(pid);
  for (auto& [fd, descriptor] : all) {
    const bool is_file = descriptor.type == USC_RESOURCE_FILE;
    const bool matters = process != 0 && waited_.count({pid, fd}) != 0;
    if (is_file && !matters && (!descriptor.object || locked_.count(*descriptor.object) == 0)) continue;
    if (++resources_ > kMostResources) {
      if (resources_ == kMostResources + 1) trouble(0, "all descriptors: there are too many");
      return;
    }
    usc_resource record{};
    record.process = process;
    record.pid = pid;
    record.fd = fd;
    record.type = descriptor.type;
    record.at = USC_RESOURCE_AT_LOOK;
    const unsigned access = descriptor.flags & O_ACCMODE;
    record.access = access == O_RDONLY   ? USC_ACCESS_READ
                    : access == O_WRONLY ? USC_ACCESS_WRITE
                                         : USC_ACCESS_READ | USC_ACCESS_WRITE;
    if ((descriptor.flags & O_NONBLOCK) != 0) record.flags |= USC_RESOURCE_NONBLOCKING;
    const std::string name = descriptor.name;
    if (name.starts_with("socket:[")) describe_socket(descriptor, record);
    if (descriptor.object) {
      record.flags |= USC_RESOURCE_HAS_OBJECT;
      record.dev = descriptor.object->first;
      record.ino = descriptor.object->second;
    }
    if (descriptor.queued) {
      record.flags |= USC_RESOURCE_HAS_QUEUED;
      record.queued = *descriptor.queued;
    }
    if (record.type == USC_RESOURCE_PIDFD && descriptor.peer != 0) {
      record.flags |= USC_RESOURCE_HAS_PEER;
      record.peer = descriptor.peer;
    }
    if (descriptor.terminal) {
      record.flags |= USC_RESOURCE_HAS_PEER;
      record.peer = *descriptor.terminal;
    }
    comm.copy(record.comm, sizeof(record.comm) - 1);
    record.name_bytes = static_cast<__u16>(std::min<std::size_t>(descriptor.name.size(), kMostName));
    answer(record, std::string_view(descriptor.name).substr(0, record.name_bytes));
    if (process == 0) continue;
    if (record.type == USC_RESOURCE_FIFO && descriptor.object) files_.insert(*descriptor.object);
    if (is_file && descriptor.object && matters) files_.insert(*descriptor.object);
    if (record.type == USC_RESOURCE_EVENTFD && descriptor.object) eventfds_.insert(descriptor.object->second);
    if (record.type == USC_RESOURCE_PIPE || record.type == USC_RESOURCE_FIFO || is_file || name.starts_with("socket:["))
      ends_.insert(name);
    if (name.starts_with("socket:[") && record.peer != 0) ends_.insert(fmt::format("socket:[{}]", record.peer));
  }
}

// An io_uring keeps the files open that are registered with it, whether or not its process has them.
void WaitLook::check_rings(std::uint32_t pid, const Descriptors& all) {
  for (const auto& [fd, descriptor] : all)
    for (const std::string& kept : descriptor.in_ring)
      if (ends_.count(kept) != 0) trouble(0, fmt::format("what the io_uring of process {} does with {}", pid, kept));
}

// One of them may close what the other waits for, and put something else at its number.
void WaitLook::find_shared_tables() {
  std::vector<std::uint32_t> pids;
  for (const auto& [pid, process] : processes_)
    if (silent_.count(pid) == 0) pids.push_back(pid);
  for (const auto& [pid, other] : shared_tables(pids))
    for (const auto& [one, with] : {std::pair(pid, other), std::pair(other, pid)})
      if (processes_.count(one) != 0)
        trouble(one,
                fmt::format("the descriptors of process {}, which process {} has, too, and may change", one, with));
}

// Asks each process of the machine for the ends that traced threads wait for. Of its sockets it is also asked whether
// descriptors lie in their queues: nothing tells which.
WaitLook::Strangers WaitLook::ask_strangers() {
  const auto is_end = [this](const Descriptor& one) {
    if (one.type == USC_RESOURCE_EVENTFD) return one.object && eventfds_.count(one.object->second) != 0;
    if (one.type == USC_RESOURCE_EPOLL) return one.object.has_value();
    if (one.terminal) return terminals_.count(*one.terminal) != 0;
    // A file may have another name there: a link, or where its file system is mounted.
    return ends_.count(one.name) != 0 || is_queue(one) || (one.object && files_.count(*one.object) != 0);
  };
  std::uint32_t pid = 0;
  std::uint32_t task = 0;
  const auto takes = [&](const Descriptor& one) {
    if (one.type == USC_RESOURCE_EPOLL) return number_of_set({task, one.fd}, pid).has_value();
    return ends_.count(one.name) != 0 || one.name.starts_with("socket:[") ||
           (one.type == USC_RESOURCE_EVENTFD && !eventfds_.empty()) || one.name == kRing ||
           (!files_.empty() && one.name.starts_with('/')) ||
           (!queue_names_.empty() && queue_names_.count(last_part(one.name)) != 0);
  };
  Strangers strangers;
  for (const std::uint32_t process : running_processes()) {
    pid = process;
    if (processes_.count(pid) != 0 || silent_.count(pid) != 0 || is_own_process(pid)) continue;
    desk_.goes_to(pid);
    std::vector<std::string> folders = other_tables(pid);
    folders.insert(folders.begin(), folder_of(pid));
    for (const std::string& folder : folders) {
      task = static_cast<std::uint32_t>(std::strtoul(last_part(folder).c_str(), nullptr, 10));
      auto found = descriptors_of(folder, takes);
      if (!found) {
        if (access(folder.c_str(), F_OK) == 0) strangers.unread.push_back(pid);
        continue;
      }
      for (const auto& [fd, descriptor] : *found)
        if (descriptor.sends_descriptors) strangers.in_flight.emplace_back(pid, descriptor.name);
      for (const auto& [fd, descriptor] : *found)
        if (!descriptor.in_ring.empty()) strangers.rings[pid].insert_or_assign(fd, descriptor);
      for (auto& [fd, descriptor] : *found)
        if (descriptor.type == USC_RESOURCE_EPOLL)
          if (const auto number = number_of_set({task, fd}, pid)) descriptor.object = {0, *number};
      std::erase_if(*found, [&](const auto& entry) { return !is_end(entry.second); });
      for (auto& [fd, descriptor] : *found)
        if (is_queue(descriptor)) descriptor.type = USC_RESOURCE_MQUEUE;
      strangers.ends.emplace_back(pid, std::move(*found));
    }
  }
  return strangers;
}

void WaitLook::find_holders() {
  Strangers strangers = ask_strangers();
  // Who is about to receive descriptors has them a moment later. Everybody is asked again: nothing tells who receives
  // them. Where programs send some all the time (other recordings do), one of several looks finds none.
  constexpr std::chrono::milliseconds kLongestPause{40};
  const std::uint64_t until_ns = monotonic_ns() + kPatienceNs;
  for (std::chrono::milliseconds pause{5}; !strangers.in_flight.empty() && monotonic_ns() < until_ns;) {
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, kLongestPause);
    strangers = ask_strangers();
  }
  for (const std::uint32_t pid : strangers.unread)
    trouble(0, fmt::format("the descriptors of process {}, which is not traced", pid));
  for (const auto& [pid, socket] : strangers.in_flight) in_flight(pid, 0, socket);
  for (const auto& [pid, all] : descriptors_) check_rings(pid, all);
  for (const auto& [pid, rings] : strangers.rings) check_rings(pid, rings);
  for (auto& [pid, ends] : strangers.ends) write_resources(pid, 0, ends);
}

}  // namespace uscope::tracer
