// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* Children with a copy of their parent's memory, which hold a lock for long and then let it go. libc's structures are
 * copied too: after clone(), the child's first thread has the number of its parent's there, and writes it into locks.
 */
#define _GNU_SOURCE
#include "hang.h"

#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static pthread_mutex_t* kept;

static void make(int type) {
  pthread_mutexattr_t attributes;
  kept = mmap(0, sizeof(*kept), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(kept != MAP_FAILED);
  CHECK(!pthread_mutexattr_init(&attributes));
  CHECK(!pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED));
  CHECK(!pthread_mutexattr_settype(&attributes, type));
  CHECK(!pthread_mutex_init(kept, &attributes));
}

static void wants(void) {
  takes(kept);
}

static void keeps(void) {
  sleep(DEADLINE);
  pthread_mutex_unlock(kept);
  _exit(0);
}

static void name_child(void) {
  alarm(DEADLINE);
  CHECK(!prctl(PR_SET_NAME, "child"));
}

static pid_t copy(int flags) {
  pid_t child = (pid_t)syscall(SYS_clone, SIGCHLD | flags, 0, 0, 0, 0);
  CHECK(child >= 0);
  if (child == 0) name_child();
  return child;
}

/* Its first thread holds what its second one waits for. */
static void keep_in_copy(int flags, int type) {
  static pthread_mutex_t mutex;
  pthread_mutexattr_t attributes;
  CHECK(!pthread_mutexattr_init(&attributes));
  CHECK(!pthread_mutexattr_settype(&attributes, type));
  CHECK(!pthread_mutex_init(&mutex, &attributes));
  kept = &mutex;
  if (copy(flags) == 0) {
    takes(kept);
    START(wants);
    keeps();
  }
  wait(0);
}

static void recursive(void) {
  keep_in_copy(0, PTHREAD_MUTEX_RECURSIVE);
}

static void normal(void) {
  keep_in_copy(0, PTHREAD_MUTEX_NORMAL);
}

static void pid_namespace(void) {
  keep_in_copy(CLONE_NEWPID, PTHREAD_MUTEX_ERRORCHECK);
}

/* The parent's second thread waits for what the child holds, under the number of the parent's first one, which joins
 * the second one. */
static void shared(void) {
  int taken[2];
  char byte = 0;
  CHECK(!pipe(taken));
  make(PTHREAD_MUTEX_RECURSIVE);
  if (copy(0) == 0) {
    takes(kept);
    CHECK(write(taken[1], &byte, 1) == 1);
    keeps();
  }
  CHECK(read(taken[0], &byte, 1) == 1);
  joins(START(wants));
}

/* A child of fork goes on as the thread that called it, with the locks of that one. */
static void forked(void) {
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  kept = &mutex;
  takes(kept);
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    name_child();
    START(wants);
    keeps();
  }
  wait(0);
}

int main(int argc, char** argv) {
  static const struct scenario scenarios[] = {
      {"recursive", recursive}, {"normal", normal}, {"pid_namespace", pid_namespace},
      {"shared", shared},       {"forked", forked},
  };
  return CHOOSE(scenarios, argc, argv);
}
