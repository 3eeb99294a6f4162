// A second opinion on a stack: libdwfl (elfutils) walks a copy of it, by the CFI of the files themselves and without
// anything of our rows. What libdwfl itself does where CFI says nothing is told apart (OracleWalk::uncovered).
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

// A mapping of an address space that holds code. Mappings with one `file` and one load bias become one module.
struct OracleModule {
  std::string name;  // for messages
  int fd = -1;       // the caller's, and open until set_modules returns; not used where `vdso`
  std::uint32_t file = 0;
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  std::uint64_t offset = 0;  // file offset of start
  bool vdso = false;
};

struct OracleSample {
  std::array<std::uint64_t, 16> registers{};  // by DWARF number
  std::uint64_t pc = 0;
  std::uint64_t base = 0;  // address of the copy's first byte
  std::span<const std::byte> stack;
};

struct OracleFrame {
  std::uint64_t pc = 0;
  bool exact = false;  // of an interrupted instruction, not a return address
};

enum class OracleEnd {
  kRoot,      // CFI says that there is no caller
  kLeftCopy,  // the next frame needs memory that the copy does not hold
  kLimit,     // kMaxFrames
  kError,     // anything else: `error`
};

struct OracleWalk {
  std::vector<OracleFrame> frames;  // innermost first
  OracleEnd end = OracleEnd::kError;
  std::string error;  // libdwfl's words where end is kError or kLeftCopy
  // The first frame whose pc no CFI covers, or none that is true (where Go's runtime leaves a stack), -1: none. It is
  // itself true; frames behind it, if any, were found by following rbp and are no evidence. Without such frames, `end`
  // is kError. (The loader's entry code is such a frame: rows call it the root.)
  std::int32_t uncovered = -1;
  // The innermost pc lies in no FDE, but directly behind one, or behind a system call instruction directly behind one
  // (glibc's clone3): the walk was begun inside the FDE, since libdwfl would follow rbp here.
  bool begun_before_hole = false;
};

class Oracle {
 public:
  static constexpr std::size_t kMaxFrames = 4096;
  static constexpr std::size_t kDefaultSpaces = 32;

  // At most `spaces` address spaces are kept, the one used last longest.
  explicit Oracle(std::size_t spaces = kDefaultSpaces);
  ~Oracle();
  Oracle(Oracle&&) noexcept;
  Oracle& operator=(Oracle&&) noexcept;

  // Whether address space `mm` is known in this version; otherwise set_modules must come before walk.
  [[nodiscard]] bool has(std::uint64_t mm, std::uint64_t version) const;
  Result<void> set_modules(std::uint64_t mm, std::uint64_t version, std::span<const OracleModule> modules);
  Result<OracleWalk> walk(std::uint64_t mm, const OracleSample& sample);

 private:
  class Space;
  std::size_t limit_;
  std::list<std::unique_ptr<Space>> spaces_;  // used last first
};

}  // namespace uscope::symbolizer
