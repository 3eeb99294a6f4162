// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the bytes are, by protozero's reader; conformance.exports opens a trace with Perfetto's own trace_processor.
#include "exporters/timelines/perfetto.h"

#include <map>
#include <protozero/pbf_reader.hpp>

#include "tests/unit/analyzer/sample_trace.h"

namespace uscope::analyzer {
namespace {

using protozero::pbf_reader;

struct ReadEvent {
  int type = 0;  // 1: begin, 2: end, 3: instant
  std::uint64_t track = 0;
  std::int64_t ts_ns = 0;  // since the trace's start
  std::string name;
  std::map<std::string, std::string> annotations;
};

class Perfetto : public test::SampleTrace {
 protected:
  void read(const EventFilter& filter) {
    const auto database = open();
    const auto catalog = read_catalog(database);
    ASSERT_TRUE(catalog);
    std::string file;
    const exporters::EventWords words{[](const EventRow&) { return std::string("\x1b]x"); }, {}};
    auto totals =
        exporters::write_perfetto(database, *catalog, filter, words, [&](std::string_view bytes) { file += bytes; });
    ASSERT_TRUE(totals) << totals.error().what;
    totals_ = *totals;
    for (pbf_reader field(file); field.next(1);) take(field.get_message());
  }

  // Interned data stand behind the event in a packet, so they are read first.
  void take(pbf_reader packet) {
    pbf_reader first = packet;
    while (first.next(12)) take_interned(first.get_message());
    ReadEvent event;
    while (packet.next()) {
      if (packet.tag() == 8)
        event.ts_ns = static_cast<std::int64_t>(packet.get_uint64()) - test::kStart;
      else if (packet.tag() == 11)
        take_event(packet.get_message(), event);
      else
        packet.skip();
    }
    if (event.type != 0) events_.push_back(event);
  }

  void take_interned(pbf_reader data) {
    while (data.next()) {
      const auto tag = data.tag();
      pbf_reader entry = data.get_message();
      if ((tag == 2 || tag == 3) && entry.next(1)) {
        const std::uint64_t number = entry.get_uint64();
        ASSERT_TRUE(entry.next(2));
        (tag == 2 ? names_ : annotations_)[number] = entry.get_string();
      }
    }
  }

  void take_event(pbf_reader event, ReadEvent& out) {
    while (event.next()) {
      if (event.tag() == 9)
        out.type = event.get_int32();
      else if (event.tag() == 11)
        out.track = event.get_uint64();
      else if (event.tag() == 10)
        out.name = names_.at(event.get_uint64());
      else if (event.tag() == 4)
        take_annotation(event.get_message(), out);
      else
        event.skip();
    }
  }

  void take_annotation(pbf_reader annotation, ReadEvent& out) {
    ASSERT_TRUE(annotation.next(1));
    std::string& value = out.annotations[annotations_.at(annotation.get_uint64())];
    while (annotation.next())
      value = annotation.tag() == 4 ? std::to_string(annotation.get_int64()) : annotation.get_string();
  }

  // Of the event of the store with this id.
  const ReadEvent& event(const std::string& id) {
    for (const ReadEvent& event : events_)
      if (const auto at = event.annotations.find("id"); at != event.annotations.end() && at->second == id) return event;
    ADD_FAILURE() << "no event " << id;
    return events_.front();
  }

  // The time of the first end on its track after it; nullopt: there is none.
  std::optional<std::int64_t> end_of(const std::string& id) {
    const ReadEvent& begin = event(id);
    for (const ReadEvent* at = &begin; at != events_.data() + events_.size(); ++at)
      if (at->type == 2 && at->track == begin.track) return at->ts_ns;
    return std::nullopt;
  }

  exporters::TimelineTotals totals_;
  std::map<std::uint64_t, std::string> names_;
  std::map<std::uint64_t, std::string> annotations_;
  std::vector<ReadEvent> events_;
};

TEST_F(Perfetto, CallsAreSlicesWithTheirFacts) {
  read({});
  EXPECT_EQ(totals_.events, 14U);
  const ReadEvent& call = event("2");
  EXPECT_EQ(call.type, 1);
  EXPECT_EQ(call.name, "openat");
  EXPECT_EQ(call.ts_ns, 220'000'000);
  EXPECT_EQ(end_of("2"), 220'002'000);
  EXPECT_EQ(call.annotations.at("result"), "-2");
  EXPECT_EQ(call.annotations.at("error"), "ENOENT");
  EXPECT_EQ(call.annotations.at("arguments"), "\\x1b]x");
  EXPECT_EQ(call.annotations.at("stack"), "broken: callers are missing (broken:no_rows)");
  EXPECT_EQ(call.annotations.count("how"), 0U);
}

TEST_F(Perfetto, WhatWasNotSeenToEndHasNoEnd) {
  read({});
  for (const char* id : {"7", "8", "10", "12"}) {
    EXPECT_EQ(event(id).type, 1) << id;
    EXPECT_EQ(event(id).annotations.count("how"), 1U) << id;
  }
  EXPECT_EQ(totals_.unfinished, 4U);
  EXPECT_EQ(end_of("8"), std::nullopt);
  EXPECT_EQ(end_of("10"), std::nullopt);  // the store does not say when its thread ended
  EXPECT_EQ(event("13").type, 3);         // an exit without an entry
  // Calls of a thread that was found inside one are within it, since that is not over.
  EXPECT_EQ(end_of("1"), 10'001'000);
}

TEST_F(Perfetto, NameBeforeTheTracksIsTold) {
  std::filesystem::remove(path());
  test::write_store(path(), std::string(test::kSampleRows) + test::kCountEvents +
                                "INSERT INTO thread_name VALUES (1, 0, 'bash'), (1, 1000100000000, 'make');");
  read({});
  EXPECT_EQ(event("1").annotations.at("thread"), "bash");
  EXPECT_EQ(event("2").annotations.count("thread"), 0U);
}

TEST_F(Perfetto, LossesAndProgramsAreThere) {
  read({.pids = {101}});
  EXPECT_EQ(totals_.events, 4U);
  std::multimap<std::string, std::string> lost;
  std::vector<std::string> programs;
  for (const ReadEvent& event : events_) {
    if (event.name.starts_with("lost ")) lost.emplace(event.name, event.annotations.at("count"));
    if (event.annotations.count("path") != 0) programs.push_back(event.name);
  }
  EXPECT_EQ(lost, (std::multimap<std::string, std::string>{
                      {"lost ring_full_event", "10"}, {"lost ring_full_event", "2"}, {"lost ring_full_event", "5"}}));
  EXPECT_EQ(programs, (std::vector<std::string>{"bash", "make", "make", "gcc", "make", "gcc", "script>", "true"}));
}

}  // namespace
}  // namespace uscope::analyzer
