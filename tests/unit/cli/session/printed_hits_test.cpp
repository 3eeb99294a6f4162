// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Of one raw trace with hits among calls, `record --print` prints the lines that `uscope events` prints.
#include <algorithm>
#include <sstream>

#include "cli/session/live_printer.h"
#include "tests/unit/cli/hit_trace.h"
#include "tests/unit/cli/run_command.h"
#include "trace/raw_reader.h"
#include "tracer/model/task_table.h"

namespace uscope::test {
namespace {

std::vector<std::string> printed_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

class PrintedHits : public CommandTest {
 protected:
  // The records of a file, as the collector shows them.
  std::string printed(const std::filesystem::path& raw) {
    cli::StatusLine status(nullptr);
    cli::LivePrinter printer(status, true);
    tracer::TaskTable tasks;
    auto reader = trace::RawReader::open(raw);
    EXPECT_TRUE(reader) << reader.error().what;
    printer.on_start(kStart);
    testing::internal::CaptureStderr();
    trace::RawRecord record;
    while (reader && *reader->next(record)) {
      const std::vector<std::byte> bytes(record.bytes.begin(), record.bytes.end());
      show(*reinterpret_cast<const usc_record*>(bytes.data()), printer, tasks);
    }
    printer.on_round(kStart + 1'000'000, tasks);
    printer.on_round(~std::uint64_t{0}, tasks);
    return testing::internal::GetCapturedStderr();
  }

 private:
  template <typename Record>
  static const Record& as(const usc_record& record) {
    return reinterpret_cast<const Record&>(record);
  }

  static void show(const usc_record& record, cli::LivePrinter& printer, tracer::TaskTable& tasks) {
    switch (record.type) {
      case USC_RECORD_TASK:
        tasks.start(as<usc_task>(record));
        return printer.on_task(as<usc_task>(record));
      case USC_RECORD_EXEC:
        return printer.on_image(as<usc_exec>(record));
      case USC_RECORD_EVENT:
        return printer.on_event(as<usc_event>(record), tasks.find(trace::TaskId(record.task)));
      case USC_RECORD_STRING:
        return printer.on_string(as<usc_string>(record));
      case USC_RECORD_KIND:
        return printer.on_kind(as<usc_kind>(record));
      case USC_RECORD_HIT:
        return printer.on_hit(as<usc_hit>(record));
      default:
        return;
    }
  }
};

TEST_F(PrintedHits, AreTheLinesOfEvents) {
  write_hits(folder_ / "hits.raw");
  ASSERT_EQ(uscope({"load", "hits.raw", "-o", "hits.db"}).code, 0);
  std::vector<std::string> stored = printed_lines(output({"events", "hits.db"}));
  std::vector<std::string> live = printed_lines(printed(folder_ / "hits.raw"));
  ASSERT_EQ(stored.size(), 10U);
  // They come as they end; what is not over comes last, by its beginning.
  ASSERT_EQ(live.size(), stored.size());
  EXPECT_NE(live[0].find("offcpu sleeping(waker_tid=9"), std::string::npos) << live[0];
  EXPECT_NE(live[6].find("<40 ns>"), std::string::npos) << live[6];
  EXPECT_TRUE(live[8].ends_with("(has not returned)")) << live[8];
  EXPECT_TRUE(live[9].ends_with("(not over)")) << live[9];
  std::sort(stored.begin(), stored.end());
  std::sort(live.begin(), live.end());
  EXPECT_EQ(live, stored);
}

}  // namespace
}  // namespace uscope::test
