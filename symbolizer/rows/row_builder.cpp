// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Rows from FDEs: each FDE gets its stretch of file offsets, the stretches are made disjoint, the programs run in order
// of offset, and adjacent rows with the same rule become one. Code without an FDE is a hole (NONE).
//
// Overlaps. Within .eh_frame, the FDE with the greatest start at or below an address holds, up to its end (as with the
// loader's binary search table); of those with one start, the first in the section. An FDE of .debug_frame is used only
// where it overlaps no FDE of .eh_frame. An FDE whose program is malformed leaves a hole.
//
// Go. Go's own function table (go_unwind.h) takes precedence over .debug_frame, which does not know where a function
// leaves its stack, nor where the frame pointer is, and is missing in stripped programs.
//
// Functions without an FDE get the rows that their code proves (code_rows.cpp has the rule for what is a function).
//
// V8's builtins have no FDE and keep frame pointers (v8_builtins.h). Some other code without FDEs is recognised by its
// bytes (known_code.h).
//
// A system call instruction directly after an FDE counts as the last one of that FDE: glibc's clone3 ends its FDE
// before it, though its state still holds, and every thread that creates another is there. Where a system call
// instruction is the last one, so does the byte behind it: the pc to which a handler returns that ran at the end of the
// call.
//
// Coroutines. makecontext makes a coroutine return to glibc's __start_context as if it had been called from the byte
// before: that byte is the end of the stack, and so is the function, which continues with the next context or exit. It
// is recognised by its instructions, since its FDE does not mark it.
//
// Limits: text above 4 GiB of a file, and more than 1 GiB of text, has no rows. FDEs in separate debug files are not
// used.
#include "symbolizer/rows/row_builder.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>

#include "symbolizer/cfi/cfi_program.h"
#include "symbolizer/cfi/cfi_sections.h"
#include "symbolizer/code/known_bytes.h"
#include "symbolizer/code/signal_trampoline.h"
#include "symbolizer/code/text_reader.h"
#include "symbolizer/go/go_sections.h"
#include "symbolizer/go/go_unwind.h"
#include "symbolizer/rows/code_rows.h"
#include "symbolizer/rows/known_code.h"
#include "symbolizer/rows/row_rules.h"
#include "symbolizer/rows/v8_builtins.h"

namespace uscope::symbolizer {
namespace {

constexpr std::uint64_t kHighestOffset = UINT32_MAX - 2 * USC_INDEX_BYTES;
constexpr std::size_t kMaxRows = 1u << 24;
// How far an entry point without an FDE is assumed to extend: ld.so's _start and _dl_start_user take some 80 bytes.
constexpr std::uint64_t kMaxEntryBytes = 128;

// Code with one FDE's program, with rows from Go's function table, or with one rule.
struct Stretch {
  std::uint64_t start = 0;  // file offsets
  std::uint64_t end = 0;
  CfiSection* section = nullptr;
  Fde fde;                             // without a section, its address is that of `start`
  const GoFunction* go = nullptr;      // if `section` is null
  std::uint32_t rule = USC_RULE_ROOT;  // if both are null
  bool is_proven = false;              // by the code
};

class TableBuilder {
 public:
  TableBuilder(const ElfFacts& facts, RowDetail detail, UnwindTable& table)
      : facts_(facts), table_(table), rules_(table.stats, detail) {}

  void add_section(CfiSection& section, bool eh_frame);
  void add_go(const GoPclntab& table);
  void prove_functions(Elf* elf, const TextReader& text);
  void add_entry();
  void add_proven_functions();
  void add_v8_builtins(Elf* elf, TextReader& text);
  void add_known_code(TextReader& text);
  void finish(TextReader& text);

 private:
  [[nodiscard]] std::vector<OffsetRange> holes() const;
  std::optional<Stretch> locate(CfiSection* section, const Fde& fde);
  void make_disjoint(std::vector<Stretch>& stretches);
  void add_where_free(const std::vector<Stretch>& candidates);
  void limit_text();
  void add_coroutine_roots(TextReader& text);
  void take_in_syscalls(TextReader& text);
  void append(std::uint64_t offset, std::uint32_t rule);
  void emit(const Stretch& stretch, TextReader& text);
  void emit_go(const Stretch& stretch, TextReader& text);
  void make_index();

  const ElfFacts& facts_;
  UnwindTable& table_;
  RuleTable rules_;
  std::vector<Stretch> stretches_;  // disjoint, by start
  const GoPclntab* go_ = nullptr;
  std::uint64_t go_steps_ = 0;
  CodeRows proven_;
};

bool starts_before(const Stretch& a, const Stretch& b) {
  return a.start < b.start;
}

std::optional<Stretch> TableBuilder::locate(CfiSection* section, const Fde& fde) {
  for (const Segment& segment : facts_.exec_segments) {
    if (fde.address < segment.address || fde.address - segment.address >= segment.size) continue;
    const std::uint64_t skip = fde.address - segment.address;
    Stretch stretch;
    stretch.start = segment.offset + skip;
    stretch.section = section;
    stretch.fde = fde;
    stretch.end = stretch.start + std::min(fde.size, segment.size - skip);
    if (stretch.end <= stretch.start || stretch.end > kHighestOffset) return std::nullopt;
    return stretch;
  }
  return std::nullopt;
}

void TableBuilder::make_disjoint(std::vector<Stretch>& stretches) {
  std::stable_sort(stretches.begin(), stretches.end(), starts_before);
  std::size_t kept = 0;
  for (std::size_t i = 0; i < stretches.size(); i++) {
    if (kept > 0 && stretches[kept - 1].start == stretches[i].start) {
      table_.stats.fdes_overlapping++;
      continue;
    }
    if (kept > 0 && stretches[kept - 1].end > stretches[i].start) {
      stretches[kept - 1].end = stretches[i].start;
      table_.stats.fdes_overlapping++;
    }
    stretches[kept++] = stretches[i];
  }
  stretches.resize(kept);
}

// Both lists are sorted and disjoint.
void TableBuilder::add_where_free(const std::vector<Stretch>& candidates) {
  std::vector<Stretch> merged;
  merged.reserve(stretches_.size() + candidates.size());
  std::size_t held = 0;
  for (const Stretch& candidate : candidates) {
    while (held < stretches_.size() && stretches_[held].end <= candidate.start) merged.push_back(stretches_[held++]);
    if (held < stretches_.size() && stretches_[held].start < candidate.end)
      table_.stats.fdes_overlapping++;
    else
      merged.push_back(candidate);
  }
  merged.insert(merged.end(), stretches_.begin() + static_cast<std::ptrdiff_t>(held), stretches_.end());
  stretches_ = std::move(merged);
}

void TableBuilder::add_section(CfiSection& section, bool eh_frame) {
  std::vector<Stretch> found;
  for (const Fde& fde : section.fdes()) {
    if (auto stretch = locate(&section, fde))
      found.push_back(*stretch);
    else
      table_.stats.fdes_outside++;
  }
  table_.stats.fdes_refused += section.refused();
  if (eh_frame) {
    found.insert(found.begin(), stretches_.begin(), stretches_.end());
    make_disjoint(found);
    stretches_ = std::move(found);
  } else {
    make_disjoint(found);
    add_where_free(found);
  }
}

// Padding before a function belongs to it: if Go makes a stack look as if a function had been called from its first
// instruction, or a signal handler returns to one, the byte before it is looked up.
void TableBuilder::add_go(const GoPclntab& table) {
  constexpr std::uint64_t kMostPadding = 32;
  go_ = &table;
  go_steps_ = table.most_steps();
  std::uint64_t steps = table.most_steps();
  std::vector<GoStretch> known;
  std::vector<Stretch> found;
  std::uint64_t behind = 0;  // the end of the previous function
  for (const GoFunction& function : table.functions()) {
    const bool padded = behind < function.start && function.start - behind < kMostPadding;
    const std::uint64_t start = padded ? behind : function.start;
    behind = function.limit;
    if (!table.stretches(function, known, steps)) continue;
    behind = known.back().end;
    Fde range;
    range.address = start;
    range.size = behind - start;
    auto stretch = locate(nullptr, range);
    if (!stretch) continue;
    stretch->go = &function;
    found.push_back(*stretch);
  }
  make_disjoint(found);
  add_where_free(found);
}

void TableBuilder::prove_functions(Elf* elf, const TextReader& text) {
  std::vector<OffsetRange> wanted = holes();
  // What Go's table does not describe there leaves its stack.
  if (go_ != nullptr && !go_->functions().empty()) {
    const auto low = offset_of_address(facts_.exec_segments, go_->functions().front().start);
    const auto high = offset_of_address(facts_.exec_segments, go_->functions().back().start);
    std::erase_if(wanted,
                  [&](const OffsetRange& hole) { return !low || !high || (hole.end > *low && hole.start < *high); });
  }
  proven_ = prove_rows(elf, facts_, wanted, text);
  table_.stats.proven_functions = proven_.functions;
}

// Where holes are left: the entry is an end of the stack whatever its code says.
void TableBuilder::add_proven_functions() {
  std::vector<Stretch> found;
  found.reserve(proven_.rows.size());
  for (const CodeRow& row : proven_.rows) {
    if (row.range.end > kHighestOffset) break;
    Stretch stretch;
    stretch.start = row.range.start;
    stretch.end = row.range.end;
    stretch.rule = rules_.rule_for(cfi_state_of(row.state), false);
    stretch.is_proven = true;
    found.push_back(stretch);
  }
  if (!found.empty()) add_where_free(found);
}

// The kernel enters a program here, without a return address. glibc has an FDE that says so; its loader and some other
// C libraries have none.
void TableBuilder::add_entry() {
  const auto offset = offset_of_address(facts_.exec_segments, facts_.entry);
  if (facts_.entry == 0 || !offset || *offset + kMaxEntryBytes > kHighestOffset) return;
  Stretch entry;
  entry.start = *offset;
  entry.end = *offset + kMaxEntryBytes;
  const auto next = std::upper_bound(stretches_.begin(), stretches_.end(), entry, starts_before);
  if (next != stretches_.begin() && std::prev(next)->end > entry.start) return;
  if (next != stretches_.end()) entry.end = std::min(entry.end, next->start);
  const auto function = std::upper_bound(proven_.starts.begin(), proven_.starts.end(), entry.start);
  if (function != proven_.starts.end()) entry.end = std::min(entry.end, *function);
  for (const Segment& segment : facts_.exec_segments)
    if (entry.start >= segment.offset && entry.start - segment.offset < segment.size)
      entry.end = std::min(entry.end, segment.offset + segment.size);
  stretches_.insert(next, entry);
  table_.stats.entry_roots = 1;
}

std::vector<OffsetRange> TableBuilder::holes() const {
  std::vector<OffsetRange> found;
  for (const Segment& segment : facts_.exec_segments) {
    std::uint64_t from = segment.offset;
    const std::uint64_t end = std::min(segment.offset + segment.size, kHighestOffset);
    for (const Stretch& stretch : stretches_) {
      if (stretch.end <= from || stretch.start >= end) continue;
      if (from < stretch.start) found.push_back({from, stretch.start});
      from = stretch.end;
    }
    if (from < end) found.push_back({from, end});
  }
  return found;
}

void TableBuilder::add_v8_builtins(Elf* elf, TextReader& text) {
  const V8Facts v8 = v8_facts(elf, facts_);
  OffsetRange range;
  if (v8.builtins)
    range = *v8.builtins;
  else if (v8.exports_interface)
    range = find_v8_hole(holes(), text);
  if (range.start >= range.end || range.end > kHighestOffset) return;
  Stretch builtins;
  builtins.start = range.start;
  builtins.end = range.end;
  builtins.rule = USC_RULE_FRAME_POINTER;
  add_where_free({builtins});
}

void TableBuilder::add_known_code(TextReader& text) {
  std::vector<Stretch> found;
  for (const HolePiece& piece : recognize_holes(holes(), text)) {
    Stretch stretch;
    stretch.start = piece.range.start;
    stretch.end = piece.range.end;
    stretch.rule = piece.trampoline ? rules_.add(kSignalTrampolineRule) : piece.rule;
    table_.stats.signal_trampolines += piece.trampoline ? 1 : 0;
    table_.stats.crt_rows += piece.trampoline ? 0 : 1;
    found.push_back(stretch);
  }
  if (found.empty()) return;
  found.insert(found.end(), stretches_.begin(), stretches_.end());
  make_disjoint(found);
  stretches_ = std::move(found);
}

void TableBuilder::limit_text() {
  if (stretches_.empty()) return;
  const std::uint64_t limit = stretches_.front().start + kMaxTextBytes;
  while (stretches_.back().end > limit) {
    stretches_.pop_back();
    table_.stats.fdes_outside++;
    if (stretches_.empty()) return;
  }
}

void TableBuilder::add_coroutine_roots(TextReader& text) {
  constexpr std::uint64_t kMostBytes = 64;
  std::uint64_t behind = 0;  // the end of the previous stretch
  for (Stretch& stretch : stretches_) {
    const bool hole_before = behind < stretch.start;
    behind = stretch.end;
    if (!stretch.section || !hole_before || stretch.end - stretch.start > kMostBytes) continue;
    const auto code = text.bytes_at(stretch.start, kStartContext.size());
    if (code.size() != kStartContext.size() || std::memcmp(code.data(), kStartContext.data(), code.size()) != 0)
      continue;
    stretch.section = nullptr;
    stretch.rule = USC_RULE_ROOT;
    stretch.start--;
    table_.stats.coroutine_roots++;
  }
}

void TableBuilder::take_in_syscalls(TextReader& text) {
  constexpr std::uint64_t kSyscallBytes = 2;
  for (std::size_t i = 0; i < stretches_.size(); i++) {
    Stretch& stretch = stretches_[i];
    const std::uint64_t limit = i + 1 < stretches_.size() ? stretches_[i + 1].start : kHighestOffset;
    if (stretch.section && limit - stretch.end >= kSyscallBytes && text.has_syscall_at(stretch.end)) {
      stretch.end += kSyscallBytes;
      table_.stats.syscalls_taken_in++;
    }
    // Where a proof ends with a system call, the code behind it has another frame, or several (clone's child).
    const bool has_call = !stretch.is_proven && stretch.end - stretch.start >= kSyscallBytes && stretch.end < limit;
    if (has_call && text.has_syscall_at(stretch.end - kSyscallBytes)) stretch.end++;
  }
}

void TableBuilder::append(std::uint64_t offset, std::uint32_t rule) {
  std::vector<usc_row>& rows = table_.rows;
  if (!rows.empty() && rows.back().offset == offset) rows.pop_back();
  if (!rows.empty() && rows.back().rule == rule) return;
  rows.push_back({static_cast<__u32>(offset), rule});
}

void TableBuilder::emit_go(const Stretch& stretch, TextReader& text) {
  const std::uint64_t size = std::min<std::uint64_t>(stretch.go->limit - stretch.go->start, kGoMostCode);
  const std::uint64_t padding = stretch.go->start - stretch.fde.address;
  const auto code = text.bytes_at(stretch.start + padding, size);
  std::uint64_t offset = stretch.start;
  for (const GoRow& row : go_function_rows(*go_, *stretch.go, code, go_steps_).rows) {
    if (row.start > stretch.go->start) offset = stretch.start + (row.start - stretch.fde.address);
    if (offset >= stretch.end) break;
    table_.stats.rows_before_merging++;
    const RuleTable::Extra extra{row.rule == GoRule::kRegister || row.rule == GoRule::kSaved, row.exact_ra};
    append(offset, row.rule == GoRule::kSignal ? rules_.add(kSignalTrampolineRule)
                                               : rules_.rule_for(go_cfi_state(row), false, extra));
  }
  append(stretch.end, USC_RULE_NONE);
  table_.stats.go_functions++;
}

void TableBuilder::emit(const Stretch& stretch, TextReader& text) {
  if (stretch.go) {
    emit_go(stretch, text);
    return;
  }
  if (!stretch.section) {
    append(stretch.start, stretch.rule);
    append(stretch.end, USC_RULE_NONE);
    return;
  }
  std::vector<usc_row>& rows = table_.rows;
  const std::size_t mark = rows.size();
  const usc_row last = rows.back();
  const std::uint64_t before = table_.stats.rows_before_merging;
  const bool sound = stretch.section->run(stretch.fde, [&](std::uint64_t address, const CfiState& state) {
    const std::uint64_t offset = stretch.start + (address - stretch.fde.address);
    if (address < stretch.fde.address || offset >= stretch.end) return;
    table_.stats.rows_before_merging++;
    append(offset, rules_.rule_for(state, stretch.fde.cie->signal_frame));
  });
  if (sound && rows.size() <= kMaxRows) {
    table_.stats.fdes++;
  } else {
    // Rows that a malformed program gave before it failed are not trusted either. Its first row may have replaced the
    // one before it.
    if (rows.size() >= mark) rows.resize(mark - 1);
    rows.push_back(last);
    append(stretch.start, USC_RULE_NONE);
    table_.stats.rows_before_merging = before;
    table_.stats.fdes_refused++;
  }
  append(stretch.end, USC_RULE_NONE);
}

void TableBuilder::make_index() {
  const std::vector<usc_row>& rows = table_.rows;
  const std::size_t stretches = ((table_.text_end - table_.text_start) >> USC_INDEX_SHIFT) + 1;
  table_.index.reserve(stretches + 1);
  std::size_t holds = 0;
  for (std::size_t i = 0; i < stretches; i++) {
    const std::uint64_t offset = table_.text_start + i * USC_INDEX_BYTES;
    while (holds + 1 < rows.size() && rows[holds + 1].offset <= offset) holds++;
    table_.index.push_back(static_cast<__u32>(holds));
  }
  table_.index.push_back(static_cast<__u32>(rows.size() - 1));
}

void TableBuilder::finish(TextReader& text) {
  limit_text();
  add_coroutine_roots(text);
  take_in_syscalls(text);
  std::uint64_t start = 0;
  if (!stretches_.empty())
    start = stretches_.front().start;
  else if (!facts_.exec_segments.empty())
    start = std::min(facts_.exec_segments.front().offset, kHighestOffset);
  table_.text_start = static_cast<__u32>(start & ~std::uint64_t{USC_INDEX_BYTES - 1});
  table_.rows.push_back({table_.text_start, USC_RULE_NONE});
  for (const Stretch& stretch : stretches_) emit(stretch, text);
  // The last row is a hole: after the last stretch, or from its start if that was malformed.
  table_.text_end = table_.rows.back().offset;
  table_.rules = rules_.take();
  make_index();
}

// `with_entry`: a program's entry point; the vdso has none.
Result<UnwindTable> build(Elf* elf, const ElfFacts& facts, TextReader text, bool with_entry, RowDetail detail,
                          const std::string& name) {
  auto sources = read_cfi_sources(elf, facts, name);
  if (!sources) return sources.error();
  UnwindTable table;
  TableBuilder builder(facts, detail, table);
  std::vector<std::unique_ptr<CfiSection>> sections;
  const auto add_sections = [&](bool eh_frame) {
    for (const CfiSource& source : *sources) {
      if (source.eh_frame != eh_frame) continue;
      sections.push_back(std::make_unique<CfiSection>(source));
      builder.add_section(*sections.back(), eh_frame);
    }
  };
  const auto go = read_go_pclntab(elf, facts);
  add_sections(true);
  if (go) builder.add_go(*go);
  add_sections(false);
  builder.add_v8_builtins(elf, text);
  builder.add_known_code(text);
  builder.prove_functions(elf, text);
  if (with_entry) builder.add_entry();
  builder.add_proven_functions();
  builder.finish(text);
  for (const auto& section : sections)
    if (const std::string& first = section->first_refusal(); !first.empty()) {
      std::strncpy(table.stats.first_refusal.data(), first.c_str(), table.stats.first_refusal.size() - 1);
      break;
    }
  return table;
}

}  // namespace

Result<UnwindTable> build_rows(int fd, const std::string& name, RowDetail detail) {
  const auto facts = read_elf_facts(fd, name);
  if (!facts) return facts.error();
  const auto elf = open_elf(fd, name);
  if (!elf) return elf.error();
  return build(elf->get(), *facts, TextReader(fd), true, detail, name);
}

Result<UnwindTable> build_rows_from_memory(std::span<const std::byte> image, const std::string& name,
                                           RowDetail detail) {
  const auto facts = read_elf_facts_from_memory(image, name);
  if (!facts) return facts.error();
  const auto elf = open_elf_in_memory(image, name);
  if (!elf) return elf.error();
  return build(elf->get(), *facts, TextReader(image), false, detail, name);
}

std::string damage_of(const UnwindTable& table, const std::string& name) {
  const RowStats& stats = table.stats;
  if (stats.fdes != 0 || stats.go_functions != 0 || stats.fdes_refused == 0) return "";
  const std::string first(stats.first_refusal.data(), strnlen(stats.first_refusal.data(), stats.first_refusal.size()));
  return fmt::format("{}: its call frame information is damaged: {} {} refused, none understood{}{}", name,
                     stats.fdes_refused, stats.fdes_refused == 1 ? "entry" : "entries",
                     first.empty() ? "" : "; the first: ", first);
}

Result<void> check_rows(const UnwindTable& table) {
  const auto bad = [](const char* what, std::size_t number) -> Result<void> {
    return Error{fmt::format("unwind rows: {} at number {}", what, number), ""};
  };
  const std::size_t count = table.rows.size();
  if (count == 0 || count > std::size_t{UINT32_MAX}) return bad("impossible count of rows", count);
  if (table.text_start % USC_INDEX_BYTES != 0 || table.text_end < table.text_start ||
      table.rows.front().offset != table.text_start)
    return bad("text_start is not the first row's offset, or not aligned,", 0);
  if (table.rows.back().offset != table.text_end || table.rows.back().rule != USC_RULE_NONE)
    return bad("the last row is not a hole at text_end", count - 1);
  for (std::size_t i = 0; i < count; i++) {
    if (i > 0 && table.rows[i].offset <= table.rows[i - 1].offset) return bad("offsets do not ascend", i);
    const __u32 rule = table.rows[i].rule;
    if (USC_RULE_KIND(rule) > USC_RULE_FRAME_POINTER) return bad("unknown kind of rule", i);
    if (USC_RULE_KIND(rule) == USC_RULE_SHARED && USC_RULE_NUMBER(rule) >= table.rules.size())
      return bad("number of a shared rule out of range", i);
  }
  const std::size_t stretches = ((table.text_end - table.text_start) >> USC_INDEX_SHIFT) + 1;
  if (table.index.size() != stretches + 1) return bad("wrong size of the index", table.index.size());
  if (table.index.back() != count - 1) return bad("the index does not end at the last row", stretches);
  for (std::size_t i = 0; i < stretches; i++) {
    const __u32 row = table.index[i];
    const std::uint64_t offset = table.text_start + i * USC_INDEX_BYTES;
    if (row >= count || table.rows[row].offset > offset || (row + 1 < count && table.rows[row + 1].offset <= offset))
      return bad("the index names another row than the one that holds", i);
  }
  return {};
}

}  // namespace uscope::symbolizer
