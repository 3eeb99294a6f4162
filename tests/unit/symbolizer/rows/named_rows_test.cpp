// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Functions of which only an address is known (the rule is in code_rows.cpp), and labels that look like some.
#include <gtest/gtest.h>

#include "tests/unit/symbolizer/rows/assembled_rows.h"

namespace uscope::symbolizer {
namespace {

using NamedRows = AssembledRows;

// Labels that no symbol table takes for starts of functions.
std::string hidden(const std::string& labels) {
  std::string text;
  for (const char label : labels)
    for (const char* number : {"", "1", "2", "3"}) text += std::string(".type ") + label + number + ",@object\n";
  return text;
}

std::string words_of_data(const std::string& words) {
  return ".section .data.rel.ro,\"aw\"\n.balign 8\nt: .quad " + words + "\n.text\n";
}

// Files with little code in question have none of these functions.
const std::string kMuchCode = ".skip 2048,0xcc\n";

const std::string kStart = ".globl _start\n_start: ud2\n";

// As the functions of musl's FILEs.
TEST_F(NamedRows, FunctionsOfATable) {
  build(hidden("ab") + words_of_data("a, b") +
        ".balign 16\na: push %rbx\na1: call *%rdi\na2: call *%rsi\na3: pop %rbx\nret\n"
        "b: sub $24,%rsp\nb1: call *%rdi\nb2: add $24,%rsp\njmp *(%rbx)\n" +
        kMuchCode);
  EXPECT_EQ(at("a1"), "rsp+16");
  EXPECT_EQ(at("a2"), "rsp+16") << "behind a call that may not return, confirmed by the end";
  EXPECT_EQ(at("a3"), "rsp+16");
  EXPECT_EQ(at("b1"), "-") << "nothing shows that it is a function";
}

// As what calls main() in musl, and the handlers of its exit.
TEST_F(NamedRows, FunctionsWhoseAddressTheCodeTakes) {
  build(hidden("abc") + sized_function("f", "lea a(%rip),%rax\njmp *%rax\n") +
        sized_function("die", "1: mov $60,%eax\nsyscall\njmp 1b") +
        ".balign 16\na: push %r13\npush %rbx\nsub $8,%rsp\na1: call *%rdi\na2: lea b(%rip),%rdi\ncall *%rsi\na3: call "
        "die\n"
        "b: push %rbx\nb1: call c\nb2: pop %rbx\nret\nc: push %rbp\nc1: pop %rbp\nret\n" +
        kMuchCode);
  EXPECT_EQ(at("a1"), "rsp+32");
  EXPECT_EQ(at("a2"), "rsp+32");
  EXPECT_EQ(at("a3"), "rsp+32");
  EXPECT_EQ(at("b1"), "rsp+16") << "named by a named function";
  EXPECT_EQ(at("c1"), "rsp+16 rbp-16") << "called by a named function";
}

TEST_F(NamedRows, FunctionsThatAreOnlyJumpedTo) {
  build(hidden("a") + sized_function("f", "mov $1,%esi\njmp a") +
        ".balign 16\na: push %rbx\na1: call *%rdi\na2: pop %rbx\nret\n" + kMuchCode);
  EXPECT_EQ(at("a1"), "rsp+16");
  EXPECT_EQ(at("a2"), "rsp+16");
}

// At a fixed address, constants and words of data are addresses too.
TEST_F(NamedRows, OfAProgramAtAFixedAddress) {
  build(hidden("abc") + kStart + sized_function("f", "movq $a,(%rdi)\nret") +
            ".section .rodata\n.balign 8\n.quad 1, b, 2\n.text\n.balign 16\n"
            "a: push %rbx\na1: call *%rdi\npop %rbx\nret\nb: push %rbx\nb1: call *%rdi\npop %rbx\nret\n"
            "c: push %rbx\nc1: call *%rdi\npop %rbx\nret\n" +
            kMuchCode,
        "-static -no-pie");
  EXPECT_EQ(at("a1"), "rsp+16");
  EXPECT_EQ(at("b1"), "rsp+16");
  EXPECT_EQ(at("c1"), "-") << "nothing names it";
}

// Labels whose address is taken (computed goto), in a function that is known, and in one that is not.
TEST_F(NamedRows, LabelsAreNoFunctions) {
  const std::string body = "push %rbx\nsub $16,%rsp\njmp *(%rdi)\n";
  build(hidden("abcd") + words_of_data("a, b, c, d") +
        sized_function("f", body + "a: nop\na1: nop\nb: add $16,%rsp\nb1: pop %rbx\nret") + ".balign 16\n" + body +
        "c: call *%rsi\nc1: jmp *8(%rdi)\nd: add $16,%rsp\nd1: pop %rbx\nret\n" + kMuchCode);
  for (const char* label : {"a", "a1", "b", "b1", "c", "c1", "d", "d1"}) EXPECT_EQ(at(label), "-") << label;
}

// One that has the frame of a function's start does not spoil the function around it.
TEST_F(NamedRows, LabelsTakeNothingFromTheirFunction) {
  build(hidden("ab") + words_of_data("a, b") +
        sized_function("f", "test %edi,%edi\nje a\npush %rbx\nf1: call *%rsi\nf2: pop %rbx\na: nop\na1: ret") +
        sized_function(
            "g", "push %rbp\nmov %rsp,%rbp\npush %rbx\ng1: call *%rsi\nb: nop\ng2: mov -8(%rbp),%rbx\nleave\nret") +
        kMuchCode);
  EXPECT_EQ(at("f1"), "rsp+16");
  EXPECT_EQ(at("f2"), "rsp+16");
  EXPECT_EQ(at("a1"), "rsp+8");
  EXPECT_EQ(at("g1"), "rsp+24 rbp-16");
  EXPECT_EQ(at("b"), "rsp+24 rbp-16");
  EXPECT_EQ(at("g2"), "rsp+24 rbp-16");
}

// A label of a block that ends the program: the stack is aligned there, as it is at no function's start.
TEST_F(NamedRows, BlocksThatNeverReturn) {
  build(hidden("abc") + words_of_data("a, b") + sized_function("die", "1: mov $60,%eax\nsyscall\njmp 1b") +
        ".balign 16\npush %rbx\njmp *(%rdi)\na: call *%rsi\na1: call die\n"
        "b: sub $8,%rsp\npush %rbx\nb1: call *%rsi\nb2: call die\n" +
        kMuchCode);
  EXPECT_EQ(at("a"), "-");
  EXPECT_EQ(at("a1"), "-");
  EXPECT_EQ(at("b1"), "-");
}

// A table of bytes among the code; the function behind it is as before.
TEST_F(NamedRows, DataAmongTheCode) {
  build(hidden("ab") + sized_function("f", "lea a(%rip),%rax\nmovzbl (%rax,%rdi),%eax\nret") +
        ".balign 16\na: .byte 0x53,0x53,0x06,0x07,0xea\n.byte 0xe9\n.long g1 - . - 4\n" +
        sized_function("g", "push %rbx\ng1: call *%rdi\ng2: pop %rbx\nret") + kMuchCode);
  EXPECT_EQ(at("a"), "-");
  EXPECT_EQ(at("g1"), "rsp+16");
  EXPECT_EQ(at("g2"), "rsp+16");
}

// A part of another function stands behind a call of which nothing says that it returns, in one that never leaves.
TEST_F(NamedRows, APartOfAnotherFunctionBehindACall) {
  const std::string die = sized_function("die", "1: mov $60,%eax\nsyscall\njmp 1b");
  const std::string body = "push %rbx\na1: call *%rdi\na2: call other@PLT\np: mov $1,%edi\np1: call die\n";
  build(hidden("abp") + words_of_data("a") + die + ".balign 16\na: " + body + kMuchCode);
  EXPECT_EQ(at("a1"), "rsp+16");
  EXPECT_EQ(at("a2"), "rsp+16") << "whoever calls by a pointer does not know that the call does not return";
  EXPECT_EQ(at("p1"), "-");
  build(hidden("abp") + words_of_data("a, b") + die + ".balign 16\na: " + body + kMuchCode +
        "b: push %rbx\ncall other@PLT\npop %rbx\nret\n");
  EXPECT_EQ(at("p1"), "rsp+16") << "other() is seen to return to b()";
}

// Another function begins directly behind a call that does not return.
TEST_F(NamedRows, PathsDoNotGoOnInAnotherFunction) {
  build(hidden("ab") + words_of_data("a") +
        ".balign 16\na: push %rbx\ntest %edi,%edi\nje 1f\na1: call *%rdi\na2: pop %rbx\nret\n1: call *%rsi\n"
        "b: push %rbp\nb1: call *%rdi\nb2: pop %rbp\nret\n" +
        kMuchCode);
  EXPECT_EQ(at("a1"), "rsp+16");
  EXPECT_EQ(at("a2"), "rsp+16");
  EXPECT_EQ(at("b"), "-");
  EXPECT_EQ(at("b1"), "-");
  EXPECT_EQ(at("b2"), "-");
}

}  // namespace
}  // namespace uscope::symbolizer
