// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Strings of calls: from their records to event_string, and the table that stores each text once.
#include <arpa/inet.h>
#include <netinet/in.h>

#include "store/db/string_table.h"
#include "tests/unit/store/load_support.h"

namespace uscope::store {
namespace {

constexpr std::uint32_t kOpen = 2;
constexpr std::uint32_t kExecve = 59;

class StringsTest : public LoaderTest {
 protected:
  void SetUp() override { usual(); }
  // "call|arg|value|late|source" of each row.
  std::string stored() {
    return rows(
        "SELECT kind.name, arg, value, late, source FROM event_string JOIN event ON event.id = event_id "
        "JOIN kind ON kind.id = kind_id JOIN string ON string.id = string_id WHERE source < 2 ORDER BY event_id, arg");
  }
};

TEST_F(StringsTest, StandAtTheCallOfTheirTaskAndEntry) {
  trace_->task({.task = 2, .tid = 101, .flags = 0});
  trace_->event({.task = 1, .entry = kStart + 100, .end = kStart + 110, .nr = kOpen});
  trace_->event({.task = 2, .entry = kStart + 100, .end = kStart + 110, .nr = kOpen});
  trace_->event({.task = 1, .entry = kStart + 200, .end = kStart + 210, .nr = kOpen});
  trace_->string(1, kStart + 100, 0, "/first");
  trace_->string(2, kStart + 100, 0, "/other");
  trace_->string(1, kStart + 200, 0, "/first", USC_STRING_TEXT, USC_STRING_LATE);
  load();
  EXPECT_EQ(stored(), "open|0|/first|0|0\nopen|0|/other|0|0\nopen|0|/first|1|0");
  EXPECT_EQ(rows("SELECT count(*) FROM string"), "2");
}

TEST_F(StringsTest, MeetALongCall) {
  const std::uint64_t entry = kStart + 100;
  trace_->string(1, entry, 0, "/slow");
  for (std::uint64_t i = 1; i < 100; i++)
    trace_->event({.entry = entry + i * 50'000'000, .end = entry + i * 50'000'000 + 1, .cpu = 1});
  trace_->event({.entry = entry, .end = entry + 5'000'000'000, .nr = kOpen});
  trace_->string(1, entry, 1, "/seen late", USC_STRING_TEXT, USC_STRING_LATE, entry + 5'000'000'000);
  load();
  EXPECT_EQ(stored(), "open|0|/slow|0|0\nopen|1|/seen late|1|0");
}

TEST_F(StringsTest, OfAnOpenCallAreItsReturns) {
  const std::uint64_t entry = kStart + 100;
  trace_->string(1, entry, 0, "/fifo");
  trace_->event({.entry = entry, .end = entry + 1'000'000'000, .nr = kOpen, .how = USC_HOW_OPEN});
  load();
  EXPECT_EQ(stored(), "open|0|/fifo|0|0");
}

TEST_F(StringsTest, WithoutTheirCallAreLeftOut) {
  trace_->string(1, kStart + 100, 0, "/lost");
  trace_->event({.entry = kStart + 200, .end = kStart + 210, .nr = kOpen});
  load();
  EXPECT_EQ(stored(), "");
  EXPECT_EQ(rows("SELECT count(*) FROM event"), "1");
}

TEST_F(StringsTest, AreValidTextAndSayThatTheyWereCut) {
  trace_->event({.entry = kStart + 100, .end = kStart + 110, .nr = kOpen});
  trace_->string(1, kStart + 100, 0, "/\xff", USC_STRING_TEXT, USC_STRING_TRUNCATED);
  load();
  EXPECT_EQ(stored(), "open|0|/\\xff…|0|0");
}

TEST_F(StringsTest, AddressesAreTexts) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(80);
  address.sin_addr.s_addr = htonl(0x7f000001);
  constexpr std::uint32_t kAccept = 43;
  trace_->event({.entry = kStart + 100, .end = kStart + 110, .nr = kAccept});
  trace_->string(1, kStart + 100, 1, {reinterpret_cast<const char*>(&address), sizeof(address)},
                 USC_STRING_ADDRESS_OUT);
  load();
  EXPECT_EQ(stored(), "accept|1|inet:127.0.0.1:80|0|1");
}

TEST_F(StringsTest, AnExecHasItsImages) {
  trace_->event({.entry = kStart, .end = kStart + 9, .result = 0, .nr = kExecve});  // the image is of kStart + 1
  trace_->event({.entry = kStart + 100, .end = kStart + 110, .result = -2, .nr = kExecve});
  trace_->string(1, kStart + 100, 0, "/none", USC_STRING_EXEC);
  load();
  EXPECT_EQ(stored(), "execve|0|/opt/bin/app|0|0\nexecve|1|[\"app\",\"-x\"]|0|0\nexecve|0|/none|0|0");
}

TEST_F(StringsTest, TheSameArgumentTwiceCountsOnce) {
  trace_->event({.entry = kStart + 100, .end = kStart + 110, .nr = kOpen});
  trace_->string(1, kStart + 100, 0, "/a");
  trace_->string(1, kStart + 100, 0, "/b");
  load();
  EXPECT_EQ(stored(), "open|0|/a|0|0");
}

// Bounds so small that every way of finding a text is gone.
TEST(StringTableTest, StoresEachTextOnceWhateverItRemembers) {
  const std::vector<std::pair<std::size_t, std::size_t>> bounds{
      {0, 0}, {10, 5}, {10, 1000}, {StringTable::kMostKnown, 0}, {StringTable::kMostKnown, StringTable::kKeptTexts}};
  for (const auto& [most, kept] : bounds) {
    test::TemporaryFolder folder;
    auto writer = DatabaseWriter::create(folder / "db");
    ASSERT_TRUE(writer) << writer.error().what;
    {
      StringTable strings(*writer, most, kept);
      ASSERT_TRUE(strings.prepare());
      writer->inserter().start_thread();
      constexpr int kTexts = 6000;  // more than are remembered as recent
      std::vector<StringRowId> ids;
      for (int i = 0; i < kTexts; i++) {
        auto id = strings.intern("text " + std::to_string(i));
        ASSERT_TRUE(id) << id.error().what;
        EXPECT_EQ(*id, StringRowId(i + 1));
        ids.push_back(*id);
      }
      for (int i = 0; i < kTexts; i++) {
        auto id = strings.intern("text " + std::to_string(i));
        ASSERT_TRUE(id) << id.error().what;
        EXPECT_EQ(*id, ids[static_cast<std::size_t>(i)]);
      }
      for (const int i : {16, kTexts - 1}) {
        auto text = strings.text(StringRowId(i + 1));
        ASSERT_TRUE(text) << text.error().what;
        EXPECT_EQ(*text, "text " + std::to_string(i));
      }
      auto text = strings.text(StringRowId(kTexts + 1));
      ASSERT_TRUE(text);
      EXPECT_FALSE(*text);
      ASSERT_TRUE(strings.finish());
    }
    const auto done = writer->commit();
    ASSERT_TRUE(done) << done.error().what;
    const auto database = Database::open(folder / "db");  // which refuses one with an index too many
    EXPECT_TRUE(database) << database.error().what;
  }
}

// Longer texts than a block of memory for texts.
TEST(StringTableTest, KeepsLongTextsApart) {
  test::TemporaryFolder folder;
  auto writer = DatabaseWriter::create(folder / "db");
  ASSERT_TRUE(writer) << writer.error().what;
  StringTable strings(*writer);
  ASSERT_TRUE(strings.prepare());
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < 40; i++) texts.emplace_back(i * i * 100, static_cast<char>('a' + i % 26));
  for (const std::string& text : texts) ASSERT_TRUE(strings.intern(text));
  for (std::size_t i = 0; i < texts.size(); i++)
    EXPECT_EQ(*strings.text(StringRowId(static_cast<std::int64_t>(i + 1))), texts[i]);
}

}  // namespace
}  // namespace uscope::store
