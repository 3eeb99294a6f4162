// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "support/process/priority.h"

#include <sys/resource.h>

#include <algorithm>

namespace uscope {
namespace {

int inherited_nice() {
  static const int nice = getpriority(PRIO_PROCESS, 0);
  return nice;
}

void set_nice(int nice) {
  (void)setpriority(PRIO_PROCESS, 0, nice);
}

}  // namespace

void note_inherited_priority() {
  (void)inherited_nice();
}

void raise_priority(int nice) {
  if (inherited_nice() <= 0) set_nice(std::min(nice, inherited_nice()));
}

void lower_priority(int nice) {
  set_nice(std::max(nice, inherited_nice()));
}

void give_priority_back() {
  set_nice(inherited_nice());
}

}  // namespace uscope
