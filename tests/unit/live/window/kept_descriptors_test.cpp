// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Objects have the same names whether a session is cut into intervals or not.
#include "live/window/kept_descriptors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "live/query/interval_store.h"
#include "store/reused_store.h"
#include "support/private_file.h"
#include "tests/unit/live/window/made_processes.h"
#include "trace/raw_reader.h"

namespace uscope::live {
namespace {

class KeptDescriptorsTest : public testing::Test {
 protected:
  void SetUp() override {
    auto opened = open_temporary_folder();
    ASSERT_TRUE(opened);
    folder_ = std::move(*opened);
    plan_.needs.objects = true;
  }

  // "when task call object" of each event, in the intervals' order.
  std::vector<std::string> rows(const MadeRecords& records, std::uint64_t interval_ns, std::size_t* kept = nullptr) {
    std::vector<std::string> found;
    auto store = store::ReusedStore::create(folder_.get());
    EXPECT_TRUE(store);
    const auto answer = [&](query::ClosedInterval&& closed) -> Result<void> {
      auto raw = trace::RawReader::open(std::move(closed.trace), "interval");
      if (!raw) return raw.error();
      if (const auto loaded = store->load(std::move(*raw), {}); !loaded) return loaded.error();
      if (auto done = store->protect(); !done) return done;
      {
        auto read = store::Statement::prepare(
            store->handle(), "SELECT ts_ns, tid, kind, ifnull(object, '-'), ifnull(object_kind, '-') FROM v_event");
        if (!read) return read.error();
        std::uint64_t events = 0;
        for (; *read->step(); events++) {
          std::string row;
          for (int i = 0; i < read->columns(); i++) row += (i == 0 ? "" : "|") + std::string(read->text(i));
          found.push_back(row);
        }
        EXPECT_EQ(events, closed.facts.events);
      }
      return store->empty();
    };
    query::IntervalStore intervals(plan_, interval_ns, 0, folder_.get(), answer);
    intervals.on_start(kWorldBegins);
    for (const std::vector<char>& bytes : records) {
      const auto& record = *reinterpret_cast<const usc_record*>(bytes.data());
      EXPECT_TRUE(intervals.append(record));
      if (interval_ns == 0 || record.time == 0) continue;
      for (int i = 0; i < 2; i++) {
        intervals.on_round(record.time);
        intervals.on_losses_recorded();
      }
      if (kept != nullptr) *kept = std::max(*kept, intervals.kept_changes());
    }
    const auto finished = intervals.finish();
    EXPECT_TRUE(finished) << finished.error().what;
    std::sort(found.begin(), found.end());
    return found;
  }

  UniqueFd folder_;
  query::Plan plan_;
};

TEST_F(KeptDescriptorsTest, IntervalsHaveTheNamesOfTheWhole) {
  for (std::uint64_t seed = 1; seed <= 12; seed++) {
    MadeProcesses world(seed);
    const MadeRecords records = world.make(600);
    const std::vector<std::string> whole = rows(records, 0);
    EXPECT_GT(whole.size(), 400U);
    EXPECT_GT(std::count_if(whole.begin(), whole.end(), [](const std::string& row) { return !row.ends_with("|-|-"); }),
              150);
    EXPECT_EQ(rows(records, 97), whole) << "seed " << seed;
  }
}

// What is opened and closed again is not kept.
TEST_F(KeptDescriptorsTest, WhatIsOverIsForgotten) {
  MadeProcesses world(3);
  const MadeRecords records = world.make(6000);
  std::size_t kept = 0;
  (void)rows(records, 1000, &kept);
  EXPECT_LT(kept, 2500U);
}

}  // namespace
}  // namespace uscope::live
