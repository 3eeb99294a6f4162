// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A file behind traced mappings, as the file table knows it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/kept_copies.h"
#include "support/unique_fd.h"
#include "symbolizer/elf/elf_facts.h"
#include "trace/ids.h"
#include "uscope/record.h"

namespace uscope::symbolizer {
struct UnwindTable;
}

namespace uscope::tracer {

// Modules that count as the application's in addition to its executable, and modules that are excluded: shell globs,
// matched against the whole path and its last component.
struct ModuleGlobs {
  std::vector<std::string> app;
  std::vector<std::string> exclude;
};

struct RowFigures {
  std::uint32_t rows = 0;
  std::uint32_t rules = 0;
  std::size_t bytes = 0;
};

// Files that a program will map, looked up ahead.
struct LookAhead {
  std::size_t left = 0;   // how many more may be looked up for this program
  std::uint32_t pid = 0;  // the process that may block this, 0: none
  int wait_ms = 5;        // for each file; the first one that takes longer is the last one looked up
};

struct File {
  bool met = false;     // all members below are known
  bool coming = false;  // path and classes are known; the file is being opened, or facts, and then rows, are being read
  usc_file_state state = USC_FILE_PENDING;
  std::uint32_t classes = 0;         // USC_CLASS_*
  std::string path;                  // as seen by the process that mapped it first
  UniqueFd fd;                       // only while it is read
  bool copied = false;               // fd is a copy of uscope's own, taken while the file held what was mapped
  std::shared_ptr<const void> room;  // that the copy takes (CopyRoom)
  bool copying = false;              // fd is open for the copy that is to be kept
  bool is_told = false;              // the trace has it
  std::optional<KeptCopy> kept;      // what was mapped, of a file that may be gone when it is read again
  std::string place;                 // uscope's own path to it when it was opened; empty: none
  std::uint32_t pid = 0;             // a process that had mapped it, and where
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  usc_file_key key{};     // the key of what was mapped
  bool announced = true;  // the kernel side has announced it, with its key
  symbolizer::ElfFacts facts;
  // Null if there are none, and for USC_FILE_USER_ONLY (WalkTables holds these).
  std::shared_ptr<const symbolizer::UnwindTable> rows;
  std::uint64_t no_room_until_ns = 0;  // before this, nothing gives way to it again
  std::uint64_t no_room_rest_ns = 0;
  RowFigures figures;   // of its rows, wherever they are kept
  std::string trouble;  // why there are no rows
  int open_error = 0;
  bool memory = false;  // exists only in memory (memory_file.h): its content may be replaced at any time
  std::string payer;    // the user to whom its reading time is charged
  [[nodiscard]] bool may_be_elf() const {
    return state == USC_FILE_READY || state == USC_FILE_USER_ONLY || state == USC_FILE_WITHOUT;
  }
  std::shared_ptr<LookAhead> look_ahead;  // for the program that needs this one; null: nothing is looked up
};

// Whether a mapping is memory for code made at run time: anonymous, or of a file that exists only in memory.
[[nodiscard]] inline bool is_jit(trace::FileId serial, const File* file) {
  return serial == trace::kNoFile || (file != nullptr && file->met && file->state == USC_FILE_JIT);
}

}  // namespace uscope::tracer
