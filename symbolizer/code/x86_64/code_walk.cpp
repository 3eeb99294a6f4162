// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The walk starts at the entry and at the landing pads of exceptions, and goes on as the processor does: behind each
// instruction, behind calls that may return, to the targets of jumps, of calls within the function, and of those
// indirect jumps whose table is understood (register_values.h). What it has not reached does not count as code. Each
// byte belongs to one instruction: where two paths see different ones, the function is refused (a jump over a lock
// prefix excepted).
//
// Limits. An instruction is decoded once, with what is known on the first path to it; a table that this path does not
// tell stays unknown. The length of a table that no comparison tells (Rust's and clang's exhaustive `switch`) is found
// by its entries: as long as they lead to where an instruction begins, or to bytes that nothing has reached; this is
// done last, and only while such bytes are left. So are the labels of an interpreter found whose jumps name no table,
// by the tables that the code names elsewhere (follow_labels). A function whose code is read, or whose bytes are not
// all accounted for, is in doubt.
#include "symbolizer/code/code_walk.h"

#include <algorithm>
#include <utility>

#include "symbolizer/code/indirect_jump.h"
#include "uscope/jumps.h"

namespace uscope::symbolizer {
namespace {

constexpr std::uint64_t kMostCode = std::uint64_t{1} << 20;  // of all parts
constexpr std::size_t kMostParts = USC_JUMP_PARTS;
constexpr std::size_t kMostEnds = 8192;        // PHP's interpreter has some thousand indirect jumps
constexpr std::size_t kMostNamedData = 65536;  // whose address the code takes
constexpr std::uint64_t kMostEntries = 16384;  // of all tables
constexpr std::size_t kMostPaths = 65536;

Error refused(const std::string& why) {
  return Error{why, ""};
}

bool is_conditional(const Instruction& one) {
  const bool is_short = one.decoded.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && (one.decoded.opcode & 0xf0U) == 0x70;
  const bool is_near = one.decoded.opcode_map == ZYDIS_OPCODE_MAP_0F && (one.decoded.opcode & 0xf0U) == 0x80;
  return is_short || is_near;
}

std::uint64_t with_sign(std::uint64_t word, std::uint8_t bytes) {
  if (bytes == 4) return static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(word)));
  return word;
}

}  // namespace

const CodeWalk::Part* CodeWalk::part_of(std::uint64_t address) const {
  for (const Part& part : parts_)
    if (address >= part.range.low && address < part.range.high) return &part;
  return nullptr;
}

CodeWalk::Part* CodeWalk::part_of(std::uint64_t address) {
  return const_cast<Part*>(std::as_const(*this).part_of(address));
}

bool CodeWalk::overlaps(const CodeRange& part) const {
  return std::any_of(parts_.begin(), parts_.end(),
                     [&](const Part& known) { return part.low < known.range.high && known.range.low < part.high; });
}

bool CodeWalk::has_reached(std::uint64_t address) const {
  const Part* part = part_of(address);
  return part != nullptr && part->marks[address - part->range.low] == Mark::kStart;
}

bool CodeWalk::is_inside_instruction(std::uint64_t address) const {
  const Part* part = part_of(address);
  return part != nullptr && part->marks[address - part->range.low] == Mark::kInside;
}

bool CodeWalk::has_open_ends() const {
  return std::any_of(ends_.indirect.begin(), ends_.indirect.end(),
                     [](const IndirectJump& jump) { return !jump.stays; });
}

void CodeWalk::doubt(const std::string& why) {
  if (ends_.doubt.empty()) ends_.doubt = why;
}

Result<void> CodeWalk::add_part(const CodeRange& range) {
  const std::uint64_t size = range.high > range.low ? range.high - range.low : 0;
  if (size == 0) return refused("it has no code");
  if (parts_.size() == kMostParts) return refused("its code lies in too many places");
  if (size > kMostCode - read_) return refused("its code is too long to be searched for returns");
  read_ += size;
  Part part{range, source_.read(range), {}};
  if (part.code.size() != size) return refused("its code cannot be read");
  part.marks.resize(size);
  parts_.push_back(std::move(part));
  ends_.ranges.push_back(range);
  if (!source_.landing_pads) return {};
  // Registers hold something else when an exception is caught, so nothing is known of them.
  for (const std::uint64_t pad : source_.landing_pads(range))
    if (pad >= range.low && pad < range.high) paths_.push_back({pad, RegisterValues(), false});
  return {};
}

Result<void> CodeWalk::run() {
  if (auto added = add_part(function_); !added) return added;
  paths_.push_back({function_.low, RegisterValues(), false});
  if (auto done = follow_all(); !done) return done;
  if (source_.only_jumps) return {};
  if (auto done = follow_open_tables(); !done) return done;
  if (auto done = follow_labels(); !done) return done;
  follow_dead_code();
  if (!unreached().empty()) {
    doubt(has_open_ends() ? "it has a jump whose targets cannot be told, and bytes that no path reaches"
                          : "no path through its code reaches all of its bytes: some may be data");
  }
  if (ends_.returns.size() + ends_.jumps.size() + ends_.indirect.size() > kMostEnds)
    return refused("it ends at too many places");
  return {};
}

Result<void> CodeWalk::follow_all() {
  while (!paths_.empty()) {
    if (paths_.size() > kMostPaths) return refused("it has too many paths");
    Path path = std::move(paths_.back());
    paths_.pop_back();
    if (auto done = follow(std::move(path)); !done) return done;
  }
  return {};
}

Result<void> CodeWalk::follow(Path path) {
  for (;;) {
    Part* part = part_of(path.address);
    if (part == nullptr) {
      // A call may be the last of a function if it does not return.
      if (path.after_call) return {};
      return refused("its code runs on into that of another function");
    }
    const std::uint64_t at = path.address - part->range.low;
    if (part->marks[at] == Mark::kStart) return {};
    const auto one = decoder_.decode(std::span(part->code).subspan(at), path.address);
    if (!one) return refused("its code has bytes that are not an instruction");
    if (auto done = mark(*part, *one); !done) return done;
    look_for_data(*one, path.values);
    const auto goes_on = step(*one, path);
    if (!goes_on) return goes_on.error();
    if (!*goes_on) return {};
    path.address = one->next();
  }
}

// The C library jumps over a lock prefix where a program has one thread.
Result<void> CodeWalk::mark(Part& part, const Instruction& one) {
  const std::uint64_t at = one.address - part.range.low;
  const std::uint64_t end = at + one.decoded.length;
  const auto is_lock = [&](std::uint64_t place) { return std::to_integer<unsigned>(part.code[place]) == 0xf0; };
  const auto middle = [] {
    return refused("it jumps into the middle of an instruction, so its code cannot be decoded for certain");
  };
  const bool behind_lock =
      part.marks[at] == Mark::kInside && at > 0 && is_lock(at - 1) && part.marks[at - 1] == Mark::kStart;
  if (part.marks[at] == Mark::kInside && !behind_lock) return middle();
  for (std::uint64_t i = at + 1; i < end; i++) {
    if (behind_lock && part.marks[i] == Mark::kInside) continue;
    if (part.marks[i] == Mark::kStart && i == at + 1 && is_lock(at)) continue;
    if (part.marks[i] == Mark::kInside && is_lock(at) && part.marks[at + 1] == Mark::kStart) continue;
    if (part.marks[i] != Mark::kNone) return middle();
    part.marks[i] = Mark::kInside;
  }
  part.marks[at] = Mark::kStart;
  return {};
}

// Whether the path goes on behind the instruction.
Result<bool> CodeWalk::step(const Instruction& one, Path& path) {
  const auto result = [](const Result<void>& done, bool goes_on) {
    return done ? Result<bool>(goes_on) : done.error();
  };
  if (one.category() == ZYDIS_CATEGORY_RET) return result(end(one, path), false);
  if (!is_nop(one)) path.pushed = sets_return_address(one);
  if (!is_nop(one) && !one.is(ZYDIS_MNEMONIC_JMP))
    path.before = one.is(ZYDIS_MNEMONIC_POP) ? std::optional(one) : std::nullopt;
  const auto target = direct_target(one);
  if (one.category() == ZYDIS_CATEGORY_CALL) {
    if (target && part_of(*target) != nullptr && *target != function_.low) {
      paths_.push_back({*target, path.values, false});
      if (*target != one.next() && !begins_thunk(*target)) {
        doubt("it calls code of its own, which may take the bytes behind the call for data");
        return false;
      }
    }
    path.values.follow(one);
    path.after_call = true;
    const bool returns = !target || !source_.returns || source_.returns(*target);
    if (!returns) behind_last_ones_.push_back(one.next());
    return returns;
  }
  if (!is_nop(one)) path.after_call = false;
  if (target) {
    const bool always = one.is(ZYDIS_MNEMONIC_JMP);
    const auto done = go_to(one, *target, path.values, true);
    if (!always) path.values.assume(one, false);
    return result(done, !always);
  }
  if (one.is(ZYDIS_MNEMONIC_JMP)) return result(jump_indirectly(one, path), false);
  if (is_trap(one)) behind_last_ones_.push_back(one.next());
  if (leaves_for_good(one)) return false;
  path.values.follow(one);
  return true;
}

// Whether the code replaces the return address of who calls it, and so jumps elsewhere (retpolines).
bool CodeWalk::begins_thunk(std::uint64_t address) const {
  const Part* part = part_of(address);
  const auto one = decoder_.decode(std::span(part->code).subspan(address - part->range.low), address);
  return one && !one->is(ZYDIS_MNEMONIC_PUSH) && sets_return_address(*one);
}

Result<void> CodeWalk::end(const Instruction& one, const Path& path) {
  if (!one.is(ZYDIS_MNEMONIC_RET) || one.decoded.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR || !can_be_probed(one))
    return refused("it returns by an instruction that cannot be probed");
  if (path.pushed)
    ends_.indirect.push_back(jump_by_return(one));
  else
    ends_.returns.push_back(one.address);
  return {};
}

Result<void> CodeWalk::go_to(const Instruction& one, std::uint64_t target, const RegisterValues& values, bool taken) {
  if (part_of(target) == nullptr) {
    const JumpTarget to = source_.target(target);
    if (to.is != JumpTarget::Is::kPart) return leave(one, target);
    if (target < to.part.low || target >= to.part.high || overlaps(to.part))
      return refused("its code lies in places that overlap");
    if (auto added = add_part(to.part); !added) return added;
  }
  if (target >= function_.low && target <= entry_)
    if (auto added = add_jump(one, true); !added) return added;
  paths_.push_back({target, values, false});
  paths_.back().values.assume(one, taken);
  return {};
}

// A direct jump out of the parts of the function.
Result<void> CodeWalk::leave(const Instruction& one, std::uint64_t target) {
  switch (source_.target(target).is) {
    case JumpTarget::Is::kMiddle:
      return refused("it jumps into the middle of another function");
    case JumpTarget::Is::kFunction:
      break;
    default:
      return refused("it jumps to code that belongs to no function that is known");
  }
  auto thunk = jump_by_thunk(one.address, source_.read({target, target + kMostThunk}));
  if (auto added = add_jump(one, false); !added || !thunk) return added;
  thunk->condition = ends_.jumps.back().condition;
  ends_.jumps.pop_back();
  ends_.indirect.push_back(*thunk);
  return {};
}

Result<void> CodeWalk::add_jump(const Instruction& one, bool again) {
  const bool always = one.is(ZYDIS_MNEMONIC_JMP);
  if (!can_be_probed(one) || (!always && !is_conditional(one)))
    return refused(again ? "it goes back to its beginning by a jump that cannot be probed"
                         : "it ends with a jump that cannot be probed");
  const auto condition = static_cast<std::uint8_t>((one.decoded.opcode & 0xfU) + 1);
  ends_.jumps.push_back({one.address, always ? JumpOut::kAlways : condition, again});
  return {};
}

Result<void> CodeWalk::jump_indirectly(const Instruction& one, const Path& path) {
  const ZydisDecodedOperand& to = one.operands[0];
  if (one.decoded.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR) return refused("it has a far jump");
  const bool in_memory = to.type == ZYDIS_OPERAND_TYPE_MEMORY;
  if (in_memory && (to.mem.segment == ZYDIS_REGISTER_FS || to.mem.segment == ZYDIS_REGISTER_GS))
    return refused("it jumps to an address in memory of its thread alone");
  const Value value = in_memory ? path.values.loaded_by(one, to) : path.values.of(to.reg.value);
  auto jump = indirect_jump(one);
  if (!jump) return refused("it has an indirect jump that cannot be probed");
  const bool by_table = value.is == Value::Is::kEntry || value.is == Value::Is::kSum;
  if (by_table && value.most < kMostEntries && follow_table(value, path.values, jump->targets)) jump->stays = true;
  if (by_table && !jump->stays) open_tables_.push_back({value, 0});
  ends_.indirect.push_back(*jump);
  if (path.before && pops_target(*path.before, one)) ends_.indirect.push_back(jump_by_return(*path.before));
  return {};
}

std::optional<std::uint64_t> CodeWalk::table_entry(const Value& entry, std::uint64_t number) const {
  const bool is_whole = entry.is == Value::Is::kEntry && entry.bytes == 8;
  const bool is_relative = entry.is == Value::Is::kSum && (entry.bytes == 8 || entry.is_signed);
  if (!source_.word || (!is_whole && !is_relative) || entry.scale < entry.bytes) return std::nullopt;
  const auto word = source_.word(entry.at + number * entry.scale, entry.bytes);
  if (!word) return std::nullopt;
  return entry.is == Value::Is::kSum ? entry.base + with_sign(*word, entry.bytes) : *word;
}

// A table of which the length is known: all its entries lead into the function, or none is followed.
bool CodeWalk::follow_table(const Value& entry, const RegisterValues& values, std::vector<std::uint64_t>& targets) {
  for (std::uint64_t i = 0; i <= entry.most; i++) {
    const auto target = ++entries_ <= kMostEntries ? table_entry(entry, i) : std::nullopt;
    // One that leads to the function's own beginning is of a table of functions.
    if (!target || *target == function_.low) return false;
    if (part_of(*target) == nullptr) {
      const JumpTarget to = source_.target(*target);
      if (to.is != JumpTarget::Is::kPart || *target < to.part.low || *target >= to.part.high || overlaps(to.part) ||
          !add_part(to.part))
        return false;
    }
    if (std::find(targets.begin(), targets.end(), *target) == targets.end()) targets.push_back(*target);
  }
  for (const std::uint64_t target : targets) paths_.push_back({target, values, false});
  return true;
}

// One entry of each after the other, so that a table ends where the next one is known to begin. What stands behind the
// last one that is followed may be an entry, too, which leads elsewhere: whether the jump stays is decided when it is
// hit.
Result<void> CodeWalk::follow_open_tables() {
  for (std::size_t i = 0; i < open_tables_.size(); i++) {
    for (;;) {
      OpenTable& table = open_tables_[i];
      const std::uint64_t place = table.entry.at + table.read * table.entry.scale;
      const bool is_next =
          table.read != 0 && std::any_of(open_tables_.begin(), open_tables_.end(),
                                         [&](const OpenTable& other) { return other.entry.at == place; });
      const auto target = is_next || ++entries_ > kMostEntries ? std::nullopt : table_entry(table.entry, table.read);
      if (!target || table.read > table.entry.most || *target == function_.low || part_of(*target) == nullptr ||
          is_inside_instruction(*target))
        break;
      table.read++;
      paths_.push_back({*target, RegisterValues(), false});
      if (auto done = follow_all(); !done) return done;
    }
  }
  return {};
}

// The label whose address a word of data is.
std::optional<std::uint64_t> CodeWalk::label_at(std::uint64_t place) const {
  const auto target = source_.word ? source_.word(place, sizeof(std::uint64_t)) : std::nullopt;
  if (!target || *target == function_.low || part_of(*target) == nullptr || is_inside_instruction(*target))
    return std::nullopt;
  return target;
}

// Of an interpreter whose code is a list of its own labels (`goto **pc++`), the jumps say nothing of where they lead.
// But no other function can name its labels: a table of them is data whose address its code takes, two words or more
// that are addresses of its code.
Result<void> CodeWalk::follow_labels() {
  for (std::size_t i = 0; i < named_.size() && has_open_ends() && !unreached().empty(); i++) {
    const std::uint64_t table = named_[i];
    if (!label_at(table) || !label_at(table + sizeof(std::uint64_t))) continue;
    for (std::uint64_t at = table;; at += sizeof(std::uint64_t)) {
      const auto label = ++entries_ > kMostEntries ? std::nullopt : label_at(at);
      if (!label) break;
      paths_.push_back({*label, RegisterValues(), false});
      if (auto done = follow_all(); !done) return done;
    }
  }
  return {};
}

void CodeWalk::note_table(std::uint64_t address) {
  if (part_of(address) == nullptr && named_.size() < kMostNamedData) named_.push_back(address);
}

// A compiler that does not know that a call never returns puts code behind it, which is never executed. What stands
// there is not proven to be code, and gets no probe; but it is no reason to doubt the rest.
void CodeWalk::follow_dead_code() {
  std::vector<std::uint64_t> places = std::move(behind_last_ones_);
  while (!places.empty()) {
    std::uint64_t address = places.back();
    places.pop_back();
    for (bool goes_on = true; goes_on;) {
      Part* part = part_of(address);
      const std::uint64_t at = part == nullptr ? 0 : address - part->range.low;
      if (part == nullptr || part->marks[at] != Mark::kNone) break;
      const auto one = decoder_.decode(std::span(part->code).subspan(at), address);
      if (!one) break;
      for (std::uint64_t i = at; i < at + one->decoded.length && part->marks[i] == Mark::kNone; i++)
        part->marks[i] = Mark::kDead;
      if (const auto target = direct_target(*one)) places.push_back(*target);
      goes_on = !leaves_for_good(*one);
      address = one->next();
    }
  }
}

// Whether the instruction reads, writes or takes the address of bytes of the function itself.
void CodeWalk::look_for_data(const Instruction& one, const RegisterValues& values) {
  for (const ZydisDecodedOperand& operand : one.all()) {
    if (operand.type == ZYDIS_OPERAND_TYPE_MEMORY) {
      const bool is_read = operand.mem.type != ZYDIS_MEMOP_TYPE_AGEN;
      // As the instruction has it, and as far as it is known what its registers hold.
      const bool by_itself = operand.mem.base == ZYDIS_REGISTER_RIP ||
                             (operand.mem.base == ZYDIS_REGISTER_NONE && source_.is_at_fixed_address);
      const Value address = values.address_of(one, operand);
      if (address.is != Value::Is::kConstant && address.is != Value::Is::kPlace) continue;
      if (by_itself || is_read) look_at_constant(address.at, is_read);
      if (!is_read || address.is == Value::Is::kPlace) note_table(address.at);
    } else if (operand.type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operand.imm.is_relative == 0 &&
               source_.is_at_fixed_address) {
      look_at_constant(operand.imm.value.u, false);
      note_table(operand.imm.value.u);
    }
  }
}

// A function may well know its own address.
void CodeWalk::look_at_constant(std::uint64_t address, bool is_read) {
  if (part_of(address) == nullptr || (!is_read && address == function_.low)) return;
  refers_to_itself_ = true;
  doubt("its code refers to bytes of its own as data");
}

// Bytes without an instruction, but for padding: nops and traps.
std::vector<std::uint64_t> CodeWalk::unreached() const {
  std::vector<std::uint64_t> found;
  for (const Part& part : parts_)
    for (std::uint64_t at = 0; at < part.marks.size();) {
      if (part.marks[at] != Mark::kNone) {
        at++;
        continue;
      }
      const auto one = decoder_.decode(std::span(part.code).subspan(at), part.range.low + at);
      const bool is_padding = one && (is_nop(*one) || one->is(ZYDIS_MNEMONIC_INT3));
      if (!is_padding) found.push_back(part.range.low + at);
      at += is_padding ? one->decoded.length : 1;
    }
  return found;
}

}  // namespace uscope::symbolizer
