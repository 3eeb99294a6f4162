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
#include "symbolizer/code/function_ends.h"
#include "symbolizer/code/indirect_jump.h"
#include "symbolizer/code/probe_place.h"
#include "symbolizer/elf/elf_sections.h"
#include "symbolizer/go/go_sections.h"
#include "symbolizer/names/debug_info.h"
#include "symbolizer/names/demangle.h"
#include "symbolizer/names/symbols_table.h"
#include "symbolizer/probes/file_code.h"
#include "symbolizer/probes/file_functions.h"
#include "symbolizer/probes/probe_proof.h"
#include "symbolizer/probes/usdt_notes.h"
#include "uscope/arch/arch.h"

namespace uscope::symbolizer {
namespace {

constexpr std::size_t kMostCode = 128;  // of a function's beginning
// All names and types of one probe together fit a usc_kind, even if each of their bytes becomes \xNN.
constexpr std::size_t kMostNameBytes = 384;
constexpr std::size_t kMostArgumentName = 32;
constexpr std::size_t kMostArgumentType = 64;

// The registers of the first six integer arguments, by DWARF's numbers.
constexpr auto kArgumentRegisters = [] {
  std::array<std::uint8_t, USC_ARGUMENT_REGS> all{};
  for (std::uint32_t i = 0; i < all.size(); i++) all[i] = USC_ARGUMENT_REG(i);
  return all;
}();

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

// The places of one USDT probe.
struct UsdtPlaces {
  std::vector<std::uint64_t> good;  // file offsets
  std::vector<std::uint64_t> forced;
  std::size_t refused = 0;
  Refusal first;
};

void add_place(std::vector<std::uint64_t>& places, std::uint64_t offset) {
  if (std::find(places.begin(), places.end(), offset) == places.end()) places.push_back(offset);
}

void take_places(UsdtPlaces&& all, FoundProbe& out) {
  out.places = std::move(all.good);
  if (all.refused == 0) return;
  if (!out.places.empty()) {
    out.left_out = fmt::format("{} of its {} places cannot be probed: {}", all.refused, all.refused + out.places.size(),
                               all.first.why);
    return;
  }
  out.refuse(all.first);
  if (out.can_be_forced) out.places = std::move(all.forced);
}

}  // namespace

bool holds_word(std::string_view text, std::string_view word) {
  const auto equal = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  return std::search(text.begin(), text.end(), word.begin(), word.end(), equal) != text.end();
}

void FoundProbe::refuse(const Refusal& refusal) {
  // Of two reasons the stronger one is told: what cannot be forced.
  if (why_not.empty() || !refusal.can_be_forced) why_not = refusal.why;
  can_be_forced = refusal.can_be_forced;
  if (can_be_forced) return;
  for (std::vector<std::uint64_t>* all : {&places, &returns}) all->clear();
  jumps.clear();
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
  std::vector<FileFunction> functions;
  std::unique_ptr<FileCode> code;

  void read_names();
  void read_debug();
  [[nodiscard]] std::vector<const std::vector<ElfSection>*> tables() const;
  void find_place(const FileFunction& function, FoundProbe& out) const;
  void find_returns(const FileFunction& function, FoundProbe& out) const;
  [[nodiscard]] std::optional<std::uint64_t> semaphore_at(std::uint64_t address) const;
  void place_usdt(const UsdtNote& note, bool may_use_nop5, ProbeProof& proof, UsdtPlaces& out) const;
  [[nodiscard]] std::vector<FoundArgument> arguments_of(const FileFunction& function, std::string_view name);
  void read_result(const FileFunction& function, std::string_view name, FoundProbe& out);
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
  code = std::make_unique<FileCode>(fd, facts, elf.get(), sections);
  functions = file_functions(symbols, go, code->fdes());
  code->know(symbols, functions);
}

void ProbedFile::Parts::read_debug() {
  if (debug_read) return;
  debug_read = true;
  Elf* alternate = separate.alternate ? separate.alternate->elf.get() : nullptr;
  debug = DebugInfo::open(elf.get(), alternate);
  if (!debug && separate.debug) debug = DebugInfo::open(separate.debug->elf.get(), alternate);
}

void ProbedFile::Parts::find_place(const FileFunction& function, FoundProbe& out) const {
  if (function.ifunc)
    return out.refuse({"the program's loader calls it once, to choose the function that has this name then (IFUNC)"});
  const ProbeProof proof(*code);
  if (const auto refusal = proof.why_not(function.start, function.proof)) {
    if (refusal->can_be_forced) out.places = {*code->offset_of(function.start)};
    return out.refuse(*refusal);
  }
  const std::size_t most = function.size != 0 ? std::min<std::uint64_t>(function.size, kMostCode) : kMostCode;
  const auto bytes = code->read(function.start, most);
  const auto place = probe_place(bytes, function.go ? Prologue::kGo : Prologue::kC);
  if (!place) return out.refuse({"it begins with instructions where no probe may stand (AVX, long nops)"});
  out.places = {*code->offset_of(function.start) + *place};
  if (const auto refusal = proof.why_not_entry(function, function.start + *place)) out.refuse(*refusal);
}

std::vector<FoundArgument> ProbedFile::Parts::arguments_of(const FileFunction& function, std::string_view name) {
  // Go passes arguments in registers of its own choice.
  if (function.go) return {};
  read_debug();
  if (debug && !is_clone(name))
    if (const auto parameters = debug->parameters(function.start)) return debug_arguments(*parameters);
  return register_arguments();
}

void ProbedFile::Parts::find_returns(const FileFunction& function, FoundProbe& out) const {
  const std::string unknown = "its returns cannot be found: ";
  if (function.go)
    return out.refuse(
        {"Go moves the stacks of its functions while they run, so an entry and its return cannot be paired"});
  const auto range = code->range_of(function);
  if (!range) return out.refuse({unknown + range.error().what});
  const CodeSource source = code->source();
  const std::uint64_t entry = function.start + (out.places.front() - *code->offset_of(function.start));
  auto ends = find_function_ends(*range, source, entry);
  if (!ends) return out.refuse({unknown + ends.error().what});
  code->add_named_parts(function, ends->ranges);
  for (const std::uint64_t address : ends->returns)
    if (const auto offset = code->offset_of(address)) out.returns.push_back(*offset);
  for (const JumpOut& jump : ends->jumps)
    if (const auto offset = code->offset_of(jump.address))
      out.jumps.push_back({*offset, jump.condition, jump.again, false, {}});
  for (const IndirectJump& jump : ends->indirect) {
    const auto offset = code->offset_of(probe_address(jump));
    if (jump.stays || !offset) continue;
    const auto followed = followed_jump(jump, *ends, entry);
    if (!followed) return out.refuse({unknown + "its code lies too far apart"});
    out.jumps.push_back({*offset, jump.condition, false, jump.may_return, followed});
  }
  if (auto refusal = ProbeProof(*code).why_not_ends(*ends)) {
    refusal->why = unknown + refusal->why;
    out.refuse(*refusal);
  }
}

// The file offset of a semaphore. The kernel counts two bytes up there while a probe is attached, so they may be
// nothing else: <sys/sdt.h> has its users put semaphores into the section .probes.
std::optional<std::uint64_t> ProbedFile::Parts::semaphore_at(std::uint64_t address) const {
  constexpr std::uint64_t kBytes = 2;
  const bool is_one = std::any_of(sections.begin(), sections.end(), [&](const ElfSection& section) {
    const GElf_Shdr& header = section.header;
    return section.name == ".probes" && header.sh_type == SHT_PROGBITS && (header.sh_flags & SHF_WRITE) != 0 &&
           header.sh_size >= kBytes && address >= header.sh_addr && address - header.sh_addr <= header.sh_size - kBytes;
  });
  return is_one ? offset_of_address(facts.segments, address) : std::nullopt;
}

void ProbedFile::Parts::place_usdt(const UsdtNote& note, bool may_use_nop5, ProbeProof& proof, UsdtPlaces& out) const {
  constexpr std::array kNop5 = {std::byte{0x0f}, std::byte{0x1f}, std::byte{0x44}, std::byte{0}, std::byte{0}};
  const auto offset = code->offset_of(note.address);
  std::optional<Refusal> refusal = proof.why_not_usdt(note.address);
  const auto bytes = code->read(note.address, kNop5.size());
  if (!refusal && !may_use_nop5 && std::equal(bytes.begin(), bytes.end(), kNop5.begin(), kNop5.end()))
    refusal = {"it is a nop of five bytes, which this kernel would replace by a call that damages the program", false};
  if (note.semaphore != 0 && !semaphore_at(note.semaphore))
    refusal = {"its semaphore is not in the section .probes: the kernel would count up a variable of the program",
               false};
  if (!refusal) return add_place(out.good, *offset);
  if (out.refused++ == 0) out.first = *refusal;
  if (refusal->can_be_forced && offset) add_place(out.forced, *offset);
}

void ProbedFile::Parts::read_result(const FileFunction& function, std::string_view name, FoundProbe& out) {
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
  parts_->read_names();
  for (const FileFunction& function : parts_->functions) {
    for (const std::string_view name : function.names) {
      const bool is_mangled = name.starts_with("_Z") || name.starts_with("_R");
      const std::string plain = is_mangled ? demangle_name(name) : std::string();
      if (!has_name(pattern, name) && !(is_mangled && has_name(pattern, plain))) continue;
      FoundProbe& probe = found.emplace_back();
      probe.name = is_mangled ? cut(plain, kMostNameBytes) : bounded_utf8(name, kMostNameBytes);
      probe.full_name = is_mangled ? cut(demangle(name), kMostNameBytes) : probe.name;
      parts_->find_place(function, probe);
      if (with_returns && (probe.why_not.empty() || probe.can_be_forced)) parts_->find_returns(function, probe);
      if (with_arguments && !probe.places.empty()) {
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
  std::map<std::tuple<std::string, std::string, std::string, std::uint64_t>, FoundProbe> found;
  std::map<const FoundProbe*, UsdtPlaces> places;
  parts_->read_names();
  ProbeProof proof(*parts_->code);
  const auto address_of = [&](std::string_view name) { return symbol_address(parts_->tables(), name); };
  for (const UsdtNote& note : read_usdt_notes(parts_->sections)) {
    if (!glob_matches(pattern.provider, note.provider) || !glob_matches(pattern.name, note.name)) continue;
    if (!pattern.word.empty() && !holds_word(note.provider + ":" + note.name, pattern.word)) continue;
    auto arguments = parse_usdt_arguments(note.arguments, note.address, address_of);
    // What is relative to the pc differs from place to place.
    const bool moves = std::any_of(arguments.kept.begin(), arguments.kept.end(),
                                   [](const FoundArgument& argument) { return argument.reg == USC_REG_PC; });
    FoundProbe& probe = found[{note.provider, note.name, note.arguments, moves ? note.address : 0}];
    probe.provider = note.provider;
    probe.name = probe.full_name = note.name;
    probe.arguments = std::move(arguments.kept);
    probe.too_many = std::move(arguments.too_many);
    probe.unreadable = std::move(arguments.unreadable);
    if (note.semaphore != 0) probe.semaphore = parts_->semaphore_at(note.semaphore).value_or(probe.semaphore);
    parts_->place_usdt(note, may_use_nop5, proof, places[&probe]);
  }
  std::vector<FoundProbe> out;
  for (auto& [key, probe] : found) {
    take_places(std::move(places[&probe]), probe);
    out.push_back(std::move(probe));
  }
  return out;
}

std::vector<std::string> ProbedFile::function_names() {
  std::set<std::string> names;
  parts_->read_names();
  for (const FileFunction& function : parts_->functions)
    for (const std::string_view name : function.names) names.insert(demangle_name(name));
  return {names.begin(), names.end()};
}

std::vector<std::string> ProbedFile::usdt_names() {
  std::set<std::string> names;
  for (const UsdtNote& note : read_usdt_notes(parts_->sections)) names.insert(note.provider + ":" + note.name);
  return {names.begin(), names.end()};
}

}  // namespace uscope::symbolizer
