// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Records of made processes that open, copy, close and rename at random, fork and end, with descriptors as the kernel
// would number them.
#pragma once

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "live/window/kept_record.h"
#include "syscalls/syscall_table.h"
#include "trace/record_builder.h"

namespace uscope::live {

inline constexpr std::uint64_t kWorldBegins = 5'000'000'000;

using MadeRecords = std::vector<KeptRecord>;

inline std::uint32_t number_of(const char* call) {
  return syscalls::syscall_number(USC_ABI_X86_64, call).value_or(0);
}

// Makes the records of processes that run one after the other.
class MadeProcesses {
 public:
  explicit MadeProcesses(std::uint64_t seed) : random_(seed) { begin(1, 0); }

  MadeRecords make(std::size_t calls) {
    for (std::size_t i = 0; i < calls; i++) step();
    return std::move(records_);
  }

 private:
  std::size_t below(std::size_t end) { return random_() % end; }

  template <typename Record>
  void add(trace::RecordBuilder<Record> record) {
    records_.push_back(keep(record.head()));
  }

  void begin(std::uint32_t serial, std::uint32_t parent) {
    usc_task task{};
    task.head.task = serial;
    task.head.time = now_;
    task.process = serial;
    task.parent_task = parent;
    task.pid = task.tid = task.ns_pid = task.ns_tid = 100 + serial;
    task.flags = USC_TASK_PROCESS | (parent == 0 ? USC_TASK_SAME_FILES | USC_TASK_SAME_FS : 0);
    add(trace::RecordBuilder<usc_task>(task));
    tables_[serial] = parent == 0 ? std::set<int>{} : tables_[parent];
  }

  void end(std::uint32_t serial) {
    usc_task_exit exit{};
    exit.head.task = exit.process = serial;
    exit.head.time = ++now_;
    exit.flags = USC_EXIT_GROUP_DEAD;
    add(trace::RecordBuilder<usc_task_exit>(exit));
    tables_.erase(serial);
  }

  void call(std::uint32_t serial, const char* name, std::int64_t result, std::array<std::uint64_t, 3> args,
            const std::vector<std::pair<int, std::string>>& texts = {}, std::uint8_t kind = USC_STRING_TEXT) {
    usc_event event{};
    event.head.task = serial;
    event.entry_ns = entry_ != 0 ? std::exchange(entry_, 0) : ++now_;
    for (const auto& [arg, text] : texts) {
      usc_string string{};
      string.head.task = serial;
      string.head.time = string.entry_ns = event.entry_ns;
      string.arg = static_cast<__u8>(arg);
      string.kind = kind;
      string.bytes = static_cast<__u16>(text.size());
      add(std::move(trace::RecordBuilder<usc_string>(string).add(std::string_view(text))));
    }
    now_ += 1 + below(3);
    event.head.time = now_;
    event.kind = number_of(name);
    event.abi = USC_ABI_X86_64;
    event.how = USC_HOW_RETURNED;
    event.result = result;
    std::copy(args.begin(), args.end(), event.args);
    add(trace::RecordBuilder<usc_event>(event));
  }

  int lowest(std::set<int>& table) {
    int fd = 3;
    while (table.count(fd) != 0) fd++;
    table.insert(fd);
    return fd;
  }

  std::string path() { return fmt::format("/d{}/f{}", below(3), below(5)); }

  void step() {
    auto at = tables_.begin();
    std::advance(at, static_cast<std::ptrdiff_t>(below(tables_.size())));
    const std::uint32_t serial = at->first;
    std::set<int>& table = at->second;
    const auto some = [&] {
      auto fd = table.begin();
      std::advance(fd, static_cast<std::ptrdiff_t>(below(table.size())));
      return static_cast<std::uint64_t>(*fd);
    };
    const auto cwd = static_cast<std::uint64_t>(AT_FDCWD);
    const std::size_t choice = below(100);
    if (choice < 18 && table.size() < 12)
      return call(serial, "openat", lowest(table), {cwd, 0, below(4) == 0 ? std::uint64_t{O_CLOEXEC} : 0},
                  {{1, path()}});
    if (choice < 20) return call(serial, "openat", -ENOENT, {cwd}, {{1, path()}});
    if (choice < 22) return call(serial, "eventfd2", lowest(table), {});
    if (choice < 24) return call(serial, "socket", lowest(table), {AF_INET, SOCK_STREAM});
    if (choice < 27 && tables_.size() < 6) {
      entry_ = ++now_;
      ++now_;
      const std::uint32_t child = ++last_;
      begin(child, serial);
      return call(serial, "fork", 100 + child, {});
    }
    if (choice < 30 && tables_.size() > 1 && serial != 1) return end(serial);
    if (choice < 32) return call(serial, "rename", 0, {}, {{0, path()}, {1, path()}});
    if (choice < 33) return call(serial, "chdir", 0, {}, {{0, fmt::format("/d{}", below(3))}});
    if (choice < 36 && table.size() < 12)
      return call(serial, "openat", lowest(table), {cwd}, {{1, fmt::format("f{}", below(5))}});
    if (table.empty()) return;
    const std::uint64_t fd = some();
    if (choice < 55) {
      table.erase(static_cast<int>(fd));
      return call(serial, "close", 0, {fd});
    }
    if (choice < 58) return call(serial, "dup", lowest(table), {fd});
    if (choice < 60) {
      const std::uint64_t onto = 3 + below(10);
      table.insert(static_cast<int>(onto));
      return call(serial, "dup2", static_cast<std::int64_t>(onto), {fd, onto});
    }
    if (choice < 62)
      return call(serial, "connect", 0, {fd},
                  {{1, std::string("\x02\x00\x00\x50\x7f\x00\x00\x01\0\0\0\0\0\0\0\0", 16)}}, USC_STRING_ADDRESS);
    if (choice < 64) return call(serial, "fcntl", 0, {fd, F_SETFD, below(2)});
    if (choice < 65) return call(serial, "close", -EBADF, {below(20)});
    return call(serial, "read", 5, {below(6) == 0 ? below(20) : fd});
  }

  std::mt19937_64 random_;
  MadeRecords records_;
  std::map<std::uint32_t, std::set<int>> tables_;
  std::uint32_t last_ = 1;
  std::uint64_t now_ = kWorldBegins;
  std::uint64_t entry_ = 0;  // of the next call, if it has begun
};

}  // namespace uscope::live
