// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/code/crt_code.h"

#include <cstring>

namespace uscope::symbolizer {
namespace {

constexpr int kAny = -1;

// One instruction: its bytes, and the rule after it if that changes.
struct InstructionBytes {
  std::array<int, 8> bytes{};
  std::size_t size = 0;
  std::uint32_t rule_behind = 0;
};

constexpr std::uint32_t kAtEntry = USC_RULE_COMPACT(USC_RULE_RSP, 1, 0);
constexpr std::uint32_t kPushed = USC_RULE_COMPACT(USC_RULE_RSP, 2, 2);
constexpr std::uint32_t kFramed = USC_RULE_COMPACT(USC_RULE_RBP, 2, 2);

constexpr InstructionBytes kCompare = {{0x80, 0x3d, kAny, kAny, kAny, kAny, 0}, 7};     // cmpb $0,completed(%rip)
constexpr InstructionBytes kSkip = {{0x75, kAny}, 2};                                   // jne
constexpr InstructionBytes kPush = {{0x55}, 1, kPushed};                                // push %rbp
constexpr InstructionBytes kTest = {{0x48, 0x83, 0x3d, kAny, kAny, kAny, kAny, 0}, 8};  // cmpq $0,__cxa_finalize@GOT
constexpr InstructionBytes kFrame = {{0x48, 0x89, 0xe5}, 3, kFramed};                   // mov %rsp,%rbp
constexpr InstructionBytes kJump = {{0x74, kAny}, 2};                                   // je
constexpr InstructionBytes kLoad = {{0x48, 0x8b, 0x3d, kAny, kAny, kAny, kAny}, 7};     // mov __dso_handle(%rip),%rdi
constexpr InstructionBytes kCall = {{0xe8, kAny, kAny, kAny, kAny}, 5};                 // call
constexpr InstructionBytes kCallByGot = {{0xff, 0x15, kAny, kAny, kAny, kAny}, 6};      // call *(%rip), of -fno-plt
constexpr InstructionBytes kDone = {{0xc6, 0x05, kAny, kAny, kAny, kAny, 1}, 7};        // movb $1,completed(%rip)
constexpr InstructionBytes kPop = {{0x5d}, 1, kAtEntry};                                // pop %rbp
constexpr InstructionBytes kReturn = {{0xc3}, 1};                                       // ret

template <bool ByGot>
constexpr std::array kFunction = {kCompare, kSkip, kPush, kTest,  kFrame, kJump, kLoad, ByGot ? kCallByGot : kCall,
                                  kCall,    kDone, kPop,  kReturn};

bool is_at(std::span<const std::byte> code, const InstructionBytes& instruction) {
  if (code.size() < instruction.size) return false;
  for (std::size_t i = 0; i < instruction.size; i++)
    if (instruction.bytes[i] != kAny && std::to_integer<int>(code[i]) != instruction.bytes[i]) return false;
  return true;
}

std::optional<CrtFunction> function_at(std::span<const std::byte> code, std::span<const InstructionBytes> pattern) {
  CrtFunction found;
  std::size_t rows = 0;
  found.rows[rows++] = {0, kAtEntry};
  for (const InstructionBytes& instruction : pattern) {
    if (!is_at(code.subspan(found.size), instruction)) return std::nullopt;
    found.size += instruction.size;
    if (instruction.rule_behind != 0 && rows < found.rows.size())
      found.rows[rows++] = {found.size, instruction.rule_behind};
  }
  return found;
}

}  // namespace

std::vector<CrtFunction> find_crt_functions(std::span<const std::byte> code) {
  // The search uses the rarest bytes of the function, "push %rbp; cmpq $0,…", which follow cmpb $0 and the jump.
  constexpr std::array<unsigned char, 4> kMark = {0x55, 0x48, 0x83, 0x3d};
  const std::size_t before = kCompare.size + kSkip.size;
  std::vector<CrtFunction> found;
  for (std::size_t from = 0; from < code.size();) {
    const auto* hit =
        static_cast<const std::byte*>(memmem(code.data() + from, code.size() - from, kMark.data(), kMark.size()));
    if (hit == nullptr) break;
    const auto mark = static_cast<std::size_t>(hit - code.data());
    from = mark + 1;
    if (mark < before) continue;
    const auto here = code.subspan(mark - before);
    auto function = function_at(here, kFunction<false>);
    if (!function) function = function_at(here, kFunction<true>);
    if (!function) continue;
    function->start = mark - before;
    found.push_back(*function);
  }
  return found;
}

}  // namespace uscope::symbolizer
