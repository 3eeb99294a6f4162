// Files that are only memory: memfds, and deleted files on a tmpfs. Run-time compilers write code to some; others hold
// whole libraries, and a program may fill one again with another library at any time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "support/unique_fd.h"
#include "uscope/record.h"

namespace uscope::tracer {

// Whether a file lies on a file system that lives in memory.
[[nodiscard]] bool is_on_memory(int fd);

// A copy of the ELF file that a memory file holds now, which nobody else can write to. Empty where it holds none, is
// larger than `kMostCopied`, or cannot be read.
constexpr std::uint64_t kMostCopied = std::uint64_t{16} << 20;
[[nodiscard]] UniqueFd copy_memory_file(int fd);

// Which memory is for code made at run time, and so stays one file whatever is written to it.
class MemoryFiles {
 public:
  struct Seen {
    bool first = false;    // nothing was seen of it before
    bool settled = false;  // it counts as such memory from now on; told once
  };
  // It holds no ELF file. `unchanged`: that is what was mapped. It is settled at once where that is sure, else after
  // many contents none of which was ELF.
  Seen saw_code(const usc_file_key& key, bool unchanged);
  void saw_elf(const usc_file_key& key) { memory_[{key.dev, key.ino}].elf = true; }
  // The key under which the kernel side looks such memory up, whatever it holds.
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
