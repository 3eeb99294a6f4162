// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Pipes and sockets that this process got from who started it, beside 0, 1 and 2. They are meant for the command that
// it starts. Whoever keeps an end of a pipe open keeps others waiting for the end of the file, so this process lets go
// of them. Files it keeps: a lock on one may be to last as long as this process.
#pragma once

namespace uscope {

// To be called before this process opens any file. What an argument names (/dev/fd/63, /proc/self/fd/63) is left out:
// it is for this process.
void note_inherited_descriptors(int argc, const char* const* argv);

// Closes what was noted.
void close_inherited_descriptors();

// Standard input, if it is a pipe or socket that a started command has, too, becomes /dev/null here.
void let_go_of_standard_input();

}  // namespace uscope
