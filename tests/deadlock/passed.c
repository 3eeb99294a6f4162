// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Locks as they stand at moments in between. `pi`, `rw`, `shared`: a lock is passed on to another thread while one that
// holds a mutex waits for it, and its old owner then waits for that mutex: no circle at any moment. `dissolved`: a
// circle that a third thread opens. `forked`, `ended`: a circle that stays, in a child whose parent uses its own locks
// at the same addresses, and in a program that ends.
#include "hang.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t many;
static void (*take)(void);
static void (*leave)(void);

static void wait_ms(long ms) {
  struct timespec time = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};
  CHECK(!nanosleep(&time, 0));
}

static void take_mutex(void) {
  CHECK(!pthread_mutex_lock(&first));
}

static void leave_mutex(void) {
  CHECK(!pthread_mutex_unlock(&first));
}

static void take_many(void) {
  CHECK(!pthread_rwlock_wrlock(&many));
}

static void leave_many(void) {
  CHECK(!pthread_rwlock_unlock(&many));
}

static void had_it(void) {
  take();
  wait_ms(400);
  leave();
  wait_ms(50);
  CHECK(!pthread_mutex_lock(&second));
  CHECK(!pthread_mutex_unlock(&second));
}

static void gets_it(void) {
  wait_ms(100);
  take();
  wait_ms(700);
  leave();
}

static void waits_for_it(void) {
  CHECK(!pthread_mutex_lock(&second));
  wait_ms(200);
  if (take == take_many) {
    CHECK(!pthread_rwlock_rdlock(&many));
    leave();
  } else {
    take();
    leave();
  }
  CHECK(!pthread_mutex_unlock(&second));
}

static void pass(void (*taking)(void), void (*leaving)(void)) {
  take = taking;
  leave = leaving;
  pthread_t threads[] = {START(had_it), START(gets_it), START(waits_for_it)};
  for (int i = 0; i < 3; i++) CHECK(!pthread_join(threads[i], 0));
}

static void pi(void) {
  pthread_mutexattr_t kind;
  CHECK(!pthread_mutexattr_init(&kind) && !pthread_mutexattr_setprotocol(&kind, PTHREAD_PRIO_INHERIT));
  CHECK(!pthread_mutex_init(&first, &kind));
  pass(take_mutex, leave_mutex);
}

static void rw(void) {
  pthread_rwlockattr_t kind;
  CHECK(!pthread_rwlockattr_init(&kind));
  CHECK(!pthread_rwlockattr_setkind_np(&kind, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP));
  CHECK(!pthread_rwlock_init(&many, &kind));
  pass(take_many, leave_many);
}

static pthread_mutex_t* map_locks(int file, unsigned long at) {
  void* locks = mmap((void*)at, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file, 0);
  CHECK(locks == (void*)at);
  return locks;
}

// In each process at another address.
static void shared(void) {
  int file = memfd_create("locks", 0);
  CHECK(file >= 0 && !ftruncate(file, 4096));
  pthread_mutex_t* locks = map_locks(file, 0x10000000);
  pthread_mutexattr_t kind;
  CHECK(!pthread_mutexattr_init(&kind) && !pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED));
  CHECK(!pthread_mutex_init(&locks[0], &kind) && !pthread_mutex_init(&locks[1], &kind));
  for (int i = 0; i < 3; i++) {
    int pid = fork();
    CHECK(pid >= 0);
    if (pid != 0) continue;
    locks = map_locks(file, 0x20000000 + 0x10000000UL * (unsigned)i);
    wait_ms(i == 1 ? 100 : 0);
    CHECK(!pthread_mutex_lock(&locks[i == 2]));
    wait_ms(i == 0 ? 300 : i == 1 ? 600 : 200);
    if (i == 2) CHECK(!pthread_mutex_lock(&locks[0]) && !pthread_mutex_unlock(&locks[0]));
    CHECK(!pthread_mutex_unlock(&locks[i == 2]));
    wait_ms(100);
    if (i == 0) CHECK(!pthread_mutex_lock(&locks[1]) && !pthread_mutex_unlock(&locks[1]));
    _exit(0);
  }
  while (wait(0) > 0) {
  }
}

static void one(void) {
  CHECK(!pthread_mutex_lock(&first));
  wait_ms(200);
  CHECK(!pthread_mutex_lock(&second));
}

static void other(void) {
  CHECK(!pthread_mutex_lock(&second));
  wait_ms(200);
  CHECK(!pthread_mutex_lock(&first));
  CHECK(!pthread_mutex_unlock(&second));
}

static void dissolved(void) {
  pthread_t threads[] = {START(one), START(other)};
  wait_ms(1000);
  CHECK(!pthread_mutex_unlock(&first)); /* which another thread has */
  for (int i = 0; i < 2; i++) CHECK(!pthread_join(threads[i], 0));
}

static void ended(void) {
  START(one);
  START(other);
  wait_ms(2000);
  _exit(0);
}

static void uses_first(void) {
  for (int i = 0; i < 40; i++) {
    CHECK(!pthread_mutex_lock(&first));
    wait_ms(5);
    CHECK(!pthread_mutex_unlock(&first));
    wait_ms(1);
  }
}

static void forked(void) {
  int pid = fork();
  CHECK(pid >= 0);
  if (pid == 0) ended();
  wait_ms(300);
  pthread_t threads[] = {START(uses_first), START(uses_first)};
  for (int i = 0; i < 2; i++) CHECK(!pthread_join(threads[i], 0));
  CHECK(wait(0) == pid);
}

static const struct scenario scenarios[] = {
    {"pi", pi}, {"rw", rw}, {"shared", shared}, {"dissolved", dissolved}, {"ended", ended}, {"forked", forked}};

int main(int argc, char** argv) {
  alarm(DEADLINE);
  for (unsigned i = 0; argc == 2 && i < sizeof(scenarios) / sizeof(scenarios[0]); i++) {
    if (strcmp(scenarios[i].name, argv[1]) != 0) continue;
    scenarios[i].run();
    return 0;
  }
  fprintf(stderr, "usage: passed SCENARIO\n");
  return 2;
}
