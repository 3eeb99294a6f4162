// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A plain interpreter of call frame instructions. libdw splits the section into entries (dwarf_next_cfi); the programs
// are run here, since libdw's own interpreter starts anew for each address, which takes hundreds of times longer for
// whole files. The tests compare the two at every row. Limits: pointer encodings relative to text, data or function and
// indirect ones are refused (no x86-64 linker writes them into FDEs); vector and segment registers are skipped.
#include "symbolizer/cfi/cfi_program.h"

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>

#include <cstring>

namespace uscope::symbolizer {
namespace {

constexpr std::size_t kMaxRemembered = 256;  // nested DW_CFA_remember_state; compilers use one
constexpr std::uint64_t kBudgetFactor = 16;
constexpr std::uint64_t kBudgetBase = 1u << 20;

// DW_EH_PE_*: dwarf.h has them, with names for each half.
constexpr std::uint8_t kFormatMask = 0x0f;
constexpr std::uint8_t kApplicationMask = 0x70;
constexpr std::uint8_t kOmit = 0xff;

// Bounded reads; `ok` stays false after the first failure.
struct Cursor {
  const std::uint8_t* at;
  const std::uint8_t* end;
  bool ok = true;

  template <typename T>
  T fixed() {
    T value{};
    if (static_cast<std::size_t>(end - at) < sizeof(T)) {
      ok = false;
      return value;
    }
    std::memcpy(&value, at, sizeof(T));
    at += sizeof(T);
    return value;
  }

  std::uint64_t uleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; at < end && shift < 70; shift += 7) {
      const std::uint8_t byte = *at++;
      if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      if (!(byte & 0x80)) return value;
    }
    ok = false;
    return 0;
  }

  std::int64_t sleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; at < end && shift < 70;) {
      const std::uint8_t byte = *at++;
      if (shift < 64) value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
      shift += 7;
      if (byte & 0x80) continue;
      if (shift < 64 && (byte & 0x40)) value |= ~std::uint64_t{0} << shift;
      return static_cast<std::int64_t>(value);
    }
    ok = false;
    return 0;
  }

  Bytes block() {
    const std::uint64_t size = uleb();
    if (!ok || size > static_cast<std::uint64_t>(end - at)) {
      ok = false;
      return {};
    }
    const Bytes bytes(at, size);
    at += size;
    return bytes;
  }

  // A value in one of DW_EH_PE_*'s formats, without its base.
  std::uint64_t formatted(std::uint8_t encoding) {
    switch (encoding & kFormatMask) {
      case DW_EH_PE_absptr:
      case DW_EH_PE_udata8:
      case DW_EH_PE_sdata8:
        return fixed<std::uint64_t>();
      case DW_EH_PE_udata2:
        return fixed<std::uint16_t>();
      case DW_EH_PE_udata4:
        return fixed<std::uint32_t>();
      case DW_EH_PE_sdata2:
        return static_cast<std::uint64_t>(static_cast<std::int64_t>(fixed<std::int16_t>()));
      case DW_EH_PE_sdata4:
        return static_cast<std::uint64_t>(static_cast<std::int64_t>(fixed<std::int32_t>()));
      case DW_EH_PE_uleb128:
        return uleb();
      case DW_EH_PE_sleb128:
        return static_cast<std::uint64_t>(sleb());
      default:
        ok = false;
        return 0;
    }
  }
};

bool known_encoding(std::uint8_t encoding) {
  const std::uint8_t application = encoding & kApplicationMask;
  return encoding != kOmit && !(encoding & DW_EH_PE_indirect) &&
         (application == DW_EH_PE_absptr || application == DW_EH_PE_pcrel);
}

// Interprets the letters of the augmentation string; returns false if one of them is unknown.
bool read_augmentation(const Dwarf_CIE& raw, Cie& cie) {
  const char* letters = raw.augmentation ? raw.augmentation : "";
  if (*letters == '\0') return true;
  if (*letters != 'z' || !raw.augmentation_data) return false;
  cie.sized_augmentation = true;
  Cursor data{raw.augmentation_data, raw.augmentation_data + raw.augmentation_data_size};
  for (letters++; *letters != '\0'; letters++) {
    switch (*letters) {
      case 'R':
        cie.pointer_encoding = data.fixed<std::uint8_t>();
        break;
      case 'L':
        data.fixed<std::uint8_t>();
        break;
      case 'P': {
        const auto encoding = data.fixed<std::uint8_t>();
        if (encoding == DW_EH_PE_aligned) return false;
        data.formatted(encoding);
        break;
      }
      case 'S':
        cie.signal_frame = true;
        break;
      default:
        return false;
    }
  }
  return data.ok && known_encoding(cie.pointer_encoding);
}

std::int64_t scaled(std::int64_t factored, std::int64_t alignment) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(factored) * static_cast<std::uint64_t>(alignment));
}

Elf_Data data_of(const CfiSource& source) {
  Elf_Data data{};
  data.d_buf = const_cast<std::uint8_t*>(source.bytes.data());  // libdw only reads it
  data.d_type = ELF_T_BYTE;
  data.d_version = EV_CURRENT;
  data.d_size = source.bytes.size();
  return data;
}

constexpr unsigned char kIdent[EI_NIDENT] = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64, ELFDATA2LSB, EV_CURRENT};

}  // namespace

CfiSection::CfiSection(const CfiSource& source)
    : source_(source), budget_(kBudgetBase + kBudgetFactor * source.bytes.size()) {}

bool CfiSection::spend(std::uint64_t bytes) {
  if (bytes > budget_) return false;
  budget_ -= bytes;
  return true;
}

std::vector<Fde> CfiSection::fdes() {
  std::vector<Fde> found;
  Elf_Data data = data_of(source_);
  Dwarf_Off offset = 0;
  while (offset < source_.bytes.size()) {
    Dwarf_Off next = offset;
    Dwarf_CFI_Entry entry;
    const int status = dwarf_next_cfi(kIdent, &data, source_.eh_frame, offset, &next, &entry);
    if (status > 0) break;
    if (status < 0) refused_++;
    if (status == 0 && !dwarf_cfi_cie_p(&entry)) {
      const Bytes body(entry.fde.start, static_cast<std::size_t>(entry.fde.end - entry.fde.start));
      if (auto fde = parse_fde(entry.fde.CIE_pointer, body))
        found.push_back(*fde);
      else
        refused_++;
    }
    if (next <= offset) break;
    offset = next;
  }
  return found;
}

const Cie* CfiSection::cie_at(std::uint64_t offset) {
  const auto known = cies_.find(offset);
  if (known != cies_.end()) return &known->second;
  return &cies_.emplace(offset, parse_cie(offset)).first->second;
}

Cie CfiSection::parse_cie(std::uint64_t offset) {
  Cie cie;
  Elf_Data data = data_of(source_);
  Dwarf_Off next = 0;
  Dwarf_CFI_Entry entry;
  if (offset >= source_.bytes.size() || dwarf_next_cfi(kIdent, &data, source_.eh_frame, offset, &next, &entry) != 0 ||
      !dwarf_cfi_cie_p(&entry))
    return cie;
  const Dwarf_CIE& raw = entry.cie;
  if (raw.return_address_register != kReturnAddress || !read_augmentation(raw, cie)) return cie;
  cie.code_alignment = raw.code_alignment_factor;
  cie.data_alignment = static_cast<std::int64_t>(raw.data_alignment_factor);
  cie.usable = true;
  const Bytes program(raw.initial_instructions,
                      static_cast<std::size_t>(raw.initial_instructions_end - raw.initial_instructions));
  bool advanced = false;
  const Fde whole{0, 0, &cie, program};
  cie.usable = run(whole, [&](std::uint64_t address, const CfiState& state) {
    advanced = advanced || address != 0;
    cie.initial = state;
  });
  cie.usable = cie.usable && !advanced;
  return cie;
}

std::optional<Fde> CfiSection::parse_fde(std::uint64_t cie_offset, Bytes body) {
  const Cie* cie = cie_at(cie_offset);
  if (!cie->usable) return std::nullopt;
  Fde fde;
  fde.cie = cie;
  Cursor cursor{body.data(), body.data() + body.size()};
  const std::uint64_t here = source_.address + static_cast<std::uint64_t>(body.data() - source_.bytes.data());
  fde.address = cursor.formatted(cie->pointer_encoding);
  if ((cie->pointer_encoding & kApplicationMask) == DW_EH_PE_pcrel) fde.address += here;
  fde.size = cursor.formatted(cie->pointer_encoding & kFormatMask);
  if (cie->sized_augmentation) cursor.block();
  if (!cursor.ok || fde.size > UINT64_MAX - fde.address) return std::nullopt;
  fde.program = Bytes(cursor.at, static_cast<std::size_t>(cursor.end - cursor.at));
  return fde;
}

void CfiSection::begin(const Fde& fde) {
  cie_ = fde.cie;
  at_ = fde.program.data();
  end_ = at_ + fde.program.size();
  address_ = fde.address;
  state_ = fde.cie->initial;
  remembered_.clear();
}

RegisterRule* CfiSection::rule_of(std::uint64_t number) {
  return number < kRegisters ? &state_.registers[number] : &ignored_;
}

void CfiSection::advance(std::uint64_t delta) {
  address_ += delta * cie_->code_alignment;
}

CfiSection::Step CfiSection::step() {
  if (at_ >= end_) return Step::kEnd;
  const std::uint8_t* before = at_;
  const std::uint8_t opcode = *at_++;
  const std::uint8_t low = opcode & 0x3f;
  Step done = Step::kNext;
  Cursor cursor{at_, end_};
  switch (opcode & 0xc0) {
    case DW_CFA_advance_loc:
      advance(low);
      done = Step::kAdvance;
      break;
    case DW_CFA_offset:
      *rule_of(low) = {Where::kAtCfa, scaled(static_cast<std::int64_t>(cursor.uleb()), cie_->data_alignment), {}};
      break;
    case DW_CFA_restore:
      if (low < kRegisters) state_.registers[low] = cie_->initial.registers[low];
      break;
    default:
      done = step_extended(opcode);
      cursor.at = at_;
  }
  at_ = cursor.at;
  const bool in_budget = spend(static_cast<std::uint64_t>(at_ - before));
  return cursor.ok && in_budget ? done : Step::kMalformed;
}

CfiSection::Step CfiSection::step_extended(std::uint8_t opcode) {
  Cursor in{at_, end_};
  Step done = Step::kNext;
  const auto offset_rule = [&](Where where, bool is_signed, bool negative) {
    RegisterRule* rule = rule_of(in.uleb());
    std::int64_t factored = is_signed ? in.sleb() : static_cast<std::int64_t>(in.uleb());
    if (negative) factored = scaled(factored, -1);
    *rule = {where, scaled(factored, cie_->data_alignment), {}};
  };
  const auto expression_rule = [&](Where where) {
    RegisterRule* rule = rule_of(in.uleb());
    *rule = {where, 0, in.block()};
  };
  const auto define_cfa = [&](bool with_register, bool with_offset, bool factored) {
    // A change of one half is only meaningful if the CFA is a register plus an offset.
    if (!(with_register && with_offset) && state_.cfa != CfiState::Cfa::kRegister) in.ok = false;
    if (with_register) state_.cfa_register = in.uleb();
    if (with_offset)
      state_.cfa_offset = factored ? scaled(in.sleb(), cie_->data_alignment) : static_cast<std::int64_t>(in.uleb());
    state_.cfa = CfiState::Cfa::kRegister;
  };
  switch (opcode) {
    case DW_CFA_nop:
      break;
    case DW_CFA_set_loc: {
      const std::uint64_t here = source_.address + static_cast<std::uint64_t>(in.at - source_.bytes.data());
      address_ = in.formatted(cie_->pointer_encoding);
      if ((cie_->pointer_encoding & kApplicationMask) == DW_EH_PE_pcrel) address_ += here;
      done = Step::kAdvance;
      break;
    }
    case DW_CFA_advance_loc1:
      advance(in.fixed<std::uint8_t>());
      done = Step::kAdvance;
      break;
    case DW_CFA_advance_loc2:
      advance(in.fixed<std::uint16_t>());
      done = Step::kAdvance;
      break;
    case DW_CFA_advance_loc4:
      advance(in.fixed<std::uint32_t>());
      done = Step::kAdvance;
      break;
    case DW_CFA_offset_extended:
      offset_rule(Where::kAtCfa, false, false);
      break;
    case DW_CFA_offset_extended_sf:
      offset_rule(Where::kAtCfa, true, false);
      break;
    case DW_CFA_GNU_negative_offset_extended:
      offset_rule(Where::kAtCfa, false, true);
      break;
    case DW_CFA_val_offset:
      offset_rule(Where::kCfaPlus, false, false);
      break;
    case DW_CFA_val_offset_sf:
      offset_rule(Where::kCfaPlus, true, false);
      break;
    case DW_CFA_restore_extended: {
      const std::uint64_t number = in.uleb();
      if (number < kRegisters) state_.registers[number] = cie_->initial.registers[number];
      break;
    }
    case DW_CFA_undefined:
      *rule_of(in.uleb()) = {Where::kUndefined, 0, {}};
      break;
    case DW_CFA_same_value:
      *rule_of(in.uleb()) = {Where::kSame, 0, {}};
      break;
    case DW_CFA_register: {
      RegisterRule* rule = rule_of(in.uleb());
      *rule = {Where::kRegister, static_cast<std::int64_t>(in.uleb()), {}};
      break;
    }
    case DW_CFA_remember_state:
      if (remembered_.size() >= kMaxRemembered || !spend(sizeof(CfiState))) in.ok = false;
      if (in.ok) remembered_.push_back(state_);
      break;
    case DW_CFA_restore_state:
      if (remembered_.empty()) return Step::kMalformed;
      state_ = remembered_.back();
      remembered_.pop_back();
      break;
    case DW_CFA_def_cfa:
      define_cfa(true, true, false);
      break;
    case DW_CFA_def_cfa_sf:
      define_cfa(true, true, true);
      break;
    case DW_CFA_def_cfa_register:
      define_cfa(true, false, false);
      break;
    case DW_CFA_def_cfa_offset:
      define_cfa(false, true, false);
      break;
    case DW_CFA_def_cfa_offset_sf:
      define_cfa(false, true, true);
      break;
    case DW_CFA_def_cfa_expression:
      state_.cfa = CfiState::Cfa::kExpression;
      state_.cfa_expression = in.block();
      break;
    case DW_CFA_expression:
      expression_rule(Where::kAtExpression);
      break;
    case DW_CFA_val_expression:
      expression_rule(Where::kExpression);
      break;
    case DW_CFA_GNU_args_size:
      in.uleb();
      break;
    default:
      return Step::kMalformed;
  }
  at_ = in.at;
  return in.ok ? done : Step::kMalformed;
}

}  // namespace uscope::symbolizer
