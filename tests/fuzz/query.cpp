// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Any bytes as a question: it is refused, or it runs over any event without undefined behaviour, and its rows add up
// however they are cut.
#include "fuzz.h"
#include "uscope/query_rows.h"
#include "uscope/query_run.h"

using uscope::fuzz::Input;
using uscope::fuzz::require;

namespace {

// Most of its instructions are sound, so that more than the check is tried.
usc_query question(Input& input) {
  usc_query query{};
  query.version = USC_QUERY_VERSION;
  query.rows = USC_QUERY_ROWS;
  query.keys = static_cast<__u16>(input.count(USC_QUERY_KEYS + 1));
  query.measures = static_cast<__u16>(input.count(USC_QUERY_MEASURES + 1));
  query.length = static_cast<__u16>(input.count(USC_QUERY_MOST + 1));
  for (usc_query_insn& insn : query.insn) {
    if (input.empty()) break;
    const auto op = input.take<std::uint8_t>();
    if (op == 0xff) {
      insn = input.take<usc_query_insn>();
      continue;
    }
    insn.op = static_cast<__u8>(1 + op % (USC_QUERY_OP_COUNT - 1));
    const __u32 uses = usc_query_uses(insn.op);
    const auto registers = input.take<std::uint16_t>();
    if (uses & 1) insn.d = registers & 15;
    if (uses & 2) insn.a = registers >> 4 & 15;
    if (uses & 4) insn.b = registers >> 8 & 15;
    if (uses & 2 && registers & 0x1000)
      insn.a = static_cast<__u8>(USC_QUERY_OF_FIELD + input.count(USC_QUERY_FIELD_COUNT));
    if (uses & 4 && registers & 0x2000)
      insn.b = static_cast<__u8>(USC_QUERY_OF_FIELD + input.count(USC_QUERY_FIELD_COUNT));
    if ((uses & 12) == 4 && registers & 0x4000) {
      insn.b = USC_QUERY_OWN;
      insn.value = input.take<std::int64_t>();
    }
    if (uses & 8) insn.value = insn.op == USC_QUERY_NUMBER ? input.take<std::int64_t>() : input.take<std::int8_t>();
  }
  for (__u32 at = query.length; at < USC_QUERY_MOST; at++) query.insn[at] = {};
  query.reads = usc_query_reads(&query);
  return query;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  const bool raw = input.take<std::uint8_t>() == 0xff;
  const usc_query query = raw ? input.take<usc_query>() : question(input);
  __u32 at = 0;
  const bool sound = usc_query_check(&query, &at) == USC_QUERY_BAD_SOUND;
  require(at <= USC_QUERY_MOST, "the place of a fault is in the question");
  require(!sound || query.length <= USC_QUERY_MOST, "a sound question has a length");
  usc_query_row whole{};
  usc_query_row parts[2]{};
  for (int i = 0; i < 4; i++) {
    usc_query_input fields{};
    if (i & 1) {
      const auto event = input.take<usc_event>();
      usc_query_fill(&fields, &event, 0);
    } else {
      for (__s64& field : fields.field) field = input.take<std::int64_t>();
      fields.nulls = input.take<std::uint32_t>();
    }
    usc_query_state state{};
    // Also a question that the check refuses: the kernel side runs what it has.
    if (usc_query_run(&query, &fields, &state) != USC_QUERY_GIVEN || !sound) continue;
    state.key = {};
    if (usc_query_sums_overflow(&whole, &state, query.measures)) continue;
    usc_query_add(&whole, &state, query.measures);
    if (usc_query_sums_overflow(&parts[i / 2], &state, query.measures)) continue;
    usc_query_add(&parts[i / 2], &state, query.measures);
    require(usc_query_same_key(&whole.key, &state.key), "a row has the key of its events");
  }
  require(whole.events >= parts[0].events + parts[1].events, "no event is counted twice");
  return 0;
}
