// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The events of a CTF 1.8 stream, as bytes: packets of events that follow each other in time. ctf_metadata.h says the
// same to the reader.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "exporters/bytes.h"

namespace uscope::exporters {

// Of whom an event is.
struct CtfContext {
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  std::string_view process;
  std::string_view thread;
};

class CtfStream {
 public:
  explicit CtfStream(const Bytes& out) : out_(out) {}

  // Begins an event; its fields follow. `number` is that of its class. Times must not fall: one that does is written
  // as that of the event before.
  void event(std::uint32_t number, std::int64_t ts_ns, const CtfContext& context);

  void u32(std::uint32_t value) { number(value, 4); }
  void u64(std::uint64_t value) { number(value, 8); }
  void i64(std::int64_t value) { number(static_cast<std::uint64_t>(value), 8); }
  // Made safe to show; so it holds no zero byte, which would end it.
  void text(std::string_view raw);

  // How many events are lost up to now, altogether. Stands in each packet that is begun or not yet written.
  void lost(std::uint64_t events) { lost_ = events; }

  // Writes the packet under construction.
  void flush();

 private:
  void number(std::uint64_t value, int bytes);

  const Bytes& out_;
  std::string packet_;  // its events
  std::int64_t first_ns_ = 0;
  std::int64_t last_ns_ = 0;
  std::uint64_t lost_ = 0;
};

}  // namespace uscope::exporters
