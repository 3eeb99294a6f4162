// What a helper process does first after fork(), before anything else.
#pragma once

#include <sys/types.h>

#include <array>
#include <csignal>

namespace uscope {

// Signals by which somebody asks a recording to end.
inline constexpr std::array kEndSignals{SIGINT, SIGTERM, SIGQUIT, SIGHUP};

// What the parent had set up ends here: its signals, its files but `kept`, its terminal. The number that `kept` has
// then.
int settle_child(int kept, const char* name);

// Killed with `parent` from here on; false where it has ended already.
[[nodiscard]] bool die_with(pid_t parent);

}  // namespace uscope
