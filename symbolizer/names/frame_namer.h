// Who gives the loader the names of addresses. An interface, so that the loader is tested without ELF files.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/unique_fd.h"
#include "symbolizer/debug_files/debug_files.h"
#include "symbolizer/names/traced_file.h"
#include "uscope/record.h"

namespace uscope::symbolizer {

// A file of the trace whose names are wanted.
struct ModuleRequest {
  std::uint32_t file = 0;  // its serial in the raw trace
  std::string path;        // as seen by the process that mapped it first
  TracedFile traced;
};

// What the recording held of a file.
struct HeldModule {
  UniqueFd fd;          // empty: nothing
  bool copied = false;  // a copy of what was mapped, which nobody else could write to
};

// Gives the file itself, where it has a better idea than the path.
using ModuleOpener = std::function<HeldModule(const ModuleRequest&)>;

enum class ModuleState : std::uint8_t {
  kUsable,   // its bytes are those that were mapped
  kChanged,  // it holds something else by now, or another file has its path
  kGone,     // it cannot be opened
};

struct NamedFrame {
  std::string function;                          // never empty
  std::optional<std::uint64_t> function_offset;  // from its start to the address; empty where the start is not known
  std::string file;                              // empty where not known
  std::uint32_t line = 0;                        // 0 where not known
  bool inlined = false;
};

class FrameNamer {
 public:
  virtual ~FrameNamer() = default;

  // Whether a file gives names; others are named by their addresses alone.
  virtual ModuleState state_of(const ModuleRequest&) { return ModuleState::kUsable; }

  // The functions at an ELF address of the module, innermost inlined call first, the physical function last; at least
  // one. `exact`: the address of an instruction; otherwise a return address. Asked module by module.
  virtual std::vector<NamedFrame> name(const ModuleRequest& module, std::uint64_t address, bool exact) = 0;
};

// Names by the files themselves, whether `opener` gives them or they are opened by their path: a file that was changed
// or replaced (symbolizer/names/traced_file.h) gives no names rather than wrong ones. A copy is believed. The vdso's
// names are this kernel's, and are left out where `same_kernel` is false. Separate debug files are looked for
// (symbolizer/debug_files/debug_files.h), and `fetch`, where it is not empty, is asked for those that are not found.
std::unique_ptr<FrameNamer> make_symbol_namer(ModuleOpener opener, bool same_kernel, DebugFetcher fetch = {});

}  // namespace uscope::symbolizer
