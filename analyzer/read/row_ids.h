// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The numbers of rows as readers take them from a store: a type for each table. They have 64 bits, since a store may
// hold any number; NULL becomes none.
#pragma once

#include "store/db/row_ids.h"

namespace uscope::analyzer {

using EventRowId = store::RowId<struct EventReadKind>;
using KindRowId = store::RowId<struct KindReadKind>;
using ProcessRowId = store::RowId<struct ProcessReadKind>;
using ThreadRowId = store::RowId<struct ThreadReadKind>;
using ImageRowId = store::RowId<struct ImageReadKind>;
using StackRowId = store::RowId<struct StackReadKind>;
using FrameRowId = store::RowId<struct FrameReadKind>;
using ModuleRowId = store::RowId<struct ModuleReadKind>;
using SpaceId = store::RowId<struct SpaceKind>;  // an address space; no table has a row for it

}  // namespace uscope::analyzer
