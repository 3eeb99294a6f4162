// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A pseudo-terminal has two sides. Who has the master types, and reads what is printed; when nobody has it any more,
// the terminal hangs up, and so it does on its programs when the leader of their session ends (the look tells of one
// that has no descriptor of it). The other side has a name, by which anybody may open it.
#include <fmt/core.h>

#include <algorithm>

#include "analyzer/deadlock/wait_follower.h"

namespace uscope::analyzer {

void WaitFollower::terminal(const LookedDescriptor& waited, const Resource& own) {
  if (!own.peer) return outside("input or output of the terminal " + own.name);
  Holders masters;
  Holders users;
  for (const Resource* other : terminals_.at(*own.peer)) (other->type == "ptmx" ? masters : users).push_back(other);
  if (own.type == "ptmx") return master_of_terminal(own, users);
  // Who has it open, too, may let output go on that was stopped, and throw it away.
  if (waited.wants != "read") out_.weak = true;
  ends(own, masters, "the master of");
  for (const Resource* user : users) user_of_terminal(*user, own);
}

// Who waits at the master waits for whoever writes to the terminal, or reads from it. A service waits like this for
// programs to come (a child may have inherited the terminal); if another process waits there, nobody is seen who will.
void WaitFollower::master_of_terminal(const Resource& own, const Holders& users) {
  for (const Resource* user : users) {
    if (!user->process_id) return hold(*user, "a descriptor of");
    const bool is_other = user->process_id != own.process_id;
    if (is_other && at_terminals_.count({*own.peer, user->process_id}) != 0) out_.nobody_comes = true;
  }
  whoever(own.object_name(), "whoever opens " + own.object_name());
}

// It may put something into the terminal's input (TIOCSTI). A thread that sleeps does not do so for itself.
void WaitFollower::user_of_terminal(const Resource& user, const Resource& own) {
  const auto place = places_.find(user.process_id);
  if (!user.process_id || place == places_.end()) return hold(user, "a descriptor of");
  if (user.process_id == own.process_id && threads_[place->second].size() == 1) return;
  if (can_act(place->second)) out_.holders.push_back(place->second);
}

}  // namespace uscope::analyzer
