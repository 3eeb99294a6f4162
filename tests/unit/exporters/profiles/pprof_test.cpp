// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the bytes are, by protozero's reader; conformance.exports opens a profile with pprof itself.
#include "exporters/profiles/pprof.h"

#include <map>
#include <protozero/pbf_reader.hpp>
#include <set>

#include "tests/unit/analyzer/sample_trace.h"
#include "tests/unit/exporters/profiles/unzip.h"

namespace uscope::analyzer {
namespace {

using protozero::pbf_reader;

struct ReadSample {
  std::vector<std::string> frames;  // innermost first
  std::vector<std::int64_t> values;
  std::map<std::string, std::string> labels;
};

class Pprof : public test::SampleTrace {
 protected:
  void read(const exporters::ProfileOptions& options) { read(open(), options); }

  void read(const store::Database& database, const exporters::ProfileOptions& options) {
    const auto catalog = read_catalog(database);
    ASSERT_TRUE(catalog);
    std::string file;
    auto totals = exporters::write_pprof(database, *catalog, options, [&](std::string_view bytes) { file += bytes; });
    ASSERT_TRUE(totals) << totals.error().what;
    totals_ = *totals;
    const std::string profile = test::unzipped(file);
    for (pbf_reader field(profile); field.next();) take(field);
  }

  // Strings, functions and locations come before what names them.
  void take(pbf_reader& field) {
    switch (field.tag()) {
      case 6:
        strings_.push_back(field.get_string());
        break;
      case 1:
        types_.push_back(strings_.at(number(field.get_message(), 1)));
        break;
      case 5: {
        const pbf_reader function = field.get_message();
        functions_[number(function, 1)] = strings_.at(number(function, 2));
        break;
      }
      case 4:
        take_location(field.get_message());
        break;
      case 2:
        take_sample(field.get_message());
        break;
      case 13:
        comments_.push_back(strings_.at(static_cast<std::size_t>(field.get_int64())));
        break;
      default:
        field.skip();
    }
  }

  static std::size_t number(pbf_reader message, protozero::pbf_tag_type tag) {
    return message.next(tag) ? static_cast<std::size_t>(message.get_int64()) : 0;
  }

  void take_location(pbf_reader location) {
    std::string names;
    const std::size_t id = number(location, 1);
    while (location.next(4)) names += (names.empty() ? "" : " in ") + functions_.at(number(location.get_message(), 1));
    locations_[id] = names;
  }

  void take_sample(pbf_reader sample) {
    ReadSample out;
    while (sample.next()) {
      if (sample.tag() == 1) {
        for (const std::uint64_t id : sample.get_packed_uint64()) out.frames.push_back(locations_.at(id));
      } else if (sample.tag() == 2) {
        for (const std::int64_t value : sample.get_packed_int64()) out.values.push_back(value);
      } else {
        const pbf_reader label = sample.get_message();
        out.labels[strings_.at(number(label, 1))] = strings_.at(number(label, 2));
      }
    }
    samples_.push_back(std::move(out));
  }

  exporters::ProfileTotals totals_;
  std::vector<std::string> strings_;
  std::vector<std::string> types_;
  std::vector<std::string> comments_;
  std::map<std::size_t, std::string> functions_;
  std::map<std::size_t, std::string> locations_;
  std::vector<ReadSample> samples_;
};

TEST_F(Pprof, HoldsEachStackWithItsWeights) {
  read({});
  EXPECT_EQ(strings_.front(), "");
  EXPECT_EQ(types_, (std::vector<std::string>{"events", "calls"}));
  EXPECT_EQ(samples_.size(), 8U);
  std::int64_t events = 0;
  std::int64_t time = 0;
  for (const ReadSample& sample : samples_) {
    events += sample.values.at(0);
    time += sample.values.at(1);
  }
  EXPECT_EQ(events, 14);
  EXPECT_EQ(time, 1000 + 7000 + 600'000'000 + 6000 + 500 + 90);
  EXPECT_EQ(totals_.events, 14U);
  EXPECT_EQ(totals_.without_time, 5U);
}

TEST_F(Pprof, InlinedCallsAreLinesOfOnePlace) {
  read({.filter = {.pids = {100}, .tids = {110}}});
  ASSERT_EQ(samples_.size(), 1U);
  EXPECT_EQ(samples_[0].frames, (std::vector<std::string>{"read", "helper in run_job", "main", "__libc_start_main"}));
  EXPECT_EQ(samples_[0].labels, (std::map<std::string, std::string>{{"process", "make"}}));
}

// A thread is where its code's line is; a call returns to the same address, and is a line, and perhaps another list of
// inlined calls, before it.
TEST_F(Pprof, OneAddressCanBeTwoPlaces) {
  constexpr const char* kSecondPlace = R"sql(
INSERT INTO frame(id, module_id, rel_pc, function, function_offset, file, line, inlined) VALUES
  (9, 1, 8240, 'run_job', 48, '/src/job.c', 43, 0);
INSERT INTO stack(id, depth, ended, trigger_frame_id, trigger_fallback, folded) VALUES(5, 2, 'root', 9, 0, 'main;run_job');
INSERT INTO stack_frame VALUES(5, 0, 0, 9, 'user'), (5, 1, 0, 4, 'user');
INSERT INTO event VALUES(15, 1000145000000, 90, 'returned', 2, 2, 1, 5, 5, 0, 0, 0, 0, 0, 0, NULL);
)sql";
  const auto path = folder_ / "places.db";
  test::write_store(path, std::string(test::kSampleRows) + kSecondPlace + test::kCountEvents);
  read(test::open_store(path), {.filter = {.pids = {100}, .tids = {110}}});
  std::set<std::vector<std::string>> stacks;
  for (const ReadSample& sample : samples_) stacks.insert(sample.frames);
  EXPECT_EQ(stacks, (std::set<std::vector<std::string>>{{"read", "helper in run_job", "main", "__libc_start_main"},
                                                        {"run_job", "main"}}));
}

TEST_F(Pprof, BrokenAndMissingStacksAreMarked) {
  read({.levels = {.pid = true, .thread = true, .call = true}, .filter = {.pids = {101}, .calls = {{"exit_group"}}}});
  ASSERT_EQ(samples_.size(), 1U);
  EXPECT_EQ(samples_[0].frames, (std::vector<std::string>{"openat", "compile", "[broken:no_rows]"}));
  EXPECT_EQ(samples_[0].values, (std::vector<std::int64_t>{1, 0}));
  EXPECT_EQ(samples_[0].labels,
            (std::map<std::string, std::string>{
                {"process", "gcc"}, {"pid", "pid 101"}, {"thread", "gcc/101"}, {"call", "exit_group"}}));
}

TEST_F(Pprof, CommentsTellWhatIsMissing) {
  read({});
  ASSERT_EQ(comments_.size(), 3U);  // stacks that --verify did not compare are not missing
  EXPECT_NE(comments_[0].find("recorded on testhost"), std::string::npos);
  EXPECT_TRUE(comments_[1].starts_with("lost ring_full_event: 17 ")) << comments_[1];
  EXPECT_EQ(comments_[2],
            "5 of 14 events have no duration (never returned, or not calls), so they are not in the profiles of time");
}

TEST_F(Pprof, HostileNamesAreMadeSafe) {
  read({.filter = {.pids = {103}}});
  ASSERT_EQ(samples_.size(), 1U);
  EXPECT_EQ(samples_[0].frames, (std::vector<std::string>{"\\x1b[31mred\\x0a\\xff;</script>"}));
}

}  // namespace
}  // namespace uscope::analyzer
