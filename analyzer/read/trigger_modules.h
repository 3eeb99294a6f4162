// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the rule of the trigger (trace/trigger.h) asks of a store's modules.
#pragma once

#include <unordered_map>

#include "analyzer/read/row_ids.h"
#include "store/db/database.h"
#include "support/result.h"
#include "trace/trigger.h"

namespace uscope::analyzer {

using TriggerModules = std::unordered_map<ModuleRowId, trace::TriggerModule>;

// All modules but the kernel's.
[[nodiscard]] Result<TriggerModules> read_trigger_modules(const store::Database& database);

}  // namespace uscope::analyzer
