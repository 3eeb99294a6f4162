// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Two pairs of threads that block each other for good, 0.3 s and 1.5 s after the beginning, each with a join behind it;
// a thread that waits for a lock for some time and then renames itself; and three that pass a lock on.
#include <pthread.h>
#include <sys/prctl.h>
#include <unistd.h>

struct job {
  const char* name;
  int first, second;
  unsigned delay_us;
};

static pthread_mutex_t locks[4] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER,
                                   PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t busy = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static void* block(void* argument) {
  const struct job* job = argument;

  prctl(PR_SET_NAME, job->name);
  usleep(job->delay_us);
  pthread_mutex_lock(&locks[job->first]);
  usleep(100000);
  pthread_mutex_lock(&locks[job->second]);
  return 0;
}

static void* hold(void* argument) {
  prctl(PR_SET_NAME, "holder");
  pthread_mutex_lock(&busy);
  usleep(1000000);
  pthread_mutex_unlock(&busy);
  for (;;) pause();
  return argument;
}

static void* want(void* argument) {
  prctl(PR_SET_NAME, "wanter");
  usleep(100000);
  pthread_mutex_lock(&busy);
  pthread_mutex_unlock(&busy);
  prctl(PR_SET_NAME, "done");
  for (;;) pause();
  return argument;
}

// Who has it sleeps with it for 0.4 s, while the others wait.
static void* take_turns(void* argument) {
  prctl(PR_SET_NAME, argument);
  pthread_mutex_lock(&turn);
  usleep(400000);
  pthread_mutex_unlock(&turn);
  for (;;) pause();
  return argument;
}

int main(void) {
  static struct job jobs[] = {
      {"early-1", 0, 1, 300000}, {"early-2", 1, 0, 300000}, {"late-1", 2, 3, 1500000}, {"late-2", 3, 2, 1500000}};
  static char* names[] = {"turn-1", "turn-2", "turn-3"};
  pthread_t threads[9];
  int count = 0;

  for (int i = 0; i < 4; i++) pthread_create(&threads[count++], 0, block, &jobs[i]);
  pthread_create(&threads[count++], 0, hold, 0);
  pthread_create(&threads[count++], 0, want, 0);
  for (int i = 0; i < 3; i++) pthread_create(&threads[count++], 0, take_turns, names[i]);
  pthread_join(threads[0], 0);
  return 0;
}
