// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Call frame programs (DWARF 5, section 6.4; LSB 5 for .eh_frame's pointer encodings): the entries of a section, and
// the unwind state that an FDE's program gives for each stretch of its code. For x86-64 only. All input may be damaged
// or hostile: reads are bounded, and a budget in proportion to the section's size bounds the work.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "support/byte_reader.h"

namespace uscope::symbolizer {

using Bytes = ByteReader::Bytes;

// How the caller's value of a register is found.
enum class Where : std::uint8_t {
  kUnset,         // no rule: the ABI decides
  kUndefined,     // lost
  kSame,          // unchanged
  kAtCfa,         // saved at CFA + value
  kCfaPlus,       // equals CFA + value
  kRegister,      // is in register `value`
  kAtExpression,  // saved at the address that the expression computes, which starts with the CFA on its stack
  kExpression,    // equals the expression's value
};

struct RegisterRule {
  Where where = Where::kUnset;
  std::int64_t value = 0;
  Bytes expression;
};

constexpr std::size_t kRegisters = 17;  // DWARF numbers 0 … 15, and 16: the return address
constexpr std::size_t kReturnAddress = 16;

struct CfiState {
  enum class Cfa : std::uint8_t { kUnset, kRegister, kExpression };
  Cfa cfa = Cfa::kUnset;
  std::uint64_t cfa_register = 0;
  std::int64_t cfa_offset = 0;
  Bytes cfa_expression;
  std::array<RegisterRule, kRegisters> registers;
};

struct Cie {
  bool usable = false;
  bool signal_frame = false;
  bool sized_augmentation = false;
  std::uint8_t pointer_encoding = 0;
  std::uint8_t lsda_encoding = 0xff;  // DW_EH_PE_omit: its FDEs say nothing of exceptions
  std::uint64_t code_alignment = 1;
  std::int64_t data_alignment = 1;
  CfiState initial;
};

struct Fde {
  std::uint64_t address = 0;  // ELF address of its first byte of code
  std::uint64_t size = 0;     // bytes of code
  const Cie* cie = nullptr;   // valid as long as its CfiSection
  std::uint64_t lsda = 0;     // ELF address of its table in .gcc_except_table; 0: none
  Bytes program;
};

// A section that holds call frame information, or the part of an image from the start of such information.
struct CfiSource {
  std::vector<std::uint8_t> bytes;
  std::uint64_t address = 0;                // ELF address of bytes[0]
  bool eh_frame = true;                     // .eh_frame's format; otherwise .debug_frame's
  std::string title = "section .eh_frame";  // for messages
};

class CfiSection {
 public:
  explicit CfiSection(const CfiSource& source);

  // All FDEs in the section's order; FDEs with a head that cannot be understood are counted in `refused`.
  std::vector<Fde> fdes();
  [[nodiscard]] std::uint64_t refused() const { return refused_; }

  // What is wrong with the first entry that was refused, or whose program was malformed: "section .eh_frame: at offset
  // 28: expected …". Empty if there was none.
  [[nodiscard]] const std::string& first_refusal() const { return first_refusal_; }

  // Runs an FDE's program: calls sink(address, state) for each stretch of its code, in ascending order, the first at
  // the FDE's start; a stretch extends to the address of the next one. Returns false if the program is malformed or the
  // budget is used up; sink may have been called before.
  template <typename Sink>
  bool run(const Fde& fde, Sink&& sink);

 private:
  enum class Step : std::uint8_t { kNext, kAdvance, kEnd, kMalformed };

  const Cie* cie_at(std::uint64_t offset);
  Cie parse_cie(std::uint64_t offset);
  std::optional<Fde> parse_fde(std::uint64_t cie_offset, Bytes body);
  [[nodiscard]] ByteReader reader_of(Bytes bytes) const;  // for bytes of the section
  void refuse(const ByteReader& reader);
  void refuse(const char* expected, std::uint64_t offset);
  void begin(const Fde& fde);
  Step step();
  Step step_extended(std::uint8_t opcode);
  void restore_state();
  void define_cfa(std::uint8_t opcode);
  void set_rule(std::uint8_t opcode);
  RegisterRule* rule_of(std::uint64_t number);
  void advance(std::uint64_t delta);
  bool spend(std::uint64_t bytes);

  const CfiSource& source_;
  std::unordered_map<std::uint64_t, Cie> cies_;
  std::uint64_t refused_ = 0;
  std::string first_refusal_;
  std::uint64_t budget_;

  // The program being run.
  const Cie* cie_ = nullptr;
  ByteReader in_;
  std::uint64_t address_ = 0;
  RegisterRule ignored_;
  CfiState state_;
  std::vector<CfiState> remembered_;
};

template <typename Sink>
bool CfiSection::run(const Fde& fde, Sink&& sink) {
  begin(fde);
  std::uint64_t from = address_;
  for (;;) {
    // An advance ends the stretch of the state before it, so sink is called before the state changes.
    const CfiState* held = &state_;
    const Step done = step();
    if (done == Step::kMalformed) break;
    if (done == Step::kEnd || (done == Step::kAdvance && address_ != from)) sink(from, *held);
    if (done == Step::kEnd) return true;
    if (address_ < from) {
      in_.fail("an advance to a higher address, before this offset");
      break;
    }
    from = address_;
  }
  refuse(in_);
  return false;
}

}  // namespace uscope::symbolizer
