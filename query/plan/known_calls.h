// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What conditions on names let through, found by SQLite over all names that there are: which system calls, and which
// numbers of errors, ends of calls and sources. So any SQL on names has SQLite's meaning, and the kernel has numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "query/plan/plan.h"
#include "query/sql/tree.h"

namespace uscope::query {

// Whether a condition follows from these columns alone: it names one of them and no other, and its functions give the
// same for the same arguments.
[[nodiscard]] bool is_of(const Expr& condition, const std::vector<std::string_view>& columns);
// … from the kind of an event: kind and class.
[[nodiscard]] bool is_of_kinds(const Expr& condition);
// … from that and from what it is about, which is not known here but where a call is about nothing: then it is NULL.
[[nodiscard]] bool is_of_objects(const Expr& condition);

// Takes the calls out of the plan for which `condition`, an SQL text that names columns of `source`, does not hold;
// with `of_objects`, none of those that may be about something. Returns how many calls of the native ABI are left. What
// the condition fails on stays.
[[nodiscard]] Result<std::size_t> rule_out_calls(const std::string& condition, bool of_objects,
                                                 const std::string& source, Plan& plan);

// The values of a field by which an event may fulfil a condition.
struct Admitted {
  usc_query_field field;
  std::vector<std::int64_t> values;
  bool others;       // all but these
  std::string text;  // the condition, or what follows from it
};

// Of a condition on errno, on how or on class alone. Nothing if it is another one, or one that lets too many values
// through, or that SQLite fails on.
[[nodiscard]] std::optional<Admitted> admitted_by(const Expr& condition, const std::string& text,
                                                  const std::string& source);

}  // namespace uscope::query
