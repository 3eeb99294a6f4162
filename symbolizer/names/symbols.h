// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Names addresses in one ELF file: functions, inlined calls, source lines.
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
#include "symbolizer/elf/elf_facts.h"
#include "symbolizer/elf/elf_handles.h"
#include "symbolizer/go/go_pclntab.h"
#include "symbolizer/names/debug_info.h"
#include "symbolizer/names/rust_library.h"
#include "symbolizer/names/symbols_plt.h"
#include "symbolizer/names/symbols_table.h"
#include "trace/function_origin.h"

namespace uscope::symbolizer {

// A function at an address. Texts are valid UTF-8 of bounded length and may hold control characters: they come from the
// traced program, and renderers must escape them.
struct SymbolizedFrame {
  std::string function;  // demangled; never empty
  // Bytes from the function's start (if inlined: the block's entry, see DebugFrame) to the address.
  std::uint64_t function_offset = 0;
  std::string file;        // empty if unknown
  std::uint32_t line = 0;  // 0 if unknown
  bool inlined = false;
  trace::FunctionOrigin origin = trace::FunctionOrigin::kOwn;
  trace::FunctionRole role = trace::FunctionRole::kNone;
  std::vector<std::uint64_t> locks = {};  // of a physical function of libc's: symbolizer/code/locked_words.h

  bool operator==(const SymbolizedFrame&) const = default;
};

// The single frame of an unknown address: "module+0xADDRESS", with the base name of `name` as module. function_offset
// is 0, since no function's start is known.
SymbolizedFrame unknown_frame(const std::string& name, std::uint64_t address);

// Everything is read lazily: opening checks the ELF header, the first look-up reads symbols and FDEs, the first look-up
// in a compilation unit reads its DWARF. Not thread-safe. .gnu_debugdata inside the file is read; another file is
// opened only through a DebugFileFinder, at the first look-up. Files are read, not mapped: one that shrinks loses
// names, and causes no SIGBUS.
class ModuleSymbols {
 public:
  // Opens the file behind `fd`, and keeps a duplicate of that. `name` is for people (a path, "[vdso]"); its base name
  // is used in names without a symbol. `finder` searches separate debug files and must outlive the object; null: none
  // are searched. Returns an error if it is not a regular file, or not an ELF file for x86-64.
  static Result<std::unique_ptr<ModuleSymbols>> open(int fd, const std::string& name,
                                                     const DebugFileFinder* finder = nullptr);

  // Opens a copy of an image in memory.
  static Result<std::unique_ptr<ModuleSymbols>> open_image(std::span<const std::byte> image, const std::string& name);

  // The functions at an ELF address (as in the file's program headers, not as loaded): inlined calls first, innermost
  // first, the physical function last; at least one frame. `exact`: the address of an instruction (an interrupted PC).
  // Otherwise it is a return address: functions, file and line are those of the byte before it, but function_offset
  // still counts to the address itself, so it can equal a function's size. Where a signal trampoline begins, no call is
  // before it: the kernel made it the handler's return address.
  //
  // The physical function's name is the first of: the symbol that contains the address (see SymbolTable); DWARF's
  // function; Go's function table; the PLT stub, "name@plt"; "_start" or "main", as glibc's entry code tells; else
  // "module+0xSTART", where START is the start of the FDE that contains the address; the symbol that starts at the
  // address itself; unknown_frame(). A signal trampoline without a symbol is "__restore_rt". Its line and the inlined
  // calls come from DWARF.
  std::vector<SymbolizedFrame> resolve(std::uint64_t address, bool exact);

  // Why the debug information of the file could not be read, or not wholly, as far as was seen: a sentence about "it";
  // empty if it has none, or nothing is wrong with it.
  [[nodiscard]] std::string debug_trouble() const;

  // Estimated memory held, in bytes, including libelf's and libdw's.
  [[nodiscard]] std::size_t footprint() const;

 private:
  ModuleSymbols(ElfHandle elf, UniqueFd fd, std::vector<std::byte> image, const std::string& name);
  void read();
  std::vector<SymbolizedFrame> look_up(std::uint64_t address, std::uint64_t pc);
  void read_entry();
  void read_start(const ElfFacts& facts);
  void find_launcher(const ElfFacts& facts);
  void find_rust(const ElfFacts& facts);
  void find_cxx(const ElfFacts& facts);
  [[nodiscard]] bool is_in_rust(std::uint64_t pc) const;
  [[nodiscard]] bool is_in_crates(std::uint64_t pc) const;
  [[nodiscard]] std::vector<std::byte> code_at(std::uint64_t address, std::size_t size) const;
  [[nodiscard]] bool is_trampoline(std::uint64_t address) const;
  [[nodiscard]] trace::FunctionRole role_of(std::uint64_t start) const;
  [[nodiscard]] trace::FunctionOrigin origin_of(const SymbolizedFrame& frame, trace::FunctionLanguage language,
                                                std::uint64_t pc) const;
  [[nodiscard]] std::string nameless(std::uint64_t start) const;
  [[nodiscard]] std::vector<std::uint64_t> locks_at(std::uint64_t pc) const;
  SymbolizedFrame physical(std::uint64_t address, std::uint64_t pc, const DebugFrame* debug,
                           trace::FunctionLanguage& language) const;

  // Members are in order of their use: the image and the descriptor outlive the Elf, and the Elf outlives everything
  // that points into it.
  std::vector<std::byte> image_;
  UniqueFd fd_;
  ElfHandle elf_;
  std::string name_;
  const DebugFileFinder* finder_ = nullptr;
  std::unique_ptr<DebugFile> mini_;
  DebugFiles files_;
  bool read_ = false;
  std::size_t section_bytes_ = 0;
  std::vector<Segment> exec_segments_;
  FdeTable fdes_;
  SymbolTable symbols_;
  PltTable plt_;
  std::optional<GoPclntab> go_;
  std::optional<std::uint64_t> entry_;  // the address of _start, and of main, where glibc's entry code tells
  std::optional<std::uint64_t> main_;
  std::uint64_t begins_ = 0;           // where the file begins to run; 0: nowhere
  std::optional<std::uint64_t> libc_;  // where a static program has its libc
  bool hands_over_ = false;            // main()
  std::optional<RustLibrary> rust_;    // of a Rust program
  std::optional<std::uint64_t> cxx_;   // where a program without symbols has a C++ run-time library
  bool throws_ = false;                // it has tables of who handles exceptions
  std::optional<trace::GoProgram> go_program_;
  std::unique_ptr<DebugInfo> debug_;
  std::string debug_trouble_;
  // Answers by address * 2 + exact. When `recent_` is full it becomes `older_`, and the answers in that are dropped.
  std::unordered_map<std::uint64_t, std::vector<SymbolizedFrame>> recent_;
  std::unordered_map<std::uint64_t, std::vector<SymbolizedFrame>> older_;
};

}  // namespace uscope::symbolizer
