// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Questions of the kernel side (include/uscope/query.h) as tests write them.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "uscope/query.h"

namespace uscope::test {

inline usc_query_insn field(int d, usc_query_field number) {
  usc_query_insn insn{};
  insn.op = USC_QUERY_FIELD;
  insn.d = static_cast<__u8>(d);
  insn.value = number;
  return insn;
}

inline usc_query_insn number(int d, std::int64_t value) {
  usc_query_insn insn{};
  insn.op = USC_QUERY_NUMBER;
  insn.d = static_cast<__u8>(d);
  insn.value = value;
  return insn;
}

inline usc_query_insn compute(usc_query_op op, int d, int a, int b = 0) {
  usc_query_insn insn{};
  insn.op = static_cast<__u8>(op);
  insn.d = static_cast<__u8>(d);
  insn.a = static_cast<__u8>(a);
  insn.b = static_cast<__u8>(b);
  return insn;
}

// KEY and MEASURE; `a` of UNLESS.
inline usc_query_insn give(usc_query_op op, int a, int place = 0) {
  usc_query_insn insn{};
  insn.op = static_cast<__u8>(op);
  insn.a = static_cast<__u8>(a);
  insn.value = place;
  return insn;
}

inline usc_query question_of(int keys, int measures, std::initializer_list<usc_query_insn> instructions) {
  usc_query query{};
  query.version = USC_QUERY_VERSION;
  query.rows = USC_QUERY_ROWS;
  query.keys = static_cast<__u16>(keys);
  query.measures = static_cast<__u16>(measures);
  for (const usc_query_insn& insn : instructions) query.insn[query.length++] = insn;
  query.reads = usc_query_reads(&query);
  return query;
}

// Counts events by kind and by how they ended.
inline usc_query by_kind_and_how() {
  return question_of(
      2, 0, {field(0, USC_QUERY_KIND), give(USC_QUERY_KEY, 0, 0), field(1, USC_QUERY_HOW), give(USC_QUERY_KEY, 1, 1)});
}

}  // namespace uscope::test
