// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// One self-contained page: styles, script and data in one file, which needs no network. A Content-Security-Policy in it
// allows these styles and this script by their digests, and nothing else, so that a name of a traced program that a
// script took for markup could do nothing.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/pages/bundles.h"

namespace uscope::cli {

// Texts of the data are shown as text on a terminal is: printable() (support/text.h) is applied to each. `title` is
// that of the browser's window.
[[nodiscard]] std::string html_page(const Bundle& bundle, const std::string& title, nlohmann::ordered_json data);

}  // namespace uscope::cli
