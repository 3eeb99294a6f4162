// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What becomes of usc_futex records in a store.
#include <gtest/gtest.h>

#include <string>

#include "store/loader.h"
#include "tests/unit/store/load_support.h"
#include "uscope/futex.h"

namespace uscope::store {
namespace {

constexpr std::uint32_t kFutex = 202;
constexpr std::uint64_t kLock = 0x7f0000001030;

usc_futex wait_at(std::uint64_t entry, std::uint32_t op = USC_FUTEX_OP_WAIT | USC_FUTEX_OP_PRIVATE) {
  usc_futex futex{};
  futex.entry_ns = entry;
  futex.address = kLock;
  futex.timeout = USC_FUTEX_NO_TIMEOUT;
  futex.words_from = kLock - USC_FUTEX_BEFORE;
  futex.op = op;
  futex.expected = 2;
  futex.mm = 3;
  futex.untraced_sharers = USC_FUTEX_SHARERS_UNKNOWN;
  futex.futexes = 1;
  futex.key = USC_FUTEX_PRIVATE;
  return futex;
}

class FutexesTest : public LoaderTest {
 protected:
  void entry(std::uint64_t at, std::uint8_t how, std::uint8_t flags = 0) {
    trace_->event({.entry = at, .end = at + 1000, .nr = kFutex, .how = how, .flags = flags, .a0 = kLock});
  }
  void look(std::uint64_t time, usc_futex futex, const std::string& words, std::uint8_t flags = 0) {
    futex.flags = static_cast<__u8>(futex.flags | USC_FUTEX_AT_STOP | flags);
    trace_->futex(1, time, futex, words);
  }
  std::string waits(const std::string& columns) { return rows("SELECT " + columns + " FROM futex_wait"); }
};

TEST_F(FutexesTest, AWaitIsKeptWithWhatItsEntryAndTheLastLookSaid) {
  usual();
  const usc_futex futex = wait_at(kStart + 10);
  trace_->futex(1, kStart + 11, futex, std::string(96, 'a'));
  look(kStart + 5000, futex, std::string(96, 'c'), USC_FUTEX_ASLEEP | USC_FUTEX_HANDLERS);
  look(kStart + 4000, futex, std::string(96, 'b'));
  entry(kStart + 10, USC_HOW_OPEN);
  load();
  EXPECT_EQ(waits("event_id, address, op, expected, timeout_ns, key, asleep, strangers, futexes, handlers"),
            "1|139637976731696|128|2|-|mm:3:0x7f0000001030|1|-|1|1");
  EXPECT_EQ(waits("words, words_at_stop"), std::string(96, 'a') + "|" + std::string(96, 'c'));
  EXPECT_EQ(waits("address - words_from, address - words_at_stop_from"), "48|48");
}

TEST_F(FutexesTest, ALookAtAWaitThatHasReturnedSaysNothing) {
  usual();
  const usc_futex futex = wait_at(kStart + 10);
  trace_->futex(1, kStart + 11, futex, std::string(96, 'a'));
  look(kStart + 500, futex, std::string(96, 'c'), USC_FUTEX_ASLEEP);
  entry(kStart + 10, USC_HOW_RETURNED);
  load();
  EXPECT_EQ(waits("words, words_at_stop, asleep, handlers"), std::string(96, 'a') + "|-|-|-");
}

TEST_F(FutexesTest, AWaitThatWasAttachedToHasTheLooksOnly) {
  usual();
  look(kStart + 500, wait_at(kStart + 10), std::string(40, 'c'));
  entry(kStart + 10, USC_HOW_ATTACHED, USC_EVENT_ATTACHED);
  load();
  EXPECT_EQ(waits("expected, words, words_from, words_at_stop, asleep"), "2|-|-|" + std::string(40, 'c') + "|0");
}

TEST_F(FutexesTest, TimeoutsCountFromTheEntry) {
  usual();
  const auto told = [&](std::uint64_t at, std::uint32_t op, std::uint64_t timeout, std::uint8_t flags) {
    usc_futex futex = wait_at(at, op);
    futex.timeout = timeout;
    futex.flags = flags;
    trace_->futex(1, at, futex);
    entry(at, USC_HOW_RETURNED);
  };
  told(kStart + 10, USC_FUTEX_OP_WAIT, 700, 0);
  told(kStart + 20, USC_FUTEX_OP_WAIT_BITSET, kStart + 120, USC_FUTEX_ABSOLUTE);
  // The trace's CLOCK_REALTIME is 77 ns ahead.
  told(kStart + 30, USC_FUTEX_OP_WAIT_BITSET | USC_FUTEX_OP_REALTIME, kStart + 130, USC_FUTEX_ABSOLUTE);
  told(kStart + 40, USC_FUTEX_OP_LOCK_PI, kStart + 140, USC_FUTEX_ABSOLUTE);
  told(kStart + 50, USC_FUTEX_OP_WAIT_BITSET, 5, USC_FUTEX_ABSOLUTE);
  told(kStart + 60, USC_FUTEX_OP_WAIT, ~std::uint64_t{1}, 0);
  load();
  EXPECT_EQ(waits("timeout_ns"), "700\n100\n23\n23\n0\n9223372036854775807");
}

TEST_F(FutexesTest, SharedKeysAreOfTheFileAndUnknownOnesAreTakenFromALook) {
  usual();
  usc_futex shared = wait_at(kStart + 10, USC_FUTEX_OP_WAIT);
  shared.key = USC_FUTEX_SHARED;
  shared.dev = 1;
  shared.ino = 2049;
  shared.offset = 0x40;
  shared.untraced_sharers = 2;
  usc_futex unknown = shared;
  unknown.key = USC_FUTEX_UNKNOWN;
  trace_->futex(1, kStart + 11, unknown);
  look(kStart + 500, shared, "");
  entry(kStart + 10, USC_HOW_OPEN);
  unknown.entry_ns = kStart + 20;
  trace_->futex(1, kStart + 21, unknown);
  entry(kStart + 20, USC_HOW_OPEN);
  load();
  EXPECT_EQ(waits("key, strangers, words"), "file:1:2049:0x40|2|-\n-|-|-");
}

TEST_F(FutexesTest, WakesStandApart) {
  usual();
  usc_futex wake = wait_at(kStart + 10, USC_FUTEX_OP_WAKE);
  wake.flags = USC_FUTEX_WAKE;
  wake.key = USC_FUTEX_SHARED;
  trace_->futex(1, kStart + 11, wake);
  entry(kStart + 10, USC_HOW_RETURNED);
  load();
  EXPECT_EQ(rows("SELECT event_id, address, count, key FROM futex_wake"), "1|139637976731696|2|file:0:0:0x0");
  EXPECT_EQ(rows("SELECT count(*) FROM futex_wait"), "0");
}

TEST_F(FutexesTest, RecordsThatCannotBeAreDamage) {
  usual();
  usc_futex futex = wait_at(kStart + 10);
  trace_->futex(1, kStart + 11, futex, std::string(104, 'a'));
  entry(kStart + 10, USC_HOW_RETURNED);
  load();
  EXPECT_EQ(rows("SELECT count(*) FROM futex_wait"), "0");
  EXPECT_EQ(rows("SELECT count(*) FROM loss WHERE cause = 'raw_damaged'"), "1");
}

}  // namespace
}  // namespace uscope::store
