// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which kinds of a class a question asks for, of those that there are: the functions, tracepoints and USDT probes whose
// names and class WHERE does not rule out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "query/sql/tree.h"
#include "support/result.h"

namespace uscope::query {

class AskedKinds {
 public:
  // `text`: a question that plan() has taken.
  explicit AskedKinds(const std::string& text);

  // Whether WHERE can tell: the question is one SELECT over v_event.
  [[nodiscard]] bool are_known() const { return select_.has_value() && select_->where; }

  // Names or, with a `*` behind, beginnings of names, of which each kind of the source that WHERE admits has one.
  // Nothing: it may admit any name.
  [[nodiscard]] std::optional<std::vector<std::string>> beginnings(std::uint32_t source) const;

  // For each of these names whether WHERE admits a kind of this source that has it.
  [[nodiscard]] Result<std::vector<bool>> admits(std::uint32_t source, const std::vector<std::string>& names) const;

 private:
  using Beginnings = std::optional<std::vector<std::string>>;
  [[nodiscard]] Beginnings beginnings_of(const Expr& condition, std::uint32_t source) const;
  [[nodiscard]] Beginnings of_both(const Expr& condition, std::uint32_t source) const;
  [[nodiscard]] bool is_of_others(const Expr& condition, std::uint32_t source) const;

  std::string text_;
  std::optional<Select> select_;
};

}  // namespace uscope::query
