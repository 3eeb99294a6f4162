// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/names/symbols.h"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include "support/text.h"
#include "symbolizer/code/entry_code.h"
#include "symbolizer/elf/elf_facts.h"
#include "symbolizer/elf/elf_sections.h"
#include "symbolizer/go/go_sections.h"
#include "symbolizer/names/demangle.h"

namespace uscope::symbolizer {
namespace {

constexpr std::size_t kRecentAnswers = 1024;

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
  Elf* alternate = files_.alternate ? files_.alternate->elf.get() : nullptr;
  debug_ = DebugInfo::open(elf_.get(), alternate);
  if (!debug_ && files_.debug) debug_ = DebugInfo::open(files_.debug->elf.get(), alternate);
  if (fd_) go_ = read_go_names(fd_.get(), name_);
  if (fd_) read_entry();
  section_bytes_ = held_by_libelf(sections, debug_ != nullptr);
  for (const auto* file : {&mini_, &files_.debug, &files_.alternate})
    if (*file) section_bytes_ += (*file)->image.size() + held_by_libelf((*file)->sections, debug_ != nullptr);
}

void ModuleSymbols::read_entry() {
  const auto facts = read_elf_facts(fd_.get(), name_);
  if (!facts || facts->entry == 0) return;
  const auto offset = offset_of_address(facts->exec_segments, facts->entry);
  if (!offset) return;
  std::array<std::byte, kMostEntryCode> code{};
  const ssize_t size = pread(fd_.get(), code.data(), code.size(), static_cast<off_t>(*offset));
  if (size <= 0) return;
  const auto found = read_entry_code(std::span(code).first(static_cast<std::size_t>(size)), facts->entry);
  if (!found) return;
  entry_ = facts->entry;
  main_ = found->main;
}

// The name of a function of which only the start is known.
std::string ModuleSymbols::nameless(std::uint64_t start) const {
  if (start == main_) return "main";
  return start == entry_ ? "_start" : address_name(name_, start);
}

std::vector<SymbolizedFrame> ModuleSymbols::resolve(std::uint64_t address, bool exact) {
  if (!read_) read();
  const std::uint64_t pc = exact || address == 0 ? address : address - 1;
  if (address > UINT64_MAX / 2) return look_up(address, pc);
  const std::uint64_t key = address * 2 + (exact ? 1 : 0);
  if (const auto found = recent_.find(key); found != recent_.end()) return found->second;
  std::vector<SymbolizedFrame> frames;
  if (const auto found = older_.find(key); found != older_.end())
    frames = std::move(found->second);
  else
    frames = look_up(address, pc);
  if (recent_.size() >= kRecentAnswers) {
    older_ = std::move(recent_);
    recent_.clear();
  }
  recent_[key] = frames;
  return frames;
}

std::vector<SymbolizedFrame> ModuleSymbols::look_up(std::uint64_t address, std::uint64_t pc) {
  std::vector<SymbolizedFrame> frames;
  std::vector<DebugFrame> debug;
  if (debug_) debug = debug_->find(pc);
  for (const DebugFrame& inlined : debug) {
    if (!inlined.inlined) break;
    const std::string& function = inlined.function;
    frames.push_back({.function = function.empty() ? address_name(name_, inlined.start) : function,
                      .function_offset = address - inlined.start,
                      .file = inlined.file,
                      .line = inlined.line,
                      .inlined = true});
  }
  const bool whole = frames.size() < debug.size();
  frames.push_back(physical(address, pc, whole ? &debug.back() : nullptr));
  return frames;
}

SymbolizedFrame ModuleSymbols::physical(std::uint64_t address, std::uint64_t pc, const DebugFrame* debug) const {
  SymbolizedFrame frame;
  if (debug != nullptr) {
    frame.file = debug->file;
    frame.line = debug->line;
  }
  if (const auto symbol = symbols_.containing(pc)) {
    frame.function = demangle(go_ ? without_go_abi(symbol->name) : symbol->name);
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
    frame.function = nameless(fde->low);
    frame.function_offset = address - fde->low;
  } else if (const auto first = symbols_.containing(address); first && first->start == address) {
    // No call precedes this address, so it was put on the stack directly: a signal trampoline.
    frame.function = demangle(first->name);
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
