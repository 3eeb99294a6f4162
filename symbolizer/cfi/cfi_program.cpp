// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A plain interpreter of call frame instructions. libdw splits the section into entries (dwarf_next_cfi); the programs
// are run here, since libdw's own interpreter starts anew for each address, which takes hundreds of times longer for
// whole files. The tests compare the two at every row. Limits: pointer encodings relative to text, data or function and
// indirect ones are refused (no x86-64 linker writes them into FDEs); vector and segment registers are skipped.
#include "symbolizer/cfi/cfi_program.h"

#include <dwarf.h>
#include <elf.h>
#include <elfutils/libdw.h>

namespace uscope::symbolizer {
namespace {

constexpr std::size_t kMaxRemembered = 256;  // nested DW_CFA_remember_state; compilers use one
constexpr std::uint64_t kBudgetFactor = 16;
constexpr std::uint64_t kBudgetBase = 1u << 20;

// DW_EH_PE_*: dwarf.h has them, with names for each half.
constexpr std::uint8_t kFormatMask = 0x0f;
constexpr std::uint8_t kApplicationMask = 0x70;
constexpr std::uint8_t kOmit = 0xff;

// A value in one of DW_EH_PE_*'s formats, without its base.
std::uint64_t read_formatted(ByteReader& in, std::uint8_t encoding) {
  switch (encoding & kFormatMask) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
      return in.fixed<std::uint64_t>();
    case DW_EH_PE_udata2:
      return in.fixed<std::uint16_t>();
    case DW_EH_PE_udata4:
      return in.fixed<std::uint32_t>();
    case DW_EH_PE_sdata2:
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(in.fixed<std::int16_t>()));
    case DW_EH_PE_sdata4:
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(in.fixed<std::int32_t>()));
    case DW_EH_PE_uleb128:
      return in.uleb();
    case DW_EH_PE_sleb128:
      return static_cast<std::uint64_t>(in.sleb());
    default:
      in.fail("a pointer in a known encoding");
      return 0;
  }
}

bool known_encoding(std::uint8_t encoding) {
  const std::uint8_t application = encoding & kApplicationMask;
  return encoding != kOmit && !(encoding & DW_EH_PE_indirect) &&
         (application == DW_EH_PE_absptr || application == DW_EH_PE_pcrel);
}

// Interprets the letters of the augmentation string; `data` fails if one of them, or the encoding of FDEs' addresses,
// is not supported.
void read_augmentation(const char* letters, ByteReader& data, Cie& cie) {
  if (letters == nullptr || *letters == '\0') return;
  if (*letters != 'z') return data.fail("an augmentation that begins with z");
  cie.sized_augmentation = true;
  for (letters++; *letters != '\0'; letters++) {
    switch (*letters) {
      case 'R':
        cie.pointer_encoding = data.fixed<std::uint8_t>();
        break;
      case 'L':
        cie.lsda_encoding = data.fixed<std::uint8_t>();
        break;
      case 'P': {
        const auto encoding = data.fixed<std::uint8_t>();
        if (encoding == DW_EH_PE_aligned) return data.fail("a personality routine that is not aligned");
        read_formatted(data, encoding);
        break;
      }
      case 'S':
        cie.signal_frame = true;
        break;
      default:
        return data.fail("an augmentation of the letters z, R, L, P and S");
    }
  }
  if (!known_encoding(cie.pointer_encoding)) data.fail("an absolute or pc-relative encoding of FDEs' addresses");
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

ByteReader CfiSection::reader_of(Bytes bytes) const {
  return ByteReader(bytes, source_.title, static_cast<std::uint64_t>(bytes.data() - source_.bytes.data()));
}

void CfiSection::refuse(const ByteReader& reader) {
  if (first_refusal_.empty()) first_refusal_ = reader.error().what;
}

void CfiSection::refuse(const char* expected, std::uint64_t offset) {
  ByteReader reader = reader_of(source_.bytes);
  reader.fail(expected, offset);
  refuse(reader);
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
    if (status < 0) {
      refuse("an entry of call frame information", offset);
      refused_++;
    }
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
      !dwarf_cfi_cie_p(&entry)) {
    refuse("a common information entry (CIE)", offset);
    return cie;
  }
  const Dwarf_CIE& raw = entry.cie;
  if (raw.return_address_register != kReturnAddress) {
    refuse("a CIE with register 16 for return addresses", offset);
    return cie;
  }
  ByteReader augmentation = reader_of(Bytes(raw.augmentation_data, raw.augmentation_data_size));
  read_augmentation(raw.augmentation, augmentation, cie);
  if (!augmentation.ok()) {
    refuse(augmentation);
    return cie;
  }
  cie.code_alignment = raw.code_alignment_factor;
  cie.data_alignment = static_cast<std::int64_t>(raw.data_alignment_factor);
  cie.usable = true;
  const Bytes program(raw.initial_instructions,
                      static_cast<std::size_t>(raw.initial_instructions_end - raw.initial_instructions));
  bool advanced = false;
  const Fde whole{0, 0, &cie, 0, program};
  cie.usable = run(whole, [&](std::uint64_t address, const CfiState& state) {
    advanced = advanced || address != 0;
    cie.initial = state;
  });
  if (advanced) refuse("a CIE whose instructions stay at one address", offset);
  cie.usable = cie.usable && !advanced;
  return cie;
}

std::optional<Fde> CfiSection::parse_fde(std::uint64_t cie_offset, Bytes body) {
  const Cie* cie = cie_at(cie_offset);
  if (!cie->usable) return std::nullopt;
  Fde fde;
  fde.cie = cie;
  ByteReader in = reader_of(body);
  const std::uint64_t here = source_.address + in.offset();
  fde.address = read_formatted(in, cie->pointer_encoding);
  if ((cie->pointer_encoding & kApplicationMask) == DW_EH_PE_pcrel) fde.address += here;
  fde.size = read_formatted(in, cie->pointer_encoding & kFormatMask);
  if (cie->sized_augmentation) {
    const std::uint64_t bytes = in.uleb();
    const std::uint64_t at = source_.address + in.offset();
    ByteReader data = reader_of(in.bytes(bytes));
    if (known_encoding(cie->lsda_encoding) && data.left() != 0) {
      fde.lsda = read_formatted(data, cie->lsda_encoding);
      if (fde.lsda != 0 && (cie->lsda_encoding & kApplicationMask) == DW_EH_PE_pcrel) fde.lsda += at;
    }
  }
  if (fde.size > UINT64_MAX - fde.address)
    in.fail("code that does not wrap around the address space, before this offset");
  if (!in.ok()) {
    refuse(in);
    return std::nullopt;
  }
  fde.program = in.bytes(in.left());
  return fde;
}

void CfiSection::begin(const Fde& fde) {
  cie_ = fde.cie;
  in_ = reader_of(fde.program);
  address_ = fde.address;
  state_ = fde.cie->initial;
  remembered_.clear();
  if (!spend(fde.program.size())) in_.fail("call frame instructions that take less work altogether");
}

RegisterRule* CfiSection::rule_of(std::uint64_t number) {
  return number < kRegisters ? &state_.registers[number] : &ignored_;
}

void CfiSection::advance(std::uint64_t delta) {
  address_ += delta * cie_->code_alignment;
}

CfiSection::Step CfiSection::step() {
  if (in_.left() == 0) return in_.ok() ? Step::kEnd : Step::kMalformed;
  const auto opcode = in_.fixed<std::uint8_t>();
  const std::uint8_t low = opcode & 0x3f;
  switch (opcode & 0xc0) {
    case DW_CFA_advance_loc:
      advance(low);
      return Step::kAdvance;
    case DW_CFA_offset:
      *rule_of(low) = {Where::kAtCfa, scaled(static_cast<std::int64_t>(in_.uleb()), cie_->data_alignment), {}};
      break;
    case DW_CFA_restore:
      if (low < kRegisters) state_.registers[low] = cie_->initial.registers[low];
      return Step::kNext;
    default:
      if (step_extended(opcode) == Step::kAdvance && in_.ok()) return Step::kAdvance;
  }
  return in_.ok() ? Step::kNext : Step::kMalformed;
}

CfiSection::Step CfiSection::step_extended(std::uint8_t opcode) {
  switch (opcode) {
    case DW_CFA_nop:
      return Step::kNext;
    case DW_CFA_set_loc: {
      const std::uint64_t here = source_.address + in_.offset();
      address_ = read_formatted(in_, cie_->pointer_encoding);
      if ((cie_->pointer_encoding & kApplicationMask) == DW_EH_PE_pcrel) address_ += here;
      return Step::kAdvance;
    }
    case DW_CFA_advance_loc1:
      advance(in_.fixed<std::uint8_t>());
      return Step::kAdvance;
    case DW_CFA_advance_loc2:
      advance(in_.fixed<std::uint16_t>());
      return Step::kAdvance;
    case DW_CFA_advance_loc4:
      advance(in_.fixed<std::uint32_t>());
      return Step::kAdvance;
    case DW_CFA_remember_state:
      if (remembered_.size() >= kMaxRemembered || !spend(sizeof(CfiState)))
        in_.fail("fewer states to be remembered", in_.offset() - 1);
      else
        remembered_.push_back(state_);
      return Step::kNext;
    case DW_CFA_restore_state:
      restore_state();
      return Step::kNext;
    case DW_CFA_GNU_args_size:
      in_.uleb();
      return Step::kNext;
    case DW_CFA_def_cfa:
    case DW_CFA_def_cfa_sf:
    case DW_CFA_def_cfa_register:
    case DW_CFA_def_cfa_offset:
    case DW_CFA_def_cfa_offset_sf:
    case DW_CFA_def_cfa_expression:
      define_cfa(opcode);
      return Step::kNext;
    default:
      set_rule(opcode);
      return Step::kNext;
  }
}

void CfiSection::restore_state() {
  if (remembered_.empty()) return in_.fail("a remembered state", in_.offset() - 1);
  state_ = remembered_.back();
  remembered_.pop_back();
}

void CfiSection::define_cfa(std::uint8_t opcode) {
  if (opcode == DW_CFA_def_cfa_expression) {
    state_.cfa = CfiState::Cfa::kExpression;
    state_.cfa_expression = in_.bytes(in_.uleb());
    return;
  }
  const bool whole = opcode == DW_CFA_def_cfa || opcode == DW_CFA_def_cfa_sf;
  // A change of one half is only meaningful if the CFA is a register plus an offset.
  if (!whole && state_.cfa != CfiState::Cfa::kRegister)
    in_.fail("a CFA that is a register plus an offset already", in_.offset() - 1);
  if (whole || opcode == DW_CFA_def_cfa_register) state_.cfa_register = in_.uleb();
  if (opcode == DW_CFA_def_cfa_sf || opcode == DW_CFA_def_cfa_offset_sf)
    state_.cfa_offset = scaled(in_.sleb(), cie_->data_alignment);
  else if (opcode != DW_CFA_def_cfa_register)
    state_.cfa_offset = static_cast<std::int64_t>(in_.uleb());
  state_.cfa = CfiState::Cfa::kRegister;
}

void CfiSection::set_rule(std::uint8_t opcode) {
  const std::uint64_t at = in_.offset() - 1;
  const std::uint64_t number = in_.uleb();
  RegisterRule& rule = *rule_of(number);
  const auto offset_rule = [&](Where where, std::int64_t factored) {
    rule = {where, scaled(factored, cie_->data_alignment), {}};
  };
  const auto read_unsigned = [&] { return static_cast<std::int64_t>(in_.uleb()); };
  switch (opcode) {
    case DW_CFA_offset_extended:
      return offset_rule(Where::kAtCfa, read_unsigned());
    case DW_CFA_offset_extended_sf:
      return offset_rule(Where::kAtCfa, in_.sleb());
    case DW_CFA_GNU_negative_offset_extended:
      return offset_rule(Where::kAtCfa, scaled(read_unsigned(), -1));
    case DW_CFA_val_offset:
      return offset_rule(Where::kCfaPlus, read_unsigned());
    case DW_CFA_val_offset_sf:
      return offset_rule(Where::kCfaPlus, in_.sleb());
    case DW_CFA_restore_extended:
      if (number < kRegisters) rule = cie_->initial.registers[number];
      return;
    case DW_CFA_undefined:
      rule = {Where::kUndefined, 0, {}};
      return;
    case DW_CFA_same_value:
      rule = {Where::kSame, 0, {}};
      return;
    case DW_CFA_register:
      rule = {Where::kRegister, read_unsigned(), {}};
      return;
    case DW_CFA_expression:
      rule = {Where::kAtExpression, 0, in_.bytes(in_.uleb())};
      return;
    case DW_CFA_val_expression:
      rule = {Where::kExpression, 0, in_.bytes(in_.uleb())};
      return;
    default:
      return in_.fail("a call frame instruction that is known", at);
  }
}

}  // namespace uscope::symbolizer
