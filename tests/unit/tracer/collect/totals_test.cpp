// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/collect/totals.h"

#include <gtest/gtest.h>

#include <map>

#include "tests/unit/trace/memory_sink.h"
#include "tests/unit/tracer/fake_backend.h"

namespace uscope::tracer {
namespace {

std::map<std::string, std::string> meta_in(const MemorySink& sink) {
  std::vector<std::string> tails;
  std::map<std::string, std::string> found;
  (void)sink.all<usc_meta>(&tails);
  for (const std::string& tail : tails) {
    std::string_view key;
    std::string_view value;
    EXPECT_TRUE(trace::split_meta(tail, key, value));
    found.emplace(key, value);
  }
  return found;
}

TEST(Totals, EachCpuHasARecordWithItsNumbers) {
  FakeBackend backend;
  MemorySink sink;
  ASSERT_TRUE(write_totals(backend, sink));
  const auto totals = sink.all<usc_cpu_total>();
  ASSERT_EQ(totals.size(), 2U);
  EXPECT_EQ(totals[0].head.cpu, 0);
  EXPECT_EQ(totals[0].records, 7U);
  EXPECT_EQ(totals[1].head.cpu, 1);
  EXPECT_EQ(totals[1].head.seq, 9U);
  EXPECT_EQ(totals[1].records, 9U);
}

TEST(Totals, CountersOfAllCpusAreAddedUp) {
  FakeBackend backend;
  backend.counters[0].walks = 3;
  backend.counters[1].walks = 4;
  backend.counters[1].walked_twice = 2;
  backend.counters[0].deferred[USC_DEFER_NO_TABLE] = 5;
  backend.counters[1].deferred[USC_DEFER_COPIED] = 6;
  MemorySink sink;
  ASSERT_TRUE(write_totals(backend, sink));
  EXPECT_EQ(meta_in(sink), (std::map<std::string, std::string>{{"walks", "7"},
                                                               {"frames_walked", "0"},
                                                               {"frames_kept", "0"},
                                                               {"walks_stopped_early", "0"},
                                                               {"memo_hits", "0"},
                                                               {"mapping_lookups", "0"},
                                                               {"stacks_sent", "0"},
                                                               {"walked_twice", "2"},
                                                               {"deferred_no_table", "5"},
                                                               {"deferred_lock", "0"},
                                                               {"deferred_mappings", "0"},
                                                               {"deferred_register", "0"},
                                                               {"deferred_copied", "6"},
                                                               {"deferred_interrupted", "0"}}));
}

TEST(Totals, AFailureToWriteComesBack) {
  FakeBackend backend;
  MemorySink sink;
  sink.fails = true;
  EXPECT_FALSE(write_totals(backend, sink));
}

}  // namespace
}  // namespace uscope::tracer
