// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The nice value of this process's threads, beside the one with which uscope was started. Who starts uscope with
// `nice -n 10` wants it to stand back behind others: then no thread of it rises above that.
#pragma once

namespace uscope {

// To be called before any other of these functions.
void note_inherited_priority();

// The calling thread (or a child that begins) takes this nice value, if the inherited one is not above 0. Without the
// right to it, it keeps what it has.
void raise_priority(int nice);

// It takes this nice value, or the inherited one if that is above it.
void lower_priority(int nice);

// It takes the inherited one again.
void give_priority_back();

}  // namespace uscope
