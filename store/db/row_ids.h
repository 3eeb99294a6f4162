// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The rows of the database, a type for each table. Where the loader numbers them itself, from 1, and keeps many, 32
// bits hold them.
#pragma once

#include <concepts>
#include <cstdint>

#include "trace/ids.h"

namespace uscope::store {

// The number of a row in a table of the database; `Table` is a tag.
template <typename Table, std::integral Number = std::int64_t>
using RowId = trace::Id<Table, Number>;

// StringTable and ContentTable number what they store by its row.
using StringRowId = trace::TextId;
using ContentRowId = trace::ContentId;

using EventRowId = RowId<struct EventRowKind>;
using ThreadRowId = RowId<struct ThreadRowKind>;  // a task's serial, or the row of all tasks beyond a bound
using StackRowId = RowId<struct StackRowKind, std::uint32_t>;
using FrameRowId = RowId<struct FrameRowKind, std::uint32_t>;
using ModuleRowId = RowId<struct ModuleRowKind, std::uint32_t>;
using ObjectRowId = RowId<struct ObjectRowKind, std::uint32_t>;
using KindRowId = RowId<struct KindRowKind, std::uint32_t>;

}  // namespace uscope::store
