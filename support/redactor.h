// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Texts that a user wants to keep out of a trace: those that match one of some patterns.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace uscope {

inline constexpr std::string_view kRedacted = "[redacted]";

class Redactor {
 public:
  Redactor() = default;
  // Patterns of support/glob.h, against the whole text.
  explicit Redactor(std::vector<std::string> patterns) : patterns_(std::move(patterns)) {}

  [[nodiscard]] bool empty() const { return patterns_.empty(); }
  [[nodiscard]] const std::vector<std::string>& patterns() const { return patterns_; }

  // `is_cut`: the end of the text is missing, so it cannot be compared, and is hidden if there is any pattern.
  [[nodiscard]] bool hides(std::string_view text, bool is_cut = false) const;

  // Takes a list of texts, each ended by a NUL, and replaces the hidden ones.
  [[nodiscard]] std::string redact_list(std::string_view list, bool is_cut) const;

 private:
  std::vector<std::string> patterns_;
};

}  // namespace uscope
