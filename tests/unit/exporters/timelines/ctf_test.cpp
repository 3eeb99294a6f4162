// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The parts of a CTF trace that no reader shows; conformance.exports opens one with babeltrace2.
#include "exporters/timelines/ctf.h"

#include <algorithm>

#include "exporters/timelines/ctf_metadata.h"
#include "exporters/timelines/ctf_stream.h"
#include "tests/unit/analyzer/sample_trace.h"

namespace uscope::analyzer {
namespace {

class Ctf : public test::SampleTrace {
 protected:
  void write(const EventFilter& filter) {
    const auto database = open();
    const auto catalog = read_catalog(database);
    ASSERT_TRUE(catalog);
    const auto words = [](const EventRow&) { return std::string("words"); };
    auto totals = exporters::write_ctf(
        database, *catalog, filter, {words, words},
        {[&](std::string_view bytes) { metadata_ += bytes; }, [&](std::string_view bytes) { stream_ += bytes; }});
    ASSERT_TRUE(totals) << totals.error().what;
    totals_ = *totals;
  }

  [[nodiscard]] std::uint64_t number(std::size_t at, std::size_t bytes) const {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; i++)
      value |= std::uint64_t{static_cast<unsigned char>(stream_.at(at + i))} << (8 * i);
    return value;
  }

  struct Packet {
    std::uint64_t first_ns, last_ns, bytes, lost;
  };
  [[nodiscard]] std::vector<Packet> packets() const {
    std::vector<Packet> out;
    for (std::size_t at = 0; at < stream_.size(); at += out.back().bytes) {
      EXPECT_EQ(number(at, 4), 0xC1FC1FC1U);
      EXPECT_EQ(number(at + 24, 8), number(at + 32, 8));
      out.push_back({number(at + 8, 8), number(at + 16, 8), number(at + 24, 8) / 8, number(at + 40, 8)});
    }
    return out;
  }

  std::string metadata_;
  std::string stream_;
  exporters::TimelineTotals totals_;
};

TEST_F(Ctf, PacketsFollowEachOtherAndCountWhatIsLost) {
  write({});
  EXPECT_EQ(totals_.events, 14U);
  EXPECT_EQ(totals_.unfinished, 4U);
  const auto found = packets();
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].first_ns, static_cast<std::uint64_t>(test::kStart));
  EXPECT_EQ(found[0].lost, 0U);
  EXPECT_EQ(found[1].lost, 17U);
  EXPECT_LE(found[0].last_ns, found[1].first_ns);
  EXPECT_EQ(found[1].last_ns, static_cast<std::uint64_t>(test::kStart) + 890'000'000);  // exit_group
}

TEST_F(Ctf, WithoutAnEventIsATraceOfProcessesAndLosses) {
  write({.pids = {4711}});
  EXPECT_EQ(totals_.events, 0U);
  EXPECT_EQ(packets().size(), 2U);
  EXPECT_NE(metadata_.find("syscall_entry_openat"), std::string::npos);
  EXPECT_NE(metadata_.find("compat_syscall_entry_getpid"), std::string::npos);
}

TEST(CtfTexts, AreQuotedForTsdl) {
  EXPECT_EQ(exporters::tsdl_quoted("a\"b\\"), "\"a\\\"b\\\\\"");
  EXPECT_EQ(exporters::tsdl_quoted("x\n\x1b"), "\"x\\\\x0a\\\\x1b\"");
}

TEST(CtfBytes, AreLittleEndianAndTimesNeverFall) {
  std::string out;
  const exporters::Bytes take = [&](std::string_view bytes) { out += bytes; };
  exporters::CtfStream stream(take);
  stream.event(7, 500, {1, 2, "p", ""});
  stream.u32(0x01020304);
  stream.event(8, 400, {1, 2, "", std::string_view("a\0b", 3)});
  stream.flush();
  stream.flush();  // nothing
  const std::string body = out.substr(48);
  EXPECT_EQ(body.substr(0, 12), std::string("\7\0\0\0\xf4\1\0\0\0\0\0\0", 12));
  EXPECT_EQ(body.substr(28, 3), std::string("p\0\0", 3));
  EXPECT_EQ(body.substr(31, 4), "\4\3\2\1");
  EXPECT_EQ(body.substr(39, 2), "\xf4\1");  // not before the event before it
  EXPECT_EQ(body.substr(63), std::string("\0a\\x00b\0", 8));
}

}  // namespace
}  // namespace uscope::analyzer
