// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What rows are made of the code of Go's functions. The code is that of Go 1.19's and 1.22's runtime, by objdump.
#include "symbolizer/go/go_unwind.h"

#include <gtest/gtest.h>

#include <random>

#include "symbolizer/code/signal_trampoline.h"
#include "tests/unit/symbolizer/go_test_support.h"

namespace uscope::symbolizer {
namespace {

using Steps = std::vector<std::pair<std::uint32_t, std::int32_t>>;
using Octets = std::vector<std::uint8_t>;

GoFunctionRows rows_of(const std::string& name, const Octets& code, const Steps& steps, std::uint8_t flags = 0,
                       std::uint32_t magic = kGo118Magic) {
  const auto bytes = TableMaker(magic, kText).make({{kText, name, steps, flags}}, kText + 0x100);
  const auto table = GoPclntab::parse(bytes, kExec, 0);
  if (!table) return {};
  std::uint64_t budget = table->most_steps();
  return go_function_rows(*table, table->functions()[0], std::as_bytes(std::span(code)), budget);
}

using Rows = std::vector<GoRow>;
constexpr auto kKept = GoFramePointer::kKept;
constexpr auto kSaved = GoFramePointer::kSaved;

GoRow stack_at(std::uint64_t at, std::int64_t offset, GoFramePointer rbp = kKept) {
  return {kText + at, GoRule::kStack, rbp, 0, offset};
}
GoRow root_at(std::uint64_t at) {
  return {kText + at, GoRule::kRoot, kKept, 0, 0};
}

TEST(GoUnwind, FramePointerIsSavedBehindTheStore) {
  // sub $0x48,%rsp; mov %rbp,0x40(%rsp); lea 0x40(%rsp),%rbp; nop; add $0x48,%rsp; ret
  const Octets code = {0x48, 0x83, 0xec, 0x48, 0x48, 0x89, 0x6c, 0x24, 0x40, 0x48,
                       0x8d, 0x6c, 0x24, 0x40, 0x90, 0x48, 0x83, 0xc4, 0x48, 0xc3};
  const auto found = rows_of("main.f", code, {{4, 0}, {15, 72}, {1, 0}});
  EXPECT_EQ(found.rows, (Rows{stack_at(0, 8), stack_at(4, 80), stack_at(9, 80, kSaved), stack_at(19, 8)}));
  EXPECT_EQ(found.end, kText + 20);
}

TEST(GoUnwind, FramePointerIsSavedByPush) {
  // push %rbp; mov %rsp,%rbp; sub $0x10,%rsp; nop; add $0x10,%rsp; pop %rbp; ret
  const Octets code = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x83, 0xec, 0x10, 0x90, 0x48, 0x83, 0xc4, 0x10, 0x5d, 0xc3};
  const auto found = rows_of("main.f", code, {{1, 0}, {7, 8}, {5, 24}, {1, 8}, {1, 0}}, 0, kGo120Magic);
  EXPECT_EQ(found.rows, (Rows{stack_at(0, 8), stack_at(1, 16, kSaved), stack_at(8, 32, kSaved),
                              stack_at(13, 16, kSaved), stack_at(14, 8)}));
}

TEST(GoUnwind, FramesOpenedOtherwiseMakeTheFramePointerUnknown) {
  const Octets code = {0x53, 0x90, 0x5b, 0xc3};  // push %rbx; nop; pop %rbx; ret
  const auto found = rows_of("main.asm", code, {{1, 0}, {2, 8}, {1, 0}});
  EXPECT_EQ(found.rows, (Rows{stack_at(0, 8), stack_at(1, 16, GoFramePointer::kUnknown), stack_at(3, 8)}));
  const CfiState state = go_cfi_state(found.rows[1]);
  EXPECT_EQ(state.registers[USC_REG_FP].where, Where::kUndefined);
  EXPECT_EQ(state.cfa_offset, 16);
}

TEST(GoUnwind, OutermostFunctionsByFlagOrName) {
  for (const auto& [name, flags, magic] :
       {std::tuple("any.thing", kGoTopFrame, kGo116Magic), std::tuple("runtime.goexit", std::uint8_t{0}, kGo12Magic),
        std::tuple("runtime.mstart", std::uint8_t{0}, kGo12Magic),
        std::tuple("runtime.rt0_go", std::uint8_t{0}, kGo12Magic)})
    EXPECT_EQ(rows_of(name, {0x90, 0xc3}, {{2, 0}}, flags, magic).rows, (Rows{root_at(0)})) << name;
  // Its caller is the signal frame, whatever Go's own walk does there.
  EXPECT_EQ(rows_of("runtime.sigtramp", {0x90, 0xc3}, {{2, 0}}, kGoTopFrame).rows, (Rows{stack_at(0, 8)}));
}

TEST(GoUnwind, SystemstackIsAnEndBehindTheSwitch) {
  // mov %rbx,%rsp; mov %rdi,%rdx; call *%rdi; mov 0x38(%rax),%rsp; ret
  const Octets code = {0x48, 0x89, 0xdc, 0x48, 0x89, 0xfa, 0xff, 0xd7, 0x48, 0x8b, 0x60, 0x38, 0xc3};
  const Rows expected{stack_at(0, 8), root_at(3)};
  EXPECT_EQ(rows_of("runtime.systemstack", code, {{13, 0}}, kGoWritesSp).rows, expected);
  EXPECT_EQ(rows_of("runtime.systemstack", code, {{13, 0}}, 0, kGo12Magic).rows, expected);
  EXPECT_EQ(rows_of("some.other", code, {{13, 0}}).rows, (Rows{stack_at(0, 8)}));
  EXPECT_EQ(rows_of("runtime.cgocallback", code, {{13, 0}}, kGoWritesSp).rows, (Rows{stack_at(0, 8)}));
}

TEST(GoUnwind, BehindMcallTheGoroutineMayRunElsewhere) {
  // mcall of Go 1.23, shortened: push %rbp; mov %rsp,%rbp; mov %rsp,%rbx; mov 0x38(%r14),%rsp; call *%r12; ret
  const Octets code = {0x55, 0x48, 0x89, 0xe5, 0x48, 0x89, 0xe3, 0x49, 0x8b, 0x66, 0x38, 0x41, 0xff, 0xd4, 0xc3};
  EXPECT_EQ(rows_of("runtime.mcall", code, {{1, 0}, {14, 8}}, kGoWritesSp, kGo120Magic).rows,
            (Rows{stack_at(0, 8), stack_at(1, 16, kSaved), root_at(11)}));
  // systemstack's caller waits for it: by rbp.
  EXPECT_EQ(rows_of("runtime.systemstack", code, {{1, 0}, {14, 8}}, kGoWritesSp, kGo120Magic).rows,
            (Rows{stack_at(0, 8), stack_at(1, 16, kSaved), {kText + 11, GoRule::kRegister, kSaved, USC_REG_FP, 16}}));
  // A register that the stack pointer never comes back from is no place to find it.
  const Octets no_return = {0x49, 0x89, 0xe4, 0x48, 0x8b, 0x62, 0x38, 0xff, 0xd0, 0xc3};
  EXPECT_EQ(rows_of("some.thing", no_return, {{10, 0}}, kGoWritesSp).rows, (Rows{stack_at(0, 8), root_at(7)}));
}

TEST(GoUnwind, CallsIntoTheVdsoGoOnByASavedRegister) {
  // nanotime1 of Go 1.19, shortened: sub $24; save and set rbp; mov %rsp,%r12; mov 0x38(%rdx),%rsp; and $-16,%rsp;
  // call *%rax; mov %r12,%rsp; mov 16(%rsp),%rbp; add $24,%rsp; ret; syscall (the way without a vdso)
  const Octets code = {0x48, 0x83, 0xec, 0x18, 0x48, 0x89, 0x6c, 0x24, 0x10, 0x48, 0x8d, 0x6c, 0x24, 0x10,
                       0x49, 0x89, 0xe4, 0x48, 0x8b, 0x62, 0x38, 0x48, 0x83, 0xe4, 0xf0, 0xff, 0xd0, 0x4c,
                       0x89, 0xe4, 0x48, 0x8b, 0x6c, 0x24, 0x10, 0x48, 0x83, 0xc4, 0x18, 0xc3, 0x0f, 0x05};
  const auto by_fp = [](std::uint64_t at) { return GoRow{kText + at, GoRule::kRegister, kSaved, USC_REG_FP, 16}; };
  EXPECT_EQ(rows_of("runtime.nanotime1", code, {{4, 0}, {35, 24}, {1, 0}, {2, 24}}, kGoWritesSp).rows,
            (Rows{stack_at(0, 8), stack_at(4, 32), stack_at(9, 32, kSaved), by_fp(21), stack_at(35, 32, kSaved),
                  stack_at(39, 8), by_fp(40)}));
  // The same without a frame: by r12.
  const Octets frameless = {0x49, 0x89, 0xe4, 0x48, 0x8b, 0x62, 0x38, 0xff, 0xd0, 0x4c, 0x89, 0xe4, 0xc3};
  EXPECT_EQ(rows_of("runtime.walltime", frameless, {{13, 0}}, 0, kGo12Magic).rows,
            (Rows{stack_at(0, 8), {kText + 3, GoRule::kRegister, kKept, 12, 8}}));
}

TEST(GoUnwind, AsmcgocallGoesOnWhereItStaysOnItsStack) {
  // mov 0x38(%rsi),%rsp; call *%rax; ret; sub $64,%rsp; mov %rdx,0x28(%rsp); call *%rax; mov 0x28(%rsp),%rsi;
  // mov %rsi,%rsp; ret
  const Octets code = {0x48, 0x8b, 0x66, 0x38, 0xff, 0xd0, 0xc3, 0x48, 0x83, 0xec, 0x40, 0x48, 0x89, 0x54,
                       0x24, 0x28, 0xff, 0xd0, 0x48, 0x8b, 0x74, 0x24, 0x28, 0x48, 0x89, 0xf4, 0xc3};
  const auto found = rows_of("runtime.asmcgocall", code, {{27, 0}}, kGoWritesSp);
  EXPECT_EQ(found.rows,
            (Rows{stack_at(0, 8), root_at(4), {kText + 16, GoRule::kSaved, kKept, 0, 40}, stack_at(26, 8)}));
  const CfiState state = go_cfi_state(found.rows[2]);
  EXPECT_EQ(state.cfa, CfiState::Cfa::kExpression);
}

TEST(GoUnwind, InjectedFunctionsReturnToAnInterruptedInstruction) {
  for (const char* name : {"runtime.asyncPreempt", "runtime.sigpanic"}) {
    GoRow expected = stack_at(0, 8);
    expected.exact_ra = true;
    EXPECT_EQ(rows_of(name, {0x90, 0xc3}, {{2, 0}}).rows, (Rows{expected})) << name;
  }
}

TEST(GoUnwind, VforkHasItsReturnAddressInARegister) {
  const Octets code = {0x41, 0x5c, 0x0f, 0x05, 0x41, 0x54, 0xc3};  // pop %r12; syscall; push %r12; ret
  EXPECT_EQ(rows_of("syscall.rawVforkSyscall", code, {{2, 0}, {4, -8}, {1, 0}}).rows,
            (Rows{stack_at(0, 8), {kText + 2, GoRule::kReturnInRegister, kKept, 12, 0}, stack_at(6, 8)}));
}

TEST(GoUnwind, SignalTrampolines) {
  const Octets longer = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05, 0xcd, 0x03};
  const Octets shorter = {0xb8, 0x0f, 0, 0, 0, 0x0f, 0x05};
  for (const Octets& code : {longer, shorter}) {
    const auto found = rows_of("runtime.sigreturn__sigaction", code, {{static_cast<std::uint32_t>(code.size()), 0}});
    ASSERT_EQ(found.rows.size(), 1U);
    EXPECT_EQ(found.rows[0].rule, GoRule::kSignal);
  }
  Octets text(100, 0x90);
  std::copy(longer.begin(), longer.end(), text.begin() + 17);
  std::copy(shorter.begin(), shorter.end(), text.begin() + 50);
  std::copy(shorter.begin(), shorter.begin() + 6, text.begin() + 94);  // cut off
  EXPECT_EQ(find_signal_trampolines(std::as_bytes(std::span(text))), (std::vector<std::size_t>{17, 50}));
  EXPECT_EQ(signal_trampoline_length(std::as_bytes(std::span(longer))), 9U);
  EXPECT_EQ(signal_trampoline_length(std::as_bytes(std::span(shorter))), 7U);
  EXPECT_EQ(signal_trampoline_length({}), 0U);
}

TEST(GoUnwind, AnyCodeGivesRowsInOrderInsideTheFunction) {
  std::mt19937 random(1);
  const std::uint8_t likely[] = {0x48, 0x49, 0x4c, 0x89, 0x8b, 0xe4, 0x24, 0xc3, 0x5d, 0x83, 0xdc, 0x6c, 0x54, 0x55};
  for (int round = 0; round < 20000; round++) {
    Octets code(random() % 0xf0);
    for (std::uint8_t& byte : code) byte = likely[random() % sizeof(likely)];
    Steps steps;
    std::uint32_t left = 0xf0;
    while (left > 0) {
      const std::uint32_t length = 1 + static_cast<std::uint32_t>(random()) % left;
      steps.emplace_back(length, static_cast<std::int32_t>(random() % 9) * 8 - 8);
      left -= length;
    }
    const auto found = rows_of(round % 2 == 0 ? "runtime.asmcgocall" : "runtime.nanotime1", code, steps, kGoWritesSp);
    ASSERT_FALSE(found.rows.empty());
    EXPECT_EQ(found.rows.front().start, kText);
    for (std::size_t i = 1; i < found.rows.size(); i++) ASSERT_GT(found.rows[i].start, found.rows[i - 1].start);
    EXPECT_LT(found.rows.back().start, found.end);
  }
}

}  // namespace
}  // namespace uscope::symbolizer
