// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Whether processes have in memory what files hold at the places of probes. The kernel puts a breakpoint there in every
// process that maps the file privately, and executes the file's instruction in its stead, whatever the process had
// written over it. So a process that has changed its code would compute something else, traced or not.
//
// The kernel puts breakpoints into mappings that are not executable, too, and changes what a process has written there.
// A writable one gets none: a copy that a process edits matters when it is made executable or read-only, which the next
// look sees.
//
// Only pages are read that a process has for itself: others hold what the file holds. Scouts do that, one process after
// the other; a process that does not answer is left out. Not seen is what a process changes after the look at it.
//
// A process that is debugged may have a breakpoint of its own there at any time: the kernel executes the file's
// instruction in its stead, and removes it together with the probe. One that translates the code instead of executing
// it (tracer/scouts/foreign_code.h) would translate the kernel's breakpoint. Of what the kernel side says (CodeDoubt),
// the places are looked up alone: nobody waits for what stands there.
//
// Who does not answer has its memory's lock: a thread of it waits in munmap or the like, as for a file server (FUSE)
// that sleeps. The kernel needs that lock of each process that has a file mapped to attach to the file, and lets nobody
// on the machine fork meanwhile. So nothing is attached to a file that such a process has, or may have, mapped.
#pragma once

#include <sys/stat.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/regular_file.h"
#include "tracer/scouts/scouts.h"

namespace uscope::tracer {

// An instruction in a file.
struct CodePlace {
  static constexpr std::size_t kMostBytes = 15;
  std::uint64_t offset = 0;
  std::uint64_t count = 0;  // of its bytes
  std::array<unsigned char, kMostBytes> bytes{};
};

// Each mount of overlayfs shows a file of a layer under a device of its own, while the kernel's breakpoints are on the
// file in the layer, which they all map.
struct CodeFileId {
  FileIdentity shown;
  std::uint64_t size = 0;
  std::int64_t changed_s = 0;
  std::int64_t changed_ns = 0;

  static CodeFileId of(const struct stat& status);
  // Whether both may be one file in one layer: what has another device has the same number, size and time of change,
  // and one of the two lies on no disk of its own.
  [[nodiscard]] bool may_be(const CodeFileId& other) const;
};

struct CodeFile {
  CodeFileId id;
  std::vector<CodePlace> places;  // by offset
};

// Reads the instructions at these offsets of an open file. Places behind its end are left out.
[[nodiscard]] CodeFile read_code(int fd, const struct stat& status, std::vector<std::uint64_t> offsets);

struct CodeFinding {
  enum class What : std::uint8_t {
    kChanged,        // it has another instruction, breakpoints apart
    kCopyChanged,    // the same in a mapping that is not executable, and that the kernel puts breakpoints into
    kDebugged,       // it is traced (ptrace), and has a breakpoint, or its tracer can write its memory
    kTranslated,     // it does not execute the file's code, but translates it
    kOwnBreakpoint,  // it has one that is not the kernel's, nor a debugger's (tracer/scouts/kernel_breakpoints.h)
    kWritable,       // it can change the code around the kernel's breakpoint
    kUnprobed,       // it has no breakpoint, although the kernel puts them into such mappings
    kInDoubt,        // it has the place in memory that is in doubt
  };
  std::uint32_t pid = 0;
  std::uint32_t file = 0;  // in the order that was given
  std::uint64_t offset = 0;
  What what = What::kChanged;
  bool operator<(const CodeFinding& other) const {
    return std::tie(pid, file, offset, what) < std::tie(other.pid, other.file, other.offset, other.what);
  }
};

// A process that may be about to have breakpoints of its own somewhere in its memory.
struct CodeDoubt {
  std::uint32_t pid = 0;
  std::uint64_t start = 0;
  std::uint64_t end = UINT64_MAX;
  std::uint64_t pc = 0;              // where the call came from that is about to do it; 0: not known
  bool of_translators_only = false;  // there is a doubt only if it is one

  bool operator==(const CodeDoubt&) const = default;
};

class CodeLook {
 public:
  // `probed`: the kernel has its breakpoints at the places; kOwnBreakpoint is found only without, kWritable and
  // kUnprobed only with them. Without scouts, go_on() does all of it on the caller's thread.
  CodeLook(Scouts* scouts, std::vector<CodeFile> files, const std::vector<std::uint32_t>& pids, bool probed);
  // Finds kInDoubt alone. What the dynamic loader does (relocations of code) leaves no doubt.
  CodeLook(Scouts* scouts, std::vector<CodeFile> files, std::vector<CodeDoubt> doubts);

  // Goes on without waiting. Returns true when it is over.
  bool go_on();
  // The same, waiting for this long at most.
  bool go_on_for(int milliseconds);
  void finish();
  // On a CPU, so far.
  [[nodiscard]] std::uint64_t took_ns() const { return took_ns_; }
  // Who did not answer and has one of the files mapped, as far as is known.
  [[nodiscard]] const std::vector<std::uint32_t>& silent() const { return silent_; }
  // One for each process, place and What.
  [[nodiscard]] std::vector<CodeFinding> take() { return std::move(findings_); }

  enum class Mode : std::uint8_t { kUnprobed, kProbed, kInDoubt };

 private:
  [[nodiscard]] std::vector<std::byte> request() const;
  void add(const ScoutMessage& message);
  void skip_silent();

  Scouts* scouts_;
  std::vector<CodeFile> files_;
  std::vector<CodeDoubt> left_;
  Mode mode_;
  std::optional<Errand> errand_;
  std::uint64_t took_ns_ = 0;
  std::uint64_t before_ns_ = 0;  // of scouts that did not come back
  std::vector<CodeFinding> findings_;
  std::vector<std::uint32_t> silent_;
};

// Why nothing is attached to what a silent process has mapped.
[[nodiscard]] std::string why_silent(std::uint32_t pid);

}  // namespace uscope::tracer
