// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <fmt/core.h>
#include <sys/sysmacros.h>

#include <algorithm>

#include "tracer/process/process_list.h"
#include "tracer/waits/held_locks.h"
#include "tracer/waits/look_taker.h"
#include "tracer/waits/terminals.h"

namespace uscope::tracer {

// A POSIX message queue has the name of a file; the calls on it tell it apart. In folders where its file system is
// mounted it has longer names.
void WaitLook::mark_queues(const std::vector<Found>& all) {
  for (const Found& found : all) {
    const auto table = descriptors_.find(found.asked.pid);
    if (!found.waits.on_queue || table == descriptors_.end()) continue;
    const auto at = table->second.find(found.waits.things.front().fd);
    if (at == table->second.end() || !at->second.object) continue;
    queues_.insert(*at->second.object);
    queue_names_.insert(last_part(at->second.name));
    // Its name would tell that nobody can open it any more.
    if (at->second.has_links && at->second.name.ends_with(" (deleted)"))
      trouble(found.asked.pid, fmt::format("whether the message queue {} is deleted", at->second.name));
  }
  if (queues_.empty()) return;
  const auto mark = [this](auto& tables) {
    for (auto& [pid, table] : tables)
      for (auto& [fd, descriptor] : table)
        if (is_queue(descriptor)) descriptor.type = USC_RESOURCE_MQUEUE;
  };
  mark(descriptors_);
  mark(other_descriptors_);
}

// "/dev/tty" and "/dev/console" may be any terminal.
std::optional<std::uint32_t> WaitLook::number_of_terminal(std::uint32_t pid, Descriptor& descriptor) {
  if (descriptor.type == USC_RESOURCE_TTY && !descriptor.terminal)
    if (const auto facts = terminal_of(pid, descriptor.fd)) descriptor.terminal = facts->number;
  return descriptor.terminal;
}

// Processes and numbers of the descriptors that threads wait for, by themselves or in a set.
std::set<std::pair<std::uint32_t, int>> WaitLook::waited_or_in_sets(const std::vector<Found>& all) const {
  std::set<std::pair<std::uint32_t, int>> waited = waited_;
  for (const Found& found : all) {
    const auto table = descriptors_.find(found.asked.pid);
    if (found.waits.epoll_fd < 0 || table == descriptors_.end()) continue;
    const auto epoll = table->second.find(found.waits.epoll_fd);
    if (epoll == table->second.end()) continue;
    for (const Descriptor::InSet& entry : epoll->second.set) waited.emplace(found.asked.pid, entry.fd);
  }
  return waited;
}

// Which terminals threads wait for, whether their reads end by themselves, and whose descriptors are theirs.
void WaitLook::mark_terminals(const std::vector<Found>& all) {
  for (const auto& [pid, fd] : waited_or_in_sets(all)) {
    const auto table = descriptors_.find(pid);
    if (table == descriptors_.end()) continue;
    const auto at = table->second.find(fd);
    const bool is_terminal =
        at != table->second.end() && (at->second.type == USC_RESOURCE_TTY || at->second.type == USC_RESOURCE_PTMX);
    if (!is_terminal) continue;
    desk_.goes_to(pid);
    const auto facts = terminal_of(pid, fd);
    if (!facts) trouble(pid, fmt::format("the settings of the terminal {} (VMIN, VTIME)", at->second.name));
    if (facts && facts->limits_reads) limited_.emplace(pid, fd);
    if (facts && !at->second.terminal) at->second.terminal = facts->number;
    if (at->second.terminal) terminals_.insert(*at->second.terminal);
  }
  if (terminals_.empty()) return;
  for (auto& [pid, table] : descriptors_)
    for (auto& [fd, descriptor] : table) {
      const auto number = number_of_terminal(pid, descriptor);
      if (number && terminals_.count(*number) != 0) ends_.insert(descriptor.name);
    }
  for (const auto& [pid, table] : descriptors_)
    for (const auto& [fd, descriptor] : table)
      if (descriptor.type == USC_RESOURCE_PTMX && descriptor.terminal && terminals_.count(*descriptor.terminal) != 0)
        check_session(pid, descriptor);
}

// When the leader of its session ends, which may have no descriptor of it, SIGHUP is sent to those that use the
// terminal.
void WaitLook::check_session(std::uint32_t pid, const Descriptor& master) {
  const auto leader = session_of_terminal(pid, master.fd);
  if (leader && *leader == 0) return;
  if (leader) {
    const auto table = descriptors_.find(*leader);
    const auto is_it = [&](const auto& entry) { return entry.second.terminal == master.terminal; };
    if (table != descriptors_.end() && std::any_of(table->second.begin(), table->second.end(), is_it)) return;
  }
  trouble(pid, fmt::format("the session of the terminal /dev/pts/{}, whose end hangs up on who uses it",
                           master.terminal.value_or(0)));
}

// A FIFO has a number that no descriptor has, until it is open.
void WaitLook::write_opening(const Found& found) {
  const OpenedPath& opened = *found.waits.path;
  if (found.before->state != 'S') return;  // it waits for a disk, or runs
  const std::string folder = folder_of(found.asked.pid);
  const std::string from = opened.path.starts_with('/') ? folder + "/root"
                           : opened.folder < 0          ? folder + "/cwd"
                                                        : fmt::format("{}/fd/{}", folder, opened.folder);
  const auto fifo = find_fifo(from, opened.path);
  if (!fifo) return;
  usc_waited waited{};
  waited.via_fd = USC_WAITED_NO_FD;
  waited.fd = USC_RESOURCE_IN_FLIGHT - ++openings_;
  waited.wants = opened.reads ? opened.writes ? USC_WANTS_READ_OR_WRITE : USC_WANTS_READ : USC_WANTS_WRITE;
  answer(waited, {}, found.asked.task);
  usc_resource record{};
  record.process = found.asked.process;
  record.pid = found.asked.pid;
  record.fd = waited.fd;
  record.type = USC_RESOURCE_FIFO;
  record.at = USC_RESOURCE_AT_LOOK;
  record.access = static_cast<__u8>((opened.reads ? USC_ACCESS_READ : 0) | (opened.writes ? USC_ACCESS_WRITE : 0));
  record.flags = USC_RESOURCE_HAS_OBJECT;
  record.dev = fifo->object->first;
  record.ino = fifo->object->second;
  name_of(found.asked.pid).copy(record.comm, sizeof(record.comm) - 1);
  record.name_bytes = static_cast<__u16>(std::min<std::size_t>(fifo->name.size(), kMostName));
  answer(record, std::string_view(fifo->name).substr(0, record.name_bytes));
}

// The file has a number that no descriptor has; so has its mount.
void WaitLook::write_served(const Found& found) {
  const Mount& mount = found.file->mount;
  usc_waited waited{};
  waited.via_fd = USC_WAITED_NO_FD;
  waited.fd = USC_RESOURCE_IN_FLIGHT - ++openings_;
  waited.wants = USC_WANTS_OTHER;
  answer(waited, {}, found.asked.task);
  usc_resource record{};
  record.process = found.asked.process;
  record.pid = found.asked.pid;
  record.fd = waited.fd;
  record.at = USC_RESOURCE_AT_LOOK;
  record.access = USC_ACCESS_READ | USC_ACCESS_WRITE;
  record.flags = USC_RESOURCE_HAS_OBJECT;
  record.dev = makedev(mount.major, mount.minor);
  name_of(found.asked.pid).copy(record.comm, sizeof(record.comm) - 1);
  const auto write = [this](usc_resource& resource, std::uint8_t type, const std::string& name) {
    resource.type = type;
    resource.name_bytes = static_cast<__u16>(std::min<std::size_t>(name.size(), kMostName));
    answer(resource, std::string_view(name).substr(0, resource.name_bytes));
  };
  write(record, USC_RESOURCE_FILE, found.file->path);
  if (const auto waiting = fuse_calls_waiting(mount)) {
    record.queued = *waiting;
    record.flags |= USC_RESOURCE_HAS_QUEUED;
  }
  write(record, USC_RESOURCE_MOUNT, mount.text());
  if (mounts_.insert(mount.id).second) write_servers(mount);
}

void WaitLook::write_servers(const Mount& mount) {
  const auto may_ask = [&](std::uint32_t pid) {
    if (silent_.count(pid) != 0 || is_own_process(pid)) return false;
    desk_.goes_to(pid);
    return true;
  };
  for (const auto& [pid, fd] : fuse_servers(mount, may_ask)) {
    usc_resource record{};
    const auto known = processes_.find(pid);
    record.process = known == processes_.end() ? 0 : known->second;
    record.pid = pid;
    record.fd = fd;
    record.type = USC_RESOURCE_MOUNT;
    record.at = USC_RESOURCE_AT_LOOK;
    record.access = USC_ACCESS_READ | USC_ACCESS_WRITE;
    record.flags = USC_RESOURCE_HAS_OBJECT;
    record.dev = makedev(mount.major, mount.minor);
    name_of(pid).copy(record.comm, sizeof(record.comm) - 1);
    constexpr std::string_view kName = "/dev/fuse";
    record.name_bytes = kName.size();
    answer(record, kName);
  }
}

// The process that is not traced, and to one of whose threads the pid namespace of process `of` gives this number.
std::optional<std::uint32_t> WaitLook::process_of_number(std::uint32_t of, std::uint32_t number) {
  const std::vector<std::uint32_t>& own = ns_pids_[of];
  if (own.size() <= 1) {
    const auto pid = process_of_thread(number);
    return pid && processes_.count(*pid) == 0 ? pid : std::nullopt;
  }
  const std::string space = link_target(folder_of(of) + "/ns/pid");
  const auto [known, is_new] = numbers_.try_emplace(space);
  for (const std::uint32_t pid : is_new ? running_processes() : std::vector<std::uint32_t>()) {
    if (processes_.count(pid) != 0 || silent_.count(pid) != 0 || is_own_process(pid)) continue;
    desk_.goes_to(pid);
    if (link_target(folder_of(pid) + "/ns/pid") != space) continue;
    for (const std::uint32_t tid : threads_of(pid))
      if (const auto inner = inner_number_of(pid, tid)) known->second.emplace(*inner, pid);
  }
  const auto found = known->second.find(number);
  return found == known->second.end() ? std::nullopt : std::optional(found->second);
}

// Numbers of threads that are traced need no look: whose they are the trace tells.
void WaitLook::write_owners(const Found& found) {
  for (const std::uint32_t number : found.numbers) {
    const auto pid = process_of_number(found.asked.pid, number);
    if (!pid) continue;
    usc_waited record{};
    record.fd = record.via_fd = USC_WAITED_NO_FD;
    record.what = USC_WAITED_OWNER;
    record.wants = USC_WANTS_OTHER;
    record.pid = *pid;
    record.pgid = number;
    answer(record, {}, found.asked.task);
  }
}

void WaitLook::write_locks() {
  std::set<std::uint32_t> matters;  // locks of files that traced processes hold, or of these processes
  std::set<std::pair<std::uint64_t, std::uint64_t>> held;
  for (const auto& [pid, all] : descriptors_)
    for (const auto& [fd, descriptor] : all)
      if (descriptor.object) held.insert(*descriptor.object);
  for (const usc_held_lock& lock : locks_)
    if (held.count({lock.dev, lock.ino}) != 0 || processes_.count(static_cast<std::uint32_t>(lock.pid)) != 0)
      matters.insert(lock.id);
  for (usc_held_lock lock : locks_) {
    if (matters.count(lock.id) == 0) continue;
    const auto known = processes_.find(static_cast<std::uint32_t>(lock.pid));
    if (lock.pid > 0 && known != processes_.end()) lock.process = known->second;
    answer(lock);
  }
}

// Ids are those of an IPC namespace.
void WaitLook::write_system_v(const Found& found) {
  const bool is_set = found.waits.semaphores >= 0;
  const int id = is_set ? found.waits.semaphores : found.waits.messages;
  const std::string what = fmt::format("{} {}", is_set ? "the System V semaphores" : "the System V message queue", id);
  const std::uint32_t pid = found.asked.pid;
  if (link_target(folder_of(pid) + "/ns/ipc") != link_target("/proc/self/ns/ipc"))
    return trouble(pid, fmt::format("{} of process {}, which has an IPC namespace of its own", what, pid));
  auto users = is_set ? semaphore_users(id, pid, found.waits.changes) : message_users(id);
  if (!users) return trouble(pid, what);
  const bool is_new = system_v_.emplace(is_set ? USC_LOCK_SEM : USC_LOCK_MSG, id).second;
  for (usc_held_lock& user : *users) {
    if (!is_new && (user.flags & USC_LOCK_WAITS) == 0) continue;
    const auto known = processes_.find(static_cast<std::uint32_t>(user.pid));
    if (known != processes_.end()) user.process = known->second;
    answer(user);
  }
}

}  // namespace uscope::tracer
