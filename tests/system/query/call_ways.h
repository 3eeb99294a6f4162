// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A program whose calls begin and end in all the ways there are.
#pragma once

#include <map>

namespace uscope::test {

// Calls by number, of those that the program makes always as often.
std::map<long, long> calls_in_all_ways();

// Makes them; returns 0. `again`: as the program that it executes.
int call_in_all_ways(bool again);

}  // namespace uscope::test
