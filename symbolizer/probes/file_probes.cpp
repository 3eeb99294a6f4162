// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/probes/file_probes.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "support/glob.h"
#include "symbolizer/cfi/fde_table.h"
#include "symbolizer/code/function_ends.h"
#include "symbolizer/code/probe_place.h"
#include "symbolizer/elf/elf_sections.h"
#include "symbolizer/go/go_sections.h"
#include "symbolizer/names/debug_info.h"
#include "symbolizer/names/demangle.h"
#include "symbolizer/names/symbols_table.h"
#include "symbolizer/probes/usdt_notes.h"

namespace uscope::symbolizer {
namespace {

constexpr std::size_t kMostCode = 128;  // of a function's beginning
// Code that is searched for returns, for each byte of the file: functions may share parts, but not as hostile ones do.
constexpr std::uint64_t kMostSearches = 8;
// All names and types of one probe together fit a usc_kind, even if each of their bytes becomes \xNN.
constexpr std::size_t kMostNameBytes = 384;
constexpr std::size_t kMostArgumentName = 32;
constexpr std::size_t kMostArgumentType = 64;

// The registers of the first six integer arguments, by DWARF's numbers: rdi rsi rdx rcx r8 r9.
constexpr std::array<std::uint8_t, 6> kArgumentRegisters = {5, 4, 1, 2, 8, 9};

// Parts of a function that the compiler moved away are no functions.
bool is_part(std::string_view name) {
  return name.ends_with(".cold") || name.find(".cold.") != std::string_view::npos;
}

// A copy that the compiler made for some callers (f.isra.0) may take other arguments than its source says.
bool is_clone(std::string_view name) {
  return !name.starts_with("_R") && name.find('.') != std::string_view::npos;
}

// A trace's text (support/text.h), shortened at a character.
std::string cut(std::string text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xc0U) == 0x80) most--;
  text.resize(most);
  return text + "…";
}

bool has_name(const NamePattern& pattern, std::string_view name) {
  return glob_matches(pattern.name, name) && (pattern.word.empty() || holds_word(name, pattern.word));
}

std::vector<FoundArgument> register_arguments() {
  std::vector<FoundArgument> arguments;
  for (std::size_t i = 0; i < kArgumentRegisters.size(); i++) {
    FoundArgument& argument = arguments.emplace_back();
    argument.name = fmt::format("arg{}", i);
    argument.type = "unsigned long";
    argument.reg = kArgumentRegisters[i];
  }
  return arguments;
}

std::vector<FoundArgument> debug_arguments(const std::vector<DebugParameter>& parameters) {
  std::vector<FoundArgument> arguments;
  for (const DebugParameter& parameter : parameters) {
    FoundArgument& argument = arguments.emplace_back();
    argument.name =
        parameter.name.empty() ? fmt::format("arg{}", arguments.size() - 1) : cut(parameter.name, kMostArgumentName);
    argument.type = cut(parameter.type, kMostArgumentType);
    argument.reg = kArgumentRegisters.at(parameter.place);
    argument.bytes = parameter.bytes;
    argument.is_signed = parameter.is_signed;
    argument.is_string = parameter.points_to_text;
  }
  return arguments;
}

}  // namespace

bool holds_word(std::string_view text, std::string_view word) {
  const auto equal = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  return std::search(text.begin(), text.end(), word.begin(), word.end(), equal) != text.end();
}

// Members are in order of their use, as those of ModuleSymbols.
struct ProbedFile::Parts {
  int fd = -1;
  std::string path;
  ElfHandle elf;
  ElfFacts facts;
  std::vector<ElfSection> sections;
  DebugFileFinder finder{{"/usr/lib/debug"}};
  std::unique_ptr<DebugFile> mini;
  DebugFiles separate;
  bool names_read = false;
  std::vector<FunctionSymbol> symbols;
  std::optional<GoPclntab> go;
  bool debug_read = false;
  std::unique_ptr<DebugInfo> debug;
  std::optional<FdeTable> fdes;
  std::uint64_t searched = 0;  // bytes of code, for returns

  // One function under all its names, best first.
  struct Function {
    std::uint64_t start = 0;
    std::uint64_t size = 0;  // up to the next function at most; 0: not known
    bool sized = false;      // a symbol has said the size
    bool ifunc = false;
    bool go = false;
    std::vector<std::string_view> names;
  };

  void read_names();
  void read_debug();
  [[nodiscard]] std::vector<const std::vector<ElfSection>*> tables() const;
  [[nodiscard]] std::vector<Function> all_functions();
  [[nodiscard]] std::size_t read_code(std::uint64_t offset, std::span<std::byte> out) const;
  void find_place(const Function& function, FoundProbe& out) const;
  // `all` is sorted by start.
  void find_returns(const Function& function, const std::vector<Function>& all, FoundProbe& out);
  [[nodiscard]] JumpTarget jump_target(const std::vector<Function>& all, std::uint64_t address);
  [[nodiscard]] const FdeTable& fde_table();
  [[nodiscard]] std::vector<FoundArgument> arguments_of(const Function& function, std::string_view name);
  void read_result(const Function& function, std::string_view name, FoundProbe& out);
};

std::vector<const std::vector<ElfSection>*> ProbedFile::Parts::tables() const {
  std::vector<const std::vector<ElfSection>*> all{&sections};
  for (const auto* file : {&mini, &separate.debug})
    if (*file) all.push_back(&(*file)->sections);
  return all;
}

void ProbedFile::Parts::read_names() {
  if (names_read) return;
  names_read = true;
  mini = read_debug_data(sections);
  separate = finder.find(elf.get(), sections, path);
  symbols = function_symbols(tables());
  go = read_go_pclntab(elf.get(), facts);
}

void ProbedFile::Parts::read_debug() {
  if (debug_read) return;
  debug_read = true;
  Elf* alternate = separate.alternate ? separate.alternate->elf.get() : nullptr;
  debug = DebugInfo::open(elf.get(), alternate);
  if (!debug && separate.debug) debug = DebugInfo::open(separate.debug->elf.get(), alternate);
}

std::vector<ProbedFile::Parts::Function> ProbedFile::Parts::all_functions() {
  read_names();
  std::vector<Function> all;
  for (const FunctionSymbol& symbol : symbols) {
    if (is_part(symbol.name)) continue;
    if (all.empty() || all.back().start != symbol.start) {
      const GoFunction* of_go = go ? go->containing(symbol.start) : nullptr;
      all.push_back({symbol.start, 0, false, false, of_go != nullptr && of_go->start == symbol.start, {}});
    }
    Function& function = all.back();
    function.size = std::max(function.size, symbol.size);
    function.sized = function.size != 0;
    function.ifunc = function.ifunc || symbol.ifunc;
    if (std::find(function.names.begin(), function.names.end(), symbol.name) == function.names.end())
      function.names.push_back(symbol.name);
  }
  // Code may have an entry within another function (memmove's variants): a place behind it would be come by from there.
  for (std::size_t i = 0; i + 1 < all.size(); i++)
    if (const std::uint64_t room = all[i + 1].start - all[i].start; all[i].size == 0 || all[i].size > room)
      all[i].size = room;
  if (!go) return all;
  const std::size_t count = all.size();
  const auto known = [&](std::uint64_t start) {
    const auto at = std::lower_bound(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), start,
                                     [](const Function& a, std::uint64_t b) { return a.start < b; });
    return at != all.begin() + static_cast<std::ptrdiff_t>(count) && at->start == start;
  };
  std::vector<Function> more;
  for (const GoFunction& function : go->functions())
    if (!known(function.start))
      more.push_back({function.start, function.limit - function.start, true, false, true, {function.name}});
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return all;
}

std::size_t ProbedFile::Parts::read_code(std::uint64_t offset, std::span<std::byte> out) const {
  const ssize_t got = pread(fd, out.data(), out.size(), static_cast<off_t>(offset));
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

void ProbedFile::Parts::find_place(const Function& function, FoundProbe& out) const {
  if (function.ifunc) {
    out.why_not = "the program's loader calls it once, to choose the function that has this name then (IFUNC)";
    return;
  }
  const auto offset = offset_of_address(facts.exec_segments, function.start);
  if (!offset) {
    out.why_not = "its address is not in code that the file holds";
    return;
  }
  std::array<std::byte, kMostCode> code{};
  const std::size_t most = function.size != 0 ? std::min<std::uint64_t>(function.size, kMostCode) : kMostCode;
  const std::size_t got = read_code(*offset, std::span(code).first(most));
  const auto place = probe_place(std::span(code).first(got), function.go ? Prologue::kGo : Prologue::kC);
  if (got == 0 || !place) {
    out.why_not =
        got == 0 ? "its code cannot be read" : "it begins with instructions where no probe may stand (AVX, long nops)";
    return;
  }
  out.places = {*offset + *place};
}

std::vector<FoundArgument> ProbedFile::Parts::arguments_of(const Function& function, std::string_view name) {
  // Go passes arguments in registers of its own choice.
  if (function.go) return {};
  read_debug();
  if (debug && !is_clone(name))
    if (const auto parameters = debug->parameters(function.start)) return debug_arguments(*parameters);
  return register_arguments();
}

const FdeTable& ProbedFile::Parts::fde_table() {
  if (!fdes) fdes.emplace(sections);
  return *fdes;
}

JumpTarget ProbedFile::Parts::jump_target(const std::vector<Function>& all, std::uint64_t address) {
  using Is = JumpTarget::Is;
  const auto in_plt = [&](const ElfSection& section) {
    return section.name.starts_with(".plt") && address >= section.header.sh_addr && address < section.end();
  };
  if (std::any_of(sections.begin(), sections.end(), in_plt)) return {Is::kFunction, {}};
  const auto next =
      std::upper_bound(all.begin(), all.end(), address, [](std::uint64_t a, const Function& b) { return a < b.start; });
  const Function* before = next == all.begin() ? nullptr : &*std::prev(next);
  if (before != nullptr && before->start == address) return {Is::kFunction, {}};
  if (before != nullptr && before->sized && address < before->start + before->size) return {Is::kMiddle, {}};
  std::optional<CodeRange> part;
  if (const auto fde = fde_table().containing(address)) part = {fde->low, fde->high};
  for (const FunctionSymbol& symbol : symbols)
    if (!part && is_part(symbol.name) && address >= symbol.start && address - symbol.start < symbol.size)
      part = {symbol.start, symbol.start + symbol.size};
  if (!part) return {Is::kUnknown, {}};
  if (before != nullptr && before->start >= part->low) return {Is::kMiddle, {}};
  if (next != all.end()) part->high = std::min(part->high, next->start);
  return {Is::kPart, *part};
}

void ProbedFile::Parts::find_returns(const Function& function, const std::vector<Function>& all, FoundProbe& out) {
  if (function.go) {
    out.why_not = "Go moves the stacks of its functions while they run, so an entry and its return cannot be paired";
    return;
  }
  CodeRange range{function.start, function.start + function.size};
  if (!function.sized) {
    const auto fde = fde_table().starting_at(function.start);
    if (!fde) {
      out.why_not = "its returns cannot be found: neither a symbol nor call frame information says where it ends";
      return;
    }
    range.high = std::min(function.size != 0 ? range.high : fde->high, fde->high);
  }
  CodeSource source;
  source.read = [&](const CodeRange& part) {
    std::vector<std::byte> code;
    searched += part.high - part.low;
    if (searched > kMostSearches * facts.file_size) return code;
    code.resize(part.high - part.low);
    const auto offset = offset_of_address(facts.exec_segments, part.low);
    code.resize(offset ? read_code(*offset, code) : 0);
    return code;
  };
  source.target = [&](std::uint64_t address) { return jump_target(all, address); };
  const auto ends = find_function_ends(range, source);
  if (!ends) {
    out.why_not = "its returns cannot be found: " + ends.error().what;
    return;
  }
  for (const std::uint64_t address : ends->returns)
    if (const auto offset = offset_of_address(facts.exec_segments, address)) out.returns.push_back(*offset);
  for (const JumpOut& jump : ends->jumps)
    if (const auto offset = offset_of_address(facts.exec_segments, jump.address))
      out.jumps.push_back({*offset, jump.condition});
  for (const IndirectJump& jump : ends->indirect)
    if (const auto offset = offset_of_address(facts.exec_segments, jump.address); offset && !jump.stays)
      out.jumps.push_back({*offset, JumpOut::kAlways});
}

void ProbedFile::Parts::read_result(const Function& function, std::string_view name, FoundProbe& out) {
  constexpr std::uint8_t kWholeRegister = 8;
  out.result_bytes = kWholeRegister;
  read_debug();
  if (!debug || is_clone(name)) return;
  const auto result = debug->result(function.start);
  if (!result) return;
  out.result_type = cut(result->type, kMostArgumentType);
  out.result_bytes = result->bytes;
  out.result_is_signed = result->is_signed;
}

ProbedFile::ProbedFile(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
ProbedFile::~ProbedFile() = default;

Result<std::unique_ptr<ProbedFile>> ProbedFile::open(int fd, const std::string& path) {
  auto facts = read_elf_facts(fd, path);
  if (!facts) return facts.error();
  auto elf = open_elf(fd, path);
  if (!elf) return elf.error();
  auto parts = std::make_unique<Parts>();
  parts->fd = fd;
  parts->path = path;
  parts->elf = std::move(*elf);
  parts->facts = std::move(*facts);
  parts->sections = read_sections(parts->elf.get());
  return std::unique_ptr<ProbedFile>(new ProbedFile(std::move(parts)));
}

std::vector<FoundProbe> ProbedFile::functions(const NamePattern& pattern, bool with_arguments, bool with_returns) {
  std::vector<FoundProbe> found;
  std::vector<Parts::Function> all = parts_->all_functions();
  std::sort(all.begin(), all.end(),
            [](const Parts::Function& a, const Parts::Function& b) { return a.start < b.start; });
  for (const Parts::Function& function : all) {
    for (const std::string_view name : function.names) {
      const bool is_mangled = name.starts_with("_Z") || name.starts_with("_R");
      const std::string plain = is_mangled ? demangle_name(name) : std::string();
      if (!has_name(pattern, name) && !(is_mangled && has_name(pattern, plain))) continue;
      FoundProbe& probe = found.emplace_back();
      probe.name = is_mangled ? cut(plain, kMostNameBytes) : bounded_utf8(name, kMostNameBytes);
      probe.full_name = is_mangled ? cut(demangle(name), kMostNameBytes) : probe.name;
      parts_->find_place(function, probe);
      if (with_returns && probe.why_not.empty()) parts_->find_returns(function, all, probe);
      if (!probe.why_not.empty()) probe.places.clear();
      if (with_arguments && probe.why_not.empty()) {
        probe.arguments = parts_->arguments_of(function, name);
        if (!function.go) parts_->read_result(function, name, probe);
      }
      break;
    }
  }
  std::stable_sort(found.begin(), found.end(), [](const FoundProbe& a, const FoundProbe& b) {
    return std::tie(a.name, a.full_name) < std::tie(b.name, b.full_name);
  });
  return found;
}

std::vector<FoundProbe> ProbedFile::usdt_probes(const NamePattern& pattern, bool may_use_nop5) {
  constexpr std::array<unsigned char, 5> kNop5 = {0x0f, 0x1f, 0x44, 0x00, 0x00};
  std::map<std::tuple<std::string, std::string, std::string, std::uint64_t>, FoundProbe> found;
  const auto address_of = [&](std::string_view name) {
    parts_->read_names();
    return symbol_address(parts_->tables(), name);
  };
  for (const UsdtNote& note : read_usdt_notes(parts_->sections)) {
    if (!glob_matches(pattern.provider, note.provider) || !glob_matches(pattern.name, note.name)) continue;
    if (!pattern.word.empty() && !holds_word(note.provider + ":" + note.name, pattern.word)) continue;
    auto arguments = parse_usdt_arguments(note.arguments, note.address, address_of);
    // What is relative to rip differs from place to place.
    const bool moves = std::any_of(arguments.kept.begin(), arguments.kept.end(),
                                   [](const FoundArgument& argument) { return argument.reg == 16; });
    FoundProbe& probe = found[{note.provider, note.name, note.arguments, moves ? note.address : 0}];
    probe.provider = note.provider;
    probe.name = probe.full_name = note.name;
    probe.arguments = std::move(arguments.kept);
    probe.too_many = std::move(arguments.too_many);
    probe.unreadable = std::move(arguments.unreadable);
    if (note.semaphore != 0) probe.semaphore = offset_of_address(parts_->facts.segments, note.semaphore).value_or(0);
    const auto offset = offset_of_address(parts_->facts.exec_segments, note.address);
    std::array<std::byte, kNop5.size()> code{};
    if (!offset) {
      probe.why_not = "its address is not in code that the file holds";
    } else if (!may_use_nop5 && parts_->read_code(*offset, code) == code.size() &&
               std::equal(kNop5.begin(), kNop5.end(), code.begin(),
                          [](unsigned char a, std::byte b) { return std::byte{a} == b; })) {
      probe.why_not = "it is a nop of five bytes, which this kernel would replace by a call that damages the program";
    } else if (std::find(probe.places.begin(), probe.places.end(), *offset) == probe.places.end()) {
      probe.places.push_back(*offset);
    }
  }
  std::vector<FoundProbe> out;
  for (auto& [key, probe] : found) {
    if (!probe.places.empty()) probe.why_not.clear();
    out.push_back(std::move(probe));
  }
  return out;
}

std::vector<std::string> ProbedFile::function_names() {
  std::set<std::string> names;
  for (const Parts::Function& function : parts_->all_functions())
    for (const std::string_view name : function.names) names.insert(demangle_name(name));
  return {names.begin(), names.end()};
}

std::vector<std::string> ProbedFile::usdt_names() {
  std::set<std::string> names;
  for (const UsdtNote& note : read_usdt_notes(parts_->sections)) names.insert(note.provider + ":" + note.name);
  return {names.begin(), names.end()};
}

}  // namespace uscope::symbolizer
