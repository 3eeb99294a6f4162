// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/names/symbols.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <gelf.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "support/text.h"
#include "symbolizer/code/entry_code.h"
#include "symbolizer/code/locked_words.h"
#include "symbolizer/code/program_start.h"
#include "symbolizer/code/signal_trampoline.h"
#include "symbolizer/elf/elf_facts.h"
#include "symbolizer/elf/elf_sections.h"
#include "symbolizer/go/go_build_info.h"
#include "symbolizer/go/go_sections.h"
#include "symbolizer/names/cxx_library.h"
#include "symbolizer/names/demangle.h"
#include "trace/runtime_modules.h"

namespace uscope::symbolizer {
namespace {

constexpr std::size_t kRecentAnswers = 1024;
constexpr char kTrampolineName[] = "__restore_rt";  // as libcs call it

std::string address_name(const std::string& name, std::uint64_t address) {
  return bounded_utf8(std::string(base_name(name))) + "+" + hex_number(address);
}

// Memory that libelf keeps once names have been read: the tables and strings, and in the worst case all of DWARF.
std::size_t held_by_libelf(const std::vector<ElfSection>& sections, bool dwarf) {
  std::size_t bytes = 0;
  for (const ElfSection& section : sections) {
    if (section.header.sh_type == SHT_NOBITS) continue;
    const bool table = section.header.sh_type == SHT_SYMTAB || section.header.sh_type == SHT_DYNSYM ||
                       section.header.sh_type == SHT_STRTAB || section.header.sh_type == SHT_RELA;
    const bool frames = section.name == ".eh_frame" || section.name == ".debug_frame";
    if (table || frames || (dwarf && section.name.starts_with(".debug_"))) bytes += section.header.sh_size;
  }
  return bytes;
}

// Go's linker distinguishes a function's two calling conventions by a suffix, which Go itself never shows.
std::string_view without_go_abi(std::string_view name) {
  for (const std::string_view suffix : {".abi0", ".abiinternal"})
    if (name.ends_with(suffix)) name.remove_suffix(suffix.size());
  return name;
}

// Uses a libelf handle of its own: data that it reads would be kept as long as the handle.
std::optional<GoPclntab> read_go_names(int fd, const std::string& name) {
  const auto facts = read_elf_facts(fd, name);
  const auto elf = open_elf(fd, name);
  return facts && elf ? read_go_pclntab(elf->get(), *facts) : std::nullopt;
}

}  // namespace

SymbolizedFrame unknown_frame(const std::string& name, std::uint64_t address) {
  return {.function = address_name(name, address), .function_offset = 0, .file = "", .line = 0, .inlined = false};
}

ModuleSymbols::ModuleSymbols(ElfHandle elf, UniqueFd fd, std::vector<std::byte> image, const std::string& name)
    : image_(std::move(image)), fd_(std::move(fd)), elf_(std::move(elf)), name_(name) {}

Result<std::unique_ptr<ModuleSymbols>> ModuleSymbols::open(int fd, const std::string& name,
                                                           const DebugFileFinder* finder) {
  UniqueFd own(fcntl(fd, F_DUPFD_CLOEXEC, 0));
  if (!own) return errno_error("cannot duplicate the descriptor of " + name, errno);
  Result<ElfHandle> elf = open_elf(own.get(), name);
  if (!elf) return elf.error();
  std::unique_ptr<ModuleSymbols> symbols(new ModuleSymbols(std::move(*elf), std::move(own), {}, name));
  symbols->finder_ = finder;
  return symbols;
}

Result<std::unique_ptr<ModuleSymbols>> ModuleSymbols::open_image(std::span<const std::byte> image,
                                                                 const std::string& name) {
  std::vector<std::byte> copy(image.begin(), image.end());
  Result<ElfHandle> elf = open_elf_in_memory(copy, name);
  if (!elf) return elf.error();
  return std::unique_ptr<ModuleSymbols>(new ModuleSymbols(std::move(*elf), UniqueFd(), std::move(copy), name));
}

void ModuleSymbols::read() {
  read_ = true;
  const std::vector<ElfSection> sections = read_sections(elf_.get());
  mini_ = read_debug_data(sections);
  if (finder_ != nullptr) files_ = finder_->find(elf_.get(), sections, name_);
  std::vector<const std::vector<ElfSection>*> tables{&sections};
  for (const auto* file : {&mini_, &files_.debug})
    if (*file) tables.push_back(&(*file)->sections);
  fdes_ = FdeTable(sections);
  symbols_ = SymbolTable(tables, fdes_);
  plt_ = PltTable(sections, symbols_);
  throws_ = std::any_of(sections.begin(), sections.end(),
                        [](const ElfSection& section) { return section.name == ".gcc_except_table"; });
  Elf* alternate = files_.alternate ? files_.alternate->elf.get() : nullptr;
  debug_ = DebugInfo::open(elf_.get(), alternate, &debug_trouble_);
  if (!debug_ && files_.debug) debug_ = DebugInfo::open(files_.debug->elf.get(), alternate, &debug_trouble_);
  if (fd_) go_ = read_go_names(fd_.get(), name_);
  if (go_) go_program_ = trace::go_program(read_go_build_info(elf_.get()));
  if (fd_) read_entry();
  section_bytes_ = held_by_libelf(sections, debug_ != nullptr);
  for (const auto* file : {&mini_, &files_.debug, &files_.alternate})
    if (*file) section_bytes_ += (*file)->image.size() + held_by_libelf((*file)->sections, debug_ != nullptr);
}

std::string ModuleSymbols::debug_trouble() const {
  if (!debug_) return debug_trouble_;
  if (debug_->split_file().empty()) return {};
  return fmt::format(
      "its functions are split off ({}), and uscope does not open such files: lines are known, inlined functions are "
      "not",
      debug_->split_file());
}

void ModuleSymbols::read_entry() {
  const auto facts = read_elf_facts(fd_.get(), name_);
  if (!facts) return;
  exec_segments_ = facts->exec_segments;
  if (facts->entry == 0) return;
  begins_ = facts->entry;
  if (facts->interpreter.empty() && facts->needed.empty()) read_start(*facts);
  const auto found = read_entry_code(code_at(facts->entry, kMostEntryCode), facts->entry);
  if (!found) return;
  entry_ = facts->entry;
  main_ = found->main;
  if (main_) find_launcher(*facts);
  if (!main_ || go_ || !throws_) return;
  find_rust(*facts);
  if (!rust_ && !debug_ && !symbols_.containing(*main_)) find_cxx(*facts);
}

// Of a program without symbols. Code that gcc moved away from its function (.text.unlikely) lies before the entry
// point.
void ModuleSymbols::find_cxx(const ElfFacts& facts) {
  constexpr std::uint64_t kMostBytes = 256U << 20;
  const auto is_library = [](const std::string& name) {
    return name.starts_with("libstdc++.") || name.starts_with("libc++.");
  };
  if (std::any_of(facts.needed.begin(), facts.needed.end(), is_library)) return;
  const std::uint64_t behind = std::max(facts.entry, *main_);
  for (const Segment& segment : facts.exec_segments) {
    if (behind < segment.address || behind >= segment.address + segment.size || segment.size > kMostBytes) continue;
    const auto read = [&](std::uint64_t address, std::size_t size) { return code_at(address, size); };
    const auto found = find_exception_class(read, behind, segment.address + segment.size);
    const auto extent = found ? fdes_.containing(*found) : std::nullopt;
    if (extent && extent->low > behind) cxx_ = extent->low;
  }
}

void ModuleSymbols::find_rust(const ElfFacts& facts) {
  std::size_t count = 0;
  if (elf_getphdrnum(elf_.get(), &count) != 0) return;
  for (std::size_t each = 0; each < count; each++) {
    GElf_Phdr program;
    if (gelf_getphdr(elf_.get(), static_cast<int>(each), &program) == nullptr || program.p_type != PT_DYNAMIC) continue;
    rust_ = read_rust_library(fd_.get(), facts, program.p_vaddr, program.p_filesz, *main_);
    return;
  }
}

// Whether the function is within the library: it does not hold code that is known not to be.
bool ModuleSymbols::is_in_rust(std::uint64_t pc) const {
  if (!rust_ || pc <= rust_->after || pc >= rust_->before) return false;
  const auto extent = fdes_.containing(pc);
  return extent && extent->low > rust_->after && extent->high <= rust_->before;
}

// Whether the function is behind the program's own: it may hold code that is known to be a crate's.
bool ModuleSymbols::is_in_crates(std::uint64_t pc) const {
  if (!rust_) return false;
  const auto extent = fdes_.containing(pc);
  return extent && extent->high > rust_->crates;
}

std::vector<std::byte> ModuleSymbols::code_at(std::uint64_t address, std::size_t size) const {
  const auto offset = offset_of_address(exec_segments_, address);
  if (!offset) return {};
  std::vector<std::byte> code(size);
  const ssize_t got = pread(fd_.get(), code.data(), code.size(), static_cast<off_t>(*offset));
  code.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
  return code;
}

// Of a static program.
void ModuleSymbols::read_start(const ElfFacts& facts) {
  const auto read = [&](std::uint64_t address, std::size_t size) { return code_at(address, size); };
  const auto start = find_program_start(read, facts.entry);
  if (!start) return;
  constexpr std::size_t kMostCode = 65536;
  const auto extent = fdes_.containing(start->start_main);
  const std::size_t size = extent ? std::min<std::size_t>(kMostCode, extent->high - start->start_main) : 0;
  libc_ = find_libc_start(code_at(start->start_main, size), *start, facts.entry);
}

// A program that has little more code than main() and what crt1.o brings.
void ModuleSymbols::find_launcher(const ElfFacts& facts) {
  constexpr std::size_t kMostFunctions = 10;
  constexpr std::size_t kMostCode = 4096;
  const auto extent = fdes_.containing(*main_);
  if (!extent || facts.needed.empty() || fdes_.size() > kMostFunctions) return;
  const auto code = code_at(*main_, std::min<std::size_t>(kMostCode, extent->high - *main_));
  hands_over_ = hands_arguments_over(code, *main_, [&](std::uint64_t called) {
    const auto stub = plt_.containing(called);
    return stub && !stub->function.starts_with("getopt");  // libc's gets them, too
  });
}

bool ModuleSymbols::is_trampoline(std::uint64_t address) const {
  return signal_trampoline_length(code_at(address, kMostTrampoline)) != 0;
}

// The name of a function of which only the start is known.
std::string ModuleSymbols::nameless(std::uint64_t start) const {
  if (start == main_) return "main";
  return start == entry_ ? "_start" : address_name(name_, start);
}

std::vector<SymbolizedFrame> ModuleSymbols::resolve(std::uint64_t address, bool exact) {
  if (!read_) read();
  if (address > UINT64_MAX / 2) return look_up(address, address - (exact ? 0 : 1));
  const std::uint64_t key = address * 2 + (exact ? 1 : 0);
  if (const auto found = recent_.find(key); found != recent_.end()) return found->second;
  std::vector<SymbolizedFrame> frames;
  if (const auto found = older_.find(key); found != older_.end())
    frames = std::move(found->second);
  else
    frames = look_up(address, exact || address == 0 || is_trampoline(address) ? address : address - 1);
  if (recent_.size() >= kRecentAnswers) {
    older_ = std::move(recent_);
    recent_.clear();
  }
  recent_[key] = frames;
  return frames;
}

namespace {

// A closure that was inlined counts as the function around it.
void join_closures(std::vector<SymbolizedFrame>& frames) {
  const auto is_own_function = [](const SymbolizedFrame& frame) {
    return frame.origin == trace::FunctionOrigin::kOwn && !trace::is_closure(frame.function);
  };
  for (auto frame = frames.begin(); frame != frames.end(); ++frame)
    if (frame->origin == trace::FunctionOrigin::kOwn && trace::is_closure(frame->function) &&
        std::any_of(frame + 1, frames.end(), is_own_function))
      frame->origin = trace::FunctionOrigin::kPart;
}

}  // namespace

std::vector<SymbolizedFrame> ModuleSymbols::look_up(std::uint64_t address, std::uint64_t pc) {
  std::vector<SymbolizedFrame> frames;
  std::vector<DebugFrame> debug;
  if (debug_) debug = debug_->find(pc);
  for (const DebugFrame& inlined : debug) {
    if (!inlined.inlined) break;
    const std::string& function = inlined.function;
    SymbolizedFrame& frame = frames.emplace_back();
    frame.function = function.empty() ? address_name(name_, inlined.start) : function;
    frame.function_offset = address - inlined.start;
    frame.file = inlined.file;
    frame.line = inlined.line;
    frame.inlined = true;
    frame.origin = origin_of(frame, inlined.language, pc);
  }
  const bool whole = frames.size() < debug.size();
  auto language = whole ? debug.back().language : trace::FunctionLanguage::kUnknown;
  SymbolizedFrame frame = physical(address, pc, whole ? &debug.back() : nullptr, language);
  frame.origin = origin_of(frame, language, pc);
  frame.role = role_of(address - frame.function_offset);
  if (trace::is_runtime(name_)) frame.locks = locks_at(pc);
  frames.push_back(std::move(frame));
  join_closures(frames);
  return frames;
}

trace::FunctionRole ModuleSymbols::role_of(std::uint64_t start) const {
  if (begins_ != 0 && start == begins_) return trace::FunctionRole::kEntry;
  return hands_over_ && start == main_ ? trace::FunctionRole::kHandsOver : trace::FunctionRole::kNone;
}

trace::FunctionOrigin ModuleSymbols::origin_of(const SymbolizedFrame& frame, trace::FunctionLanguage language,
                                               std::uint64_t pc) const {
  return trace::origin_of({.name = frame.function,
                           .file = frame.file,
                           .language = language,
                           .go = go_program_ ? &*go_program_ : nullptr,
                           .in_libc = (libc_ && pc >= *libc_) || (cxx_ && pc >= *cxx_) || is_in_rust(pc),
                           .in_package = is_in_crates(pc)});
}

// Without call frame information (musl), a function extends as far as its symbol.
std::vector<std::uint64_t> ModuleSymbols::locks_at(std::uint64_t pc) const {
  constexpr std::uint64_t kMostCode = 65536;
  FdeRange extent;
  if (const auto fde = fdes_.containing(pc)) {
    extent = *fde;
  } else if (const auto symbol = symbols_.containing(pc)) {
    extent.low = extent.high = symbol->start;
    for (auto next = symbol; next && next->start == extent.low && extent.high - extent.low < kMostCode;)
      next = symbols_.containing(++extent.high);
  }
  if (extent.high - extent.low > kMostCode) return {};
  const auto code = code_at(extent.low, extent.high - extent.low);
  return locked_words(code, extent.low,
                      [this](std::uint64_t address, std::size_t size) { return code_at(address, size); });
}

// `language`: as DWARF has it; a symbol tells better.
SymbolizedFrame ModuleSymbols::physical(std::uint64_t address, std::uint64_t pc, const DebugFrame* debug,
                                        trace::FunctionLanguage& language) const {
  SymbolizedFrame frame;
  if (debug != nullptr) {
    frame.file = debug->file;
    frame.line = debug->line;
  }
  if (const auto symbol = symbols_.containing(pc)) {
    frame.function = demangle(go_ ? without_go_abi(symbol->name) : symbol->name);
    if (const auto told = trace::language_of_symbol(symbol->name); told != trace::FunctionLanguage::kUnknown)
      language = told;
    frame.function_offset = address - symbol->start;
  } else if (debug != nullptr && !debug->function.empty()) {
    frame.function = debug->function;
    frame.function_offset = address - debug->start;
  } else if (const GoFunction* function = go_ ? go_->containing(pc) : nullptr) {
    frame.function = bounded_utf8(std::string(function->name));
    frame.function_offset = address - function->start;
  } else if (const auto stub = plt_.containing(pc)) {
    frame.function = stub->function;
    frame.function_offset = address - stub->start;
  } else if (const auto fde = fdes_.containing(pc)) {
    // glibc lets the FDE of its trampoline begin one byte early, for who looks it up as a return address.
    const bool is_early = address > fde->low && is_trampoline(fde->low + 1);
    frame.function = is_early ? kTrampolineName : nameless(fde->low);
    frame.function_offset = address - fde->low - (is_early ? 1 : 0);
  } else if (const auto first = symbols_.containing(address); first && first->start == address) {
    // No call precedes this address, so it was put on the stack directly: a signal trampoline.
    frame.function = demangle(first->name);
  } else if (is_trampoline(pc)) {
    frame.function = kTrampolineName;
  } else {
    frame.function = address_name(name_, address);
  }
  return frame;
}

std::size_t ModuleSymbols::footprint() const {
  // Estimate for a cached answer: a node and about two frames with file and function.
  constexpr std::size_t kAnswer = 512;
  return sizeof(*this) + image_.size() + section_bytes_ + fdes_.footprint() + symbols_.footprint() + plt_.footprint() +
         (debug_ ? debug_->footprint() : 0) + (go_ ? go_->footprint() : 0) + (recent_.size() + older_.size()) * kAnswer;
}

}  // namespace uscope::symbolizer
