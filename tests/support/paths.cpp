// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tests/support/paths.h"

namespace uscope::paths {

const char* const kSourceFolder = USCOPE_SOURCE_DIR;
const char* const kFixtureFolder = USCOPE_FIXTURES;
const char* const kUscope = USCOPE_BINARY;

}  // namespace uscope::paths
