// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The rows that the loader writes. Where it numbers them itself, from 1, and keeps many, 32 bits hold them.
#pragma once

#include "trace/ids.h"

namespace uscope::store {

using trace::StringRowId;
using EventRowId = trace::RowId<struct EventRowKind>;
using ThreadRowId = trace::RowId<struct ThreadRowKind>;  // a task's serial, or the row of all tasks beyond a bound
using StackRowId = trace::RowId<struct StackRowKind, std::uint32_t>;
using FrameRowId = trace::RowId<struct FrameRowKind, std::uint32_t>;
using ModuleRowId = trace::RowId<struct ModuleRowKind, std::uint32_t>;
using ObjectRowId = trace::RowId<struct ObjectRowKind, std::uint32_t>;
using KindRowId = trace::RowId<struct KindRowKind, std::uint32_t>;

}  // namespace uscope::store
