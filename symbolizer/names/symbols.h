// Names of addresses inside one ELF file: functions, inlined calls, source lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "support/result.h"
#include "support/unique_fd.h"
#include "symbolizer/cfi/fde_table.h"
#include "symbolizer/debug_files/debug_files.h"
#include "symbolizer/elf/elf_handles.h"
#include "symbolizer/go/go_pclntab.h"
#include "symbolizer/names/debug_info.h"
#include "symbolizer/names/symbols_plt.h"
#include "symbolizer/names/symbols_table.h"

namespace uscope::symbolizer {

// A function at an address. Texts are valid UTF-8 of bounded length and may hold control characters: they come from the
// traced program, and renderers escape them.
struct SymbolizedFrame {
  std::string function;  // demangled; never empty
  // Bytes from the function's start (inlined: the block's entry, see DebugFrame) to the address asked.
  std::uint64_t function_offset = 0;
  std::string file;        // empty where not known
  std::uint32_t line = 0;  // 0 where not known
  bool inlined = false;

  bool operator==(const SymbolizedFrame&) const = default;
};

// The one frame of an address of which nothing is known: "module+0xADDRESS", module being the base name of `name`.
// function_offset is 0: no function's start is known.
SymbolizedFrame unknown_frame(const std::string& name, std::uint64_t address);

// Everything is read lazily: opening checks the ELF header, the first look-up reads symbols and FDEs, the first look-up
// in a compilation unit its DWARF. Not thread-safe. .gnu_debugdata inside the file is read; another file is opened only
// through a DebugFileFinder, at the first look-up. Files are read, not mapped: one that shrinks loses names, and raises
// no SIGBUS.
class ModuleSymbols {
 public:
  // The file behind `fd`, of which a duplicate is kept. `name` is what people know it by (a path, "[vdso]"); its base
  // name stands in names without a symbol. `finder`, which must outlive the object, looks for separate debug files;
  // none are looked for where it is null. Errors: not a regular file, not an ELF file for x86-64.
  static Result<std::unique_ptr<ModuleSymbols>> open(int fd, const std::string& name,
                                                     const DebugFileFinder* finder = nullptr);

  // An image in memory, which is copied.
  static Result<std::unique_ptr<ModuleSymbols>> open_image(std::span<const std::byte> image, const std::string& name);

  // The functions at an ELF address (as in the file's program headers, not as loaded): innermost inlined call first,
  // the physical function last; at least one frame. `exact`: the address is an instruction's (an interrupted PC).
  // Otherwise it is a return address: functions, file and line are those of the byte before it, and function_offset is
  // still counted to the address itself, so that it can be one function's size.
  //
  // The physical function's name is, in this order: the symbol that contains the address (see SymbolTable); DWARF's
  // function; Go's function table; the PLT stub, "name@plt"; "module+0xSTART", START being the start of the FDE that
  // contains the address; the symbol that starts at the address asked itself (a signal trampoline); unknown_frame().
  // Its line, and the inlined calls, are DWARF's.
  std::vector<SymbolizedFrame> resolve(std::uint64_t address, bool exact);

  // Bytes of memory held, estimated, libelf's and libdw's included.
  [[nodiscard]] std::size_t footprint() const;

 private:
  ModuleSymbols(ElfHandle elf, UniqueFd fd, std::vector<std::byte> image, const std::string& name);
  void read();
  std::vector<SymbolizedFrame> look_up(std::uint64_t address, std::uint64_t pc);
  SymbolizedFrame physical(std::uint64_t address, std::uint64_t pc, const DebugFrame* debug) const;

  // The order of members is that of their use: the image and the descriptor outlive the Elf, the Elf all that points
  // into it.
  std::vector<std::byte> image_;
  UniqueFd fd_;
  ElfHandle elf_;
  std::string name_;
  const DebugFileFinder* finder_ = nullptr;
  std::unique_ptr<DebugFile> mini_;
  DebugFiles files_;
  bool read_ = false;
  std::size_t section_bytes_ = 0;
  FdeTable fdes_;
  SymbolTable symbols_;
  PltTable plt_;
  std::optional<GoPclntab> go_;
  std::unique_ptr<DebugInfo> debug_;
  // Answers by address * 2 + exact. When `recent_` is full it becomes `older_`, whose answers are then forgotten.
  std::unordered_map<std::uint64_t, std::vector<SymbolizedFrame>> recent_;
  std::unordered_map<std::uint64_t, std::vector<SymbolizedFrame>> older_;
};

}  // namespace uscope::symbolizer
