// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// All numbers are little-endian and begin at any byte, and texts end with a zero byte: so a field is written by
// appending it, and no library is needed.
#include "exporters/timelines/ctf_stream.h"

#include <algorithm>

#include "support/text.h"

namespace uscope::exporters {
namespace {

constexpr std::uint32_t kMagic = 0xC1FC1FC1;
constexpr std::size_t kPacketBytes = 256 << 10;  // a packet ends with the event that reaches this
constexpr std::size_t kHeadBytes = 4 + 4 + 5 * 8;

void append(std::string& out, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; i++) out += static_cast<char>(value >> (8 * i) & 0xff);
}

}  // namespace

void CtfStream::event(std::uint32_t event_class, std::int64_t ts_ns, const CtfContext& context) {
  if (packet_.size() >= kPacketBytes) flush();
  last_ns_ = std::max(last_ns_, ts_ns);
  if (packet_.empty()) first_ns_ = last_ns_;
  u32(event_class);
  i64(last_ns_);
  i64(context.pid);
  i64(context.tid);
  text(context.process);
  text(context.thread);
}

void CtfStream::text(std::string_view raw) {
  packet_ += printable(raw);
  packet_ += '\0';
}

void CtfStream::number(std::uint64_t value, int bytes) {
  append(packet_, value, bytes);
}

void CtfStream::flush() {
  if (packet_.empty()) return;
  constexpr std::uint64_t kBits = 8;
  const std::uint64_t bits = (kHeadBytes + packet_.size()) * kBits;
  std::string head;
  append(head, kMagic, 4);
  append(head, 0, 4);  // the only stream
  for (const std::uint64_t field :
       {static_cast<std::uint64_t>(first_ns_), static_cast<std::uint64_t>(last_ns_), bits, bits, lost_})
    append(head, field, 8);
  out_(head);
  out_(packet_);
  packet_.clear();
}

}  // namespace uscope::exporters
