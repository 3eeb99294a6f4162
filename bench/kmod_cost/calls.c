// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* Instructions for each getppid, in a guest whose processor counts one tick of the time stamp counter for each
 * instruction. Batches of 50 calls, timed one by one; prints the batches' minimum, lower quartile, median and upper
 * quartile, for one call.
 * usage: calls same|sites|depths BATCHES
 *   same    one stack: getppid under main
 *   sites   200 call sites taken in turn: as many stacks, each of one call of a batch
 *   depths  the stack pointer differs from call to call, so that no walk repeats another's words
 */
#include <alloca.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <x86intrin.h>

#define BATCH 50
#define BATCHES_MAX 100000

static uint64_t ticks[BATCHES_MAX];

static int ascending(const void* a, const void* b) {
  const uint64_t x = *(const uint64_t*)a, y = *(const uint64_t*)b;

  return (x > y) - (x < y);
}

#define FIVE(n, call)                      \
  case n:                                  \
    call;                                  \
    __asm__ volatile("# site " #n);        \
    break;                                 \
  case n + 1:                              \
    call;                                  \
    __asm__ volatile("# site " #n " + 1"); \
    break;                                 \
  case n + 2:                              \
    call;                                  \
    __asm__ volatile("# site " #n " + 2"); \
    break;                                 \
  case n + 3:                              \
    call;                                  \
    __asm__ volatile("# site " #n " + 3"); \
    break;                                 \
  case n + 4:                              \
    call;                                  \
    __asm__ volatile("# site " #n " + 4"); \
    break;
#define FIFTY(n, call) \
  FIVE(n, call)        \
  FIVE(n + 5, call)    \
  FIVE(n + 10, call)   \
  FIVE(n + 15, call)   \
  FIVE(n + 20, call) FIVE(n + 25, call) FIVE(n + 30, call) FIVE(n + 35, call) FIVE(n + 40, call) FIVE(n + 45, call)

static __attribute__((always_inline)) inline void call_from_site(unsigned site) {
  switch (site) {
    FIFTY(0, getppid())
    FIFTY(50, getppid())
    FIFTY(100, getppid())
    FIFTY(150, getppid())
    default:
      break;
  }
}

static __attribute__((noipa)) void call_at_depth(size_t bytes) {
  volatile char* room = alloca(bytes);

  room[0] = 0;
  getppid();
}

int main(int argc, char** argv) {
  const long batches = argc == 3 ? atol(argv[2]) : 0;
  unsigned number = 0;
  long batch;
  int i, what;

  if (batches < 1 || batches > BATCHES_MAX) return 2;
  what = !strcmp(argv[1], "same") ? 0 : !strcmp(argv[1], "sites") ? 1 : 2;
  memset(ticks, 0, sizeof(ticks));
  for (batch = 0; batch < batches; batch++) {
    const uint64_t begin = __rdtsc();

    if (what == 0)
      for (i = 0; i < BATCH; i++) getppid();
    else if (what == 1)
      for (i = 0; i < BATCH; i++) call_from_site(number++ % 200);
    else
      for (i = 0; i < BATCH; i++) call_at_depth(16 + number++ * 16 % 1000000);
    ticks[batch] = __rdtsc() - begin;
  }
  qsort(ticks, batches, sizeof(ticks[0]), ascending);
  for (i = 0; i < 4; i++) printf("%.1f%c", (double)ticks[i * batches / 4] / BATCH, i < 3 ? ' ' : '\n');
  return 0;
}
