// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What an aggregate function of SQLite keeps of a group: an object of ours, to which SQLite keeps a pointer between the
// rows.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <memory>

namespace uscope::query {

// The group's state; nullptr if there is no memory, and in the end of a group without rows.
template <typename State>
State* state_of(sqlite3_context* context, bool make) {
  auto** place = static_cast<State**>(sqlite3_aggregate_context(context, make ? sizeof(State*) : 0));
  if (!place) {
    if (make) sqlite3_result_error_nomem(context);
    return nullptr;
  }
  if (!*place && make) *place = new State;
  return *place;
}

template <typename State>
std::unique_ptr<State> last_of(sqlite3_context* context) {
  return std::unique_ptr<State>(state_of<State>(context, false));
}

// The argument at this place, a number of events; 1 if there are fewer arguments.
inline std::uint64_t weight(int count, sqlite3_value** arguments, int place) {
  return place < count ? static_cast<std::uint64_t>(sqlite3_value_int64(arguments[place])) : 1;
}

}  // namespace uscope::query
