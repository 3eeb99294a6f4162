// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The scripts and styles of the pages, which are bytes of the program (pages/README.md).
#pragma once

#include <string_view>

#include "support/result.h"

namespace uscope::cli {

enum class Page { kReport, kDiff, kDeadlock };

struct Bundle {
  std::string_view script;
  std::string_view styles;
};

// An error, which says how to get it, if the program was built without that page.
[[nodiscard]] Result<Bundle> bundle_of(Page page);

}  // namespace uscope::cli
