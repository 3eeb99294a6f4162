// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// `uscope time --by peer`, as text for people and as JSON for programs (docs/json/peers.schema.json).
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "analyzer/time/peer_time.h"
#include "cli/terminal/text_width.h"

namespace uscope::cli {

[[nodiscard]] nlohmann::ordered_json peers_json(const analyzer::PeerTimes& times);
[[nodiscard]] std::string peers_text(const analyzer::PeerTimes& times, TextWidth width);

}  // namespace uscope::cli
