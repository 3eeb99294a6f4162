// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Converts an unwind state (cfi_program.h) to a row (include/uscope/rows.h).
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbolizer/cfi/cfi_program.h"
#include "symbolizer/rows/row_builder.h"
#include "uscope/rows.h"

namespace uscope::symbolizer {

// cfa_kind of a rule that no step can follow: usc_step then returns USC_BROKEN_BAD_RULE.
constexpr std::uint8_t kUnsupportedCfa = 0xff;

class RuleTable {
 public:
  // Adds to `stats`, which must outlive the table.
  RuleTable(RowStats& stats, RowDetail detail) : stats_(stats), detail_(detail) {}

  // Properties that a state cannot express, see struct usc_rule.
  struct Extra {
    bool other_stack = false;
    bool exact_ra = false;
  };

  // The rule of a state, USC_RULE_*; shared rules are interned. A state that the row format cannot express gives a rule
  // that no step can follow, or an unknown register: never a wrong frame.
  std::uint32_t rule_for(const CfiState& state, bool signal_frame, Extra extra);
  std::uint32_t rule_for(const CfiState& state, bool signal_frame) { return rule_for(state, signal_frame, Extra()); }

  // Adds a finished rule; returns USC_RULE_NONE if there are too many.
  std::uint32_t add(const usc_rule& rule) { return intern(rule); }

  [[nodiscard]] std::vector<usc_rule> take() { return std::move(rules_); }
  [[nodiscard]] std::size_t size() const { return rules_.size(); }

 private:
  bool fill_cfa(const CfiState& state, usc_rule& rule);
  bool fill_return_address(const RegisterRule& from, usc_rule& rule);
  void fill_saved(const CfiState& state, usc_rule& rule);
  std::uint32_t intern(const usc_rule& rule);
  std::uint32_t unsupported(std::uint64_t& counter);

  RowStats& stats_;
  RowDetail detail_;
  std::vector<usc_rule> rules_;
  std::unordered_map<std::string, std::uint32_t> numbers_;
};

}  // namespace uscope::symbolizer
