// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Rows and names of Go programs as they are built (tests/fixtures/go_*.go), against their own .debug_frame, objdump
// and nm.
#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <regex>

#include "symbolizer/cfi/cfi_program.h"
#include "symbolizer/cfi/cfi_sections.h"
#include "symbolizer/elf/elf_facts.h"
#include "symbolizer/go/go_sections.h"
#include "symbolizer/go/go_unwind.h"
#include "tests/support/paths.h"
#include "tests/unit/symbolizer/rows_test_support.h"
#include "tests/unit/symbolizer/symbols_test_support.h"

namespace uscope::symbolizer {
namespace {

std::string fixture(const std::string& name) {
  return std::string(paths::kFixtureFolder) + "/fixture_" + name;
}

struct Program {
  explicit Program(const std::string& name) : path(fixture(name)), fd(open_to_read(path)) {
    auto rows = build_rows(fd.get(), path);
    auto read = read_elf_facts(fd.get(), path);
    if (!rows || !read) return;
    table = std::move(*rows);
    facts = std::move(*read);
    place = place_of(table);
    elf = std::move(*open_elf(fd.get(), path));
    go = read_go_pclntab(elf.get(), facts);
  }

  std::uint32_t rule_at(std::uint64_t address) {
    const auto offset = offset_of_address(facts.exec_segments, address);
    return offset ? usc_row_find(&table, &place, *offset) : USC_RULE_NONE;
  }

  std::string path;
  UniqueFd fd;
  UnwindTable table;
  usc_file_rows place{};
  ElfFacts facts;
  ElfHandle elf;
  std::optional<GoPclntab> go;
};

// Whether a rule's CFA is rsp + offset, with the return address below it.
bool is_stack_rule(const UnwindTable& table, std::uint32_t rule, std::int64_t offset) {
  if (USC_RULE_KIND(rule) == USC_RULE_SP) return std::int64_t{USC_RULE_CFA_WORDS(rule)} * 8 == offset;
  if (USC_RULE_KIND(rule) != USC_RULE_SHARED) return false;
  const usc_rule& shared = table.rules[USC_RULE_NUMBER(rule)];
  return shared.cfa_kind == USC_CFA_REG && shared.cfa_reg == USC_REG_SP && shared.cfa_off == offset &&
         shared.ra_kind == USC_RA_CFA && shared.ra_off == -8;
}

bool saves_rbp(const UnwindTable& table, std::uint32_t rule) {
  if (USC_RULE_KIND(rule) != USC_RULE_SHARED) return USC_RULE_FP_WORDS(rule) == 2;
  const usc_rule& shared = table.rules[USC_RULE_NUMBER(rule)];
  return shared.save_kind[1] == USC_SAVE_CFA && shared.save_off[1] == -16;
}

class GoProgram : public testing::TestWithParam<const char*> {};

TEST_P(GoProgram, RowsAgreeWithDebugFrameButWhereTheStackIsLeft) {
  Program program(GetParam());
  ASSERT_TRUE(program.go) << program.path;
  ASSERT_TRUE(check_rows(program.table));
  const auto untrue = go_untrue_cfi(*program.go, [&](std::uint64_t address, std::size_t bytes) {
    static std::vector<std::byte> code;
    code.resize(bytes);
    const auto offset = offset_of_address(program.facts.exec_segments, address);
    const ssize_t got = pread(program.fd.get(), code.data(), bytes, static_cast<off_t>(offset.value_or(0)));
    return std::span<const std::byte>(code).first(got > 0 ? static_cast<std::size_t>(got) : 0);
  });
  EXPECT_GE(untrue.size(), 5U);
  EXPECT_LE(untrue.size(), 40U);
  const auto is_untrue = [&](std::uint64_t address) {
    return std::any_of(untrue.begin(), untrue.end(),
                       [&](const GoRange& range) { return address >= range.start && address < range.end; });
  };
  const auto sources = read_cfi_sources(program.elf.get(), program.facts, program.path);
  ASSERT_TRUE(sources);
  std::uint64_t compared = 0;
  std::uint64_t wrong = 0;
  for (const CfiSource& source : *sources) {
    if (source.eh_frame) continue;
    CfiSection section(source);
    for (const Fde& fde : section.fdes()) {
      section.run(fde, [&](std::uint64_t address, const CfiState& state) {
        if (is_untrue(address) || address >= fde.address + fde.size || state.cfa_offset <= 0) return;
        compared++;
        if (is_stack_rule(program.table, program.rule_at(address), state.cfa_offset) || ++wrong > 5) return;
        ADD_FAILURE() << std::hex << address << ": rule " << program.rule_at(address)
                      << ", .debug_frame's CFA is rsp + " << state.cfa_offset;
      });
    }
  }
  EXPECT_EQ(wrong, 0U);
  EXPECT_GE(compared, 5000U);
}

TEST_P(GoProgram, FramePointerIsSavedWhereTheCodeSavesIt) {
  Program program(GetParam());
  ASSERT_TRUE(program.go) << program.path;
  const std::regex line_form(R"(^ *([0-9a-f]+):\t(.*)$)");
  const std::regex store(R"(mov +%rbp,(0x[0-9a-f]+)\(%rsp\).*)");
  const std::regex open_frame(R"(sub +\$(0x[0-9a-f]+),%rsp.*)");
  std::uint64_t frame = 0;
  std::uint64_t stored_at = 0;
  std::uint64_t checked = 0;
  for (const std::string& line : lines_of("objdump -d --no-show-raw-insn '" + program.path + "'")) {
    // Only such a line can open a frame, and a regular expression takes long.
    if (frame == 0 && stored_at == 0 && line.find("sub ") == std::string::npos) continue;
    std::smatch parts;
    if (!std::regex_match(line, parts, line_form)) continue;
    const std::uint64_t address = hex(parts[1]);
    const std::string text = parts[2];
    if (stored_at != 0 && program.go->containing(address)) {
      EXPECT_FALSE(saves_rbp(program.table, program.rule_at(stored_at))) << std::hex << stored_at;
      EXPECT_TRUE(saves_rbp(program.table, program.rule_at(address))) << std::hex << address;
      checked++;
    }
    stored_at = 0;
    std::smatch operand;
    if (frame != 0 && std::regex_match(text, operand, store) && hex(operand[1]) + 8 == frame) stored_at = address;
    frame = std::regex_match(text, operand, open_frame) ? hex(operand[1]) : 0;
  }
  EXPECT_GE(checked, 100U) << "Go 1.21 and later save rbp by push: then this test needs another form";
}

INSTANTIATE_TEST_SUITE_P(All, GoProgram, testing::Values("go_stacks", "go_stacks_pie", "go_cgo"));

TEST(GoNames, AStrippedProgramHasTheNamesOfItsTwin) {
  const auto stripped = open_module(fixture("go_stacks_stripped"));
  const auto whole = open_module(fixture("go_stacks"));
  ASSERT_TRUE(stripped && whole);
  std::uint64_t compared = 0;
  std::uint64_t wrong = 0;
  for (const ListedSymbol& symbol : listed_symbols(fixture("go_stacks"), "--syms")) {
    // Not functions: marks of sections, and code that only the linker knows.
    if (symbol.type != "FUNC" || symbol.size == 0 || !symbol.name.starts_with("runtime.")) continue;
    if (symbol.name == "runtime.text" || symbol.name == "runtime.etext") continue;
    std::string name = symbol.name;
    if (name.ends_with(".abi0")) name.resize(name.size() - 5);
    for (const std::uint64_t offset : {std::uint64_t{0}, symbol.size - 1}) {
      compared++;
      const std::string expected = name + "+" + std::to_string(offset);
      if (function_at(*stripped, symbol.start + offset) == expected || ++wrong > 5) continue;
      ADD_FAILURE() << function_at(*stripped, symbol.start + offset) << ", not " << expected;
    }
    EXPECT_EQ(whole->resolve(symbol.start, true).back().function, name);
  }
  EXPECT_EQ(wrong, 0U);
  EXPECT_GE(compared, 1000U);
  EXPECT_TRUE(listed_symbols(fixture("go_stacks_stripped"), "--syms").empty());
}

TEST(GoSections, TheTableIsFoundWithoutItsSectionsName) {
  Program by_magic("go_cgo_pie_stripped");
  ASSERT_TRUE(by_magic.go) << "GNU ld merges the table into .data.rel.ro";
  const auto has = [&](std::string_view name) {
    return std::any_of(by_magic.go->functions().begin(), by_magic.go->functions().end(),
                       [&](const GoFunction& function) { return function.name == name; });
  };
  EXPECT_TRUE(has("main.main") && has("runtime.goexit") && has("runtime.asmcgocall"));
  // And without any section headers.
  TemporaryFolder folder;
  std::string bytes = read_file(fixture("go_stacks_stripped"));
  auto* header = reinterpret_cast<Elf64_Ehdr*>(bytes.data());
  header->e_shoff = 0;
  header->e_shnum = header->e_shstrndx = 0;
  const std::string path = folder.write("headless", bytes);
  const UniqueFd fd = open_to_read(path);
  const auto facts = read_elf_facts(fd.get(), path);
  const auto elf = open_elf(fd.get(), path);
  ASSERT_TRUE(facts && elf);
  const auto table = read_go_pclntab(elf->get(), *facts);
  ASSERT_TRUE(table);
  EXPECT_GE(table->functions().size(), 1000U);
}

TEST(GoSections, AFileThatIsNotGoHasNoTable) {
  const UniqueFd fd = open_to_read("/bin/sh");
  const auto facts = read_elf_facts(fd.get(), "/bin/sh");
  const auto elf = open_elf(fd.get(), "/bin/sh");
  ASSERT_TRUE(facts && elf);
  EXPECT_FALSE(read_go_pclntab(elf->get(), *facts));
  EXPECT_TRUE(go_pclntab_bytes(elf->get(), *facts).empty());
}

}  // namespace
}  // namespace uscope::symbolizer
