// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The numbers of rows as readers take them from a store: a type for each table. They have 64 bits, since a store may
// hold any number; NULL becomes none.
#pragma once

#include "trace/ids.h"

namespace uscope::analyzer {

using EventRowId = trace::RowId<struct EventReadKind>;
using KindRowId = trace::RowId<struct KindReadKind>;
using ProcessRowId = trace::RowId<struct ProcessReadKind>;
using ThreadRowId = trace::RowId<struct ThreadReadKind>;
using ImageRowId = trace::RowId<struct ImageReadKind>;
using StackRowId = trace::RowId<struct StackReadKind>;
using FrameRowId = trace::RowId<struct FrameReadKind>;
using ModuleRowId = trace::RowId<struct ModuleReadKind>;
using SpaceId = trace::RowId<struct SpaceKind>;  // an address space; no table has a row for it

}  // namespace uscope::analyzer
