// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* Many processes with ten descriptors each, which wait for one word each of their parent, while the parent waits for
 * the end of one of them: herd COUNT. SIGUSR1 ends all. */
#include "processes.h"

static int work[2];

static void sheep(void) {
  close(work[1]);
  for (int i = 0; i < 4; i++) CHECK(dup(work[0]) >= 0);
  int own[2];
  CHECK(!pipe(own));
  reads(work[0]);
}

int main(int argc, char** argv) {
  int count = argc == 2 ? atoi(argv[1]) : 0;
  CHECK(count > 0 && !pipe(work));
  CHECK(!prctl(PR_SET_PDEATHSIG, SIGKILL) && !prctl(PR_SET_NAME, "herd"));
  for (int i = 0; i < count; i++) FORK(sheep);
  close(work[0]);
  say("herd", -1);
  waits_for(-1);
}
