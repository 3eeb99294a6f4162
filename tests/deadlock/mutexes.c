// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* Mutexes that wait for one another, or for nobody. */
#include "hang.h"

#include <signal.h>
#include <sys/wait.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t two = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t three = PTHREAD_MUTEX_INITIALIZER;

static void ant(void) {
  takes(&one);
  meet();
  takes(&two);
}

static void bee(void) {
  takes(&two);
  meet();
  takes(&one);
}

static void cat(void) {
  takes(&one);
}

/* Two threads that each hold what the other wants, and one that only waits behind them. */
static void abba(void) {
  expect(3);
  pthread_t first = START(ant);
  START(bee);
  meet();
  START(cat);
  joins(first);
}

/* A process whose first thread has ended. */
static void without_main(void) {
  expect(2);
  START(ant);
  START(bee);
  pthread_exit(0);
}

static void dog(void) {
  takes(&one);
  meet();
  takes(&two);
}

static void eel(void) {
  takes(&two);
  meet();
  takes(&three);
}

static void fox(void) {
  takes(&three);
  meet();
  takes(&one);
}

static void three_way(void) {
  expect(3);
  pthread_t first = START(dog);
  START(eel);
  START(fox);
  joins(first);
}

static void twice(void) {
  takes(&one);
  takes(&one);
}

static void self(void) {
  joins(START(twice));
}

static void handler(int number) {
  (void)number;
  takes(&one);
}

/* By a signal that comes while its lock is held. */
static void in_handler(void) {
  struct sigaction action = {.sa_handler = handler};
  CHECK(!sigaction(SIGUSR1, &action, 0));
  takes(&one);
  raise(SIGUSR1);
}

static void leaver(void) {
  takes(&one);
}

static void waiter(void) {
  takes(&one);
}

/* A thread that ended without giving its lock back. */
static void owner_ended(void) {
  joins(START(leaver));
  joins(START(waiter));
}

static void holder(void) {
  takes(&one);
  meet();
  pause();
}

/* A child of fork has the locks that other threads of its parent held, and not those threads. */
static void forked(void) {
  expect(2);
  START(holder);
  meet();
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    alarm(DEADLINE);
    CHECK(!prctl(PR_SET_NAME, "child"));
    takes(&one);
    _exit(0);
  }
  CHECK(!prctl(PR_SET_NAME, "parent"));
  waitpid(child, 0, 0);
}

static void inherit_priority(pthread_mutex_t* mutex) {
  pthread_mutexattr_t attributes;
  CHECK(!pthread_mutexattr_init(&attributes));
  CHECK(!pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT));
  CHECK(!pthread_mutex_init(mutex, &attributes));
}

static void late_bee(void) {
  takes(&two);
  meet();
  usleep(100000);
  takes(&one);
}

/* The kernel refuses who comes second, and glibc lets that one wait for ever on a word of its own. */
static void pi(void) {
  inherit_priority(&one);
  inherit_priority(&two);
  expect(2);
  pthread_t first = START(ant);
  START(late_bee);
  joins(first);
}

/* One with priority inheritance, one without: the kernel sees no cycle. */
static void pi_mixed(void) {
  inherit_priority(&one);
  expect(2);
  pthread_t first = START(ant);
  START(bee);
  joins(first);
}

int main(int argc, char** argv) {
  static const struct scenario scenarios[] = {
      {"abba", abba},
      {"three_way", three_way},
      {"self", self},
      {"in_handler", in_handler},
      {"owner_ended", owner_ended},
      {"forked", forked},
      {"pi", pi},
      {"pi_mixed", pi_mixed},
      {"without_main", without_main},
  };
  return CHOOSE(scenarios, argc, argv);
}
