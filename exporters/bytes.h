// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Where an exporter's output goes.
#pragma once

#include <functional>
#include <string_view>

namespace uscope::exporters {

// Takes the next bytes of a file. What fails there is the caller's to remember.
using Bytes = std::function<void(std::string_view)>;

}  // namespace uscope::exporters
