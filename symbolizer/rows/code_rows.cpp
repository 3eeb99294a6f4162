// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Functions are those of the symbol tables that have a size, and those that one of them calls; the latter end where the
// next start is known. A function gets rows only if it is certain that it is called, and does not share code:
//
// - It has a `ret` or ends with a jump to a function that has one, or it pops registers of its caller, or another
//   function without call frame information calls it, or it leaves by no jump. GHC's code has symbols of functions, but
//   is entered by jumps, with whatever lies on the stack.
// - It is no part of another function (.cold), and no other function jumps to its middle, or to its start with a frame
//   of its own: then nothing is said of it.
// - Where two functions hold the same instruction, they must agree.
//
// Limits: 64 KiB of code for a function; for a file 65,536 functions and 2 million instructions.
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

#include "symbolizer/code/program_start.h"

namespace uscope::symbolizer {
namespace {

constexpr std::uint64_t kLeastHole = 16;  // shorter ones are padding
constexpr std::uint64_t kMostFunction = TextReader::kWindow;
constexpr std::uint64_t kMostSteps = std::uint64_t{1} << 21;
constexpr std::size_t kMostFunctions = std::size_t{1} << 16;
constexpr std::size_t kMostRounds = 16;

class FunctionsOfHoles {
 public:
  FunctionsOfHoles(Elf* elf, const ElfFacts& facts, std::span<const OffsetRange> holes, const TextReader& text)
      : facts_(facts), text_(text), data_(text) {
    for (const OffsetRange& hole : holes)
      if (const auto address = address_of_offset(facts.exec_segments, hole.start);
          address && hole.end - hole.start >= kLeastHole)
        holes_.push_back({*address, *address + (hole.end - hole.start)});
    std::sort(holes_.begin(), holes_.end(), [](const CodeRange& a, const CodeRange& b) { return a.low < b.low; });
    if (!holes_.empty()) read_symbols(elf);
  }

  CodeRows run();

 private:
  struct Function {
    std::unique_ptr<FrameProof> proof;
    Returns returns = Returns::kUnknown;
    bool is_called = false;
    bool is_doubtful = false;
    std::vector<ProvenFrame> frames;
  };

  void read_symbols(Elf* elf);
  void look_at_table(Elf* elf, Elf_Scn* section, const GElf_Shdr& header);
  void look_at_symbol(Elf* elf, std::uint32_t names, const Elf64_Sym& symbol);
  [[nodiscard]] const CodeRange* hole_of(std::uint64_t address) const;
  [[nodiscard]] Function* function_at(std::uint64_t address);
  [[nodiscard]] std::uint64_t end_of(std::uint64_t start) const;
  void add_start(std::uint64_t address);
  void decode_all();
  bool decode(std::uint64_t start);
  [[nodiscard]] std::vector<IndirectJump> tables_of(const CodeRange& range);
  [[nodiscard]] std::optional<std::uint64_t> word(std::uint64_t address, std::uint8_t bytes);
  void find_returns();
  void prove_all();
  void note_entered(std::uint64_t address, const FrameState& state);
  [[nodiscard]] CodeRows collect() const;

  const ElfFacts& facts_;
  TextReader text_;
  TextReader data_;
  std::vector<CodeRange> holes_;                    // addresses
  std::map<std::uint64_t, std::uint64_t> symbols_;  // start, end
  std::set<std::uint64_t> parts_;                   // of other functions
  std::set<std::uint64_t> starts_;                  // all that are known
  std::map<std::uint64_t, Function> functions_;
  std::vector<std::uint64_t> pending_;
  std::uint64_t steps_ = 0;
};

const CodeRange* FunctionsOfHoles::hole_of(std::uint64_t address) const {
  auto next = std::upper_bound(holes_.begin(), holes_.end(), address,
                               [](std::uint64_t at, const CodeRange& hole) { return at < hole.low; });
  if (next == holes_.begin() || address >= std::prev(next)->high) return nullptr;
  return &*std::prev(next);
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
  const auto next = functions_.upper_bound(address);
  if (next != functions_.begin() && starts_.count(address) == 0) {
    const auto& [start, before] = *std::prev(next);
    const ProvenFunction& known = before.proof->function();
    if (known.end_is_known && address < known.range.high) return;
    // The one before has ended too late.
    if (address < known.range.high) pending_.push_back(start);
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
  auto ends = find_function_ends(range, source);
  return ends ? std::move(ends->indirect) : std::vector<IndirectJump>();
}

// False when the limits are reached.
bool FunctionsOfHoles::decode(std::uint64_t start) {
  ProvenFunction function;
  function.range = {start, end_of(start)};
  function.end_is_known = symbols_.count(start) != 0;
  Function& known = functions_[start];
  if (known.proof && known.proof->function().range.high == function.range.high) return true;
  const std::uint64_t size = function.range.high - start;
  const auto offset = offset_of_address(facts_.exec_segments, start);
  const auto bytes = offset ? text_.bytes_at(*offset, size) : std::span<const std::byte>();
  const std::vector<std::byte> code(bytes.begin(), bytes.end());
  known.proof =
      std::make_unique<FrameProof>(function, code, [this](const CodeRange& range) { return tables_of(range); });
  steps_ += known.proof->steps();
  for (const std::uint64_t target : known.proof->calls())
    if (starts_.count(target) == 0 || functions_.count(target) == 0) add_start(target);
  return steps_ < kMostSteps && functions_.size() < kMostFunctions;
}

void FunctionsOfHoles::decode_all() {
  for (const auto& [start, end] : symbols_) pending_.push_back(start);
  if (hole_of(facts_.entry) != nullptr) {
    starts_.insert(facts_.entry);
    pending_.push_back(facts_.entry);
  }
  while (!pending_.empty()) {
    std::vector<std::uint64_t> round = std::move(pending_);
    pending_.clear();
    std::sort(round.begin(), round.end());
    round.erase(std::unique(round.begin(), round.end()), round.end());
    for (const std::uint64_t start : round)
      if (!decode(start)) return;
  }
}

FunctionsOfHoles::Function* FunctionsOfHoles::function_at(std::uint64_t address) {
  const auto found = functions_.find(address);
  return found == functions_.end() ? nullptr : &found->second;
}

// First those that are known to return, then those that cannot. What is left when the rounds are used up stays unknown.
void FunctionsOfHoles::find_returns() {
  const auto settle = [&](const FrameProof::ReturnsOf& returns_of, Returns wanted) {
    bool changed = true;
    for (std::size_t round = 0; changed && round < kMostRounds; round++) {
      changed = false;
      for (auto& [start, function] : functions_) {
        if (function.returns != Returns::kUnknown || function.proof->returns(returns_of) != wanted) continue;
        function.returns = wanted;
        changed = true;
      }
    }
  };
  const auto of = [&](std::uint64_t address) {
    const Function* function = function_at(address);
    return function == nullptr ? Returns::kUnknown : function->returns;
  };
  settle(of, Returns::kYes);
  settle(of, Returns::kNever);
}

void FunctionsOfHoles::note_entered(std::uint64_t address, const FrameState& state) {
  auto next = functions_.upper_bound(address);
  if (next == functions_.begin()) return;
  auto& [start, function] = *std::prev(next);
  if (address >= function.proof->function().range.high) return;
  const bool is_call =
      address == start && state.stack == 8 &&
      std::all_of(state.saved.begin(), state.saved.end(), [](const auto& saved) { return saved.kept; });
  if (!is_call) function.is_doubtful = true;
}

void FunctionsOfHoles::prove_all() {
  const FrameProof::ReturnsOf returns_of = [this](std::uint64_t address) {
    const Function* function = function_at(address);
    return function == nullptr ? Returns::kUnknown : function->returns;
  };
  const FrameProof::Entered entered = [this](std::uint64_t address, const FrameState& state) {
    note_entered(address, state);
  };
  for (auto& [start, function] : functions_) {
    function.frames = function.proof->prove(returns_of, entered);
    for (const std::uint64_t target : function.proof->calls())
      if (Function* called = function_at(target)) called->is_called = true;
    if (parts_.count(start) != 0 || start == facts_.entry) function.is_doubtful = true;
  }
}

CodeRows FunctionsOfHoles::collect() const {
  std::vector<CodeRow> all;
  CodeRows out;
  for (const auto& [start, function] : functions_) {
    const bool is_certain = function.is_called || function.returns == Returns::kYes || function.proof->has_return() ||
                            function.proof->restores_registers() || !function.proof->jumps_out();
    if (function.is_doubtful || !is_certain || function.frames.empty()) continue;
    out.functions++;
    for (const ProvenFrame& frame : function.frames)
      if (const auto offset = offset_of_address(facts_.exec_segments, frame.range.low))
        all.push_back({{*offset, *offset + (frame.range.high - frame.range.low)}, frame.state});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const CodeRow& a, const CodeRow& b) { return a.range.start < b.range.start; });
  for (std::size_t i = 0; i < all.size();) {
    // What overlaps must be equal.
    std::size_t next = i + 1;
    bool agree = true;
    std::uint64_t end = all[i].range.end;
    for (; next < all.size() && all[next].range.start < end; next++) {
      agree = agree && all[next].state == all[i].state && all[next].range.start == all[i].range.start;
      end = std::max(end, all[next].range.end);
    }
    if (agree && !out.rows.empty() && out.rows.back().range.end == all[i].range.start &&
        out.rows.back().state == all[i].state)
      out.rows.back().range.end = end;
    else if (agree)
      out.rows.push_back({{all[i].range.start, end}, all[i].state});
    i = next;
  }
  for (const std::uint64_t start : starts_)
    if (const auto offset = offset_of_address(facts_.exec_segments, start)) out.starts.push_back(*offset);
  std::sort(out.starts.begin(), out.starts.end());
  return out;
}

CodeRows FunctionsOfHoles::run() {
  if (holes_.empty()) return {};
  decode_all();
  std::erase_if(functions_, [](const auto& each) { return !each.second.proof; });
  find_returns();
  prove_all();
  return collect();
}

}  // namespace

CodeRows prove_rows(Elf* elf, const ElfFacts& facts, std::span<const OffsetRange> holes, const TextReader& text) {
  return FunctionsOfHoles(elf, facts, holes, text).run();
}

CfiState cfi_state_of(const FrameState& state) {
  CfiState out;
  out.cfa = CfiState::Cfa::kRegister;
  out.cfa_register = state.stack ? USC_REG_RSP : USC_REG_RBP;
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
