// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Descriptors of processes, as /proc tells them. Nothing is asked of file servers.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "uscope/record.h"

namespace uscope::tracer {

struct Descriptor {
  int fd = -1;
  std::string name;
  std::uint32_t flags = 0;  // of the open file
  std::uint8_t type = USC_RESOURCE_OTHER;
  std::optional<std::pair<std::uint64_t, std::uint64_t>> object;  // device and inode
  std::optional<std::uint64_t> queued;
  std::uint64_t peer = 0;
  std::optional<std::uint32_t> terminal;  // of either side of a pseudo-terminal: its number, where its name tells it
  struct InSet {
    int fd = -1;  // when the file was put there
    std::uint32_t events = 0;
    std::pair<std::uint64_t, std::uint64_t> object;  // device and inode
  };
  std::vector<InSet> set;            // of an epoll descriptor
  std::vector<std::string> in_ring;  // of io_uring: names of the files that it keeps open by itself
  bool sends_descriptors = false;
  bool has_links = true;  // of what has a path: some folder still has it
};

using Descriptors = std::map<int, Descriptor>;

// The number of "pipe:[4711]"; 0: it has none.
[[nodiscard]] std::uint64_t number_in(const std::string& name);

// Of a path, without what /proc appends where the file is deleted.
[[nodiscard]] std::string last_part(std::string path);

// A process's folder in /proc.
[[nodiscard]] std::string folder_of(std::uint32_t pid);

// Of threads that do not share their process's descriptors (unshare): their folders in /proc.
[[nodiscard]] std::vector<std::string> other_tables(std::uint32_t pid);

// Whether an entry of an epoll set is what its number stands for in the process now: a set keeps a file that is open
// elsewhere when its number is closed. Nothing: it cannot be told.
[[nodiscard]] std::optional<bool> is_what_number_says(std::uint32_t pid, const Descriptor& epoll, std::size_t entry,
                                                      const Descriptors& table);

// Pairs of processes that share one table of descriptors (CLONE_FILES): the second is one of `pids`, the first any.
[[nodiscard]] std::vector<std::pair<std::uint32_t, std::uint32_t>> shared_tables(
    const std::vector<std::uint32_t>& pids);

// An open file, by one of its descriptors: all descriptors of one open file are equal. The kernel compares them.
struct OpenFile {
  std::uint32_t task = 0;  // a process, or a thread with descriptors of its own
  int fd = -1;

  [[nodiscard]] bool operator<(const OpenFile& other) const;
  // Nothing: the kernel does not tell. What is no longer open is equal to nothing.
  [[nodiscard]] std::optional<bool> is(const OpenFile& other) const;
};

// `of`: a process's or thread's folder in /proc. `takes`: whether a descriptor with this name is read further. Nothing:
// they cannot be listed.
[[nodiscard]] std::optional<Descriptors> descriptors_of(const std::string& of,
                                                        const std::function<bool(const Descriptor&)>& takes);

// What the path leads to, as a descriptor that is not open; without type `USC_RESOURCE_FIFO` it is none. `from`: a
// folder's path for a relative path, a root's for an absolute one. Looks only at what the kernel remembers of folders.
[[nodiscard]] std::optional<Descriptor> find_fifo(const std::string& from, const std::string& path);

}  // namespace uscope::tracer
