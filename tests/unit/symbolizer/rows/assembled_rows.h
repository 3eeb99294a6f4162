// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Rows of functions in assembly.
#pragma once

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <utility>

#include "symbolizer/elf/elf_facts.h"
#include "symbolizer/rows/row_builder.h"
#include "tests/support/temporary_folder.h"
#include "tests/unit/symbolizer/rows_test_support.h"

namespace uscope::symbolizer {

class AssembledRows : public testing::Test {
 protected:
  // A library of functions in assembly, or what the flags make of it.
  void build(const std::string& source, const std::string& flags = "-shared") {
    path_ = folder_.file("out");
    std::ofstream(folder_.file("in.S")) << source << ".balign 64\n";
    ASSERT_EQ(std::system(("gcc " + flags + " -nostdlib -o " + path_ + " " + folder_.file("in.S")).c_str()), 0);
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
    EXPECT_EQ(std::system(("nm --defined-only " + path_ + " > " + list).c_str()), 0);
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
        return fmt::format("{}+{} rbp {}", shared.cfa_reg == USC_REG_SP ? "rsp" : "rbp", shared.cfa_off,
                           lost ? "lost" : "known");
      }
      default: {
        const char* base = USC_RULE_KIND(rule) == USC_RULE_SP ? "rsp" : "rbp";
        const std::uint32_t saved = USC_RULE_FP_WORDS(rule);
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
inline std::string sized_function(const std::string& name, const std::string& body) {
  return ".balign 16\n.type " + name + ",@function\n" + name + ":\n" + body + "\n.size " + name + ", . - " + name +
         "\n";
}

}  // namespace uscope::symbolizer
