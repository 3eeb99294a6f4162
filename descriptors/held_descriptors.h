// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Who had which object open: descriptors that were still open when their process ended or when tracing ended, and all
// descriptors of sockets that have an address of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "descriptors/descriptor_table.h"
#include "trace/ids.h"

namespace uscope::descriptors {

// How it ended that a process had a descriptor.
enum class HeldUntil : std::uint8_t {
  kClose,    // a call closed or replaced it
  kExec,     // an exec closed it
  kExit,     // the process ended
  kLeft,     // the process left the trace
  kTracing,  // tracing ended
};
// "close" …: held_descriptor.until.
[[nodiscard]] std::string_view held_until_name(HeldUntil until);

struct HeldDescriptor {
  trace::ProcessId process{};
  int fd = -1;  // -1: it may have had more, of which nothing is known
  trace::TextId name{};
  EventId opened{};  // the call that opened it, of this process or of the one that it was inherited from; none:
                     // it was open before, or the call is no event
  std::optional<std::uint64_t> until_ns{};  // none: it was open when tracing ended
  HeldUntil until = HeldUntil::kTracing;
  OpenFile open_file{};
};

class HeldDescriptors {
 public:
  // So many are kept. Of processes beyond that, it is not known what they had.
  static constexpr std::size_t kMost = std::size_t{1} << 18;

  void add(const HeldDescriptor& held);
  // Returns all of them, in an order that depends on the trace alone. Valid until the next change.
  [[nodiscard]] std::span<const HeldDescriptor> sorted();

 private:
  std::vector<HeldDescriptor> held_;
};

}  // namespace uscope::descriptors
