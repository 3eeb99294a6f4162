// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* What must not be accused: threads that wait, where somebody may still come. */
#include "hang.h"

#include <errno.h>
#include <poll.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/inotify.h>
#include <time.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t two = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t work = PTHREAD_COND_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t quit;

static void worker(void) {
  takes(&one);
  for (;;) pthread_cond_wait(&work, &one);
}

static pthread_t start_pool(void) {
  pthread_t last = 0;
  for (int i = 0; i < 4; i++) last = START(worker);
  return last;
}

/* A pool at rest, whose work comes from outside. */
static void pool(void) {
  start_pool();
  poll(0, 0, -1);
}

/* ... which ends by a signal. */
static void pool_sigwait(void) {
  sigset_t signals;
  int number;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, 0);
  start_pool();
  sigwait(&signals, &number);
}

/* ... where somebody looks from time to time. */
static void pool_timed(void) {
  struct timespec time;
  start_pool();
  clock_gettime(CLOCK_REALTIME, &time);
  time.tv_sec += DEADLINE;
  takes(&two);
  pthread_cond_timedwait(&news, &two, &time);
}

static void impatient(void) {
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  time.tv_sec += DEADLINE;
  takes(&one);
  meet();
  pthread_mutex_timedlock(&two, &time);
}

static void bee(void) {
  takes(&two);
  meet();
  takes(&one);
}

/* A cycle that opens by itself. */
static void timed_cycle(void) {
  expect(2);
  pthread_t first = START(impatient);
  START(bee);
  joins(first);
}

/* Its input comes from outside of the process. */
static void reader(void) {
  char event;
  int changes = inotify_init();
  takes(&one);
  pthread_rwlock_rdlock(&lock);
  meet();
  CHECK(changes >= 0 && read(changes, &event, 1) == 1);
}

static void wants(void) {
  takes(&one);
}
static void writer(void) {
  pthread_rwlock_wrlock(&lock);
}

/* Who holds the locks waits for input. */
static void holder_reads(void) {
  expect(2);
  START(reader);
  meet();
  START(wants);
  joins(START(writer));
}

static void spinner(void) {
  takes(&one);
  meet();
  for (;;) __asm__ volatile("pause");
}

/* Who holds the lock computes. */
static void holder_runs(void) {
  expect(2);
  START(spinner);
  meet();
  joins(START(wants));
}

static void on_signal(int number) {
  (void)number;
  sem_post(&quit);
}

/* A service whose first thread sleeps until a handler, which may post a semaphore, is called. */
static void handler_posts(void) {
  struct sigaction action = {.sa_handler = on_signal};
  CHECK(!sem_init(&quit, 0, 0));
  CHECK(!sigaction(SIGTERM, &action, 0));
  start_pool();
  while (sem_wait(&quit) && errno == EINTR) continue;
}

static void hammer(void) {
  for (long i = 0;; i++) {
    takes(&one);
    takes(&two);
    pthread_mutex_unlock(&two);
    pthread_mutex_unlock(&one);
  }
}

/* Many who take the same two locks in turn, as fast as they can. */
static void contention(void) {
  for (int i = 0; i < 7; i++) START(hammer);
  hammer();
}

int main(int argc, char** argv) {
  static const struct scenario scenarios[] = {
      {"pool", pool},
      {"pool_sigwait", pool_sigwait},
      {"pool_timed", pool_timed},
      {"timed_cycle", timed_cycle},
      {"holder_reads", holder_reads},
      {"holder_runs", holder_runs},
      {"handler_posts", handler_posts},
      {"contention", contention},
  };
  return CHOOSE(scenarios, argc, argv);
}
