// Call frame programs (DWARF 5, section 6.4; LSB 5 for .eh_frame's pointer encodings): the entries of a section, and
// the unwind state that an FDE's program gives for each stretch of its code. For x86-64 only. Everything read here may
// be damaged or hostile: reads are bounded, and the work is bounded by a budget in proportion to the section's size.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace uscope::symbolizer {

using Bytes = std::span<const std::uint8_t>;

// How a register of the caller is found.
enum class Where : std::uint8_t {
  kUnset,         // the program says nothing: the ABI decides
  kUndefined,     // lost
  kSame,          // unchanged
  kAtCfa,         // saved at CFA + value
  kCfaPlus,       // is CFA + value
  kRegister,      // is in register `value`
  kAtExpression,  // saved where the expression, begun with the CFA on its stack, points to
  kExpression,    // is the expression's value
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
  std::uint64_t code_alignment = 1;
  std::int64_t data_alignment = 1;
  CfiState initial;
};

struct Fde {
  std::uint64_t address = 0;  // ELF address of its first byte of code
  std::uint64_t size = 0;     // bytes of code
  const Cie* cie = nullptr;   // lives as long as its CfiSection
  Bytes program;
};

// A section that holds call frame information, or an image's part from where such information begins.
struct CfiSource {
  std::vector<std::uint8_t> bytes;
  std::uint64_t address = 0;  // ELF address of bytes[0]
  bool eh_frame = true;       // .eh_frame's format; otherwise .debug_frame's
};

class CfiSection {
 public:
  explicit CfiSection(const CfiSource& source);

  // All FDEs in the section's order; those whose head cannot be understood are counted in `refused`.
  std::vector<Fde> fdes();
  [[nodiscard]] std::uint64_t refused() const { return refused_; }

  // Runs an FDE's program: sink(address, state) for each stretch of its code, in ascending order, the first at the
  // FDE's start; a stretch holds up to the next one's address. False where the program is malformed or the budget is
  // used up; sink may have been called before.
  template <typename Sink>
  bool run(const Fde& fde, Sink&& sink);

 private:
  enum class Step : std::uint8_t { kNext, kAdvance, kEnd, kMalformed };

  const Cie* cie_at(std::uint64_t offset);
  Cie parse_cie(std::uint64_t offset);
  std::optional<Fde> parse_fde(std::uint64_t cie_offset, Bytes body);
  void begin(const Fde& fde);
  Step step();
  Step step_extended(std::uint8_t opcode);
  RegisterRule* rule_of(std::uint64_t number);
  void advance(std::uint64_t delta);
  bool spend(std::uint64_t bytes);

  const CfiSource& source_;
  std::unordered_map<std::uint64_t, Cie> cies_;
  std::uint64_t refused_ = 0;
  std::uint64_t budget_;

  // The program being run.
  const Cie* cie_ = nullptr;
  const std::uint8_t* at_ = nullptr;
  const std::uint8_t* end_ = nullptr;
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
    // An advance shows what held before it, so the state is told before it changes.
    const CfiState* held = &state_;
    const Step done = step();
    if (done == Step::kMalformed) return false;
    if (done == Step::kEnd || (done == Step::kAdvance && address_ != from)) sink(from, *held);
    if (done == Step::kEnd) return true;
    if (address_ < from) return false;
    from = address_;
  }
}

}  // namespace uscope::symbolizer
