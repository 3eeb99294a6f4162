// What is to be expected of a call whatever the application: that it waits, and results that only mean "later".
#pragma once

#include <cstdint>
#include <string_view>

namespace uscope::analyzer {

// Its number and length depend on when other threads and peers do something.
[[nodiscard]] bool waits(std::string_view kind);

// An error that says no more than "not yet": EAGAIN, EINTR, EINPROGRESS, EALREADY; of calls that wait, ETIMEDOUT.
[[nodiscard]] bool is_passing(std::string_view kind, std::int64_t error);

}  // namespace uscope::analyzer
