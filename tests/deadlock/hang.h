// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* What the programs that hang share. Each takes the name of a scenario, hangs at once and for ever, and ends by itself
 * after two minutes. Threads have names, by which tests/system/hangs/deadlock.py knows them. */
#ifndef USCOPE_HANG_H
#define USCOPE_HANG_H

#include "../fixtures/fixture.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#define DEADLINE 120 /* seconds */

struct scenario {
  const char* name;
  void (*run)(void);
};

static pthread_barrier_t everybody;

struct start {
  const char* name;
  void (*function)(void);
};

static void* begin(void* argument) {
  const struct start* start = (const struct start*)argument;
  CHECK(!prctl(PR_SET_NAME, start->name));
  start->function();
  return 0;
}

static inline pthread_t start_thread(const struct start* start) {
  pthread_t thread;
  CHECK(!pthread_create(&thread, 0, begin, (void*)start));
  return thread;
}

/* A thread by the name of its function. */
#define START(function)                                        \
  ({                                                           \
    static const struct start started = {#function, function}; \
    start_thread(&started);                                    \
  })

/* Where threads wait until so many have come: what they hold by then, they hold together. */
static inline void expect(unsigned threads) {
  CHECK(!pthread_barrier_init(&everybody, 0, threads));
}
static inline void meet(void) {
  pthread_barrier_wait(&everybody);
}

/* The call in which a program hangs, with a name of its own in its stack. */
FRAME static int takes(pthread_mutex_t* mutex) {
  int result = pthread_mutex_lock(mutex);
  OPAQUE(result);
  return result;
}

FRAME static int joins(pthread_t thread) {
  int result = pthread_join(thread, 0);
  OPAQUE(result);
  return result;
}

static inline int choose(const struct scenario* scenarios, int count, int argc, char** argv) {
#ifdef ENDS_WITH_ITS_STARTER
  CHECK(!prctl(PR_SET_PDEATHSIG, SIGKILL));
#else
  alarm(DEADLINE);
#endif
  for (int i = 0; argc == 2 && i < count; i++) {
    if (strcmp(argv[1], scenarios[i].name)) continue;
    CHECK(!prctl(PR_SET_NAME, "main"));
    scenarios[i].run();
    return 0;
  }
  dprintf(2, "usage: %s SCENARIO\n", argv[0]);
  return 2;
}

#define CHOOSE(scenarios, argc, argv) choose(scenarios, sizeof(scenarios) / sizeof(*(scenarios)), argc, argv)

#endif
