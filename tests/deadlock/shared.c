// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* Locks that processes share. */
#include "hang.h"

#include <errno.h>
#include <semaphore.h>
#include <sys/mman.h>
#include <sys/wait.h>

struct shared {
  pthread_mutex_t one, two;
  pthread_barrier_t both;
  sem_t news;
};

static struct shared* shared;

static void share(int robust) {
  pthread_mutexattr_t attributes;
  pthread_barrierattr_t barrier;
  shared = mmap(0, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(shared != MAP_FAILED);
  CHECK(!pthread_mutexattr_init(&attributes));
  CHECK(!pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED));
  if (robust) CHECK(!pthread_mutexattr_setrobust(&attributes, PTHREAD_MUTEX_ROBUST));
  CHECK(!pthread_mutex_init(&shared->one, &attributes));
  CHECK(!pthread_mutex_init(&shared->two, &attributes));
  CHECK(!pthread_barrierattr_init(&barrier));
  CHECK(!pthread_barrierattr_setpshared(&barrier, PTHREAD_PROCESS_SHARED));
  CHECK(!pthread_barrier_init(&shared->both, &barrier, 2));
  CHECK(!sem_init(&shared->news, 1, 0));
}

static pid_t split(void) {
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) alarm(DEADLINE);
  CHECK(!prctl(PR_SET_NAME, child ? "parent" : "child"));
  return child;
}

static void abba(void) {
  share(0);
  pid_t child = split();
  takes(child ? &shared->one : &shared->two);
  pthread_barrier_wait(&shared->both);
  takes(child ? &shared->two : &shared->one);
}

/* A child that ends with the lock in its hands. */
static void lock_of_the_dead(int robust) {
  share(robust);
  pid_t child = split();
  if (child == 0) {
    takes(&shared->one);
    _exit(0);
  }
  CHECK(waitpid(child, 0, 0) == child);
  int result = takes(&shared->one);
  CHECK(robust && result == EOWNERDEAD);
  pause();
}

static void owner_died(void) {
  lock_of_the_dead(0);
}
static void robust(void) {
  lock_of_the_dead(1);
}

FRAME static void waits_for_news(void) {
  int result = sem_wait(&shared->news);
  OPAQUE(result);
}

/* The child waits for news, which only the parent can give: who looks at the child alone must not accuse it. */
static void news(void) {
  share(0);
  if (split() == 0) {
    waits_for_news();
    _exit(0);
  }
  pause();
}

int main(int argc, char** argv) {
  static const struct scenario scenarios[] = {
      {"abba", abba}, {"owner_died", owner_died}, {"robust", robust}, {"news", news}};
  return CHOOSE(scenarios, argc, argv);
}
