// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The numbers of rows as readers take them from a store: a type for each table. They have 64 bits, since a store may
// hold any number; NULL becomes none.
#pragma once

#include "trace/ids.h"

namespace uscope::analyzer {

using EventRowId = trace::RowId<struct EventRowKind>;
using KindRowId = trace::RowId<struct KindRowKind>;
using ProcessRowId = trace::RowId<struct ProcessRowKind>;
using ThreadRowId = trace::RowId<struct ThreadRowKind>;
using ImageRowId = trace::RowId<struct ImageRowKind>;
using StackRowId = trace::RowId<struct StackRowKind>;
using FrameRowId = trace::RowId<struct FrameRowKind>;
using ModuleRowId = trace::RowId<struct ModuleRowKind>;
using SpaceId = trace::RowId<struct SpaceKind>;  // an address space; no table has a row for it

}  // namespace uscope::analyzer
