// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "query/plan/plan.h"

#include <fmt/core.h>

#include <array>
#include <utility>

#include "query/plan/asked_sources.h"
#include "query/plan/check.h"
#include "query/plan/columns.h"
#include "query/plan/known_calls.h"
#include "query/plan/names.h"
#include "query/plan/splitter.h"
#include "query/sql/lexer.h"
#include "query/sql/parser.h"
#include "uscope/control.h"
#include "uscope/query_counts.h"

namespace uscope::query {
namespace {

// The conditions on names, decided for all system calls.
void decide_calls(const std::string& text, const Select& select, Plan& plan) {
  for (const Expr* conjunct : conjuncts_of(select)) {
    const bool of_objects = !is_of_kinds(*conjunct);
    if (of_objects && !is_of_objects(*conjunct)) continue;
    const std::string condition = original_text(text, *conjunct);
    if (const auto left = rule_out_calls(condition, of_objects, select.source_name, plan))
      plan.planned.push_back(fmt::format("{}: {} of 512 numbers of system calls are left", one_line(condition), *left));
  }
}

constexpr Needs kAll{.stack = true, .time = true, .arguments = true, .results = true, .returns = true};

Needs needs_of(const Select& select) {
  Needs needs;
  for (const ResultColumn& column : select.columns)
    if (!column.expr) return kAll;
  for (const Expr* root : roots_of(select))
    each(*root, [&](const Expr& part) {
      const Column* column = column_of(part);
      if (!column) return;
      needs.stack = needs.stack || (column->words & bit_of(Key::kStack)) != 0;
      needs.time = needs.time || column->field == USC_QUERY_TIME || column->field == USC_QUERY_TOOK;
      needs.arguments = needs.arguments || is_argument(column->field);
      needs.results = needs.results || column->field == USC_QUERY_RESULT;
      needs.returns = needs.returns || column->field == USC_QUERY_TOOK || column->field == USC_QUERY_RESULT;
    });
  return needs;
}

// The first column that has more to say of a hit with kernel frames than of its user stack. These frames come with the
// event, not by number.
std::string_view of_kernel_frames(const Select& select, std::uint32_t sources) {
  constexpr std::uint32_t kWithFrames =
      1U << USC_SOURCE_SAMPLE | 1U << USC_SOURCE_OFFCPU | 1U << USC_SOURCE_TRACEPOINT | 1U << USC_SOURCE_KFUNCTION;
  std::string_view found;
  if ((sources & kWithFrames) == 0) return found;
  for (const Expr* root : roots_of(select))
    each(*root, [&](const Expr& part) {
      const Column* column = column_of(part);
      if (!column || (column->words & bit_of(Key::kStack)) == 0) return;
      if (column->name != "trigger" && column->name != "trigger_module") found = column->name;
    });
  return found;
}

void run_on_events(Plan& plan, const std::string& reason) {
  plan.way = Way::kEvents;
  plan.reason = reason;
  plan.program = {};
  plan.keys.clear();
  plan.measures.clear();
  plan.outer.clear();
  plan.whole.clear();
  plan.pushed.clear();
  plan.left = {one_line(plan.text)};
}

}  // namespace

Result<Plan> plan(const std::string& text, std::uint32_t traced) {
  auto checked = check(text);
  if (!checked) return checked.error();
  Plan plan;
  plan.text = text;
  plan.columns = std::move(checked->columns);
  for (CallBits& calls : plan.calls) calls.fill(~std::uint64_t{0});
  auto select = parse(text);
  if (select) resolve(*select);
  const bool reads_objects = checked->reads_objects;
  plan.sources = asked_sources(text, select ? &*select : nullptr) | traced;
  if (plan.sources != 0) plan.planned.push_back("asks for events of " + names_of_sources(plan.sources));
  if (!select) {
    plan.needs = kAll;
    plan.needs.objects = reads_objects;
    run_on_events(plan, select.error().what);
    return plan;
  }
  decide_calls(text, *select, plan);
  plan.needs = needs_of(*select);
  plan.needs.objects = reads_objects;
  if (!makes_groups(*select, checked->aggregates)) {
    run_on_events(plan, "");
    return plan;
  }
  if (const std::string_view column = of_kernel_frames(*select, plan.sources); !column.empty()) {
    run_on_events(plan, fmt::format("{} has the kernel's frames too, which come with each event", column));
    return plan;
  }
  const Needs needs = plan.needs;
  if (const std::string reason = split(text, *select, checked->aggregates, plan); !reason.empty()) {
    run_on_events(plan, reason);
    plan.needs = needs;
  }
  return plan;
}

std::uint64_t memory_of_sums(const usc_query& question) {
  const std::uint64_t steps = usc_query_steps_word(&question) != 0 ? USC_QUERY_STEP_ROWS * sizeof(usc_query_steps) : 0;
  const std::uint64_t calls =
      usc_query_counts_calls(&question) != 0 ? sizeof(__u64) * USC_ABI_COUNT * USC_SYSCALL_BITS : 0;
  const std::uint64_t threads =
      usc_query_is_of_brief_calls(&question) != 0 ? USC_QUERY_BRIEF_THREADS * USC_QUERY_BRIEF_BYTES : 0;
  std::array<__u8, USC_QUERY_FIELD_COUNT> word_of{};
  const std::uint64_t counts =
      usc_query_counts_by_fields(&question, word_of.data()) != 0 ? sizeof(usc_query_counts) : 0;
  return 2 * (USC_QUERY_ROWS * sizeof(usc_query_row) + steps + calls + counts) + threads;
}

}  // namespace uscope::query
