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
#include "tests/support/temporary_folder.h"
#include "tests/unit/symbolizer/rows_test_support.h"

namespace uscope::symbolizer {
namespace {

// In bytes of code that FDEs cover.
struct ProofCounts {
  std::uint64_t agree = 0;
  std::uint64_t no_row = 0;
  std::uint64_t disagree = 0;
  std::uint64_t incomparable = 0;
  std::string first;  // that disagrees
};

std::string register_difference(const FrameState& proven, const CfiState& cfi) {
  for (std::uint32_t i = 0; i < USC_SAVED_REGS; i++) {
    const FrameState::Saved& saved = proven.saved.at(i);
    const RegisterRule& rule = cfi.registers.at(USC_SAVED_REG(i));
    const bool is_kept = rule.where == Where::kUnset || rule.where == Where::kSame;
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
  if (cfi.cfa != CfiState::Cfa::kRegister || cfi.registers.at(kReturnAddress).where != Where::kAtCfa) return false;
  if (cfi.cfa_register == USC_REG_RSP) return proven.stack.has_value();
  return cfi.cfa_register == USC_REG_RBP && proven.frame.has_value();
}

std::string proof_difference(const FrameState& proven, const CfiState& cfi) {
  if (cfi.registers.at(kReturnAddress).value != -8) return "the return address is elsewhere";
  const auto distance = cfi.cfa_register == USC_REG_RSP ? proven.stack : proven.frame;
  if (distance != cfi.cfa_offset) return "the CFA is elsewhere";
  return register_difference(proven, cfi);
}

class ProofComparison {
 public:
  ProofComparison(const CodeRows& proven, const ElfFacts& facts) : proven_(proven), facts_(facts) {}

  void compare(CfiSection& section, const Fde& fde) {
    if (!offset_of_address(facts_.exec_segments, fde.address)) return;
    std::uint64_t from = fde.address;
    CfiState held;
    bool first = true;
    const bool sound = section.run(fde, [&](std::uint64_t address, const CfiState& state) {
      if (!first) stretch(from, address, held);
      first = false;
      from = address;
      held = state;
    });
    if (sound && !first) stretch(from, fde.address + fde.size, held);
  }

  ProofCounts counts;

 private:
  void stretch(std::uint64_t low, std::uint64_t high, const CfiState& state) {
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
      (!comparable ? counts.incomparable : why.empty() ? counts.agree : counts.disagree) += to - at;
      if (!why.empty() && counts.first.empty()) counts.first = fmt::format("at {:x}: {}", low + (at - *start), why);
      at = to;
    }
    if (at < end) counts.no_row += end - at;
  }

  const CodeRows& proven_;
  const ElfFacts& facts_;
};

std::optional<ProofCounts> compare_with_cfi(const std::string& path) {
  const UniqueFd fd = open_to_read(path);
  const auto facts = read_elf_facts(fd.get(), path);
  const auto elf = open_elf(fd.get(), path);
  if (!facts || !elf) return std::nullopt;
  const auto sources = read_cfi_sources(elf->get(), *facts, path);
  if (!sources) return std::nullopt;
  std::vector<OffsetRange> all;
  for (const Segment& segment : facts->exec_segments) all.push_back({segment.offset, segment.offset + segment.size});
  const CodeRows proven = prove_rows(elf->get(), *facts, all, TextReader(fd.get()));
  ProofComparison comparison(proven, *facts);
  for (const CfiSource& source : *sources) {
    CfiSection section(source);
    for (const Fde& fde : section.fdes()) comparison.compare(section, fde);
  }
  return comparison.counts;
}

class ProvenFile : public testing::TestWithParam<const char*> {};

// What compilers say, and glibc's and OpenSSL's assembly.
TEST_P(ProvenFile, FramesAreThoseOfItsCallFrameInformation) {
  const auto counts = compare_with_cfi(GetParam());
  ASSERT_TRUE(counts) << GetParam() << " is not installed";
  EXPECT_EQ(counts->disagree, 0u) << counts->first;
  EXPECT_GT(counts->agree * 4, counts->no_row);
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
    const auto counts = compare_with_cfi(path);
    if (!counts) continue;
    fmt::print("{}: {} agree, {} no row, {} disagree, {} incomparable {}\n", path, counts->agree, counts->no_row,
               counts->disagree, counts->incomparable, counts->first);
    EXPECT_EQ(counts->disagree, 0u) << path << ": " << counts->first;
  }
}

class CodeRowsTest : public testing::Test {
 protected:
  // A library of functions in assembly.
  void build(const std::string& source) {
    path_ = folder_.file("out");
    std::ofstream(folder_.file("in.S")) << source << ".balign 64\n";
    ASSERT_EQ(std::system(("gcc -shared -nostdlib -o " + path_ + " " + folder_.file("in.S")).c_str()), 0);
    const UniqueFd fd = open_to_read(path_);
    auto table = build_rows(fd.get(), path_);
    ASSERT_TRUE(table) << table.error().what;
    const auto sound = check_rows(*table);
    EXPECT_TRUE(sound) << sound.error().what;
    table_ = std::move(*table);
  }

  // The rule at a label, as text: "rsp+16 rbp-16", "-": none.
  std::string at(const std::string& label) {
    const UniqueFd fd = open_to_read(path_);
    const auto facts = read_elf_facts(fd.get(), path_);
    const std::string list = folder_.file("names");
    EXPECT_EQ(std::system(("nm " + path_ + " > " + list).c_str()), 0);
    std::ifstream in(list);
    std::string address;
    std::string type;
    for (std::string name; in >> address >> type >> name;) {
      if (name != label) continue;
      const auto offset = offset_of_address(facts->exec_segments, std::stoull(address, nullptr, 16));
      const usc_file_rows place = place_of(table_);
      return text_of(usc_row_find(&table_, &place, offset.value_or(0)));
    }
    return "no such label";
  }

  std::string text_of(std::uint32_t rule) {
    switch (USC_RULE_KIND(rule)) {
      case USC_RULE_NONE:
        return "-";
      case USC_RULE_ROOT:
        return "root";
      case USC_RULE_SHARED: {
        const usc_rule& shared = table_.rules.at(USC_RULE_NUMBER(rule));
        const bool lost = shared.save_kind[1] == USC_SAVE_UNKNOWN;
        return fmt::format("{}+{} rbp {}", shared.cfa_reg == USC_REG_RSP ? "rsp" : "rbp", shared.cfa_off,
                           lost ? "lost" : "known");
      }
      default: {
        const char* base = USC_RULE_KIND(rule) == USC_RULE_RSP ? "rsp" : "rbp";
        const std::uint32_t saved = USC_RULE_RBP_WORDS(rule);
        return fmt::format("{}+{}{}", base, 8 * USC_RULE_CFA_WORDS(rule),
                           saved == 0 ? "" : fmt::format(" rbp-{}", 8 * saved));
      }
    }
  }

  test::TemporaryFolder folder_;
  std::string path_;
  UnwindTable table_;
};

// A function between labels, with a size.
std::string sized_function(const std::string& name, const std::string& body) {
  return ".balign 16\n.type " + name + ",@function\n" + name + ":\n" + body + "\n.size " + name + ", . - " + name +
         "\n";
}

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
  EXPECT_EQ(at("b3"), "-") << "the child's stack is another one";
  EXPECT_EQ(at("c2"), "rsp+16");
  EXPECT_EQ(at("c3"), "rsp+8");
  EXPECT_EQ(at("d1"), "-");
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

}  // namespace
}  // namespace uscope::symbolizer
