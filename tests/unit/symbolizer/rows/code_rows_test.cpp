// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Frames that are proven by code, against what the compiler says in .eh_frame, of the same functions: they are treated
// as if no FDE covered them.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "symbolizer/cfi/cfi_sections.h"
#include "symbolizer/code/frame_proof.h"
#include "symbolizer/rows/code_rows.h"
#include "symbolizer/rows/row_builder.h"
#include "tests/support/system_files.h"
#include "tests/unit/symbolizer/rows/assembled_rows.h"
#include "tests/unit/symbolizer/rows_test_support.h"

namespace uscope::symbolizer {
namespace {

// In bytes of code that FDEs cover.
struct ProofCounts {
  std::uint64_t agree = 0;
  std::uint64_t no_row = 0;
  std::uint64_t disagree = 0;
  std::uint64_t incomparable = 0;
  std::uint64_t fde_is_wrong = 0;      // as its code shows
  std::vector<std::string> places;     // that disagree
  std::vector<std::string> explained;  // where the FDE is wrong

  [[nodiscard]] std::string first() const { return places.empty() ? "" : places.front(); }
};

// Which starts the proof is given.
enum class Starts { kSymbols, kNames, kLabels };

std::string register_difference(const FrameState& proven, const CfiState& cfi) {
  for (std::uint32_t i = 0; i < USC_SAVED_REGS; i++) {
    const FrameState::Saved& saved = proven.saved.at(i);
    const RegisterRule& rule = cfi.registers.at(USC_SAVED_REG(i));
    const bool is_kept = rule.where == Where::kUnset || rule.where == Where::kSame;
    // An expression may say anything.
    if (rule.where == Where::kAtExpression || rule.where == Where::kExpression) continue;
    const auto at = [&] { return fmt::format("register {}", USC_SAVED_REG(i)); };
    if (rule.where == Where::kAtCfa && saved.slot != 0 && saved.slot != -rule.value) return at() + " is elsewhere";
    if (is_kept && !saved.kept && saved.slot != 0) return at() + " is kept";
    if (!is_kept && rule.where != Where::kAtCfa && saved.slot != 0) return at() + " has another rule";
  }
  return "";
}

// Whether both find the CFA by the same register: rax or r10, expressions, and another one of rsp and rbp cannot be
// compared.
bool is_comparable(const FrameState& proven, const CfiState& cfi) {
  if (proven.is_root) return false;
  if (cfi.cfa != CfiState::Cfa::kRegister || cfi.registers.at(kReturnAddress).where != Where::kAtCfa) return false;
  if (cfi.cfa_register == USC_REG_SP) return proven.stack.has_value();
  return cfi.cfa_register == USC_REG_FP && proven.frame.has_value();
}

std::string proof_difference(const FrameState& proven, const CfiState& cfi) {
  if (cfi.registers.at(kReturnAddress).value != -8) return "the return address is elsewhere";
  const auto distance = cfi.cfa_register == USC_REG_SP ? proven.stack : proven.frame;
  if (distance != cfi.cfa_offset) return "the CFA is elsewhere";
  return register_difference(proven, cfi);
}

class ProofComparison {
 public:
  ProofComparison(const CodeRows& proven, const ElfFacts& facts, const TextReader& text)
      : proven_(proven), facts_(facts), text_(text) {}

  void compare(CfiSection& section, const Fde& fde) {
    if (!offset_of_address(facts_.exec_segments, fde.address)) return;
    std::vector<std::pair<std::uint64_t, CfiState>> rows;
    if (!section.run(fde, [&](std::uint64_t address, const CfiState& state) { rows.emplace_back(address, state); }))
      return;
    for (std::size_t i = 0; i < rows.size(); i++)
      stretch(rows[i].first, i + 1 < rows.size() ? rows[i + 1].first : fde.address + fde.size, rows[i].second,
              i + 1 < rows.size() ? &rows[i + 1].second : nullptr,
              rows.size() == 1 && rows[0].second.cfa_register == USC_REG_SP && rows[0].second.cfa_offset == 8);
  }

  ProofCounts counts;

 private:
  void stretch(std::uint64_t low, std::uint64_t high, const CfiState& state, const CfiState* next, bool is_only) {
    const auto start = offset_of_address(facts_.exec_segments, low);
    if (!start || high <= low) return;
    std::uint64_t at = *start;
    const std::uint64_t end = at + (high - low);
    auto row = std::upper_bound(proven_.rows.begin(), proven_.rows.end(), at,
                                [](std::uint64_t place, const CodeRow& each) { return place < each.range.end; });
    for (; row != proven_.rows.end() && row->range.start < end; ++row) {
      if (row->range.start > at) counts.no_row += row->range.start - at;
      at = std::max(at, row->range.start);
      const std::uint64_t to = std::min(end, row->range.end);
      const bool comparable = is_comparable(row->state, state);
      const std::string why = comparable ? proof_difference(row->state, state) : "";
      if (!comparable)
        counts.incomparable += to - at;
      else if (why.empty())
        counts.agree += to - at;
      else
        note({at, to}, row->state, is_only, to == end ? next : nullptr, low + (at - *start), why);
      at = to;
    }
    if (at < end) counts.no_row += end - at;
  }

  void note(const OffsetRange& where, const FrameState& proven, bool is_only, const CfiState* next,
            std::uint64_t address, const std::string& why) {
    const std::string fault = fault_of_fde(where, proven, is_only, next);
    (fault.empty() ? counts.disagree : counts.fde_is_wrong) += where.end - where.start;
    (fault.empty() ? counts.places : counts.explained).push_back(fmt::format("at {:x}: {}{}", address, why, fault));
  }

  // What the code says against the FDE; "" if nothing does.
  std::string fault_of_fde(const OffsetRange& where, const FrameState& proven, bool is_only, const CfiState* next) {
    if (is_only) return ", and the FDE has no row of its own, though rsp is moved";
    const auto code = text_.bytes_at(where.start, where.end - where.start);
    bool stays = next != nullptr && is_comparable(proven, *next) && proof_difference(proven, *next).empty();
    for (std::uint64_t at = 0; at < code.size();) {
      const auto one = InstructionDecoder().decode(code.subspan(at), at);
      if (!one) return "";
      const FrameStep step = frame_step(*one);
      if (at == 0 && step.kind == FrameStep::Kind::kReturn && proven.stack == 8) return ", and a `ret` stands there";
      stays = stays && (step.kind == FrameStep::Kind::kOther || step.kind == FrameStep::Kind::kBranch);
      at = one->next();
    }
    return stays ? ", and the FDE says so behind it, though nothing changes" : "";
  }

  const CodeRows& proven_;
  const ElfFacts& facts_;
  TextReader text_;
};

// All places in the middle of functions where jumps lead.
void add_labels(CfiSection& section, const ElfFacts& facts, TextReader& text, std::vector<std::uint64_t>& labels) {
  const InstructionDecoder decoder;
  for (const Fde& fde : section.fdes()) {
    const auto offset = offset_of_address(facts.exec_segments, fde.address);
    if (!offset || fde.size > TextReader::kWindow) continue;
    const auto bytes = text.bytes_at(*offset, fde.size);
    for (std::size_t at = 0; at < bytes.size();) {
      const auto one = decoder.decode(bytes.subspan(at), fde.address + at);
      if (!one) break;
      const auto target = direct_target(*one);
      if (target && one->category() != ZYDIS_CATEGORY_CALL && *target > fde.address && *target < fde.address + fde.size)
        labels.push_back(*target);
      at += one->decoded.length;
    }
  }
}

std::optional<ProofCounts> compare_with_cfi(const std::string& path, Starts starts) {
  const UniqueFd fd = open_to_read(path);
  const auto facts = read_elf_facts(fd.get(), path);
  const auto elf = open_elf(fd.get(), path);
  if (!facts || !elf) return std::nullopt;
  const auto sources = read_cfi_sources(elf->get(), *facts, path);
  if (!sources) return std::nullopt;
  std::vector<OffsetRange> all;
  for (const Segment& segment : facts->exec_segments) all.push_back({segment.offset, segment.offset + segment.size});
  KnownStarts known;
  known.symbols = starts == Starts::kSymbols;
  TextReader text(fd.get());
  for (const CfiSource& source : *sources) {
    CfiSection section(source);
    if (starts == Starts::kLabels) add_labels(section, *facts, text, known.named);
  }
  const CodeRows proven = prove_rows(elf->get(), *facts, all, text, known);
  ProofComparison comparison(proven, *facts, text);
  for (const CfiSource& source : *sources) {
    CfiSection section(source);
    for (const Fde& fde : section.fdes()) comparison.compare(section, fde);
  }
  return comparison.counts;
}

class ProvenFile : public testing::TestWithParam<const char*> {};

// What compilers say, and glibc's and OpenSSL's assembly.
TEST_P(ProvenFile, FramesAreThoseOfItsCallFrameInformation) {
  const auto counts = compare_with_cfi(GetParam(), Starts::kSymbols);
  ASSERT_TRUE(counts) << GetParam() << " is not installed";
  EXPECT_EQ(counts->disagree, 0u) << counts->first();
  EXPECT_GT(counts->agree * 4, counts->no_row);
}

// The same, found by addresses alone.
TEST_P(ProvenFile, FramesOfNamedFunctionsAreThoseOfItsCallFrameInformation) {
  const auto counts = compare_with_cfi(GetParam(), Starts::kNames);
  ASSERT_TRUE(counts) << GetParam() << " is not installed";
  EXPECT_EQ(counts->disagree, 0u) << counts->first();
  EXPECT_GT(counts->agree, 10'000u);
}

// Addresses in the middle of functions are not taken for starts of some.
TEST_P(ProvenFile, LabelsGiveNoOtherFrames) {
  const auto counts = compare_with_cfi(GetParam(), Starts::kLabels);
  ASSERT_TRUE(counts) << GetParam() << " is not installed";
  EXPECT_EQ(counts->disagree, 0u) << counts->first();
}
INSTANTIATE_TEST_SUITE_P(CodeRows, ProvenFile,
                         testing::Values("/usr/lib/x86_64-linux-gnu/libcrypto.so.3",
                                         "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
                                         "/usr/lib/x86_64-linux-gnu/libpcre2-8.so.0", "/usr/bin/bash"));

// By hand, of many files: USCOPE_PROOF_FILES names a file with a path on each line.
TEST(ProvenFiles, OfAListAgree) {
  const char* list = std::getenv("USCOPE_PROOF_FILES");
  if (list == nullptr) GTEST_SKIP() << "USCOPE_PROOF_FILES is not set";
  std::ifstream in(list);
  for (std::string path; std::getline(in, path);) {
    for (const auto& [starts, name] :
         {std::pair(Starts::kSymbols, "symbols"), {Starts::kNames, "names"}, {Starts::kLabels, "labels"}}) {
      const auto counts = compare_with_cfi(path, starts);
      if (!counts) continue;
      fmt::print("{} by {}: {} agree, {} no row, {} disagree, {} incomparable, FDE wrong: {}\n", path, name,
                 counts->agree, counts->no_row, counts->disagree, counts->incomparable, counts->fde_is_wrong);
      for (const std::string& place : counts->places) fmt::print("  {}\n", place);
      for (const std::string& place : counts->explained) fmt::print("  {}\n", place);
      EXPECT_EQ(counts->disagree, 0u) << path << ": " << counts->first();
    }
  }
}

using CodeRowsTest = AssembledRows;

TEST_F(CodeRowsTest, PushesPopsAndRoomOnTheStack) {
  build(sized_function("f",
                       "a1: push %rbx\na2: push %rbp\na3: sub $40,%rsp\na4: mov %edi,%ebp\na5: add $40,%rsp\n"
                       "a6: pop %rbp\na7: pop %rbx\na8: ret") +
        sized_function(
            "g",
            "b1: sub $24,%rsp\nb2: mov %rbp,8(%rsp)\nb3: xor %ebp,%ebp\nmov 8(%rsp),%rbp\nb4: lea 24(%rsp),%rsp\n"
            "b5: ret"));
  EXPECT_EQ(table_.stats.proven_functions, 2u);
  EXPECT_EQ(at("a1"), "rsp+8");
  EXPECT_EQ(at("a2"), "rsp+16");
  EXPECT_EQ(at("a3"), "rsp+24 rbp-24");
  EXPECT_EQ(at("a4"), "rsp+64 rbp-24");
  EXPECT_EQ(at("a6"), "rsp+24 rbp-24");
  EXPECT_EQ(at("a7"), "rsp+16");
  EXPECT_EQ(at("a8"), "rsp+8");
  EXPECT_EQ(at("b2"), "rsp+32");
  EXPECT_EQ(at("b3"), "rsp+32 rbp-24");
  EXPECT_EQ(at("b5"), "rsp+8");
}

TEST_F(CodeRowsTest, AFramePointerIsUsedWhereTheStackPointerIsUnknown) {
  build(sized_function("f",
                       "push %rbp\nmov %rsp,%rbp\npush %rbx\na1: sub %rdi,%rsp\na2: and $-32,%rsp\na3: nop\n"
                       "lea -8(%rbp),%rsp\na4: pop %rbx\na5: leave\na6: ret"));
  EXPECT_EQ(at("a1"), "rsp+24 rbp-16");
  EXPECT_EQ(at("a2"), "rbp+16 rbp-16");
  EXPECT_EQ(at("a3"), "rbp+16 rbp-16");
  EXPECT_EQ(at("a4"), "rsp+24 rbp-16");
  EXPECT_EQ(at("a6"), "rsp+8");
}

TEST_F(CodeRowsTest, NothingIsSaidWhereTheStackPointerIsSetInAnotherWay) {
  build(sized_function("f", "a1: sub %rdi,%rsp\na2: nop\nadd %rdi,%rsp\nret") +
        sized_function("g", "b1: xchg %rsp,%rax\nb2: nop\nxchg %rsp,%rax\nret") +
        sized_function("h", "push %rbp\nmov %rsp,%rbp\nc1: mov %rdi,%rsp\nc2: xor %ebp,%ebp\nc3: nop\nhlt") +
        sized_function("i", "d1: mov %esp,%ebp\nd2: leave\nd3: ret"));
  EXPECT_EQ(at("a1"), "rsp+8");
  EXPECT_EQ(at("a2"), "-");
  EXPECT_EQ(at("b1"), "rsp+8");
  EXPECT_EQ(at("b2"), "-");
  EXPECT_EQ(at("c2"), "rbp+16 rbp-16");
  EXPECT_EQ(at("c3"), "-");
  EXPECT_EQ(at("d2"), "rsp+8 rbp lost");
  EXPECT_EQ(at("d3"), "-");
}

TEST_F(CodeRowsTest, PathsThatDisagreeSayNothing) {
  build(sized_function("f", "test %edi,%edi\nje 1f\npush %rax\na1: nop\n1:\na2: nop\nhlt") +
        sized_function("g", "test %edi,%edi\nje 2f\npush %rbp\nb1: xor %ebp,%ebp\npop %rbp\n2:\nb2: ret"));
  EXPECT_EQ(at("a1"), "rsp+16");
  EXPECT_EQ(at("a2"), "-");
  EXPECT_EQ(at("b1"), "rsp+16 rbp-16");
  EXPECT_EQ(at("b2"), "rsp+8");
}

TEST_F(CodeRowsTest, EarlyReturnsAndTailCalls) {
  build(sized_function("f", "test %edi,%edi\nje 1f\npush %rbx\na1: call g\npop %rbx\na2: jmp g\n1:\na3: ret") +
        sized_function("g", "b1: ret") +
        sized_function("h", "test %edi,%edi\nje 3f\nc1: push %rax\nc2: jmp i\n3: ret") +
        sized_function("i", "d1: pop %rax\nret"));
  EXPECT_EQ(at("a1"), "rsp+16");
  EXPECT_EQ(at("a2"), "rsp+8");
  EXPECT_EQ(at("a3"), "rsp+8");
  EXPECT_EQ(at("b1"), "rsp+8");
  EXPECT_EQ(at("c2"), "rsp+16");
  EXPECT_EQ(at("d1"), "-") << "entered with a frame of another function";
}

// What stands behind a call that never returns has another frame.
TEST_F(CodeRowsTest, CallsThatNeverReturn) {
  build(sized_function("f", "test %edi,%edi\nje 1f\nsub $24,%rsp\na1: call die\n1:\na2: nop\nret") +
        sized_function("die", "push %rax\nb1: call stop\n") +
        sized_function("stop", "c1: mov $60,%eax\nsyscall\njmp c1"));
  EXPECT_EQ(at("a1"), "rsp+32");
  EXPECT_EQ(at("a2"), "rsp+8");
  EXPECT_EQ(at("b1"), "rsp+16");
  EXPECT_EQ(at("c1"), "rsp+8");
}

TEST_F(CodeRowsTest, JumpTables) {
  const std::string table = ".section .rodata\n.balign 4\nt: .long c1 - t, c2 - t, c3 - t\n.text\n";
  build(table +
        sized_function("f",
                       "push %rbx\nlea t(%rip),%rdx\ncmp $2,%edi\nja 9f\nmov %edi,%edi\nmovslq (%rdx,%rdi,4),%rax\n"
                       "add %rdx,%rax\njmp *%rax\nc1: pop %rbx\nret\nc2: nop\nc3: nop\n9: pop %rbx\nret") +
        sized_function("g", "push %rbx\nd1: jmp *(%rdi)\nd2: nop\npop %rbx\nret"));
  EXPECT_EQ(at("c1"), "rsp+16");
  EXPECT_EQ(at("c2"), "rsp+16");
  EXPECT_EQ(at("c3"), "rsp+16");
  EXPECT_EQ(at("d1"), "-") << "neither returns, as far as can be seen, nor is it called";
  EXPECT_EQ(at("d2"), "-");
}

// As musl's vfork, clone and setjmp.
TEST_F(CodeRowsTest, FunctionsThatTakeTheirReturnAddress) {
  build(sized_function("vfork1", "a1: pop %rdx\nmov $58,%eax\nsyscall\na2: push %rdx\nret") +
        sized_function("clone1",
                       "mov $56,%eax\nb1: syscall\nb2: test %eax,%eax\nb3: jnz 1f\npop %rdi\ncall *%r9\nhlt\n1: ret") +
        sized_function("thunk1", "c1: call 1f\n1:\nc2: pop %rax\nc3: ret") +
        sized_function("push1", "push %rdi\nd1: ret"));
  EXPECT_EQ(at("a1"), "-");
  EXPECT_EQ(at("a2"), "-");
  EXPECT_EQ(at("b1"), "rsp+8");
  EXPECT_EQ(at("b2"), "-") << "the child's stack is another one";
  EXPECT_EQ(at("b3"), "-");
  EXPECT_EQ(at("c2"), "rsp+16");
  EXPECT_EQ(at("c3"), "rsp+8");
  EXPECT_EQ(at("d1"), "-");
}

// The child of clone is on a stack of its own, and never returns.
TEST_F(CodeRowsTest, TheOutermostFunctionOfAThread) {
  const std::string clone = "mov $56,%eax\nsyscall\ntest %eax,%eax\njnz 1f\nxor %ebp,%ebp\npop %rdi\n";
  build(sized_function("clone1", clone + "a1: call *%r9\na2: mov %eax,%edi\nmov $60,%eax\nsyscall\nhlt\n1: ret") +
        sized_function("clone2", clone + "b1: call *%r9\nb2: jmp *%rax\n1: ret") +
        sized_function("clone3", clone + "c1: call *%r9\nret\n1: ret"));
  EXPECT_EQ(at("a1"), "root");
  EXPECT_EQ(at("b1"), "-");
  EXPECT_EQ(at("c1"), "-");
}

// GHC's code has functions that are entered by jumps.
TEST_F(CodeRowsTest, CodeThatOnlyJumpsIsNoFunctionUnlessItIsCalled) {
  build(sized_function("f", "a1: add $8,%rbx\njmp *(%rbx)") + sized_function("g", "b1: call h\nret") +
        sized_function("h", "c1: jmp *(%rbx)") + sized_function("i.cold", "d1: ret"));
  EXPECT_EQ(at("a1"), "-");
  EXPECT_EQ(at("c1"), "rsp+8");
  EXPECT_EQ(at("d1"), "-");
}

// `a`, without a symbol, ends with a call that does not return, though what it calls has a `ret`.
TEST_F(CodeRowsTest, AFunctionWhoseEndIsAGuessEndsBehindACall) {
  build(sized_function("f", "push %rbx\ncall a\npop %rbx\nret") +
        sized_function("g", "test %edi,%edi\nje 1f\nhlt\n1: ret") +
        ".balign 16\n.type a1,@object\n.type b1,@object\na: sub $24,%rsp\na1: call g\n.balign 16\nb: push "
        "%rbx\nb1: pop %rbx\nret\n");
  EXPECT_EQ(at("a1"), "rsp+32");
  EXPECT_EQ(at("b1"), "-");
}

// As musl's write and __libc_start_main.
TEST_F(CodeRowsTest, FunctionsThatOnlyEndWithTailCalls) {
  build(sized_function("f", "sub $16,%rsp\na1: call *%rdi\na2: add $16,%rsp\na3: jmp g") +
        sized_function("g", "nop\nret") +
        sized_function("h", "push %r13\ncall g\nb1: lea g(%rip),%rax\npop %r13\nb2: jmp *%rax") +
        sized_function("i", "sub $16,%rsp\nc1: call *%rdi\nc2: add $16,%rsp\njmp *(%rbx)"));
  EXPECT_EQ(at("a1"), "rsp+24");
  EXPECT_EQ(at("a2"), "rsp+24");
  EXPECT_EQ(at("a3"), "rsp+8");
  EXPECT_EQ(at("b1"), "rsp+16");
  EXPECT_EQ(at("b2"), "rsp+8");
  EXPECT_EQ(at("c1"), "-") << "it may be GHC's";
}

TEST_F(CodeRowsTest, CalledFunctionsNeedNoSymbol) {
  build(sized_function("f", "push %rbx\ncall 1f\npop %rbx\nret") +
        ".balign 16\n.type a1,@object\n.type b2,@object\n1: push %rbx\na1: call *%rdi\na2: pop %rbx\nret\n.balign "
        "16\npush %rax\nb2: ret\n");
  EXPECT_EQ(at("a1"), "rsp+16");
  EXPECT_EQ(at("b2"), "-") << "nothing is known to lead there";
}

// The rows of code are those that the compiler would have written.
TEST_F(CodeRowsTest, FdesWin) {
  build(sized_function("f", ".cfi_startproc\npush %rax\na1: nop\npop %rax\nret\n.cfi_endproc"));
  EXPECT_EQ(at("a1"), "rsp+8") << "the FDE does not know the push";
  EXPECT_EQ(table_.stats.proven_functions, 0u);
}

// Behind a call of a function that pops its arguments, makes room, or saves registers for its caller, rsp is elsewhere:
// rbp tells the frame, or nothing does. So it is of what ends with a jump to one, but not of a caller that puts rsp
// right.
TEST_F(CodeRowsTest, FunctionsThatReturnElsewhere) {
  const std::string helpers = sized_function("pops", "xor %eax,%eax\nret $16") +
                              sized_function("grows", "mov (%rsp),%rcx\nlea -56(%rsp),%rsp\njmp *%rcx") +
                              sized_function("saves", "pop %rax\npush %rbx\npush %r12\njmp *%rax") +
                              sized_function("jumps", "jmp pops");
  std::string callers;
  for (const char* helper : {"pops", "grows", "saves", "jumps"})
    callers += sized_function(fmt::format("frame_{}", helper),
                              fmt::format("push %rbp\nmov %rsp,%rbp\npush %rbx\nsub $24,%rsp\n{0}_1: call {0}\n"
                                          "{0}_2: mov -8(%rbp),%rbx\nleave\n{0}_3: ret",
                                          helper)) +
               sized_function(fmt::format("plain_{}", helper),
                              fmt::format("push %rbx\n{0}_4: call {0}\n{0}_5: nop\npop %rbx\nret", helper));
  build(helpers + callers +
        sized_function("right", "push %rbp\nmov %rsp,%rbp\ncall grows\nright_1: lea (%rbp),%rsp\npop %rbp\nret") +
        sized_function("calls_right", "push %rbx\ncall right\nright_2: pop %rbx\nret"));
  for (const std::string helper : {"pops", "grows", "saves", "jumps"}) {
    EXPECT_EQ(at(helper + "_1"), "rsp+48 rbp-16") << helper;
    EXPECT_EQ(at(helper + "_2"), "rbp+16 rbp-16") << helper;
    EXPECT_EQ(at(helper + "_3"), "rsp+8") << helper;
    EXPECT_EQ(at(helper + "_4"), "rsp+16") << helper;
    EXPECT_EQ(at(helper + "_5"), "-") << helper;
  }
  EXPECT_EQ(at("right_1"), "rbp+16 rbp-16");
  EXPECT_EQ(at("right_2"), "rsp+16");
}

}  // namespace
}  // namespace uscope::symbolizer
