// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What the rule of the trigger (trace/trigger.h) asks of a store's modules.
#pragma once

#include <string_view>
#include <unordered_map>

#include "analyzer/read/row_ids.h"
#include "store/db/database.h"
#include "support/result.h"
#include "trace/trigger.h"

namespace uscope::analyzer {

// Of the frames of each module, but for their functions.
using TriggerModules = std::unordered_map<ModuleRowId, trace::TriggerFrame>;

// All modules but the kernel's.
[[nodiscard]] Result<TriggerModules> read_trigger_modules(const store::Database& database);

// What the rule asks of a frame of this module: `origin` as the table `frame` has it.
[[nodiscard]] trace::TriggerFrame trigger_frame(const TriggerModules& modules, ModuleRowId module,
                                                std::string_view origin);

// SQL: whether no stack whose trigger is the row of `frame` has its own application's function there.
constexpr const char* kIsFallback =
    "coalesce((SELECT min(of.trigger_fallback) FROM stack of WHERE of.trigger_frame_id = frame.id), 0)";

}  // namespace uscope::analyzer
