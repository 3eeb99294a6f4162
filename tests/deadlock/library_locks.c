// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* A mutex that a signal handler takes from the code that it interrupted, a stream of two threads, and a condition
 * variable that is destroyed while threads wait there. */
#include "hang.h"

#include <sys/time.h>

static void every_millisecond(void (*handler)(int)) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  CHECK(!sigaction(SIGVTALRM, &action, 0));
  struct itimerval timer = {{0, 1000}, {0, 1000}};
  CHECK(!setitimer(ITIMER_VIRTUAL, &timer, 0));
}

static void sleeps(void) {
  sigset_t alarms;
  sigemptyset(&alarms);
  sigaddset(&alarms, SIGVTALRM);
  pthread_sigmask(SIG_BLOCK, &alarms, 0);
  for (;;) sleep(1);
}

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void on_mutex(int number) {
  (void)number;
  takes(&mutex);
  pthread_mutex_unlock(&mutex);
}

static void own_mutex(void) {
  START(sleeps);
  every_millisecond(on_mutex);
  for (;;) {
    takes(&mutex);
    pthread_mutex_unlock(&mutex);
  }
}

FRAME static int reads(void) {
  char line[80];
  return fgets(line, sizeof(line), stdin) ? 1 : 2;
}

static void reader(void) {
  reads();
}

static void stream(void) {
  START(reader);
  usleep(200000);
  fflush(0);
}

static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;

FRAME static int awaits(void) {
  takes(&mutex);
  return pthread_cond_wait(&condition, &mutex) + 1;
}

static void waiter(void) {
  awaits();
}

static void destroyed(void) {
  START(waiter);
  usleep(200000);
  printf("%p\n", (void*)&condition);
  fflush(stdout);
  pthread_cond_destroy(&condition);
}

int main(int argc, char** argv) {
  static const struct scenario scenarios[] = {
      {"own_mutex", own_mutex},
      {"stream", stream},
      {"destroyed", destroyed},
  };
  return CHOOSE(scenarios, argc, argv);
}
