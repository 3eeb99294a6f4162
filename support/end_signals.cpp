// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "support/end_signals.h"

#include <algorithm>

namespace uscope {

bool end_is_asked_for() {
  sigset_t pending;
  if (sigpending(&pending) != 0) return false;
  return std::any_of(std::begin(kEndSignals), std::end(kEndSignals),
                     [&](int number) { return sigismember(&pending, number) == 1; });
}

}  // namespace uscope
