// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What becomes of a hit on its way to the trace: the kernel side sends its kernel frames as addresses, and the trace
// has numbers of places, each of which is told once, before the first hit with it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "support/result.h"
#include "trace/sink.h"
#include "tracer/probes/kernel_symbols.h"

namespace uscope::tracer {

class HitRecords {
 public:
  // The kernel module gives smaller numbers to places of events that other modules log.
  static constexpr std::uint32_t kFirstPlace = std::uint32_t{1} << 31;
  // Places beyond it have no name: their number is 0.
  static constexpr std::size_t kMostPlaces = std::size_t{1} << 16;

  using ReadSymbols = std::function<KernelSymbols()>;

  // `sink` must outlive this object. `read` is called when the first frame comes.
  explicit HitRecords(trace::RecordSink& sink, ReadSymbols read = KernelSymbols::read)
      : sink_(sink), read_(std::move(read)) {}

  // Writes a hit. One that the kernel side sent through a ring keeps its number; of one that was asked for (`is_own`)
  // it is a record of the tracer's.
  Result<void> write(const usc_hit& hit, bool is_own);

 private:
  Result<std::uint32_t> place_of(std::uint64_t address, bool is_return, std::uint64_t now_ns);

  trace::RecordSink& sink_;
  ReadSymbols read_;
  std::optional<KernelSymbols> symbols_;
  std::unordered_map<std::uint64_t, std::uint32_t> places_;  // by address, doubled, and 1 more of a return address
};

}  // namespace uscope::tracer
