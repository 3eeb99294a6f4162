// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* A crowd behind a deadlock, and how it goes on: usage: crowd THREADS. Two threads hold what the other wants, all
 * others wait behind them. SIGUSR1 makes the first give its lock back; then all go on, and the program ends with 0 if
 * each of them got what it waited for. */
#include "hang.h"

#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t two = PTHREAD_MUTEX_INITIALIZER;
static atomic_int passed;

static void gives_back(int number) {
  (void)number;
  CHECK(!pthread_mutex_unlock(&one));
}

static void ant(void) {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  CHECK(!takes(&one));
  meet();
  CHECK(!pthread_sigmask(SIG_UNBLOCK, &signals, 0));
  CHECK(!takes(&two));
  CHECK(!pthread_mutex_unlock(&two));
  passed++;
}

static void bee(void) {
  CHECK(!takes(&two));
  meet();
  CHECK(!takes(&one));
  CHECK(!pthread_mutex_unlock(&one));
  CHECK(!pthread_mutex_unlock(&two));
  passed++;
}

static void other(void) {
  CHECK(!takes(&one));
  CHECK(!pthread_mutex_unlock(&one));
  passed++;
}

int main(int argc, char** argv) {
  struct sigaction action = {.sa_handler = gives_back, .sa_flags = SA_RESTART};
  sigset_t signals;
  int count = argc == 2 ? atoi(argv[1]) : 0;
  pthread_t* threads = calloc(count + 2, sizeof(*threads));
  if (count < 3 || !threads) return 2;
  alarm(DEADLINE);
  CHECK(!prctl(PR_SET_NAME, "main"));
  sigemptyset(&signals);
  sigaddset(&signals, SIGUSR1);
  CHECK(!pthread_sigmask(SIG_BLOCK, &signals, 0));
  CHECK(!sigaction(SIGUSR1, &action, 0));
  expect(3);
  threads[0] = START(ant);
  threads[1] = START(bee);
  meet();
  for (int i = 2; i < count - 1; i++) threads[i] = START(other);
  for (int i = 0; i < count - 1; i++) CHECK(!joins(threads[i]));
  free(threads);
  return passed == count - 1 ? 0 : 9;
}
