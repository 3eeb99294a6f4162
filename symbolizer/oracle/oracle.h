// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A second opinion on a stack: libdwfl (elfutils) walks a copy of it, with the files' own CFI and without uscope's
// rows. Frames for which libdwfl falls back to its own methods, because CFI covers nothing, are marked
// (OracleWalk::uncovered).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "support/result.h"
#include "symbolizer/elf/elf_handles.h"

namespace uscope::symbolizer {

// A mapping of an address space that holds code. Mappings with the same `file` and load bias become one module.
struct OracleModule {
  std::string name;  // for messages
  int fd = -1;       // the caller's; must be open until set_modules returns; unused for `vdso`
  std::uint32_t file = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;  // file offset of start
  bool vdso = false;
};

struct OracleSample {
  std::array<std::uint64_t, 16> registers{};  // by DWARF number
  std::uint64_t pc = 0;
  bool behind = false;     // pc is behind the instruction of a system call that the thread is in
  std::uint64_t base = 0;  // address of the copy's first byte
  std::span<const std::byte> stack;
};

struct OracleFrame {
  std::uint64_t pc = 0;
  bool exact = false;  // the address of an interrupted instruction, not of the one behind a call
};

enum class OracleEnd {
  kRoot,      // CFI states that there is no caller
  kLeftCopy,  // the next frame needs memory that the copy does not hold
  kLimit,     // kMaxFrames
  kError,     // anything else; see `error`
};

struct OracleWalk {
  std::vector<OracleFrame> frames;  // innermost first
  OracleEnd end = OracleEnd::kError;
  std::string error;  // libdwfl's message if end is kError or kLeftCopy
  // The first frame whose pc no CFI covers, or only false CFI (where Go's runtime switches stacks); -1: none. The frame
  // itself is correct; frames after it, if any, were found by following the frame pointer and are no evidence. Without
  // such frames, `end` is kError. (The loader's entry code is such a frame: rows call it the root.)
  std::int32_t uncovered = -1;
  // The innermost frame is looked up in no FDE, but directly after one, or at a system call instruction directly after
  // one (glibc's clone3): the walk was started inside the FDE, since libdwfl would otherwise follow the frame pointer.
  bool begun_before_hole = false;
};

class Oracle {
 public:
  static constexpr std::size_t kMaxFrames = 4096;
  static constexpr std::size_t kDefaultSpaces = 32;

  // Keeps at most `spaces` address spaces, the most recently used ones.
  explicit Oracle(std::size_t spaces = kDefaultSpaces);
  ~Oracle();
  Oracle(Oracle&&) noexcept;
  Oracle& operator=(Oracle&&) noexcept;

  // Whether address space `mm` is known in this version; if not, call set_modules before walk.
  [[nodiscard]] bool has(std::uint64_t mm, std::uint64_t version) const;
  Result<void> set_modules(std::uint64_t mm, std::uint64_t version, std::span<const OracleModule> modules);
  Result<OracleWalk> walk(std::uint64_t mm, const OracleSample& sample);

 private:
  class Space;
  std::size_t limit_;
  std::list<std::unique_ptr<Space>> spaces_;  // most recently used first
};

}  // namespace uscope::symbolizer
