// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/backend/ring_reader.h"

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

namespace uscope::tracer {
namespace {

constexpr std::uint32_t kBytes = 256;

// The kernel's side: a ring whose second mapping is kept equal by hand.
class FakeRing {
 public:
  void write(std::uint32_t seq, std::uint32_t bytes) {
    std::vector<char> record(bytes);
    auto& head = *reinterpret_cast<usc_record*>(record.data());
    head.size = bytes;
    head.seq = seq;
    put(record);
  }
  void put(const std::vector<char>& bytes) {
    for (const char byte : bytes) {
      const std::size_t at = head_++ % kBytes;
      data_[at] = data_[at + kBytes] = byte;
    }
    control_.head = head_;
  }
  usc_ring_control control_{};
  alignas(8) char data_[2 * kBytes] = {};
  std::uint64_t head_ = 0;
};

std::vector<std::uint32_t> drain(RingReader& reader) {
  std::vector<std::uint32_t> seen;
  const std::size_t count = reader.drain([&](const usc_record& record) { seen.push_back(record.seq); });
  EXPECT_EQ(count, seen.size());
  return seen;
}

using Seqs = std::vector<std::uint32_t>;

TEST(RingReader, RecordsInOrderAndTheirRoomGivenBack) {
  FakeRing ring;
  RingReader reader(&ring.control_, ring.data_, kBytes);
  EXPECT_EQ(drain(reader), Seqs{});
  ring.write(1, 32);
  ring.write(2, 104);
  EXPECT_EQ(drain(reader), (Seqs{1, 2}));
  EXPECT_EQ(ring.control_.tail, 136u);
  EXPECT_EQ(drain(reader), Seqs{});
}

TEST(RingReader, ARecordAcrossTheEndIsInOnePiece) {
  FakeRing ring;
  RingReader reader(&ring.control_, ring.data_, kBytes);
  for (std::uint32_t seq = 1; seq <= 20; seq++) {
    ring.write(seq, 104);
    EXPECT_EQ(drain(reader), Seqs{seq});
  }
  EXPECT_EQ(ring.control_.tail, 2080u);
  EXPECT_FALSE(reader.damaged());
}

// All that was there when it began, which is what a round of the collector stands for; and an end, however fast the
// ring is filled meanwhile.
TEST(RingReader, AllThatWasThereAndNoMore) {
  FakeRing ring;
  RingReader reader(&ring.control_, ring.data_, kBytes);
  for (std::uint32_t seq = 1; seq <= 5; seq++) ring.write(seq, 32);
  Seqs seen;
  reader.drain([&](const usc_record& record) {
    seen.push_back(record.seq);
    ring.write(record.seq + 5, 32);
  });
  EXPECT_EQ(seen, (Seqs{1, 2, 3, 4, 5}));
  EXPECT_EQ(ring.control_.tail, 160u);
  EXPECT_EQ(drain(reader), (Seqs{6, 7, 8, 9, 10}));
}

TEST(RingReader, DamagedLengthsEndTheRing) {
  for (const std::uint32_t size : {0u, 16u, 23u, 28u, 48u, 0xfffffff8u}) {
    FakeRing ring;
    RingReader reader(&ring.control_, ring.data_, kBytes);
    std::vector<char> record(40);
    std::memcpy(record.data(), &size, sizeof(size));
    ring.put(record);
    EXPECT_EQ(drain(reader), Seqs{}) << size;
    EXPECT_TRUE(reader.damaged()) << size;
    EXPECT_EQ(ring.control_.tail, 0u) << size;
  }
  FakeRing ring;
  RingReader reader(&ring.control_, ring.data_, kBytes);
  ring.control_.head = kBytes + 8;
  EXPECT_EQ(drain(reader), Seqs{});
  EXPECT_TRUE(reader.damaged());
}

}  // namespace
}  // namespace uscope::tracer
