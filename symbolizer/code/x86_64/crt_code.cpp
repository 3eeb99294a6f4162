// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/code/crt_code.h"

#include <algorithm>
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

constexpr std::uint32_t kAtEntry = USC_RULE_COMPACT(USC_RULE_SP, 1, 0);
constexpr std::uint32_t kPushed = USC_RULE_COMPACT(USC_RULE_SP, 2, 2);
constexpr std::uint32_t kFramed = USC_RULE_COMPACT(USC_RULE_FP, 2, 2);

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

// Of _init and _fini.
constexpr InstructionBytes kEndbr = {{0xf3, 0x0f, 0x1e, 0xfa}, 4};                        // endbr64
constexpr InstructionBytes kAlign = {{0x48, 0x83, 0xec, 8}, 4};                           // sub $8,%rsp
constexpr InstructionBytes kLoadStart = {{0x48, 0x8b, 0x05, kAny, kAny, kAny, kAny}, 7};  // mov __gmon_start__@GOT,%rax
constexpr InstructionBytes kNoStart = {{0x48, 0xc7, 0xc0, 0, 0, 0, 0}, 7};                // mov $0,%rax
constexpr InstructionBytes kCallStart = {{0x48, 0x85, 0xc0, 0x74, 0x02, 0xff, 0xd0}, 7};  // test; je; call *%rax
constexpr InstructionBytes kRealign = {{0x48, 0x83, 0xc4, 8}, 4};                         // add $8,%rsp
constexpr std::uint32_t kAligned = USC_RULE_COMPACT(USC_RULE_SP, 2, 0);

template <bool ByGot>
constexpr std::array kDestructors = {kCompare, kSkip, kPush, kTest,  kFrame, kJump, kLoad, ByGot ? kCallByGot : kCall,
                                     kCall,    kDone, kPop,  kReturn};

bool is_at(std::span<const std::byte> code, const InstructionBytes& instruction) {
  if (code.size() < instruction.size) return false;
  for (std::size_t i = 0; i < instruction.size; i++)
    if (instruction.bytes[i] != kAny && std::to_integer<int>(code[i]) != instruction.bytes[i]) return false;
  return true;
}

// Reads the instructions of a function, one behind the other.
class Reading {
 public:
  explicit Reading(std::span<const std::byte> code) : code_(code) {}

  // The next instruction if it is this one.
  bool take(const InstructionBytes& instruction) {
    if (!is_at(code_.subspan(found_.size), instruction)) return false;
    found_.size += instruction.size;
    if (instruction.rule_behind != 0) hold(instruction.rule_behind);
    return true;
  }
  // From here on. At most as many times as a function has rows.
  void hold(std::uint32_t rule) { found_.rows.at(found_.row_count++) = {found_.size, rule}; }
  [[nodiscard]] const CrtFunction& found() const { return found_; }

 private:
  std::span<const std::byte> code_;
  CrtFunction found_;
};

std::optional<CrtFunction> destructors_at(std::span<const std::byte> code,
                                          std::span<const InstructionBytes> instructions) {
  Reading reading(code);
  reading.hold(kAtEntry);
  for (const InstructionBytes& instruction : instructions)
    if (!reading.take(instruction)) return std::nullopt;
  return reading.found();
}

// The middle of these functions is joined of what each start file has: at most __gmon_start__ and some calls.
std::optional<CrtFunction> start_file_function_at(std::span<const std::byte> code) {
  constexpr int kMostCalls = 6;
  Reading reading(code);
  reading.hold(kAtEntry);
  (void)reading.take(kEndbr);
  if (!reading.take(kAlign)) return std::nullopt;
  reading.hold(kAligned);
  if ((reading.take(kLoadStart) || reading.take(kNoStart)) && !reading.take(kCallStart)) return std::nullopt;
  for (int calls = 0; calls < kMostCalls && reading.take(kCall); calls++) {
  }
  if (!reading.take(kRealign)) return std::nullopt;
  reading.hold(kAtEntry);
  return reading.take(kReturn) ? std::optional(reading.found()) : std::nullopt;
}

// Calls `see` with each place of these bytes.
template <std::size_t Size, typename See>
void each_place(std::span<const std::byte> code, const std::array<unsigned char, Size>& bytes, const See& see) {
  for (std::size_t from = 0; from < code.size();) {
    const auto* hit = static_cast<const std::byte*>(memmem(code.data() + from, code.size() - from, bytes.data(), Size));
    if (hit == nullptr) return;
    const auto at = static_cast<std::size_t>(hit - code.data());
    see(at);
    from = at + 1;
  }
}

}  // namespace

std::vector<CrtFunction> find_crt_functions(std::span<const std::byte> code) {
  std::vector<CrtFunction> found;
  const auto add = [&found](std::optional<CrtFunction> function, std::size_t start) {
    if (!function) return;
    function->start = start;
    found.push_back(*function);
  };
  // The rarest bytes, "push %rbp; cmpq $0,…", follow cmpb $0 and the jump.
  constexpr std::array<unsigned char, 4> kPushTest = {0x55, 0x48, 0x83, 0x3d};
  constexpr std::size_t kBefore = kCompare.size + kSkip.size;
  each_place(code, kPushTest, [&](std::size_t at) {
    if (at < kBefore) return;
    const auto here = code.subspan(at - kBefore);
    auto function = destructors_at(here, kDestructors<false>);
    add(function ? function : destructors_at(here, kDestructors<true>), at - kBefore);
  });
  constexpr std::array<unsigned char, 4> kSubtract = {0x48, 0x83, 0xec, 8};
  each_place(code, kSubtract, [&](std::size_t at) {
    const bool has_endbr = at >= kEndbr.size && is_at(code.subspan(at - kEndbr.size), kEndbr);
    const std::size_t start = has_endbr ? at - kEndbr.size : at;
    add(start_file_function_at(code.subspan(start)), start);
  });
  std::sort(found.begin(), found.end(), [](const CrtFunction& a, const CrtFunction& b) { return a.start < b.start; });
  return found;
}

}  // namespace uscope::symbolizer
