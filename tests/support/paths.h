// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Where this build's files are. The paths stand in paths.cpp alone, so that the compiler's cache serves a checkout in
// another folder.
#pragma once

namespace uscope::paths {

extern const char* const kSourceFolder;   // the checkout
extern const char* const kFixtureFolder;  // the built fixtures
extern const char* const kUscope;         // the command

}  // namespace uscope::paths
