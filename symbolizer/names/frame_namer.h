// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Names addresses for the loader. An interface, so that the loader can be tested without ELF files.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/kept_copies.h"
#include "symbolizer/debug_files/debug_files.h"
#include "symbolizer/names/traced_file.h"
#include "trace/function_origin.h"
#include "trace/ids.h"
#include "uscope/record.h"

namespace uscope::symbolizer {

// A file of the trace for which names are needed.
struct ModuleRequest {
  trace::FileId file;
  std::string path;  // as seen by the process that mapped it first
  TracedFile traced;
};

// What the recording has of a file.
struct HeldModule {
  std::optional<KeptCopy> copy = {};  // of the mapped content, which no other process could write
  std::string place = {};             // where the file was, if there is no copy; empty: at the path of the request
  bool was_read = false;              // it was there while it was traced
};

using ModuleOpener = std::function<HeldModule(const ModuleRequest&)>;

enum class ModuleState : std::uint8_t {
  kUsable,   // it still holds the bytes that were mapped
  kChanged,  // its content has changed, or another file has its path
  kGone,     // it cannot be opened
  kLost,     // it was there when it was traced, and now cannot be opened
};

struct NamedFrame {
  std::string function;                          // never empty
  std::optional<std::uint64_t> function_offset;  // from its start to the address; nullopt if the start is unknown
  std::string file;                              // empty if unknown
  std::uint32_t line = 0;                        // 0 if unknown
  bool inlined = false;
  trace::FunctionOrigin origin = trace::FunctionOrigin::kOwn;
  trace::FunctionRole role = trace::FunctionRole::kNone;
  std::vector<std::uint64_t> locks = {};  // ELF addresses of the words that libc's function locks (locked_words.h)
};

class FrameNamer {
 public:
  virtual ~FrameNamer() = default;

  // Whether a file can be used for names; otherwise its frames are named by their addresses alone.
  virtual ModuleState state_of(const ModuleRequest&) { return ModuleState::kUsable; }

  // The functions at an ELF address of the module: inlined calls first, innermost first, the physical function last; at
  // least one. `exact`: the address of an instruction; otherwise a return address. Called module by module.
  virtual std::vector<NamedFrame> name(const ModuleRequest& module, std::uint64_t address, bool exact) = 0;

  // Of the module that was named last: why its debug information could not be read, or not wholly, as far as names
  // needed it: a sentence about "it". Empty: nothing is wrong, or it has none.
  virtual std::string debug_trouble(const ModuleRequest&) { return {}; }

  // Closes all files until they are needed again.
  virtual void close_files() {}
};

// Takes names from the files, of which `opener` returns copies, or which are opened by their path: a file that was
// changed or replaced (symbolizer/names/traced_file.h) gives no names rather than wrong ones. A copy is trusted. The
// vdso's names are those of this kernel, and are left out unless `same_kernel`. Separate debug files are searched
// (symbolizer/debug_files/debug_files.h); `fetch`, unless empty, is called for those not found.
std::unique_ptr<FrameNamer> make_symbol_namer(ModuleOpener opener, bool same_kernel, DebugFetcher fetch = {});

}  // namespace uscope::symbolizer
