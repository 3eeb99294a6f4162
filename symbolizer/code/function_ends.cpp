// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/code/function_ends.h"

#include <Zydis/Zydis.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <string>

namespace uscope::symbolizer {
namespace {

constexpr std::uint64_t kMostCode = std::uint64_t{1} << 20;  // of all parts
constexpr std::size_t kMostParts = 16;
constexpr std::size_t kMostEnds = 512;

struct Instruction {
  std::uint64_t address = 0;
  ZydisDecodedInstruction decoded{};
  std::array<ZydisDecodedOperand, ZYDIS_MAX_OPERAND_COUNT> operands{};

  [[nodiscard]] std::uint64_t next() const { return address + decoded.length; }
  [[nodiscard]] std::span<const ZydisDecodedOperand> all() const {
    return std::span(operands).first(decoded.operand_count);
  }
};

struct Branch {
  std::uint64_t address = 0;
  std::uint64_t target = 0;
  enum class Kind : std::uint8_t { kCalls, kJumps, kBranches, kOther } kind = Kind::kOther;
  std::uint8_t condition = 0;  // kBranches
  bool can_be_probed = false;
};

struct Part {
  CodeRange range;
  std::vector<std::uint64_t> starts;  // of instructions
};

// The kernel probes no instruction with one of the other prefixes (arch/x86/kernel/uprobes.c).
bool can_be_probed(const Instruction& one) {
  for (std::size_t i = 0; i < one.decoded.raw.prefix_count; i++) {
    const unsigned prefix = one.decoded.raw.prefixes[i].value;
    if (prefix != 0xf2 && prefix != 0xf3 && (prefix & 0xf0U) != 0x40) return false;
  }
  return true;
}

bool has_prefix(const Instruction& one, unsigned prefix) {
  for (std::size_t i = 0; i < one.decoded.raw.prefix_count; i++)
    if (one.decoded.raw.prefixes[i].value == prefix) return true;
  return false;
}

bool has_index(const Instruction& one) {
  const auto all = one.all();
  return std::any_of(all.begin(), all.end(), [](const ZydisDecodedOperand& operand) {
    return operand.type == ZYDIS_OPERAND_TYPE_MEMORY && operand.mem.index != ZYDIS_REGISTER_NONE;
  });
}

// Which of the general registers hold what was found by a table's index, in the code that is being gone through: a
// table's entry is loaded by its index, or added to the table's address.
class TableValues {
 public:
  void forget() { found_.fill(false); }

  void follow(const Instruction& one) {
    const bool by_table = one.decoded.mnemonic == ZYDIS_MNEMONIC_ADD || has_index(one);
    for (const ZydisDecodedOperand& operand : one.all())
      if (operand.type == ZYDIS_OPERAND_TYPE_REGISTER && (operand.actions & ZYDIS_OPERAND_ACTION_MASK_WRITE) != 0)
        if (const int number = number_of(operand.reg.value); number >= 0) found_.at(number) = by_table;
  }

  [[nodiscard]] bool hold(ZydisRegister reg) const {
    const int number = number_of(reg);
    return number >= 0 && found_.at(number);
  }

 private:
  static int number_of(ZydisRegister reg) {
    const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
    return whole >= ZYDIS_REGISTER_RAX && whole <= ZYDIS_REGISTER_R15 ? whole - ZYDIS_REGISTER_RAX : -1;
  }

  std::array<bool, 16> found_{};
};

// By the ABI's numbers of registers (System V, figure 3.36).
std::uint8_t dwarf_number(ZydisRegister reg) {
  if (reg == ZYDIS_REGISTER_RIP) return JumpOperand::kRip;
  const ZydisRegister whole = ZydisRegisterGetLargestEnclosing(ZYDIS_MACHINE_MODE_LONG_64, reg);
  if (whole < ZYDIS_REGISTER_RAX || whole > ZYDIS_REGISTER_R15) return JumpOperand::kNone;
  constexpr std::array<std::uint8_t, 16> kNumbers = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15};
  return kNumbers.at(whole - ZYDIS_REGISTER_RAX);
}

bool leaves_for_good(const Instruction& one) {
  switch (one.decoded.meta.category) {
    case ZYDIS_CATEGORY_RET:
    case ZYDIS_CATEGORY_UNCOND_BR:
      return true;
    default:
      return one.decoded.mnemonic == ZYDIS_MNEMONIC_UD2 || one.decoded.mnemonic == ZYDIS_MNEMONIC_HLT ||
             one.decoded.mnemonic == ZYDIS_MNEMONIC_INT3 || one.decoded.mnemonic == ZYDIS_MNEMONIC_UD1 ||
             one.decoded.mnemonic == ZYDIS_MNEMONIC_UD0;
  }
}

bool is_nop(const Instruction& one) {
  return one.decoded.mnemonic == ZYDIS_MNEMONIC_NOP || one.decoded.mnemonic == ZYDIS_MNEMONIC_ENDBR64;
}

Error refused(const std::string& why) {
  return Error{why, ""};
}

class Search {
 public:
  explicit Search(const CodeSource& source) : source_(source) {
    ZydisDecoderInit(&decoder_, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
  }

  Result<FunctionEnds> run(const CodeRange& function) {
    wanted_.push_back(function);
    // Parts come to be known by jumps into them.
    for (std::size_t branch = 0, part = 0; part < wanted_.size(); part++) {
      if (wanted_.size() > kMostParts) return refused("its code lies in too many places");
      if (auto done = decode(wanted_[part]); !done) return done.error();
      for (; branch < branches_.size(); branch++)
        if (auto done = place(branches_[branch]); !done) return done.error();
    }
    for (const Branch& branch : branches_)
      if (const Part* part = part_of(branch.target);
          part != nullptr && !std::binary_search(part->starts.begin(), part->starts.end(), branch.target))
        return refused("it jumps into the middle of an instruction, so its code cannot be decoded for certain");
    if (ends_.returns.size() + ends_.jumps.size() + ends_.indirect.size() > kMostEnds)
      return refused("it ends at too many places");
    const auto by_address = [](const auto& a, const auto& b) { return a.address < b.address; };
    std::sort(ends_.returns.begin(), ends_.returns.end());
    std::sort(ends_.jumps.begin(), ends_.jumps.end(), by_address);
    std::sort(ends_.indirect.begin(), ends_.indirect.end(), by_address);
    ends_.ranges = wanted_;
    return std::move(ends_);
  }

 private:
  [[nodiscard]] const Part* part_of(std::uint64_t address) const {
    for (const Part& part : parts_)
      if (address >= part.range.low && address < part.range.high) return &part;
    return nullptr;
  }

  Result<void> decode(const CodeRange& range) {
    const std::uint64_t size = range.high > range.low ? range.high - range.low : 0;
    if (size == 0) return refused("it has no code");
    if (size > kMostCode - read_) return refused("its code is too long to be searched for returns");
    read_ += size;
    const std::vector<std::byte> code = source_.read(range);
    if (code.size() != size) return refused("its code cannot be read");
    Part& part = parts_.emplace_back();
    part.range = range;
    TableValues values;
    Instruction last;
    for (std::size_t at = 0; at < code.size();) {
      Instruction one;
      one.address = range.low + at;
      if (ZYAN_FAILED(
              ZydisDecoderDecodeFull(&decoder_, code.data() + at, code.size() - at, &one.decoded, one.operands.data())))
        return refused("its code has bytes that are no instruction");
      part.starts.push_back(one.address);
      // The C library jumps over a lock prefix where a program has one thread.
      if (std::to_integer<unsigned>(code[at]) == 0xf0) part.starts.push_back(one.address + 1);
      if (auto done = look_at(one, values); !done) return done.error();
      values.follow(one);
      if (leaves_for_good(one) || one.decoded.meta.category == ZYDIS_CATEGORY_CALL) values.forget();
      if (!is_nop(one)) last = one;
      at += one.decoded.length;
    }
    // A call may be the last of a function if it does not return.
    if (!leaves_for_good(last) && last.decoded.meta.category != ZYDIS_CATEGORY_CALL)
      return refused("its code runs on into that of another function");
    return {};
  }

  Result<void> look_at(const Instruction& one, const TableValues& values) {
    const auto category = one.decoded.meta.category;
    if (category == ZYDIS_CATEGORY_RET) {
      if (one.decoded.mnemonic != ZYDIS_MNEMONIC_RET || one.decoded.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR ||
          !can_be_probed(one))
        return refused("it returns by an instruction that cannot be probed");
      ends_.returns.push_back(one.address);
      return {};
    }
    const ZydisDecodedOperand& to = one.operands[0];
    if (to.type == ZYDIS_OPERAND_TYPE_IMMEDIATE && to.imm.is_relative != 0) {
      add_branch(one, one.next() + static_cast<std::uint64_t>(to.imm.value.s));
      return {};
    }
    if (one.decoded.mnemonic != ZYDIS_MNEMONIC_JMP) return {};
    if (one.decoded.meta.branch_type == ZYDIS_BRANCH_TYPE_FAR) return refused("it has a far jump");
    ends_.indirect.push_back(
        {one.address, one.decoded.length, is_by_table(one, values), can_be_probed(one), operand_of(to)});
    const IndirectJump& jump = ends_.indirect.back();
    if (!jump.stays && !jump.can_be_probed) return refused("it ends with a jump that cannot be probed");
    return {};
  }

  static JumpOperand operand_of(const ZydisDecodedOperand& to) {
    JumpOperand out;
    if (to.type == ZYDIS_OPERAND_TYPE_REGISTER) {
      out.base = dwarf_number(to.reg.value);
      return out;
    }
    out.in_memory = true;
    out.base = dwarf_number(to.mem.base);
    out.index = dwarf_number(to.mem.index);
    out.scale = std::max<std::uint8_t>(to.mem.scale, 1);
    out.offset = static_cast<std::int32_t>(to.mem.disp.value);
    return out;
  }

  // The prefix is that of jumps whose targets are not marked as such (-fcf-protection).
  static bool is_by_table(const Instruction& jump, const TableValues& values) {
    if (has_prefix(jump, 0x3e)) return true;
    const ZydisDecodedOperand& to = jump.operands[0];
    return to.type == ZYDIS_OPERAND_TYPE_REGISTER ? values.hold(to.reg.value) : has_index(jump);
  }

  void add_branch(const Instruction& one, std::uint64_t target) {
    Branch branch;
    branch.address = one.address;
    branch.target = target;
    branch.can_be_probed = can_be_probed(one);
    const bool is_short = one.decoded.opcode_map == ZYDIS_OPCODE_MAP_DEFAULT && (one.decoded.opcode & 0xf0U) == 0x70;
    const bool is_near = one.decoded.opcode_map == ZYDIS_OPCODE_MAP_0F && (one.decoded.opcode & 0xf0U) == 0x80;
    if (one.decoded.meta.category == ZYDIS_CATEGORY_CALL) {
      branch.kind = Branch::Kind::kCalls;
    } else if (one.decoded.mnemonic == ZYDIS_MNEMONIC_JMP) {
      branch.kind = Branch::Kind::kJumps;
    } else if (is_short || is_near) {
      branch.kind = Branch::Kind::kBranches;
      branch.condition = one.decoded.opcode & 0xfU;
    }
    branches_.push_back(branch);
  }

  // A branch that leads out of the parts known so far.
  Result<void> place(const Branch& branch) {
    if (branch.kind == Branch::Kind::kCalls || is_wanted(branch.target)) return {};
    const JumpTarget target = source_.target(branch.target);
    switch (target.is) {
      case JumpTarget::Is::kPart:
        if (branch.target < target.part.low || branch.target >= target.part.high || overlaps(target.part))
          return refused("its code lies in places that overlap");
        wanted_.push_back(target.part);
        return {};
      case JumpTarget::Is::kMiddle:
        return refused("it jumps into the middle of another function");
      case JumpTarget::Is::kUnknown:
        return refused("it jumps to code that belongs to no function that is known");
      case JumpTarget::Is::kFunction:
        break;
    }
    if (branch.kind == Branch::Kind::kOther || !branch.can_be_probed)
      return refused("it ends with a jump that cannot be probed");
    const bool always = branch.kind == Branch::Kind::kJumps;
    ends_.jumps.push_back(
        {branch.address, always ? JumpOut::kAlways : static_cast<std::uint8_t>(branch.condition + 1)});
    return {};
  }

  [[nodiscard]] bool is_wanted(std::uint64_t address) const {
    return std::any_of(wanted_.begin(), wanted_.end(),
                       [&](const CodeRange& range) { return address >= range.low && address < range.high; });
  }

  [[nodiscard]] bool overlaps(const CodeRange& part) const {
    return std::any_of(wanted_.begin(), wanted_.end(),
                       [&](const CodeRange& range) { return part.low < range.high && range.low < part.high; });
  }

  const CodeSource& source_;
  ZydisDecoder decoder_{};
  std::uint64_t read_ = 0;
  std::vector<CodeRange> wanted_;
  std::vector<Part> parts_;
  std::vector<Branch> branches_;
  FunctionEnds ends_;
};

}  // namespace

Result<FunctionEnds> find_function_ends(const CodeRange& function, const CodeSource& source) {
  return Search(source).run(function);
}

}  // namespace uscope::symbolizer
