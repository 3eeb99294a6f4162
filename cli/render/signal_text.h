// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A signal as text, similar to strace's lines, and as JSON. What a traced program chose is escaped.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "analyzer/read/event_row.h"

namespace uscope::cli {

// "--- SIGTERM {si_code=SI_USER, si_pid=12, si_uid=0} sent to server[40] ---"
[[nodiscard]] std::string signal_text(const analyzer::EventSignal& signal);

// The part in braces, without them.
[[nodiscard]] std::string signal_info_text(const analyzer::EventSignal& signal);

[[nodiscard]] nlohmann::ordered_json signal_json(const analyzer::EventSignal& signal);

}  // namespace uscope::cli
