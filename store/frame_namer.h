// Who gives the loader the names of addresses. An interface, so that the loader is tested without ELF files.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/unique_fd.h"
#include "symbolizer/debug_files.h"
#include "uscope/record.h"

namespace uscope::store {

// A file of the trace whose names are wanted.
struct ModuleRequest {
  std::uint32_t file = 0;           // its serial in the raw trace
  std::string path;                 // as seen by the process that mapped it first
  std::string build_id;             // raw bytes, empty where it has none or it is not known
  std::optional<usc_file_key> key;  // what the kernel knew of the file, where the trace says
};

// Gives the file itself, or an empty UniqueFd where it has no better idea than the path.
using ModuleOpener = std::function<UniqueFd(const ModuleRequest&)>;

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

  // The functions at an ELF address of the module, innermost inlined call first, the physical function last; at least
  // one. `exact`: the address of an instruction; otherwise a return address. Asked module by module.
  virtual std::vector<NamedFrame> name(const ModuleRequest& module, std::uint64_t address, bool exact) = 0;
};

// Names by the files themselves. What `opener` gives is believed; what is opened by path must have the trace's build-id
// or, without one, the kernel's size and time of change: a replaced file gives no names rather than wrong ones. The
// vdso's names are this kernel's, and are left out where `same_kernel` is false. Separate debug files are looked for
// (symbolizer/debug_files.h), and `fetch`, where it is not empty, is asked for those that are not found.
std::unique_ptr<FrameNamer> make_symbol_namer(ModuleOpener opener, bool same_kernel,
                                              symbolizer::DebugFetcher fetch = {});

}  // namespace uscope::store
