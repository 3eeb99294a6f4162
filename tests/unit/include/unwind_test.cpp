// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Every branch of the unwind step, on a fake memory in which only the words that a step may read exist.
#include "uscope/unwind.h"

#include <gtest/gtest.h>
#include <sys/ucontext.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <map>
#include <random>

#include "fake_user.h"

// The kernel's layout is what is tested here. glibc has a struct of the same name, so the kernel's goes in a namespace.
namespace kernel {
#include <asm/sigcontext.h>
}  // namespace kernel

namespace uscope::include {
namespace {

constexpr __u64 kStack = 0x7ffc00001000;
constexpr __u64 kPc = 0x401000;
constexpr __u64 kCaller = 0x402345;

constexpr int kRbx = USC_REG_RBX;
constexpr int kRbp = USC_REG_FP;
constexpr int kRsp = USC_REG_SP;

// A frame whose registers all hold different values, so that an exchanged one shows.
usc_frame frame_at(__u64 rsp, __u32 known = USC_KNOWN_ALL) {
  usc_frame frame{};
  frame.pc = kPc;
  for (unsigned i = 0; i < 16; i++) frame.regs[i] = 0xa000 + i;
  frame.regs[kRsp] = rsp;
  frame.known = known;
  frame.exact = 1;
  return frame;
}

void expect_unchanged(const usc_frame& frame, const usc_frame& before) {
  EXPECT_EQ(frame.pc, before.pc);
  EXPECT_EQ(frame.known, before.known);
  EXPECT_EQ(frame.exact, before.exact);
  for (unsigned i = 0; i < 16; i++) EXPECT_EQ(frame.regs[i], before.regs[i]) << "register " << i;
}

usc_rule plain_rule(int cfa_reg, __s32 cfa_off) {
  usc_rule rule{};
  rule.cfa_kind = USC_CFA_REG;
  rule.cfa_reg = static_cast<__u8>(cfa_reg);
  rule.cfa_off = cfa_off;
  rule.ra_kind = USC_RA_CFA;
  rule.ra_off = -8;
  return rule;
}

class UnwindStep : public ::testing::Test {
 protected:
  int step(__u32 rule) { return usc_step(&frame_, rule, &memory_, &tables_); }
  int step_shared(const usc_rule& rule) {
    tables_.rules = {rule};
    return step(USC_RULE_SHARED_NUMBER(0));
  }
  // The step must fail with this error and leave the frame as it was.
  void expect_broken(__u32 rule, usc_unwind_error error) {
    const usc_frame before = frame_;
    EXPECT_EQ(step(rule), USC_STEP_BROKEN(error));
    expect_unchanged(frame_, before);
  }
  void expect_broken_shared(const usc_rule& rule, usc_unwind_error error) {
    tables_.rules = {rule};
    expect_broken(USC_RULE_SHARED_NUMBER(0), error);
  }

  FakeMemory memory_;
  FakeTables tables_;
  usc_frame frame_ = frame_at(kStack);
};

TEST_F(UnwindStep, ResultValuesAreDistinct) {
  EXPECT_EQ(USC_STEP_CALLER, 0);
  EXPECT_EQ(USC_STEP_ROOT, 1);
  EXPECT_EQ(USC_STEP_BROKEN(USC_BROKEN_ZERO_RA), -1);
  EXPECT_EQ(USC_STEP_BROKEN(USC_BROKEN_NO_ROWS), -2);
}

TEST_F(UnwindStep, CompactRspKeepsRbp) {
  memory_.words = {{kStack + 24 - 8, kCaller}};
  EXPECT_EQ(step(USC_RULE_COMPACT(USC_RULE_SP, 3, 0)), USC_STEP_CALLER);
  EXPECT_EQ(frame_.pc, kCaller);
  EXPECT_EQ(frame_.regs[kRsp], kStack + 24);
  EXPECT_EQ(frame_.regs[kRbp], 0xa006u);
  EXPECT_EQ(frame_.known, USC_KNOWN_STACK);
  EXPECT_EQ(frame_.exact, 0u);
  EXPECT_EQ(memory_.reads, 1);
}

TEST_F(UnwindStep, CompactRspKeepsUnknownRbpUnknown) {
  frame_.known = USC_KNOWN(kRsp);
  memory_.words = {{kStack, kCaller}};
  EXPECT_EQ(step(USC_RULE_COMPACT(USC_RULE_SP, 1, 0)), USC_STEP_CALLER);
  EXPECT_EQ(frame_.known, USC_KNOWN(kRsp));
}

TEST_F(UnwindStep, CompactRspRestoresSavedRbp) {
  frame_.known = USC_KNOWN(kRsp);
  memory_.words = {{kStack + 40 - 8, kCaller}, {kStack + 40 - 24, 0xbeef}};
  EXPECT_EQ(step(USC_RULE_COMPACT(USC_RULE_SP, 5, 3)), USC_STEP_CALLER);
  EXPECT_EQ(frame_.pc, kCaller);
  EXPECT_EQ(frame_.regs[kRsp], kStack + 40);
  EXPECT_EQ(frame_.regs[kRbp], 0xbeefu);
  EXPECT_EQ(frame_.known, USC_KNOWN_STACK);
}

TEST_F(UnwindStep, CompactRbpIsTheFramePointerStep) {
  for (const bool named : {false, true}) {
    frame_ = frame_at(kStack);
    frame_.regs[kRbp] = kStack + 0x100;
    memory_.words = {{kStack + 0x108, kCaller}, {kStack + 0x100, kStack + 0x200}};
    const int result = named ? usc_step_frame_pointer(&frame_, &memory_) : step(USC_RULE_COMPACT(USC_RULE_FP, 2, 2));
    EXPECT_EQ(result, USC_STEP_CALLER);
    EXPECT_EQ(frame_.pc, kCaller);
    EXPECT_EQ(frame_.regs[kRsp], kStack + 0x110);
    EXPECT_EQ(frame_.regs[kRbp], kStack + 0x200);
    EXPECT_EQ(frame_.known, USC_KNOWN_STACK);
    EXPECT_EQ(frame_.exact, 0u);
  }
}

TEST_F(UnwindStep, FramePointerStepIsARuleOfItsOwn) {
  frame_.regs[kRbp] = kStack;  // a frame without room of its own
  memory_.words = {{kStack + 8, kCaller}, {kStack, kStack + 0x200}};
  EXPECT_EQ(step(USC_RULE_FRAME_POINTER), USC_STEP_CALLER);
  EXPECT_EQ(frame_.pc, kCaller);
  EXPECT_EQ(frame_.regs[kRsp], kStack + 16);
  EXPECT_EQ(frame_.regs[kRbp], kStack + 0x200);
}

TEST_F(UnwindStep, CodeThatIsAboutToReturnSaysHow) {
  EXPECT_EQ(usc_rule_of_return(0x1234c308c48348), USC_RULE_COMPACT(USC_RULE_SP, 2, 0));  // add $8,%rsp; ret
  EXPECT_EQ(usc_rule_of_return(0xc378c48348), USC_RULE_COMPACT(USC_RULE_SP, 16, 0));
  EXPECT_EQ(usc_rule_of_return(0xc308c48948), USC_RULE_NONE);  // another instruction
  EXPECT_EQ(usc_rule_of_return(0xc208c48348), USC_RULE_NONE);  // ret $N
  EXPECT_EQ(usc_rule_of_return(0xc304c48348), USC_RULE_NONE);
  EXPECT_EQ(usc_rule_of_return(0xc3f8c48348), USC_RULE_NONE);  // takes room
  EXPECT_EQ(usc_rule_of_return(0xc3), USC_RULE_NONE);
}

TEST_F(UnwindStep, FramePointerStepRefusesWhatIsNoFramePointer) {
  for (const __u64 rbp : {kStack - 8, kStack + 0x104, __u64{0}, __u64{1}}) {
    memory_.words = {{rbp + 8, kCaller}, {rbp, kStack + 0x200}};
    frame_.regs[kRbp] = rbp;
    expect_broken(USC_RULE_FRAME_POINTER, USC_BROKEN_FRAME_POINTER);
  }
  frame_.known = USC_KNOWN(kRsp);
  frame_.regs[kRbp] = kStack + 0x100;
  expect_broken(USC_RULE_FRAME_POINTER, USC_BROKEN_REGISTER);
  EXPECT_EQ(memory_.reads, 0);
}

TEST_F(UnwindStep, CompactRbpNeedsRbp) {
  frame_.known = USC_KNOWN(kRsp);
  frame_.regs[kRbp] = kStack + 0x100;
  memory_.words = {{kStack + 0x108, kCaller}, {kStack + 0x100, kStack + 0x200}};
  expect_broken(USC_RULE_COMPACT(USC_RULE_FP, 2, 2), USC_BROKEN_REGISTER);
  EXPECT_EQ(memory_.reads, 0);
}

TEST_F(UnwindStep, CompactLargestOffsets) {
  const __u64 cfa = kStack + 8ull * USC_RULE_MAX_CFA_WORDS;
  memory_.words = {{cfa - 8, kCaller}, {cfa - 8ull * USC_RULE_MAX_FP_WORDS, 0xbeef}};
  EXPECT_EQ(step(USC_RULE_COMPACT(USC_RULE_SP, USC_RULE_MAX_CFA_WORDS, USC_RULE_MAX_FP_WORDS)), USC_STEP_CALLER);
  EXPECT_EQ(frame_.regs[kRsp], cfa);
  EXPECT_EQ(frame_.regs[kRbp], 0xbeefu);
}

TEST_F(UnwindStep, CompactWithoutProgressIsALoop) {
  memory_.words = {{kStack - 8, kCaller}, {kStack - 16, 1}};
  expect_broken(USC_RULE_COMPACT(USC_RULE_SP, 0, 0), USC_BROKEN_LOOP);
  frame_.regs[kRbp] = kStack - 16;  // CFA = rsp: not above it
  expect_broken(USC_RULE_COMPACT(USC_RULE_FP, 2, 2), USC_BROKEN_LOOP);
  frame_.regs[kRbp] = kStack - 0x1000;
  expect_broken(USC_RULE_COMPACT(USC_RULE_FP, 2, 2), USC_BROKEN_LOOP);
  frame_.regs[kRbp] = ~0ull - 7;  // wraps round
  expect_broken(USC_RULE_COMPACT(USC_RULE_FP, 2, 2), USC_BROKEN_LOOP);
  EXPECT_EQ(memory_.reads, 0);
}

TEST_F(UnwindStep, CompactZeroReturnAddressLeavesTheFrame) {
  memory_.words = {{kStack + 8, 0}, {kStack, 0xbeef}};
  expect_broken(USC_RULE_COMPACT(USC_RULE_SP, 2, 2), USC_BROKEN_ZERO_RA);
}

TEST_F(UnwindStep, CompactFaultLeavesTheFrame) {
  memory_.words = {{kStack, 0xbeef}};  // saved rbp there, return address not
  expect_broken(USC_RULE_COMPACT(USC_RULE_SP, 2, 2), USC_BROKEN_NOFAULT);
  memory_.words = {{kStack + 8, kCaller}};  // the other way round
  expect_broken(USC_RULE_COMPACT(USC_RULE_SP, 2, 2), USC_BROKEN_NOFAULT);
}

TEST_F(UnwindStep, RootRuleReadsNothing) {
  const usc_frame before = frame_;
  EXPECT_EQ(step(USC_RULE_ROOT), USC_STEP_ROOT);
  expect_unchanged(frame_, before);
  usc_rule rule{};
  rule.ra_kind = USC_RA_ROOT;
  rule.cfa_kind = USC_CFA_SIGNAL;  // root goes first, whatever the CFA
  EXPECT_EQ(step_shared(rule), USC_STEP_ROOT);
  expect_unchanged(frame_, before);
  EXPECT_EQ(memory_.reads, 0);
}

TEST_F(UnwindStep, HolesAndDamagedRulesBreak) {
  expect_broken(USC_RULE_NONE, USC_BROKEN_NO_ROWS);
  for (__u32 kind = USC_RULE_FRAME_POINTER + 1; kind < 8; kind++) expect_broken(kind, USC_BROKEN_BAD_RULE);
  EXPECT_EQ(tables_.outside, 0);
  expect_broken(USC_RULE_SHARED_NUMBER(0), USC_BROKEN_BAD_RULE);  // no such rule
  expect_broken(USC_RULE_SHARED_NUMBER(0x1fffffff), USC_BROKEN_BAD_RULE);
  EXPECT_EQ(tables_.outside, 2);
}

TEST_F(UnwindStep, UnknownCfaKindBreaks) {
  usc_rule rule = plain_rule(kRsp, 16);
  rule.cfa_kind = USC_CFA_SIGNAL + 1;
  memory_.words = {{kStack + 8, kCaller}};
  expect_broken_shared(rule, USC_BROKEN_BAD_RULE);
}

TEST_F(UnwindStep, SharedRestoresEachSavedRegister) {
  usc_rule rule = plain_rule(kRsp, 64);
  const std::array<unsigned, USC_SAVED_REGS> order = {3, 6, 12, 13, 14, 15};  // rbx rbp r12 r13 r14 r15
  memory_.words = {{kStack + 56, kCaller}};
  for (unsigned i = 0; i < USC_SAVED_REGS; i++) {
    rule.save_kind[i] = USC_SAVE_CFA;
    rule.save_off[i] = -16 - 8 * static_cast<__s32>(i);
    memory_.words[kStack + 64 - 16 - 8ull * i] = 0xc0de0000 + order[i];
  }
  EXPECT_EQ(step_shared(rule), USC_STEP_CALLER);
  EXPECT_EQ(frame_.pc, kCaller);
  EXPECT_EQ(frame_.regs[kRsp], kStack + 64);
  for (const unsigned reg : order) EXPECT_EQ(frame_.regs[reg], 0xc0de0000u + reg);
  EXPECT_EQ(frame_.known, 0xf0c8u);  // rbx rbp rsp r12 … r15; the scratch registers are unknown in the caller
  EXPECT_EQ(frame_.exact, 0u);
}

TEST_F(UnwindStep, SharedSameKeepsKnownAndUnknown) {
  memory_.words = {{kStack + 8, kCaller}};
  frame_.known = USC_KNOWN(kRsp) | USC_KNOWN(12);
  EXPECT_EQ(step_shared(plain_rule(kRsp, 16)), USC_STEP_CALLER);
  EXPECT_EQ(frame_.known, USC_KNOWN(kRsp) | USC_KNOWN(12));
  EXPECT_EQ(frame_.regs[12], 0xa00cu);
}

TEST_F(UnwindStep, SharedUnknownSaveForgetsTheRegister) {
  usc_rule rule = plain_rule(kRsp, 16);
  rule.save_kind[0] = USC_SAVE_UNKNOWN;  // rbx
  rule.save_kind[5] = USC_SAVE_UNKNOWN;  // r15
  memory_.words = {{kStack + 8, kCaller}};
  EXPECT_EQ(step_shared(rule), USC_STEP_CALLER);
  EXPECT_EQ(frame_.known, 0xf0c8u & ~(USC_KNOWN(kRbx) | USC_KNOWN(15)));
}

TEST_F(UnwindStep, SharedSaveThatCannotBeReadIsUnknownAndTheStepGoesOn) {
  usc_rule rule = plain_rule(kRsp, 32);
  rule.save_kind[1] = USC_SAVE_CFA;  // rbp, at an address that is not there
  rule.save_off[1] = -0x4000;
  rule.save_kind[2] = USC_SAVE_CFA;  // r12
  rule.save_off[2] = -16;
  memory_.words = {{kStack + 24, kCaller}, {kStack + 16, 0x1212}};
  EXPECT_EQ(step_shared(rule), USC_STEP_CALLER);
  EXPECT_EQ(frame_.known, 0xf0c8u & ~USC_KNOWN(kRbp));
  EXPECT_EQ(frame_.regs[12], 0x1212u);
}

TEST_F(UnwindStep, DrapSavesAreNamedByTheFramePointer) {
  // A function that realigned its stack: CFA = *(rbp - 8), rbx and rbp saved at rbp-relative slots.
  usc_rule rule = plain_rule(kRbp, -8);
  rule.cfa_kind = USC_CFA_DEREF;
  rule.cfa_add = 0;
  rule.save_kind[0] = USC_SAVE_DEREF;
  rule.save_off[0] = -0x18;
  rule.save_kind[1] = USC_SAVE_DEREF;
  rule.save_off[1] = 0;
  frame_.regs[kRbp] = kStack + 0x80;
  const __u64 cfa = kStack + 0x140;
  memory_.words = {{kStack + 0x78, cfa}, {cfa - 8, kCaller}, {kStack + 0x68, 0xb0b}, {kStack + 0x80, 0x6666}};
  EXPECT_EQ(step_shared(rule), USC_STEP_CALLER);
  EXPECT_EQ(frame_.pc, kCaller);
  EXPECT_EQ(frame_.regs[kRsp], cfa);
  EXPECT_EQ(frame_.regs[kRbx], 0xb0bu);
  EXPECT_EQ(frame_.regs[kRbp], 0x6666u);
  EXPECT_EQ(frame_.known, 0xf0c8u);
}

TEST_F(UnwindStep, DrapSavesWithoutRbpAreUnknown) {
  usc_rule rule = plain_rule(kRsp, 16);
  rule.save_kind[0] = USC_SAVE_DEREF;
  rule.save_off[0] = -8;
  frame_.known = USC_KNOWN(kRsp) | USC_KNOWN(kRbx);
  frame_.regs[kRbp] = kStack + 0x80;
  memory_.words = {{kStack + 8, kCaller}, {kStack + 0x78, 0xb0b}};
  EXPECT_EQ(step_shared(rule), USC_STEP_CALLER);
  EXPECT_EQ(frame_.known, USC_KNOWN(kRsp));
  EXPECT_EQ(memory_.reads, 1);
}

TEST_F(UnwindStep, DerefAddsBehindTheRead) {
  usc_rule rule = plain_rule(10, 0x20);  // libcrypto: CFA = *(r10 + 32) + 8
  rule.cfa_kind = USC_CFA_DEREF;
  rule.cfa_add = 8;
  frame_.regs[10] = kStack + 0x100;
  memory_.words = {{kStack + 0x120, kStack + 0x200}, {kStack + 0x200, kCaller}};
  EXPECT_EQ(step_shared(rule), USC_STEP_CALLER);
  EXPECT_EQ(frame_.regs[kRsp], kStack + 0x208);
  EXPECT_EQ(frame_.pc, kCaller);
}

TEST_F(UnwindStep, DerefFaultAndUnknownRegister) {
  usc_rule rule = plain_rule(10, 0x20);
  rule.cfa_kind = USC_CFA_DEREF;
  expect_broken_shared(rule, USC_BROKEN_NOFAULT);
  frame_.known &= ~USC_KNOWN(10);
  expect_broken_shared(rule, USC_BROKEN_REGISTER);
  EXPECT_EQ(memory_.reads, 1);
}

TEST_F(UnwindStep, PltCountsThePushByThePc) {
  usc_rule rule{};
  rule.cfa_kind = USC_CFA_PLT;
  rule.cfa_off = 11;
  rule.ra_off = -8;
  for (__u64 low = 0; low < 16; low++) {
    frame_ = frame_at(kStack);
    frame_.pc = 0x401020 + low;
    const __u64 cfa = kStack + (low >= 11 ? 16 : 8);
    memory_.words = {{cfa - 8, kCaller + low}};
    EXPECT_EQ(step_shared(rule), USC_STEP_CALLER) << low;
    EXPECT_EQ(frame_.regs[kRsp], cfa) << low;
    EXPECT_EQ(frame_.pc, kCaller + low);
    EXPECT_EQ(frame_.known, 0xf0c8u);
  }
}

TEST_F(UnwindStep, ReturnAddressInARegister) {
  // glibc's vfork: the return address is popped into rdi; CFA = rsp.
  usc_rule rule = plain_rule(kRsp, 0);
  rule.ra_kind = USC_RA_REG;
  rule.ra_reg = USC_REG_RDI;
  frame_.regs[USC_REG_RDI] = kCaller;
  EXPECT_EQ(step_shared(rule), USC_STEP_CALLER);
  EXPECT_EQ(frame_.pc, kCaller);
  EXPECT_EQ(frame_.regs[kRsp], kStack);
  EXPECT_EQ(frame_.known, 0xf0c8u);
  EXPECT_EQ(memory_.reads, 0);
}

TEST_F(UnwindStep, ReturnAddressInAnUnknownOrZeroRegister) {
  usc_rule rule = plain_rule(kRsp, 0);
  rule.ra_kind = USC_RA_REG;
  rule.ra_reg = USC_REG_RDI;
  frame_.known = 0xf0c8u;
  expect_broken_shared(rule, USC_BROKEN_REGISTER);
  frame_.known = USC_KNOWN_ALL;
  frame_.regs[USC_REG_RDI] = 0;
  expect_broken_shared(rule, USC_BROKEN_ZERO_RA);
}

TEST_F(UnwindStep, SharedWithoutProgressIsALoop) {
  memory_.words = {{kStack - 8, kCaller}, {kStack - 24, kCaller}};
  expect_broken_shared(plain_rule(kRsp, 0), USC_BROKEN_LOOP);
  expect_broken_shared(plain_rule(kRsp, -16), USC_BROKEN_LOOP);
  usc_rule rule = plain_rule(kRsp, -8);  // also with the return address in a register the stack must not shrink
  rule.ra_kind = USC_RA_REG;
  rule.ra_reg = USC_REG_RDI;
  expect_broken_shared(rule, USC_BROKEN_LOOP);
  EXPECT_EQ(memory_.reads, 0);
}

TEST_F(UnwindStep, SharedFaultAndZeroLeaveTheFrame) {
  usc_rule rule = plain_rule(kRsp, 32);
  rule.save_kind[0] = USC_SAVE_CFA;
  rule.save_off[0] = -16;
  memory_.words = {{kStack + 16, 0xb0b}};
  expect_broken_shared(rule, USC_BROKEN_NOFAULT);
  memory_.words[kStack + 24] = 0;
  expect_broken_shared(rule, USC_BROKEN_ZERO_RA);
}

TEST_F(UnwindStep, UnknownCfaRegister) {
  usc_rule rule = plain_rule(kRbx, 16);
  frame_.regs[kRbx] = kStack;
  frame_.known = USC_KNOWN_STACK;
  memory_.words = {{kStack + 8, kCaller}};
  expect_broken_shared(rule, USC_BROKEN_REGISTER);
  frame_.known |= USC_KNOWN(kRbx);
  EXPECT_EQ(step_shared(rule), USC_STEP_CALLER);
}

// The kernel's own header says where each register is; the DWARF numbers are the psABI's.
struct ContextRegister {
  unsigned dwarf;
  std::size_t offset;
};
constexpr std::array<ContextRegister, 16> kSigcontext = {{{8, offsetof(kernel::sigcontext, r8)},
                                                          {9, offsetof(kernel::sigcontext, r9)},
                                                          {10, offsetof(kernel::sigcontext, r10)},
                                                          {11, offsetof(kernel::sigcontext, r11)},
                                                          {12, offsetof(kernel::sigcontext, r12)},
                                                          {13, offsetof(kernel::sigcontext, r13)},
                                                          {14, offsetof(kernel::sigcontext, r14)},
                                                          {15, offsetof(kernel::sigcontext, r15)},
                                                          {5, offsetof(kernel::sigcontext, rdi)},
                                                          {4, offsetof(kernel::sigcontext, rsi)},
                                                          {6, offsetof(kernel::sigcontext, rbp)},
                                                          {3, offsetof(kernel::sigcontext, rbx)},
                                                          {1, offsetof(kernel::sigcontext, rdx)},
                                                          {0, offsetof(kernel::sigcontext, rax)},
                                                          {2, offsetof(kernel::sigcontext, rcx)},
                                                          {7, offsetof(kernel::sigcontext, rsp)}}};
constexpr std::size_t kSigcontextPc = offsetof(kernel::sigcontext, rip);

TEST_F(UnwindStep, SigcontextOrderIsTheKernels) {
  for (unsigned i = 0; i < kSigcontext.size(); i++) {
    EXPECT_EQ(kSigcontext[i].offset, i * 8u) << i;
    EXPECT_EQ(USC_SIGCONTEXT_REG(i), kSigcontext[i].dwarf) << i;
  }
  EXPECT_EQ(kSigcontextPc, USC_SIGCONTEXT_REGS * 8u);
  // What user space sees of it: ucontext_t's gregs are the same words.
  EXPECT_EQ(offsetof(ucontext_t, uc_mcontext.gregs), 40u);
  EXPECT_EQ(REG_R8, 0);
  EXPECT_EQ(REG_RDI, 8);
  EXPECT_EQ(REG_RBP, 10);
  EXPECT_EQ(REG_RSP, 15);
  EXPECT_EQ(REG_RIP, 16);
}

usc_rule signal_rule() {
  usc_rule rule{};
  rule.cfa_kind = USC_CFA_SIGNAL;
  rule.cfa_off = offsetof(ucontext_t, uc_mcontext.gregs);  // __restore_rt runs with rsp at the ucontext
  return rule;
}

TEST_F(UnwindStep, SignalFrameRestoresEverything) {
  const __u64 context = kStack + offsetof(ucontext_t, uc_mcontext.gregs);
  const __u64 interrupted = kStack - 0x100000;  // the handler ran on an alternate stack above: no progress asked
  for (const ContextRegister& reg : kSigcontext) memory_.words[context + reg.offset] = 0x5e9000 + reg.dwarf;
  memory_.words[context + offsetof(kernel::sigcontext, rsp)] = interrupted;
  memory_.words[context + kSigcontextPc] = kCaller;
  frame_.known = USC_KNOWN(kRsp);
  frame_.exact = 0;
  EXPECT_EQ(step_shared(signal_rule()), USC_STEP_CALLER);
  EXPECT_EQ(frame_.pc, kCaller);
  EXPECT_EQ(frame_.exact, 1u);
  EXPECT_EQ(frame_.known, USC_KNOWN_ALL);
  for (unsigned i = 0; i < 16; i++) EXPECT_EQ(frame_.regs[i], i == 7 ? interrupted : 0x5e9000 + i) << i;
}

TEST_F(UnwindStep, SignalFrameWithAHoleLeavesTheFrame) {
  const __u64 context = kStack + offsetof(ucontext_t, uc_mcontext.gregs);
  std::map<std::uint64_t, std::uint64_t> whole;
  for (unsigned i = 0; i <= USC_SIGCONTEXT_REGS; i++) whole[context + i * 8] = 0x77;
  for (unsigned missing = 0; missing <= USC_SIGCONTEXT_REGS; missing++) {
    memory_.words = whole;
    memory_.words.erase(context + missing * 8);
    expect_broken_shared(signal_rule(), USC_BROKEN_NOFAULT);
  }
}

// Whoever calls a null pointer is interrupted at 0.
TEST_F(UnwindStep, ASignalFrameMayLeadToNoCode) {
  const __u64 context = kStack + 40;
  for (unsigned i = 0; i < USC_SIGCONTEXT_REGS; i++) memory_.words[context + i * 8] = 0x77;
  memory_.words[context + kSigcontextPc] = 0;
  usc_frame frame = frame_at(kStack);
  const usc_rule rule = signal_rule();
  EXPECT_EQ(usc_step_shared(&frame, &rule, &memory_), USC_STEP_CALLER);
  EXPECT_EQ(frame.pc, 0);
  EXPECT_EQ(frame.exact, 1);
}

// The eight bytes before an address: these, behind instructions of one byte.
__u64 code_of(std::initializer_list<unsigned> bytes) {
  __u64 code = 0x9090909090909090;
  for (const unsigned byte : bytes) code = code >> 8 | static_cast<__u64>(byte) << 56;
  return code;
}

TEST_F(UnwindStep, ABadCallIsKnownByItsReturnAddress) {
  const std::vector<__u64> calls = {
      code_of({0xff, 0xd0}),                                // *%rax
      code_of({0x41, 0xff, 0xd4}),                          // *%r12
      code_of({0xff, 0x13}),                                // *(%rbx)
      code_of({0xff, 0x53, 0x08}),                          // *8(%rbx)
      code_of({0xff, 0x54, 0x24, 0x08}),                    // *8(%rsp)
      code_of({0xff, 0x14, 0xc8}),                          // *(%rax,%rcx,8)
      code_of({0xff, 0x93, 0x00, 0x01, 0x00, 0x00}),        // *0x100(%rbx)
      code_of({0xff, 0x94, 0x24, 0x00, 0x01, 0x00, 0x00}),  // *0x100(%rsp)
      code_of({0xff, 0x15, 0x34, 0x12, 0x00, 0x00}),        // *0x1234(%rip)
      code_of({0xe8, 0x2f, 0x12, 0x00, 0x00}),              // 0x1234
  };
  const std::vector<__u64> others = {
      code_of({}),
      0,
      ~__u64{0},
      code_of({0xff, 0xe0}),                          // jmp *%rax
      code_of({0xff, 0x63, 0x08}),                    // jmp *8(%rbx)
      code_of({0xff, 0x25, 0x34, 0x12, 0x00, 0x00}),  // jmp *0x1234(%rip)
      code_of({0xe9, 0x2f, 0x12, 0x00, 0x00}),        // jmp 0x1234
      code_of({0xff, 0x73, 0x08}),                    // push 8(%rbx)
      code_of({0xff, 0xd0, 0x90}),                    // a call, and another instruction
      code_of({0xe8, 0x2f, 0x12, 0x00, 0x00, 0x90}),
      code_of({0xff, 0x53}),  // inside a call
  };
  memory_.words = {{kStack, kCaller}};
  usc_frame frame = frame_at(kStack);
  frame.pc = 0;
  for (const __u64 code : calls) {
    usc_frame tried = frame;
    EXPECT_EQ(usc_step_bad_call(&tried, code, &memory_), USC_STEP_CALLER) << std::hex << code;
    EXPECT_EQ(tried.pc, kCaller);
    EXPECT_EQ(tried.regs[kRsp], kStack + 8);
    EXPECT_EQ(tried.regs[kRbp], frame.regs[kRbp]);
    EXPECT_EQ(tried.exact, 0);
  }
  for (const __u64 code : others) {
    usc_frame tried = frame;
    EXPECT_EQ(usc_step_bad_call(&tried, code, &memory_), USC_STEP_BROKEN(USC_BROKEN_NO_MAPPING)) << std::hex << code;
    expect_unchanged(tried, frame);
  }
}

// Hostile registers and rules of any bits: a step either fails and changes nothing, or comes to a caller; it reads a
// bounded number of words, and the stack pointer moves down only by a rule that may lead to any stack, as that of a
// signal frame does.
TEST_F(UnwindStep, RandomRulesAndRegistersAreSafe) {
  std::mt19937_64 random(20260101);
  memory_.unwritten = [&random](std::uint64_t address, std::uint64_t& word) {
    if (address < kStack - 128 || address >= kStack + 256) return false;
    word = random() % 4 ? random() : 0;
    return true;
  };
  int callers = 0;
  for (int round = 0; round < 20000; round++) {
    usc_rule rule{};
    std::array<unsigned char, sizeof rule> bytes{};
    for (unsigned char& byte : bytes) byte = static_cast<unsigned char>(random());
    std::memcpy(&rule, bytes.data(), sizeof rule);
    rule.cfa_kind &= 7;
    rule.ra_kind &= 3;
    rule.other_stack &= 1;
    rule.exact_ra &= 1;
    if (round % 2) rule.cfa_off = static_cast<__s32>(random() % 64) - 8;
    rule.cfa_reg = round % 3 ? static_cast<__u8>(kRsp) : rule.cfa_reg;
    if (round % 5) rule.ra_off = -8;
    tables_.rules = {rule};
    frame_ = frame_at(kStack, static_cast<__u32>(random()) & USC_KNOWN_ALL);
    memory_.words.clear();
    memory_.reads = 0;
    const usc_frame before = frame_;
    const __u32 number = round % 7 == 0 ? static_cast<__u32>(random()) & ~7u : 0;
    const __u32 named = number | (round % 11 == 0 ? static_cast<__u32>(random() & 7) : USC_RULE_SHARED);
    const bool to_any_stack =
        USC_RULE_KIND(named) == USC_RULE_SHARED && (rule.other_stack || rule.cfa_kind == USC_CFA_SIGNAL);
    const int result = step(named);
    EXPECT_LE(memory_.reads, 17);
    if (result != USC_STEP_CALLER) {
      EXPECT_TRUE(result == USC_STEP_ROOT || (result <= -1 && result >= USC_STEP_BROKEN(USC_BROKEN_COUNT - 1)))
          << result;
      expect_unchanged(frame_, before);
    } else {
      callers++;
      const bool by_signal = USC_RULE_KIND(named) == USC_RULE_SHARED && rule.cfa_kind == USC_CFA_SIGNAL;
      EXPECT_TRUE(frame_.pc != 0 || by_signal);
      if (!to_any_stack) {
        EXPECT_GE(frame_.regs[kRsp], before.regs[kRsp]);
      }
    }
    if (HasFailure()) break;
  }
  EXPECT_GT(callers, 1000);
}

}  // namespace
}  // namespace uscope::include
