// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Files that exist only in memory: memfds, and deleted files on a tmpfs. Run-time compilers write code to some of them;
// others hold whole libraries, and a program may later fill one with another library.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include "support/unique_fd.h"
#include "uscope/record.h"

namespace uscope::tracer {

// Whether a file is on a file system in memory.
[[nodiscard]] bool is_on_memory(int fd);

// How much memory copies may take that exist at the same time. Usable by several threads at once.
class CopyRoom {
 public:
  explicit CopyRoom(std::uint64_t bytes) : left_(std::make_shared<std::atomic<std::uint64_t>>(bytes)) {}

  // So much is taken as long as the result exists, which may outlive this object. Null: there is not so much left.
  [[nodiscard]] std::shared_ptr<const void> take(std::uint64_t bytes);

 private:
  std::shared_ptr<std::atomic<std::uint64_t>> left_;
};

struct ElfCopy {
  UniqueFd fd;
  std::shared_ptr<const void> room;  // that it takes
};

// Returns a copy in memory of the ELF file that a file holds now, which no other process can write. Holes stay holes.
// Empty if it holds none, is larger than `kMostCopied`, cannot be read, or finds no room.
constexpr std::uint64_t kMostCopied = std::uint64_t{16} << 20;
[[nodiscard]] ElfCopy copy_elf_file(int fd, CopyRoom& room);

// Tracks which memory files are for code made at run time, and so stay one file whatever is written to them.
class MemoryFiles {
 public:
  struct Seen {
    bool first = false;    // the file had not been seen before
    bool settled = false;  // from now on it counts as memory for code; reported once
  };
  // The file held no ELF file when it was read. `unchanged`: that is the content that was mapped. It is settled at once
  // if that is certain, otherwise after many contents, none of which was ELF.
  Seen saw_code(const usc_file_key& key, bool unchanged);
  // No process has it mapped any more.
  void forget(const usc_file_key& key) { memory_.erase({key.dev, key.ino}); }
  void saw_elf(const usc_file_key& key) { memory_[{key.dev, key.ino}].elf = true; }
  // The key by which the kernel side looks up such memory, whatever it holds.
  [[nodiscard]] static usc_file_key key_of(const usc_file_key& key);

 private:
  struct Memory {
    bool elf = false;
    bool settled = false;
    unsigned times = 0;
  };
  std::map<std::pair<std::uint64_t, std::uint64_t>, Memory>
      memory_;  // by device and inode: at most one for each serial
};

}  // namespace uscope::tracer
