// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A trace made by arithmetic: the raw file, and the same rows inserted without a loader.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "symbolizer/names/frame_namer.h"
#include "uscope/record.h"

namespace uscope::store {

// What the trace's calls are, beside their number.
enum class Calls : std::uint8_t {
  kServer,  // see kProcesses
  kCopies,  // one thread reads one file and writes another, in turn: descriptors that are known
  kStats,   // one thread asks about kPaths relative paths of a known folder; a third of them do not exist
};

struct Shape {
  std::uint64_t events = 0;
  std::uint32_t stacks = 0;  // distinct
  std::uint32_t frames = 0;  // of a stack: from half of it to one and a half
  bool even = false;         // stacks are equally frequent; otherwise a few make up most events
  std::uint64_t seed = 0;    // other events of the same kinds
  std::uint32_t threads = 200;
  Calls calls = Calls::kServer;
};

// A server: 8 processes with 25 threads each (by default), 59 kinds of calls, 500 triggers, durations of up to 2 ms
// and, one in 5000, of 0.3 s; 2 % fail; one call in 100,000 never returns.
inline constexpr std::uint32_t kProcesses = 8;
inline constexpr std::uint32_t kKinds = 59;
inline constexpr std::uint32_t kTriggers = 500;
inline constexpr std::uint32_t kPaths = 5000;
inline constexpr std::uint64_t kTraceStart = 1'000'000'000'000;

// Names addresses at no cost: what is measured is the loader, not the symbols.
class PlainNamer : public symbolizer::FrameNamer {
 public:
  std::vector<symbolizer::NamedFrame> name(const symbolizer::ModuleRequest& module, std::uint64_t address,
                                           bool exact) override;
};

[[nodiscard]] usc_event event_of(const Shape& shape, std::uint64_t number);

void write_raw(const std::filesystem::path& path, const Shape& shape);

// Frames, stacks and events, each by a prepared statement, in the order of their ids, with the loader's settings and
// indices: the floor that SQLite itself sets.
void insert_bare(const std::filesystem::path& path, const Shape& shape);

// Ends the program where there is an error.
void check(const Result<void>& result);

}  // namespace uscope::store
