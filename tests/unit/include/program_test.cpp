// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "uscope/program.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <initializer_list>
#include <random>
#include <utility>

#include "tests/support/program_maker.h"
#include "uscope/control.h"

namespace uscope::include {
namespace {

using test::compare;
using test::end;
using test::program_of;

usc_program_error program_error_of(const usc_program& program, __u32* where = nullptr) {
  __u32 at = 0;
  const usc_program_error error = usc_program_check(&program, &at);
  if (where != nullptr) *where = at;
  return error;
}

bool admits(const usc_program& program, std::initializer_list<std::pair<usc_field, std::uint64_t>> fields) {
  usc_program_input input{};
  for (const auto& [field, value] : fields) input.field[field] = value;
  EXPECT_EQ(program_error_of(program), USC_PROGRAM_SOUND);
  return usc_program_admits(&program, &input) != 0;
}

// Whether the comparison holds, as a program that ends there says.
bool holds(usc_op op, std::uint64_t field, std::uint64_t value, int bits = 64) {
  return admits(program_of({compare(op, USC_FIELD_ARG2, value, 0, 1, bits), end(USC_OP_ADMIT), end(USC_OP_REFUSE)}),
                {{USC_FIELD_ARG2, field}});
}

TEST(Program, OfAllZeroesIsNone) {
  const usc_config config{};
  EXPECT_EQ(program_error_of(config.program), USC_PROGRAM_SOUND);
  EXPECT_EQ(config.program.length, 0U);
}

TEST(Program, Compares) {
  EXPECT_TRUE(holds(USC_OP_EQUAL, 7, 7));
  EXPECT_FALSE(holds(USC_OP_EQUAL, 7, 8));
  EXPECT_TRUE(holds(USC_OP_BELOW, 7, ~0ULL));
  EXPECT_FALSE(holds(USC_OP_BELOW, 7, 7));
  EXPECT_TRUE(holds(USC_OP_ABOVE, ~0ULL, 7));
  EXPECT_FALSE(holds(USC_OP_ABOVE, 7, 7));
  EXPECT_TRUE(holds(USC_OP_LESS, ~0ULL, 7));
  EXPECT_FALSE(holds(USC_OP_LESS, 7, ~0ULL));
  EXPECT_TRUE(holds(USC_OP_GREATER, 7, ~0ULL));
  EXPECT_FALSE(holds(USC_OP_GREATER, ~0ULL, 7));
  EXPECT_TRUE(holds(USC_OP_ANY_BIT, 6, 3));
  EXPECT_FALSE(holds(USC_OP_ANY_BIT, 4, 3));
}

// The upper half of an int's register may hold anything.
TEST(Program, ComparesTheLowerHalfWhereItIsToldTo) {
  constexpr std::uint64_t kMinus100 = 0x12345678ffffff9c;
  EXPECT_TRUE(holds(USC_OP_EQUAL, kMinus100, 0xffffff9c, 32));
  EXPECT_FALSE(holds(USC_OP_EQUAL, kMinus100, 0xffffff9c));
  EXPECT_TRUE(holds(USC_OP_LESS, kMinus100, 0, 32));
  EXPECT_FALSE(holds(USC_OP_LESS, kMinus100, 0));
  EXPECT_TRUE(holds(USC_OP_LESS, kMinus100, 0xffffff9d, 32));
  EXPECT_TRUE(holds(USC_OP_GREATER, 1, 0xffffffff, 32));
  EXPECT_FALSE(holds(USC_OP_BELOW, kMinus100, 5, 32));
  EXPECT_FALSE(holds(USC_OP_ABOVE, 0x100000005, 5, 32));
  EXPECT_FALSE(holds(USC_OP_ANY_BIT, 0x100000000, 0xffffffff, 32));
}

TEST(Program, JoinsComparisonsByAnd) {
  const usc_program both =
      program_of({compare(USC_OP_EQUAL, USC_FIELD_KIND, 257, 0, 2), compare(USC_OP_EQUAL, USC_FIELD_PID, 10, 0, 1),
                  end(USC_OP_ADMIT), end(USC_OP_REFUSE)});
  EXPECT_TRUE(admits(both, {{USC_FIELD_KIND, 257}, {USC_FIELD_PID, 10}}));
  EXPECT_FALSE(admits(both, {{USC_FIELD_KIND, 257}, {USC_FIELD_PID, 11}}));
  EXPECT_FALSE(admits(both, {{USC_FIELD_KIND, 0}, {USC_FIELD_PID, 10}}));
}

TEST(Program, JoinsComparisonsByOr) {
  const usc_program either =
      program_of({compare(USC_OP_EQUAL, USC_FIELD_ABI, USC_ABI_I386, 1, 0),
                  compare(USC_OP_ABOVE, USC_FIELD_ARG5, 4096, 0, 1), end(USC_OP_ADMIT), end(USC_OP_REFUSE)});
  EXPECT_TRUE(admits(either, {{USC_FIELD_ABI, USC_ABI_I386}}));
  EXPECT_TRUE(admits(either, {{USC_FIELD_ARG5, 4097}}));
  EXPECT_FALSE(admits(either, {{USC_FIELD_ARG5, 4096}, {USC_FIELD_TID, 1}}));
}

TEST(Program, RunsToItsLastInstruction) {
  usc_program longest = program_of({});
  for (std::uint64_t i = 0; i + 2 < USC_PROGRAM_MOST; i++)
    longest.insn[longest.length++] =
        compare(USC_OP_EQUAL, USC_FIELD_ARG0, i, static_cast<int>(USC_PROGRAM_MOST - 2 - i), 0);
  longest.insn[longest.length++] = end(USC_OP_REFUSE);
  longest.insn[longest.length++] = end(USC_OP_ADMIT);
  ASSERT_EQ(longest.length, static_cast<__u32>(USC_PROGRAM_MOST));
  EXPECT_TRUE(admits(longest, {{USC_FIELD_ARG0, 0}}));
  EXPECT_TRUE(admits(longest, {{USC_FIELD_ARG0, USC_PROGRAM_MOST - 3}}));
  EXPECT_FALSE(admits(longest, {{USC_FIELD_ARG0, USC_PROGRAM_MOST - 2}}));
}

TEST(Program, OfAnUnknownVersionIsRefused) {
  usc_program program = program_of({end(USC_OP_ADMIT)});
  program.version = USC_PROGRAM_VERSION + 1;
  EXPECT_EQ(program_error_of(program), USC_PROGRAM_UNKNOWN);
  program.version = 0;
  EXPECT_EQ(program_error_of(program), USC_PROGRAM_UNKNOWN);
}

TEST(Program, ThatCannotRunIsRefused) {
  usc_program program = program_of({});
  EXPECT_EQ(program_error_of(program), USC_PROGRAM_EMPTY);
  program.length = USC_PROGRAM_MOST + 1;
  EXPECT_EQ(program_error_of(program), USC_PROGRAM_LENGTH);
  const auto refused = [](const usc_insn& insn) {
    __u32 at = 0;
    const usc_program_error error = program_error_of(
        program_of({compare(USC_OP_EQUAL, USC_FIELD_PID, 1, 0, 0), insn, end(USC_OP_REFUSE), end(USC_OP_ADMIT)}), &at);
    EXPECT_EQ(at, error == USC_PROGRAM_SOUND ? 4U : 1U);
    return error;
  };
  const auto with = [](auto change) {
    usc_insn insn = compare(USC_OP_EQUAL, USC_FIELD_ARG0, 1, 1, 1);
    change(insn);
    return insn;
  };
  EXPECT_EQ(refused(with([](usc_insn&) {})), USC_PROGRAM_SOUND);
  EXPECT_EQ(refused(with([](usc_insn& insn) { insn.op = 0; })), USC_PROGRAM_OP);
  EXPECT_EQ(refused(with([](usc_insn& insn) { insn.op = USC_OP_COUNT; })), USC_PROGRAM_OP);
  EXPECT_EQ(refused(with([](usc_insn& insn) { insn.field = USC_FIELD_COUNT; })), USC_PROGRAM_FIELD);
  EXPECT_EQ(refused(with([](usc_insn& insn) { insn.on_true = 2; })), USC_PROGRAM_END);
  EXPECT_EQ(refused(with([](usc_insn& insn) { insn.on_false = 255; })), USC_PROGRAM_END);
  EXPECT_EQ(refused(with([](usc_insn& insn) { insn.bits = 0; })), USC_PROGRAM_BITS);
  EXPECT_EQ(refused(with([](usc_insn& insn) { insn.pad[2] = 1; })), USC_PROGRAM_RESERVED);
  EXPECT_EQ(refused(compare(USC_OP_EQUAL, USC_FIELD_ARG0, 1ULL << 32, 0, 0, 32)), USC_PROGRAM_BITS);
  usc_insn ends = end(USC_OP_ADMIT);
  ends.value = 1;
  EXPECT_EQ(refused(ends), USC_PROGRAM_RESERVED);
  EXPECT_EQ(program_error_of(program_of({compare(USC_OP_EQUAL, USC_FIELD_PID, 1, 0, 0)})), USC_PROGRAM_END);
}

// Whatever passes the check ends at ADMIT or REFUSE of its own; whatever does not ends, too.
TEST(Program, EndsWhateverItHolds) {
  std::minstd_rand random(7);
  int sound = 0;
  for (int round = 0; round < 20000; round++) {
    usc_program program = program_of({});
    program.length = 1 + static_cast<__u32>(random() % 4);
    for (__u32 i = 0; i < USC_PROGRAM_MOST; i++) {
      program.insn[i] = random() % 2
                            ? end(random() % 2 ? USC_OP_ADMIT : USC_OP_REFUSE)
                            : compare(static_cast<int>(random() % 10), static_cast<int>(random() % 17), random(),
                                      static_cast<int>(random() % 3), static_cast<int>(random() % 3));
      if (round % 8 == 0) program.insn[i].on_true = static_cast<__u8>(random());
    }
    usc_program cut = program;
    for (__u32 i = program.length; i < USC_PROGRAM_MOST; i++) cut.insn[i] = end(USC_OP_ADMIT);
    usc_program_input input{};
    for (__u64& field : input.field) field = random();
    const int answer = usc_program_admits(&program, &input);
    if (program_error_of(program) != USC_PROGRAM_SOUND) continue;
    sound++;
    EXPECT_EQ(usc_program_admits(&cut, &input), answer);  // nothing behind its length is looked at
  }
  EXPECT_GT(sound, 2000);
}

}  // namespace
}  // namespace uscope::include
