// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/waits/held_locks.h"

#include <fmt/core.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <system_error>

#include "tracer/waits/descriptors.h"
#include "tracer/waits/thread_status.h"

namespace uscope::tracer {
namespace {

// A process whose end its parent has not waited for yet does nothing any more; its first thread may end before others.
bool is_gone(std::uint32_t pid) {
  const auto first = status_of(pid, pid);
  if (!first) return access(folder_of(pid).c_str(), F_OK) != 0;
  if (first->state != 'Z' && first->state != 'X') return false;
  std::error_code problem;
  const std::filesystem::directory_iterator threads(folder_of(pid) + "/task", problem);
  return problem || std::distance(begin(threads), end(threads)) <= 1;
}

void note_whether_gone(usc_held_lock& lock) {
  if (lock.pid <= 0) return;
  lock.flags |= USC_LOCK_GONE_KNOWN;
  if (is_gone(static_cast<std::uint32_t>(lock.pid))) lock.flags |= USC_LOCK_GONE;
}

// `number`: of the semaphore, or 0 for a queue's senders and 1 for its receivers.
usc_held_lock user_of(usc_lock_kind kind, int id, key_t key, std::uint32_t number, int pid) {
  usc_held_lock lock{};
  lock.kind = static_cast<__u8>(kind);
  lock.mode = USC_LOCK_WRITE;
  lock.id = number;
  lock.dev = static_cast<std::uint32_t>(key);
  lock.ino = static_cast<std::uint64_t>(id);
  lock.pid = pid;
  lock.flags = USC_LOCK_HAS_OBJECT | USC_LOCK_HAS_PID;
  return lock;
}

}  // namespace

std::vector<usc_held_lock> read_locks() {
  std::vector<usc_held_lock> locks;
  std::ifstream file("/proc/locks");
  for (std::string line; std::getline(file, line);) {
    std::istringstream in(line);
    std::string id;
    std::string kind;
    std::string advisory;
    std::string mode;
    std::string object;
    std::string first;
    std::string last;
    usc_held_lock lock{};
    in >> id >> kind;
    if (kind == "->") {
      lock.flags |= USC_LOCK_WAITS;
      in >> kind;
    }
    if (!(in >> advisory >> mode >> lock.pid >> object >> first >> last)) continue;
    static const std::map<std::string, std::uint8_t> kKinds{
        {"FLOCK", USC_LOCK_FLOCK}, {"POSIX", USC_LOCK_POSIX}, {"OFDLCK", USC_LOCK_OFD}, {"LEASE", USC_LOCK_LEASE}};
    const auto known = kKinds.find(kind);
    unsigned major = 0;
    unsigned minor = 0;
    unsigned long long inode = 0;
    if (known == kKinds.end() || sscanf(object.c_str(), "%x:%x:%llu", &major, &minor, &inode) != 3) continue;
    lock.kind = known->second;
    lock.id = static_cast<std::uint32_t>(std::strtoul(id.c_str(), nullptr, 10));
    lock.mode = mode == "WRITE" ? USC_LOCK_WRITE : USC_LOCK_READ;
    lock.dev = makedev(major, minor);
    lock.ino = inode;
    lock.first = std::strtoull(first.c_str(), nullptr, 10);
    lock.flags |= USC_LOCK_HAS_OBJECT | USC_LOCK_HAS_PID;
    if (lock.kind == USC_LOCK_POSIX || lock.kind == USC_LOCK_OFD) lock.flags |= USC_LOCK_HAS_RANGE;
    if (last == "EOF")
      lock.flags |= USC_LOCK_TO_END;
    else
      lock.last = std::strtoull(last.c_str(), nullptr, 10);
    note_whether_gone(lock);
    locks.push_back(lock);
  }
  return locks;
}

std::optional<std::vector<usc_held_lock>> semaphore_users(int id, std::uint32_t waiter,
                                                          const std::vector<SemaphoreChange>& changes) {
  constexpr unsigned long kMost = 256;
  semid_ds facts{};
  if (semctl(id, 0, IPC_STAT, &facts) != 0) return std::nullopt;
  std::vector<usc_held_lock> users;
  for (int number = 0; number < static_cast<int>(std::min<unsigned long>(facts.sem_nsems, kMost)); number++) {
    const int pid = semctl(id, number, GETPID);
    if (pid < 0) continue;
    users.push_back(user_of(USC_LOCK_SEM, id, facts.sem_perm.__key, static_cast<std::uint32_t>(number), pid));
    note_whether_gone(users.back());
  }
  for (const SemaphoreChange& change : changes) {
    if (change.by > 0) continue;
    const int value = semctl(id, change.number, GETVAL);
    const bool waits = value >= 0 && (change.by == 0 ? value != 0 : value + change.by < 0);
    if (!waits) continue;
    users.push_back(user_of(USC_LOCK_SEM, id, facts.sem_perm.__key, change.number, static_cast<int>(waiter)));
    users.back().flags |= USC_LOCK_WAITS;
  }
  return users;
}

std::optional<std::vector<usc_held_lock>> message_users(int id) {
  msqid_ds facts{};
  if (msgctl(id, IPC_STAT, &facts) != 0) return std::nullopt;
  std::vector<usc_held_lock> users;
  for (const bool receives : {false, true}) {
    const pid_t pid = receives ? facts.msg_lrpid : facts.msg_lspid;
    users.push_back(user_of(USC_LOCK_MSG, id, facts.msg_perm.__key, receives ? 1 : 0, pid));
    if (receives) users.back().mode = USC_LOCK_READ;
    note_whether_gone(users.back());
  }
  return users;
}

}  // namespace uscope::tracer
