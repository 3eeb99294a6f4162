// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What may be probed in programs that are compiled here: code among data, and compilers' code against objdump.
#include <fmt/core.h>
#include <gtest/gtest.h>

#include "symbolizer/probes/file_probes.h"
#include "tests/support/paths.h"
#include "tests/support/system_files.h"
#include "tests/unit/symbolizer/symbols_test_support.h"

namespace uscope::symbolizer {
namespace {

// Constants in the code, as hand-written assembly has them.
constexpr char kAssembly[] = R"(
    .text
    .globl untyped_table, typed, untyped_with_frames, literal, behind_return, alias, in_the_middle, marked, never
untyped_table:
    .quad 0xc3c3c3c3c3c3c3c3, 0x5a827999c3c3c3c3
    .size untyped_table, .-untyped_table
    .type typed, @function
typed:
    lea untyped_table(%rip), %rax
    mov (%rax), %rax
    .type alias, @function
alias:
    .byte 0xb8
    .type in_the_middle, @function
in_the_middle:
    .byte 0x90, 0x90, 0xc3, 0x90
    ret
    .size typed, .-typed
    .size alias, .-alias
    .size in_the_middle, 4
    .type marked, @function
marked:
    endbr64
    push %rbx
    pop %rbx
    ret
    .size marked, .-marked
untyped_with_frames:
    .cfi_startproc
    xor %eax, %eax
    ret
    .cfi_endproc
    .type literal, @function
literal:
    .cfi_startproc
    mov 1f(%rip), %rax
    jmp 2f
1:  .byte 0x90, 0x90, 0xc3
4:  .byte 0x90, 0x90, 0x90, 0x90, 0x90
2:  ret
    .cfi_endproc
    .size literal, .-literal
    .type behind_return, @function
behind_return:
    test %edi, %edi
    jne 1f
    ret
    .quad 0xc3c3c3c3c3c3c3c3
1:  ret
    .size behind_return, .-behind_return
    .type dies, @function
dies:
    call abort@plt
    .size dies, .-dies
    .type never, @function
never:
    test %edi, %edi
    jne 1f
    call dies
2:  .quad 0xc3c3c3c3c3c3c3c3
1:  ret
    .size never, .-never
    .type pops, @function
pops:
    call 1f
    .byte 0xb8, 1, 2, 3, 4, 0xc3, 0x90, 0x90
1:  pop %rsi
    mov (%rsi), %rax
    ret
    .size pops, .-pops
    .type flags, @function
flags:
    pushfq
    pop %rax
    ret
    .size flags, .-flags
    .type copies, @function
copies:
    rep movsb
    ret
    .size copies, .-copies
    .type asks, @function
asks:
    syscall
    ret
    .size asks, .-asks
    .type probed, @function
probed:
3:  nop
    ret
    .size probed, .-probed
    .macro note address, name
    .pushsection .note.stapsdt, "", @note
    .balign 4
    .4byte 8, 32, 3
    .asciz "stapsdt"
    .8byte \address, 0, 0
    .asciz "p"
    .asciz "\name"
    .byte 0
    .balign 4
    .popsection
    .endm
    note 3b, yes_
    note untyped_table+3, tab_
    note 4b, lit_
    note 3b+1, ret_
    .section .note.GNU-stack, "", @progbits
)";

constexpr char kMain[] = "int main(void) { return 0; }\n";

constexpr char kLarge[] = "long values[4] = {7, 8, 9, 10};\nlong *where(void) { return values; }\n";

constexpr char kSwitches[] = R"(
#include <unistd.h>
extern "C" {
int one(int), two(int), three(int), four(int), five(int);
__attribute__((noinline)) int by_table(int what, int with) {
  switch (what) {
    case 0: return one(with) + 1;
    case 1: return two(with) + 2;
    case 2: return three(with) * 3;
    case 3: return four(with) - 4;
    case 4: return five(with) / 5;
    case 5: return with + getpid();
    default: return -1;
  }
}
__attribute__((noinline)) int exhaustive(unsigned char what, int with) {
  switch (what & 7) {
    case 0: return one(with) + 1;
    case 1: return two(with) + 2;
    case 2: return three(with) * 3;
    case 3: return four(with) - 4;
    case 4: return five(with) / 5;
    case 5: return with + getpid();
    case 6: return with + getuid();
    case 7: return with - getuid();
    default: __builtin_unreachable();
  }
}
__attribute__((noinline)) int catches(int what) {
  try {
    return one(what) + 1;
  } catch (int number) {
    return number + two(what);
  } catch (...) {
    if (three(what)) throw;
    return 7;
  }
}
__attribute__((noinline)) int threaded(const unsigned char* code) {
  static void* const places[] = {&&add, &&take, &&twice, &&end};
  int sum = 0;
  goto *places[*code++];
add: sum += one(sum); goto *places[*code++];
take: sum -= two(sum); goto *places[*code++];
twice: sum *= three(2); goto *places[*code++];
end: return sum;
}
__attribute__((noinline)) int cold(int what) {
  if (__builtin_expect(what == 77, 0)) { four(what); five(what); return one(what) + two(what); }
  return what + getpid();
}
}
int main() { return 0; }
extern "C" {
int one(int a) { if (a == 99) throw 5; return a + getpid(); }
int two(int a) { return a + getpid(); }
int three(int a) { return a + getpid(); }
int four(int a) { return a + getpid(); }
int five(int a) { return a + getpid(); }
}
)";

class ProbeProofTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    (void)folder_->write("assembly.s", kAssembly);
    (void)folder_->write("main.c", kMain);
    (void)folder_->write("large.c", kLarge);
    (void)folder_->write("switches.cpp", kSwitches);
    run("gcc -o assembly main.c assembly.s");
    run("gcc -O1 -fno-pic -mcmodel=large -c large.c && gcc -shared -Wl,-z,notext -o liblarge.so large.o");
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }
  static void run(const std::string& command) {
    output_of("sh -c 'cd " + folder_->file(".") + " && " + command + " 2>&1'");
  }

  std::unique_ptr<ProbedFile> open_file(const std::string& name) {
    path_ = folder_->file(name);
    fd_.reset(open(path_.c_str(), O_RDONLY | O_CLOEXEC));
    auto file = ProbedFile::open(fd_.get(), path_);
    EXPECT_TRUE(file) << (file ? "" : file.error().what);
    return file ? std::move(*file) : nullptr;
  }
  // "returns at +2 +9", or why not.
  static std::string said(const FoundProbe& probe) {
    if (!probe.why_not.empty()) return probe.why_not + (probe.can_be_forced ? " (can be forced)" : "");
    std::string text = "yes";
    for (const std::uint64_t place : probe.returns) text += " +" + std::to_string(place - probe.places.at(0));
    return text;
  }
  static std::string function(ProbedFile& file, const std::string& name, bool with_returns = false) {
    const auto found = file.functions({"", name, ""}, false, with_returns);
    return found.size() == 1 ? said(found[0]) : std::to_string(found.size()) + " found";
  }

  static inline TemporaryFolder* folder_ = nullptr;
  std::string path_;
  UniqueFd fd_;
};

TEST_F(ProbeProofTest, AFunctionIsWhatTheFileProvesToBeOne) {
  const auto file = open_file("assembly");
  EXPECT_EQ(function(*file, "typed"), "yes");
  EXPECT_EQ(function(*file, "marked", true), "yes +2");  // on the push
  EXPECT_EQ(function(*file, "untyped_with_frames", true), "yes +2");
  EXPECT_EQ(function(*file, "alias"), "yes");
  EXPECT_EQ(
      function(*file, "untyped_table"),
      "nothing proves that it is code: its symbol has no type (NOTYPE), and no call frame information begins there "
      "(can be forced)");
  EXPECT_EQ(function(*file, "in_the_middle"),
            "another function, in which it lies, has an instruction that begins before it and ends behind it (can be "
            "forced)");
}

TEST_F(ProbeProofTest, ConstantsInTheCodeAreNoReturns) {
  const auto file = open_file("assembly");
  EXPECT_EQ(function(*file, "literal"), "yes");
  EXPECT_EQ(function(*file, "literal", true),
            "its returns cannot be found: its code refers to bytes of its own as data (can be forced)");
  EXPECT_EQ(function(*file, "behind_return", true),
            "its returns cannot be found: no path through its code reaches all of its bytes: some may be data (can be "
            "forced)");
  // A call of `dies` never returns, so that nothing says that code stands behind it.
  EXPECT_EQ(function(*file, "never", true), function(*file, "behind_return", true));
}

TEST_F(ProbeProofTest, BytesBehindACallOfTheFunctionsOwnCodeMayBeData) {
  const auto file = open_file("assembly");
  EXPECT_EQ(function(*file, "pops"), "yes");
  EXPECT_EQ(
      function(*file, "pops", true),
      "its returns cannot be found: it calls code of its own, which may take the bytes behind the call for data (can "
      "be forced)");
}

TEST_F(ProbeProofTest, InstructionsThatDoSomethingElseUnderAProbeAreRefused) {
  const auto file = open_file("assembly");
  EXPECT_EQ(function(*file, "flags"),
            "it pushes the processor's flags, and a probe would change one of them (the trap flag) (can be forced)");
  EXPECT_EQ(function(*file, "copies"), "it repeats itself, and each of its rounds would be a hit (can be forced)");
  EXPECT_EQ(function(*file, "asks"),
            "it leaves its own address in a register, and a probe would change that (can be forced)");
}

TEST_F(ProbeProofTest, UsdtProbesStandOnNopsThatAreReached) {
  const auto file = open_file("assembly");
  const auto usdt = [&](const std::string& name) {
    const auto found = file->usdt_probes({"p", name, ""}, true);
    return found.size() == 1 ? said(found[0]) : std::to_string(found.size()) + " found";
  };
  EXPECT_EQ(usdt("yes_"), "yes");
  EXPECT_EQ(usdt("tab_"), "no nop stands there, which such probes need (can be forced)");
  EXPECT_EQ(usdt("lit_"), "no path through its function reaches it (can be forced)");
  EXPECT_EQ(usdt("ret_"), "no nop stands there, which such probes need (can be forced)");
}

TEST_F(ProbeProofTest, CodeThatTheLoaderChangesIsNotProbed) {
  const auto file = open_file("liblarge.so");
  const std::string changed =
      "the loader changes its code (text relocation), so the file does not have what is executed (can be forced)";
  EXPECT_EQ(function(*file, "where"), changed);
  EXPECT_EQ(function(*file, "where", true), changed);
}

// All returns that objdump lists are reached, and no others.
TEST_F(ProbeProofTest, CompilersCodeIsReachedAsObjdumpListsIt) {
  int number = 0;
  for (const std::string compiler : {"g++", "clang++"})
    for (const std::string options : {"-O2 -fPIC -pie", "-O2 -fno-pic -no-pie", "-O0", "-Os -fcf-protection=full"}) {
      const std::string name = "switches" + std::to_string(number++);
      run(fmt::format("{} -w {} -o {} switches.cpp", compiler, options, name));
      const auto file = open_file(name);
      const auto facts = read_elf_facts(fd_.get(), path_);
      ASSERT_TRUE(facts);
      for (const std::string function : {"by_table", "exhaustive", "catches", "threaded", "cold", "main"}) {
        const auto probes = file->functions({"", function, ""}, false, true);
        ASSERT_EQ(probes.size(), 1U) << function;
        EXPECT_EQ(probes[0].why_not, "") << compiler << " " << options << " " << function;
        std::vector<std::uint64_t> listed;
        for (const std::string& part : {function, function + ".cold"})
          for (const std::string& line :
               lines_of("objdump -d --no-show-raw-insn --disassemble=" + part + " '" + path_ + "'"))
            if (line.find("\tret") != std::string::npos)
              listed.push_back(*offset_of_address(facts->exec_segments, hex(line)));
        std::sort(listed.begin(), listed.end());
        EXPECT_EQ(probes[0].returns, listed) << compiler << " " << options << " " << function;
      }
    }
}

}  // namespace
}  // namespace uscope::symbolizer
