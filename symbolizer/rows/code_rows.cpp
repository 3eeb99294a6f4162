// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Certain functions are those of the symbol tables that have a size, the program's entry and main(), and those that a
// function with rows calls; the latter end where the next certain start is known. A certain function gets rows only if
// it is called, and does not share code:
//
// - It has a `ret` or ends with a jump to a function that has one, or it pops registers of its caller, or it keeps the
//   ABI in what can be seen (FrameProof::keeps_abi()), or another function without call frame information calls it, or
//   it leaves by no jump. GHC's code has symbols of functions, but is entered by jumps, with whatever lies on the
//   stack.
// - It is no part of another function (.cold), and no other function jumps to its middle, or to its start with a frame
//   of its own: then nothing is said of it.
// - Where two functions hold the same instruction, they must agree.
//
// Named functions are those of which only an address is known: in data (tables of functions, what the dynamic linker
// fills in), in code (`lea` relative to the pc; in a program at a fixed address any constant), or as the target of a
// jump out of another function. Such an address may as well be a label in the middle of a function, or no code. So
//
// - a named function counts only if its own code shows that a function begins there (FrameProof::begins_function());
// - it takes nothing from other functions: no function ends where it begins (only a path behind a call that may not
//   return does), and where its rows are not those of a certain function, or it jumps into the middle of one with
//   another frame, it gets none at all;
// - no function may jump to its middle, or to its start with another frame;
// - what it calls is a certain function, and what it names is named.
//
// Limits: 64 KiB of code for a function; for a file 65,536 functions and 2 million instructions, of which 262,144 in
// vain: of addresses where no function begins. Files with less than 1 KiB of code in question have only certain ones.
#include "symbolizer/rows/code_rows.h"

#include <gelf.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "symbolizer/code/entry_code.h"
#include "symbolizer/rows/named_code.h"
#include "uscope/arch/arch.h"

namespace uscope::symbolizer {
namespace {

constexpr std::uint64_t kLeastHole = 16;  // shorter ones are padding
constexpr std::uint64_t kMostFunction = TextReader::kWindow;
constexpr std::uint64_t kMostSteps = std::uint64_t{1} << 21;
constexpr std::uint64_t kMostStepsInVain = std::uint64_t{1} << 18;
constexpr std::uint64_t kLeastForNamed = 1024;  // bytes of holes with code
constexpr std::uint64_t kMostNops = 64;         // bytes
constexpr std::size_t kMostFunctions = std::size_t{1} << 16;
constexpr std::size_t kMostRounds = 16;

bool begins_before(const CodeRow& a, const CodeRow& b) {
  return a.range.start < b.range.start;
}

// Ascending and disjoint; none if the file has no headers of sections, or strange ones.
std::vector<CodeRange> code_sections(Elf* elf) {
  std::vector<CodeRange> found;
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr; section = elf_nextscn(elf, section)) {
    GElf_Shdr header{};
    if (gelf_getshdr(section, &header) == nullptr) return {};
    constexpr std::uint64_t kCode = SHF_ALLOC | SHF_EXECINSTR;
    if ((header.sh_flags & kCode) != kCode || header.sh_type == SHT_NOBITS || header.sh_size == 0) continue;
    found.push_back({header.sh_addr, header.sh_addr + header.sh_size});
  }
  std::sort(found.begin(), found.end(), [](const CodeRange& a, const CodeRange& b) { return a.low < b.low; });
  for (std::size_t i = 0; i < found.size(); i++)
    if (found[i].high < found[i].low || (i > 0 && found[i].low < found[i - 1].high)) return {};
  return found;
}

class FunctionsOfHoles {
 public:
  FunctionsOfHoles(Elf* elf, const ElfFacts& facts, std::span<const OffsetRange> holes, const TextReader& text,
                   const KnownStarts& known)
      : elf_(elf), facts_(facts), known_(known), text_(text), data_(text) {
    const std::vector<CodeRange> sections = code_sections(elf);
    for (const OffsetRange& hole : holes)
      if (const auto address = address_of_offset(facts.exec_segments, hole.start))
        add_hole({*address, *address + (hole.end - hole.start)}, sections);
    std::sort(holes_.begin(), holes_.end(), [](const CodeRange& a, const CodeRange& b) { return a.low < b.low; });
    if (!holes_.empty() && known.symbols) read_symbols(elf);
  }

  CodeRows run();

 private:
  struct Function {
    std::unique_ptr<FrameProof> proof;
    Returns returns = Returns::kUnknown;
    bool is_called = false;
    bool is_doubtful = false;
    bool is_named = false;     // else it is certain
    bool is_searched = false;  // for what it sees to return
    bool is_straight = false;  // it does not return elsewhere
    std::vector<ProvenFrame> frames;
  };

  // A jump from one function to another.
  struct Entry {
    Function* from;
    std::uint64_t address;
    FrameState state;
  };

  void add_hole(const CodeRange& hole, const std::vector<CodeRange>& sections);
  void read_symbols(Elf* elf);
  void look_at_table(Elf* elf, Elf_Scn* section, const GElf_Shdr& header);
  void look_at_symbol(Elf* elf, std::uint32_t names, const Elf64_Sym& symbol);
  [[nodiscard]] const CodeRange* hole_of(std::uint64_t address) const;
  [[nodiscard]] Function* function_at(std::uint64_t address);
  [[nodiscard]] std::uint64_t end_of(std::uint64_t start) const;
  void add_start(std::uint64_t address);
  void add_certain_starts();
  void decode_pending();
  [[nodiscard]] std::unique_ptr<FrameProof> decoded(std::uint64_t start);
  void note_calls(const FrameProof& proof);
  [[nodiscard]] bool has_code_in_question();
  void find_named();
  void add_named(const std::vector<std::uint64_t>& addresses);
  bool accept_named();
  [[nodiscard]] FrameProof::ReturnsOf returns_of() const;
  bool decode(std::uint64_t start);
  [[nodiscard]] std::vector<IndirectJump> tables_of(const CodeRange& range);
  [[nodiscard]] std::optional<std::uint64_t> word(std::uint64_t address, std::uint8_t bytes);
  void find_returns();
  void find_elsewhere();
  void prove_all();
  void prove(std::uint64_t start, Function& function);
  void look_at_entry(const Entry& entry);
  [[nodiscard]] bool counts(const Function& function) const;
  [[nodiscard]] std::vector<CodeRow> rows_of(bool named) const;
  void drop_contradicted(const std::vector<CodeRow>& certain);
  [[nodiscard]] CodeRows collect();

  Elf* elf_;
  const ElfFacts& facts_;
  const KnownStarts& known_;
  TextReader text_;
  TextReader data_;
  std::vector<CodeRange> holes_;                    // addresses
  std::map<std::uint64_t, std::uint64_t> symbols_;  // start, end
  std::set<std::uint64_t> parts_;                   // of other functions
  std::set<std::uint64_t> starts_;                  // all that are certain
  std::map<std::uint64_t, Function> functions_;
  std::map<std::uint64_t, std::unique_ptr<FrameProof>> named_;  // that do not count as functions yet; none: not decoded
  std::vector<std::uint64_t> pending_;
  std::set<std::uint64_t> returning_;  // what is seen to return where it is called
  std::vector<Entry> entries_;
  bool has_new_ends_ = false;  // of functions that were decoded
  std::uint64_t steps_ = 0;
  std::uint64_t steps_in_vain_ = 0;
};

const CodeRange* FunctionsOfHoles::hole_of(std::uint64_t address) const {
  auto next = std::upper_bound(holes_.begin(), holes_.end(), address,
                               [](std::uint64_t at, const CodeRange& hole) { return at < hole.low; });
  if (next == holes_.begin() || address >= std::prev(next)->high) return nullptr;
  return &*std::prev(next);
}

// A segment with code may have data, too: where sections are known, these tell.
void FunctionsOfHoles::add_hole(const CodeRange& hole, const std::vector<CodeRange>& sections) {
  const auto add = [&](const CodeRange& part) {
    if (part.high > part.low) holes_.push_back(part);
  };
  if (hole.high - hole.low < kLeastHole) return;
  if (sections.empty()) return add(hole);
  auto section = std::upper_bound(sections.begin(), sections.end(), hole.low,
                                  [](std::uint64_t at, const CodeRange& each) { return at < each.high; });
  for (; section != sections.end() && section->low < hole.high; ++section)
    add({std::max(hole.low, section->low), std::min(hole.high, section->high)});
}

void FunctionsOfHoles::read_symbols(Elf* elf) {
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr; section = elf_nextscn(elf, section)) {
    GElf_Shdr header{};
    if (gelf_getshdr(section, &header) == nullptr) return;
    if (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM) look_at_table(elf, section, header);
  }
}

void FunctionsOfHoles::look_at_table(Elf* elf, Elf_Scn* section, const GElf_Shdr& header) {
  Elf_Data* data = elf_getdata(section, nullptr);
  if (data == nullptr || data->d_buf == nullptr || header.sh_entsize != sizeof(Elf64_Sym)) return;
  for (std::size_t i = 0; i < data->d_size / sizeof(Elf64_Sym); i++) {
    Elf64_Sym symbol;
    std::memcpy(&symbol, static_cast<const char*>(data->d_buf) + i * sizeof(symbol), sizeof(symbol));
    look_at_symbol(elf, header.sh_link, symbol);
  }
}

void FunctionsOfHoles::look_at_symbol(Elf* elf, std::uint32_t names, const Elf64_Sym& symbol) {
  const unsigned type = ELF64_ST_TYPE(symbol.st_info);
  const bool is_function = type == STT_FUNC || type == STT_GNU_IFUNC;
  if (symbol.st_shndx == SHN_UNDEF || (!is_function && type != STT_NOTYPE)) return;
  const CodeRange* hole = hole_of(symbol.st_value);
  if (hole == nullptr || symbols_.size() >= kMostFunctions) return;
  const char* name = elf_strptr(elf, names, symbol.st_name);
  if (name == nullptr || name[0] == '\0') return;
  starts_.insert(symbol.st_value);
  if (!is_function || symbol.st_size == 0) return;
  if (std::string_view(name).find(".cold") != std::string_view::npos) parts_.insert(symbol.st_value);
  std::uint64_t& end = symbols_[symbol.st_value];
  end = std::max(end, std::min(hole->high, symbol.st_value + std::min(symbol.st_size, kMostFunction)));
}

std::uint64_t FunctionsOfHoles::end_of(std::uint64_t start) const {
  if (const auto known = symbols_.find(start); known != symbols_.end()) return known->second;
  const CodeRange* hole = hole_of(start);
  std::uint64_t end = std::min(hole->high, start + kMostFunction);
  if (const auto next = starts_.upper_bound(start); next != starts_.end()) end = std::min(end, *next);
  return end;
}

void FunctionsOfHoles::add_start(std::uint64_t address) {
  if (hole_of(address) == nullptr) return;
  if (starts_.count(address) == 0) {
    std::vector<std::uint64_t> too_long;
    for (auto next = functions_.upper_bound(address); next != functions_.begin();) {
      const auto& [start, before] = *--next;
      if (address - start >= kMostFunction) break;
      const ProvenFunction& known = before.proof->function();
      if (known.end_is_known && address < known.range.high) return;
      if (address > start && address < known.range.high) too_long.push_back(start);
      if (!before.is_named) break;
    }
    pending_.insert(pending_.end(), too_long.begin(), too_long.end());
  }
  starts_.insert(address);
  pending_.push_back(address);
}

std::optional<std::uint64_t> FunctionsOfHoles::word(std::uint64_t address, std::uint8_t bytes) {
  const auto offset = offset_of_address(facts_.segments, address);
  const auto found = offset ? data_.bytes_at(*offset, bytes) : std::span<const std::byte>();
  std::uint64_t value = 0;
  if (found.size() != bytes || bytes > sizeof(value)) return std::nullopt;
  std::memcpy(&value, found.data(), bytes);
  return value;
}

std::vector<IndirectJump> FunctionsOfHoles::tables_of(const CodeRange& range) {
  CodeSource source;
  source.read = [this](const CodeRange& wanted) {
    const auto offset = offset_of_address(facts_.exec_segments, wanted.low);
    const auto code = offset && wanted.high - wanted.low <= kMostFunction
                          ? text_.bytes_at(*offset, wanted.high - wanted.low)
                          : std::span<const std::byte>();
    return std::vector<std::byte>(code.begin(), code.end());
  };
  source.target = [](std::uint64_t) { return JumpTarget{JumpTarget::Is::kFunction, {}}; };
  source.word = [this](std::uint64_t address, std::uint8_t bytes) { return word(address, bytes); };
  source.is_at_fixed_address = !facts_.position_independent;
  source.only_jumps = true;
  auto ends = find_function_ends(range, source);
  return ends ? std::move(ends->indirect) : std::vector<IndirectJump>();
}

std::unique_ptr<FrameProof> FunctionsOfHoles::decoded(std::uint64_t start) {
  ProvenFunction function;
  function.range = {start, end_of(start)};
  function.end_is_known = symbols_.count(start) != 0;
  function.is_at_fixed_address = !facts_.position_independent;
  const auto offset = offset_of_address(facts_.exec_segments, start);
  const auto bytes = offset ? text_.bytes_at(*offset, function.range.high - start) : std::span<const std::byte>();
  const std::vector<std::byte> code(bytes.begin(), bytes.end());
  auto proof =
      std::make_unique<FrameProof>(function, code, [this](const CodeRange& range) { return tables_of(range); });
  steps_ += proof->steps();
  return proof;
}

void FunctionsOfHoles::note_calls(const FrameProof& proof) {
  for (const std::uint64_t target : proof.calls())
    if (starts_.count(target) == 0 || functions_.count(target) == 0) add_start(target);
}

// False when the limits are reached.
bool FunctionsOfHoles::decode(std::uint64_t start) {
  Function& known = functions_[start];
  if (starts_.count(start) != 0) known.is_named = false;
  if (known.proof && known.proof->function().range.high == end_of(start)) return true;
  known.proof = decoded(start);
  has_new_ends_ = true;
  note_calls(*known.proof);
  add_named(known.proof->names());
  return steps_ < kMostSteps && functions_.size() < kMostFunctions;
}

void FunctionsOfHoles::add_certain_starts() {
  for (const auto& [start, end] : symbols_) pending_.push_back(start);
  add_start(facts_.entry);
  if (hole_of(facts_.entry) != nullptr) return;
  constexpr std::size_t kMostEntry = 64;
  const auto offset = offset_of_address(facts_.exec_segments, facts_.entry);
  const auto entry =
      read_entry_code(offset ? text_.bytes_at(*offset, kMostEntry) : std::span<const std::byte>(), facts_.entry);
  if (entry && entry->main) add_start(*entry->main);
}

void FunctionsOfHoles::decode_pending() {
  while (!pending_.empty()) {
    std::vector<std::uint64_t> round = std::move(pending_);
    pending_.clear();
    std::sort(round.begin(), round.end());
    round.erase(std::unique(round.begin(), round.end()), round.end());
    for (const std::uint64_t start : round)
      if (!decode(start)) {
        pending_.clear();
        return;
      }
  }
}

void FunctionsOfHoles::add_named(const std::vector<std::uint64_t>& addresses) {
  for (const std::uint64_t address : addresses)
    if (hole_of(address) != nullptr && functions_.count(address) == 0 && named_.size() < kMostFunctions)
      named_.try_emplace(address);
}

// One round over all named addresses; whether a function was found.
bool FunctionsOfHoles::accept_named() {
  const auto returns = returns_of();
  std::vector<std::uint64_t> accepted;
  for (auto& [start, proof] : named_) {
    if (steps_ >= kMostSteps || steps_in_vain_ >= kMostStepsInVain || functions_.size() >= kMostFunctions) break;
    if (functions_.count(start) != 0) continue;
    if (const auto next = functions_.upper_bound(start); next != functions_.begin()) {
      const ProvenFunction& before = std::prev(next)->second.proof->function();
      if (before.end_is_known && start < before.range.high) continue;
    }
    if (!proof) {
      proof = decoded(start);
      steps_in_vain_ += proof->steps();
    }
    if (!proof->begins_function(returns)) continue;
    steps_in_vain_ -= proof->steps();
    Function& function = functions_[start];
    function.is_named = true;
    function.proof = std::move(proof);
    accepted.push_back(start);
  }
  for (const std::uint64_t start : accepted) {
    named_.erase(start);
    const FrameProof& proof = *functions_.at(start).proof;
    note_calls(proof);
    add_named(proof.names());
  }
  return !accepted.empty();
}

// How much of the code is padding: nops, traps, zeros.
std::uint64_t padding_of(std::span<const std::byte> code) {
  const InstructionDecoder decoder;
  std::uint64_t at = 0;
  for (auto one = decoder.decode(code, 0); one && is_nop(*one); one = decoder.decode(code.subspan(at), 0))
    at += one->decoded.length;
  constexpr std::byte kTrap{USC_CODE_BREAKPOINT};
  while (at < code.size() && (code[at] == std::byte{0} || code[at] == kTrap)) at++;
  return at;
}

// Whether there is more code than what the start files have without call frame information.
bool FunctionsOfHoles::has_code_in_question() {
  std::uint64_t bytes = 0;
  for (const CodeRange& hole : holes_) {
    const auto offset = offset_of_address(facts_.exec_segments, hole.low);
    const std::uint64_t size = hole.high - hole.low;
    const auto code = offset ? text_.bytes_at(*offset, std::min(size, kMostNops)) : std::span<const std::byte>();
    if (padding_of(code) < size) bytes += size;
    if (bytes >= kLeastForNamed) return true;
  }
  return false;
}

void FunctionsOfHoles::find_named() {
  if (!has_code_in_question()) return;
  add_named(
      code_named_by_data(elf_, facts_, data_, [this](std::uint64_t address) { return hole_of(address) != nullptr; }));
  add_named(known_.named);
  for (std::size_t round = 0; round < kMostRounds && accept_named(); round++) {
    decode_pending();
    find_returns();
  }
}

FunctionsOfHoles::Function* FunctionsOfHoles::function_at(std::uint64_t address) {
  const auto found = functions_.find(address);
  return found == functions_.end() ? nullptr : &found->second;
}

FrameProof::ReturnsOf FunctionsOfHoles::returns_of() const {
  return [this](std::uint64_t address) {
    const auto found = functions_.find(address);
    const Returns returns = found == functions_.end() ? Returns::kNoFunction : found->second.returns;
    const bool is_unknown = returns == Returns::kNoFunction || returns == Returns::kUnknown;
    return is_unknown && returning_.count(address) != 0 ? Returns::kSometimes : returns;
  };
}

// A function that calls one which returns elsewhere may only seem to do so, too: those that call no other candidate
// come first. Of what jumps to one of them, the same holds.
void FunctionsOfHoles::find_elsewhere() {
  std::set<std::uint64_t> candidates;
  const auto look = [&](std::uint64_t start, Function& function) {
    function.is_straight = !function.proof->returns_elsewhere(returns_of());
    if (!function.is_straight) candidates.insert(start);
  };
  for (auto& [start, function] : functions_)
    if (!function.is_straight && function.returns != Returns::kElsewhere) look(start, function);
  const auto names_some = [](const std::vector<std::uint64_t>& names, const std::set<std::uint64_t>& of,
                             std::uint64_t but) {
    return std::any_of(names.begin(), names.end(),
                       [&](std::uint64_t name) { return name != but && of.count(name) != 0; });
  };
  for (std::size_t round = 0; round < kMostRounds && !candidates.empty(); round++) {
    std::set<std::uint64_t> found;
    for (const std::uint64_t start : candidates)
      if (!names_some(functions_.at(start).proof->calls(), candidates, start)) found.insert(start);
    if (found.empty()) found = candidates;
    for (const std::uint64_t start : found) functions_.at(start).returns = Returns::kElsewhere;
    const std::set<std::uint64_t> before = std::exchange(candidates, {});
    for (auto& [start, function] : functions_)
      if (function.returns != Returns::kElsewhere &&
          (before.count(start) != 0 || names_some(function.proof->names(), found, start)))
        look(start, function);
  }
}

// First those that are known to return, then those that cannot. What is left when the rounds are used up stays unknown.
void FunctionsOfHoles::find_returns() {
  if (std::exchange(has_new_ends_, false))
    for (auto& [start, function] : functions_) {
      function.returns = Returns::kUnknown;
      function.is_straight = false;
    }
  const auto settle = [&](Returns wanted) {
    bool changed = true;
    for (std::size_t round = 0; changed && round < kMostRounds; round++) {
      changed = false;
      for (auto& [start, function] : functions_) {
        const bool is_settled = function.returns == Returns::kYes || function.returns == Returns::kElsewhere ||
                                function.returns == Returns::kNever;
        if (is_settled || function.returns == wanted || function.proof->returns(returns_of()) != wanted) continue;
        function.returns = wanted;
        changed = true;
      }
    }
  };
  settle(Returns::kYes);
  find_elsewhere();
  settle(Returns::kNever);
  settle(Returns::kSometimes);
  for (auto& [start, function] : functions_) {
    if (std::exchange(function.is_searched, true)) continue;
    for (const std::uint64_t target : function.proof->seen_to_return(returns_of())) returning_.insert(target);
  }
}

// All functions that the target may be in: the last certain one that begins before, and named ones behind that. One
// whose end is a guess has only what it has frames for.
void FunctionsOfHoles::look_at_entry(const Entry& entry) {
  const auto frame_there = [&](const Function& function) -> const FrameState* {
    const auto frame =
        std::lower_bound(function.frames.begin(), function.frames.end(), entry.address,
                         [](const ProvenFrame& each, std::uint64_t at) { return each.range.high <= at; });
    return frame != function.frames.end() && frame->range.low <= entry.address ? &frame->state : nullptr;
  };
  for (auto next = functions_.upper_bound(entry.address); next != functions_.begin();) {
    auto& [start, function] = *--next;
    if (entry.address - start >= kMostFunction) return;
    const ProvenFunction& known = function.proof->function();
    const bool is_call = entry.address == start && is_as_at_entry(entry.state);
    const FrameState* frame = frame_there(function);
    const bool is_inside = entry.address == start || (known.end_is_known && entry.address < known.range.high) || frame;
    const bool is_only_known = known.end_is_known && !entry.from->is_named;
    const bool agrees = frame != nullptr && *frame == entry.state && !is_only_known;
    if (is_inside && !is_call && !agrees) {
      if (entry.from->is_named) entry.from->is_doubtful = true;
      if (!entry.from->is_named || function.is_named) function.is_doubtful = true;
    }
    if (!function.is_named) return;
  }
}

void FunctionsOfHoles::prove(std::uint64_t start, Function& function) {
  const auto returns = returns_of();
  if (function.is_named && !function.proof->begins_function(returns)) return;
  function.frames = function.proof->prove(returns, [&](std::uint64_t address, const FrameState& state) {
    entries_.push_back({&function, address, state});
  });
  for (const std::uint64_t target : function.proof->calls())
    if (Function* called = function_at(target)) called->is_called = true;
  if (parts_.count(start) != 0 || start == facts_.entry) function.is_doubtful = true;
}

void FunctionsOfHoles::prove_all() {
  for (auto& [start, function] : functions_) prove(start, function);
  for (const Entry& entry : entries_) look_at_entry(entry);
}

bool FunctionsOfHoles::counts(const Function& function) const {
  if (function.is_doubtful || function.frames.empty()) return false;
  const bool returns = function.returns == Returns::kYes || function.returns == Returns::kElsewhere;
  return function.is_named || function.is_called || returns || function.proof->has_return() ||
         function.proof->restores_registers() || !function.proof->jumps_out() ||
         function.proof->keeps_abi(returns_of());
}

// The rows of certain or of named functions: one for each instruction.
std::vector<CodeRow> FunctionsOfHoles::rows_of(bool named) const {
  std::vector<CodeRow> all;
  for (const auto& [start, function] : functions_) {
    if (function.is_named != named || !counts(function)) continue;
    for (const ProvenFrame& frame : function.frames)
      if (const auto offset = offset_of_address(facts_.exec_segments, frame.range.low))
        all.push_back({{*offset, *offset + (frame.range.high - frame.range.low)}, frame.state});
  }
  std::stable_sort(all.begin(), all.end(), begins_before);
  return all;
}

// What overlaps must be equal.
std::vector<CodeRow> agreeing(const std::vector<CodeRow>& all) {
  std::vector<CodeRow> found;
  for (std::size_t i = 0; i < all.size();) {
    std::size_t next = i + 1;
    bool agree = true;
    std::uint64_t end = all[i].range.end;
    for (; next < all.size() && all[next].range.start < end; next++) {
      agree = agree && all[next].state == all[i].state && all[next].range.start == all[i].range.start;
      end = std::max(end, all[next].range.end);
    }
    if (agree) found.push_back({{all[i].range.start, end}, all[i].state});
    i = next;
  }
  return found;
}

// A named function whose rows are not those of a certain one loses all of its own.
void FunctionsOfHoles::drop_contradicted(const std::vector<CodeRow>& certain) {
  const auto differs = [&](const ProvenFrame& frame) {
    const auto offset = offset_of_address(facts_.exec_segments, frame.range.low);
    if (!offset) return false;
    const std::uint64_t end = *offset + (frame.range.high - frame.range.low);
    const auto row = std::upper_bound(certain.begin(), certain.end(), *offset,
                                      [](std::uint64_t at, const CodeRow& each) { return at < each.range.end; });
    if (row == certain.end() || row->range.start >= end) return false;
    return row->range.start != *offset || row->state != frame.state;
  };
  for (auto& [start, function] : functions_)
    if (function.is_named && std::any_of(function.frames.begin(), function.frames.end(), differs))
      function.is_doubtful = true;
}

CodeRows FunctionsOfHoles::collect() {
  std::vector<CodeRow> rows = agreeing(rows_of(false));
  drop_contradicted(rows);
  const std::vector<CodeRow> named = rows_of(true);
  rows.insert(rows.end(), named.begin(), named.end());
  std::stable_sort(rows.begin(), rows.end(), begins_before);
  CodeRows out;
  for (const CodeRow& row : agreeing(rows)) {
    if (!out.rows.empty() && out.rows.back().range.end == row.range.start && out.rows.back().state == row.state)
      out.rows.back().range.end = row.range.end;
    else
      out.rows.push_back(row);
  }
  std::set<std::uint64_t> starts = starts_;
  for (const auto& [start, function] : functions_) {
    if (!counts(function)) continue;
    starts.insert(start);
    out.functions++;
  }
  for (const std::uint64_t start : starts)
    if (const auto offset = offset_of_address(facts_.exec_segments, start)) out.starts.push_back(*offset);
  std::sort(out.starts.begin(), out.starts.end());
  return out;
}

CodeRows FunctionsOfHoles::run() {
  if (holes_.empty()) return {};
  add_certain_starts();
  decode_pending();
  find_returns();
  find_named();
  prove_all();
  return collect();
}

}  // namespace

CodeRows prove_rows(Elf* elf, const ElfFacts& facts, std::span<const OffsetRange> holes, const TextReader& text,
                    const KnownStarts& known) {
  return FunctionsOfHoles(elf, facts, holes, text, known).run();
}

CfiState cfi_state_of(const FrameState& state) {
  CfiState out;
  if (state.is_root) {
    out.registers[kReturnAddress].where = Where::kUndefined;
    return out;
  }
  out.cfa = CfiState::Cfa::kRegister;
  out.cfa_register = state.stack ? USC_REG_SP : USC_REG_FP;
  out.cfa_offset = state.stack ? *state.stack : state.frame.value_or(0);
  out.registers[kReturnAddress].where = Where::kAtCfa;
  out.registers[kReturnAddress].value = -8;
  for (std::uint32_t i = 0; i < USC_SAVED_REGS; i++) {
    const FrameState::Saved& saved = state.saved.at(i);
    RegisterRule& rule = out.registers.at(USC_SAVED_REG(i));
    if (saved.slot != 0) {
      rule.where = Where::kAtCfa;
      rule.value = -saved.slot;
    } else {
      rule.where = saved.kept ? Where::kSame : Where::kUndefined;
    }
  }
  return out;
}

}  // namespace uscope::symbolizer
