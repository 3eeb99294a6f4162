// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Damaged call frame information: what is said of the first entry that is refused. That sound programs give the right
// rows is tested against libdw in tests/unit/symbolizer/rows.
#include "symbolizer/cfi/cfi_program.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "symbolizer/rows/row_builder.h"

namespace uscope::symbolizer {
namespace {

using Numbers = std::vector<std::uint8_t>;

void put_word(Numbers& out, std::uint32_t word) {
  for (unsigned i = 0; i < 4; i++) out.push_back(static_cast<std::uint8_t>(word >> i * 8));
}

void put_entry(Numbers& out, std::uint32_t id, Numbers content) {
  while (content.size() % 4 != 0) content.push_back(0);  // DW_CFA_nop
  put_word(out, static_cast<std::uint32_t>(content.size() + 4));
  put_word(out, id);
  out.insert(out.end(), content.begin(), content.end());
}

// A CIE with this augmentation and these instructions, which begin at offset 17 if the augmentation is "zR"; and an FDE
// for 16 bytes of code.
struct Frames {
  std::string augmentation = "zR";
  Numbers cie_program;
  Numbers fde_program;

  [[nodiscard]] CfiSource source() const {
    Numbers cie = {1};
    cie.insert(cie.end(), augmentation.begin(), augmentation.end());
    for (const std::uint8_t byte : {0, 1, 0x78, 16, 1, 0}) cie.push_back(byte);  // absolute addresses
    cie.insert(cie.end(), cie_program.begin(), cie_program.end());
    CfiSource made;
    put_entry(made.bytes, 0, cie);
    const auto fde_at = static_cast<std::uint32_t>(made.bytes.size());
    Numbers fde(17, 0);
    fde[1] = 0x10;  // address 0x1000
    fde[8] = 16;
    fde.insert(fde.end(), fde_program.begin(), fde_program.end());
    put_entry(made.bytes, fde_at + 4, fde);
    put_word(made.bytes, 0);
    return made;
  }
};

// Runs all programs; returns what is said of the first that is refused, and how many were.
std::string refusal_of(const Frames& frames, std::uint64_t refused) {
  const CfiSource source = frames.source();
  CfiSection section(source);
  std::uint64_t malformed = 0;
  for (const Fde& fde : section.fdes()) malformed += section.run(fde, [](std::uint64_t, const CfiState&) {}) ? 0 : 1;
  EXPECT_EQ(section.refused() + malformed, refused);
  return section.first_refusal();
}

TEST(CfiProgram, SoundFramesAreNotRefused) {
  EXPECT_EQ(refusal_of({"zR", {0x0c, 7, 8}, {0x41, 0x0e, 16}}, 0), "");
}

TEST(CfiProgram, ARefusalNamesTheOffsetAndWhatWasExpected) {
  // The FDE begins at 20, its instructions at 20 + 8 + 17.
  const Numbers cfa = {0x0c, 7, 8};
  EXPECT_EQ(refusal_of({"zR", cfa, {0x41, 0x3f}}, 1),
            "section .eh_frame: at offset 46: expected a call frame instruction that is known");
  EXPECT_EQ(refusal_of({"zR", cfa, {0x0b}}, 1), "section .eh_frame: at offset 45: expected a remembered state");
  EXPECT_EQ(refusal_of({"zR", cfa, {0x0e, 0x80, 0x80}}, 1),
            "section .eh_frame: at offset 46: expected a LEB128 number of at most 10 bytes");
  EXPECT_EQ(refusal_of({"zR", cfa, {0x0f, 0x7f, 0x77}}, 1),
            "section .eh_frame: at offset 47: expected as many bytes as the length before says");
  EXPECT_EQ(refusal_of({"zR", {}, {0x0e, 16}}, 1),
            "section .eh_frame: at offset 45: expected a CFA that is a register plus an offset already");
}

TEST(CfiProgram, ARefusedCieRefusesItsFdes) {
  EXPECT_EQ(refusal_of({"zQ", {}, {}}, 1),
            "section .eh_frame: at offset 16: expected an augmentation of the letters z, R, L, P and S");
  EXPECT_EQ(refusal_of({"zR", {0x3f}, {}}, 1),
            "section .eh_frame: at offset 17: expected a call frame instruction that is known");
  EXPECT_EQ(refusal_of({"zR", {0x41, 0x0c, 7, 8}, {}}, 1),
            "section .eh_frame: at offset 0: expected a CIE whose instructions stay at one address");
}

TEST(CfiProgram, DamageOfATableNamesTheFirstRefusal) {
  UnwindTable table;
  table.stats.fdes_refused = 2;
  EXPECT_EQ(damage_of(table, "x"), "x: its call frame information is damaged: 2 entries refused, none understood");
  const std::string first = "section .eh_frame: at offset 16: expected a number";
  std::copy(first.begin(), first.end(), table.stats.first_refusal.begin());
  EXPECT_EQ(damage_of(table, "x"),
            "x: its call frame information is damaged: 2 entries refused, none understood; the first: " + first);
  table.stats.first_refusal.fill('a');  // as no reader of ours would write it
  EXPECT_EQ(damage_of(table, "x").size(), std::string("x: its call frame information is damaged: ").size() +
                                              std::string("2 entries refused, none understood; the first: ").size() +
                                              table.stats.first_refusal.size());
  table.stats.fdes = 1;
  EXPECT_EQ(damage_of(table, "x"), "");
}

}  // namespace
}  // namespace uscope::symbolizer
