// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Events as text, for formats that hold single events: made by the caller, which has the renderers.
#pragma once

#include <functional>
#include <string>

#include "analyzer/read/event_row.h"

namespace uscope::exporters {

struct EventWords {
  std::function<std::string(const analyzer::EventRow&)> arguments;  // `3</etc/passwd>, "root", 4`
  std::function<std::string(const analyzer::EventRow&)> result;     // `-1 ENOENT (No such file or directory)`
};

}  // namespace uscope::exporters
