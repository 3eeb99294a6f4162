// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Fills event_descriptor: the descriptors in the set of a call that waits (poll, select, epoll_wait), as a look found
// them; and event_buffers: how much a call with a list of buffers (writev, sendmsg) asks for. Only the first and the
// last look are kept, so only calls are described that were under way at one of these. And the descriptors that
// messages carry (SCM_RIGHTS), of every call.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "descriptors/descriptor_tracker.h"
#include "store/db/database.h"
#include "store/db/row_ids.h"
#include "store/db/string_table.h"
#include "store/model/definitions.h"
#include "uscope/record.h"

namespace uscope::store {

class SetWriter {
 public:
  // All must outlive this object.
  SetWriter(DatabaseWriter& database, const Definitions& definitions, StringTable& strings)
      : database_(database), definitions_(definitions), strings_(strings) {}

  Result<void> prepare();  // to be called first

  // `event_id` is the event's row.
  Result<void> write(EventRowId event_id, const usc_event& event);
  Result<void> write_passed(EventRowId event_id, std::span<const descriptors::DescriptorTracker::Passed> passed);

 private:
  // What a look found of a thread that was asleep in such a call.
  struct Found {
    const usc_thread_look* thread = nullptr;
    std::vector<const usc_waited*> waits;
  };
  struct Look {
    std::unordered_map<std::uint32_t, Found> calls;                   // by task
    std::map<std::pair<std::uint32_t, int>, std::string_view> names;  // by process and number
    std::unordered_map<std::uint32_t, std::uint32_t> threads;         // of each process
  };

  [[nodiscard]] Look learn(const LookFacts& facts) const;
  Result<bool> write_of(const Look& look, EventRowId event_id, const usc_event& event);
  Result<void> add(const Look& look, EventRowId event_id, std::uint32_t process, const usc_waited& waited, int arg,
                   std::uint8_t wants);

  DatabaseWriter& database_;
  const Definitions& definitions_;
  StringTable& strings_;
  std::unique_ptr<TableRows> rows_;
  std::unique_ptr<TableRows> buffers_;
  std::int64_t place_ = 0;  // of the next descriptor of the event
  Look first_;
  Look last_;
};

}  // namespace uscope::store
