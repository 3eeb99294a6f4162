// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* Who else reaches a lock: processes that have one memory, that are in other namespaces, that open a file later, the
 * kernel on behalf of io_uring; threads that do for the first time what nobody has seen them do. Most must not be
 * accused; a few hang, or may. */
#define _GNU_SOURCE
#include "hang.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/io_uring.h>
#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/wait.h>

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t two = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static pthread_t listening;
static int rounds;
static sem_t bell;

FRAME static void sleeps(void) {
  sleep(DEADLINE);
}

FRAME static int needs(sem_t* semaphore) {
  int result = sem_wait(semaphore);
  OPAQUE(result);
  return result;
}

static void name_as(const char* name) {
  CHECK(!prctl(PR_SET_NAME, name));
}

static void holder(void) {
  takes(&one);
  meet();
  sleeps();
}

static void stuck_holder(void) {
  takes(&one);
  meet();
  takes(&two);
}

static void child_of_vfork(void) {
  pid_t child = vfork();
  if (child == 0) {
    alarm(DEADLINE);
    name_as("child");
    takes(&one);
    _exit(0);
  }
}

/* The child of vfork waits for a mutex that another thread of its parent holds. */
static void vfork_child(void) {
  expect(2);
  START(holder);
  meet();
  child_of_vfork();
}

/* ... which waits for one that the caller of vfork holds: they all hang. */
static void vfork_hang(void) {
  takes(&two);
  expect(2);
  START(stuck_holder);
  meet();
  child_of_vfork();
}

static int wants_one(void* unused) {
  (void)unused;
  alarm(DEADLINE);
  name_as("child");
  takes(&one);
  return 0;
}

static int posts(void* unused) {
  (void)unused;
  alarm(DEADLINE);
  name_as("child");
  sleeps();
  sem_post(&bell);
  return 0;
}

static pid_t share_memory(int (*function)(void*)) {
  const size_t bytes = 1 << 18;
  char* stack = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(stack != MAP_FAILED);
  pid_t child = clone(function, stack + bytes, CLONE_VM | SIGCHLD, 0);
  CHECK(child > 0);
  return child;
}

static void nothing(void) {}

/* A child with its parent's memory, and the parent's lock. (Threads came before it, so that libc's locks are real.) */
static void vm_child(void) {
  joins(START(nothing));
  takes(&one);
  share_memory(wants_one);
  sleeps();
}

/* The only one that will post has the memory, and is another process. */
static void vm_poster(void) {
  CHECK(!sem_init(&bell, 0, 0));
  share_memory(posts);
  needs(&bell);
}

static pthread_mutex_t* shared_mutex(void) {
  pthread_mutexattr_t attributes;
  pthread_mutex_t* mutex = mmap(0, sizeof(*mutex), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  CHECK(mutex != MAP_FAILED);
  CHECK(!pthread_mutexattr_init(&attributes));
  CHECK(!pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED));
  CHECK(!pthread_mutex_init(mutex, &attributes));
  return mutex;
}

/* Each is number 1 of a namespace of its own. */
static void namespaces(void) {
  pthread_mutex_t* mutex = shared_mutex();
  int taken[2];
  char byte = 0;
  CHECK(!pipe(taken));
  for (int i = 0; i < 2; i++) {
    pid_t between = fork();
    CHECK(between >= 0);
    if (between > 0) {
      if (i == 0) CHECK(read(taken[0], &byte, 1) == 1);
      continue;
    }
    CHECK(!unshare(CLONE_NEWPID));
    pid_t child = fork();
    CHECK(child >= 0);
    if (child > 0) _exit(waitpid(child, 0, 0) != child);
    alarm(DEADLINE);
    name_as(i ? "taker" : "keeper");
    takes(mutex);
    CHECK(write(taken[1], &byte, 1) == 1);
    sleeps();
    _exit(0);
  }
  wait(0);
}

/* A semaphore in a file that has a name, by which a client may come that has not been started. */
static void named(void) {
  int file = open("semaphore", O_RDWR | O_CREAT, 0600);
  CHECK(file >= 0 && !ftruncate(file, 4096));
  sem_t* semaphore = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  CHECK(semaphore != MAP_FAILED && !sem_init(semaphore, 1, 0));
  close(file);
  needs(semaphore);
}

/* One without a name, whose descriptor a process holds that has it not mapped: no child of this one any more. */
static void held_memfd(void) {
  int file = memfd_create("semaphore", MFD_CLOEXEC);
  CHECK(file >= 0 && !ftruncate(file, 4096));
  pid_t between = fork();
  CHECK(between >= 0);
  if (between == 0) {
    if (fork() == 0) {
      alarm(DEADLINE);
      name_as("client");
      sleeps();
    }
    _exit(0);
  }
  CHECK(waitpid(between, 0, 0) == between);
  sem_t* semaphore = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  CHECK(semaphore != MAP_FAILED && !sem_init(semaphore, 1, 0));
  close(file);
  needs(semaphore);
}

/* Memory that nobody else can come by: this one hangs. */
static void lone_memfd(void) {
  int file = memfd_create("semaphore", MFD_CLOEXEC);
  CHECK(file >= 0 && !ftruncate(file, 4096));
  sem_t* semaphore = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  CHECK(semaphore != MAP_FAILED && !sem_init(semaphore, 1, 0));
  close(file);
  needs(semaphore);
}

static uint32_t word;

struct ring {
  int fd;
  char* queue;
  struct io_uring_sqe* entries;
  struct io_uring_params parameters;
};

static struct ring make_ring(void) {
  struct ring ring = {0};
  ring.fd = (int)syscall(SYS_io_uring_setup, 4, &ring.parameters);
  CHECK(ring.fd >= 0);
  const struct io_sqring_offsets* offsets = &ring.parameters.sq_off;
  ring.queue = mmap(0, offsets->array + ring.parameters.sq_entries * sizeof(unsigned), PROT_READ | PROT_WRITE,
                    MAP_SHARED, ring.fd, IORING_OFF_SQ_RING);
  ring.entries = mmap(0, ring.parameters.sq_entries * sizeof(*ring.entries), PROT_READ | PROT_WRITE, MAP_SHARED,
                      ring.fd, IORING_OFF_SQES);
  CHECK(ring.queue != MAP_FAILED && ring.entries != MAP_FAILED);
  return ring;
}

/* After a while the kernel wakes who waits at `word`. */
static void submit(struct ring* ring) {
  const int futex_wake = 52; /* IORING_OP_FUTEX_WAKE, from Linux 6.7 on */
  static struct { int64_t seconds, nanoseconds; } later = {DEADLINE, 0};
  const struct io_sqring_offsets* offsets = &ring->parameters.sq_off;
  memset(ring->entries, 0, 2 * sizeof(*ring->entries));
  ring->entries[0].opcode = IORING_OP_TIMEOUT;
  ring->entries[0].addr = (uintptr_t)&later;
  ring->entries[0].len = 1;
  ring->entries[0].flags = IOSQE_IO_HARDLINK;
  ring->entries[1].opcode = futex_wake;
  ring->entries[1].fd = FUTEX_PRIVATE_FLAG | 2;
  ring->entries[1].addr = (uintptr_t)&word;
  ring->entries[1].off = 1;
  unsigned* array = (unsigned*)(ring->queue + offsets->array);
  array[0] = 0;
  array[1] = 1;
  __atomic_fetch_add((unsigned*)(ring->queue + offsets->tail), 2, __ATOMIC_RELEASE);
  CHECK(syscall(SYS_io_uring_enter, ring->fd, 2, 0, 0, 0, 0) > 0);
}

FRAME static void waits_at_word(void) {
  for (;;) syscall(SYS_futex, &word, FUTEX_WAIT_PRIVATE, 0, 0, 0, 0);
}

static void ring(void) {
  struct ring ring = make_ring();
  submit(&ring);
  waits_at_word();
}

/* The ring is there as long as it is mapped. */
static void ring_closed(void) {
  struct ring ring = make_ring();
  submit(&ring);
  close(ring.fd);
  waits_at_word();
}

/* A child goes on with a ring that it did not make. */
static void ring_inherited(void) {
  struct ring ring = make_ring();
  pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    alarm(DEADLINE);
    name_as("child");
    submit(&ring);
    waits_at_word();
  }
  waitpid(child, 0, 0);
}

static void unlocks(void* mutex) {
  pthread_mutex_unlock(mutex);
}

FRAME static void waits_for(int round) {
  while (rounds < round) pthread_cond_wait(&news, &one);
}

/* Holds `two` while it waits for the second news. */
static void listener(void) {
  takes(&one);
  pthread_cleanup_push(unlocks, &one);
  waits_for(1);
  takes(&two);
  pthread_cleanup_push(unlocks, &two);
  waits_for(2);
  pthread_cleanup_pop(1);
  pthread_cleanup_pop(1);
}

static void tell(void) {
  takes(&one);
  rounds++;
  pthread_cond_signal(&news);
  pthread_mutex_unlock(&one);
}

/* The only one that has ever woken the listener; now it waits for what that has. */
static void speaker(void) {
  usleep(200000);
  tell();
  usleep(200000);
  takes(&two);
}

static void newcomer(void) {
  sleeps();
  tell();
}

static void canceller(void) {
  sleeps();
  pthread_cancel(listening);
}

static void listen_to(pthread_t (*other)(void)) {
  listening = START(listener);
  pthread_t speaks = START(speaker);
  other();
  joins(speaks);
}

static pthread_t start_newcomer(void) {
  return START(newcomer);
}

static pthread_t start_canceller(void) {
  return START(canceller);
}

static void first_signal(void) {
  listen_to(start_newcomer);
}

static void cancelled(void) {
  listen_to(start_canceller);
}

static void opener(void) {
  sleeps();
  pthread_mutex_unlock(&one);
}

/* A mutex that serves as a semaphore: POSIX forbids it, glibc lets it. */
static void mutex_semaphore(void) {
  START(opener);
  takes(&one);
  takes(&one);
}

static void passer(void) {
  takes(&one);
}

/* ... that the first thread has shut, and another one opens. */
static void gate(void) {
  takes(&one);
  START(opener);
  joins(START(passer));
}

static void ringer(void) {
  struct itimerspec time = {.it_value = {DEADLINE, 0}};
  uint64_t count;
  int timer = timerfd_create(CLOCK_MONOTONIC, 0);
  CHECK(timer >= 0 && !timerfd_settime(timer, 0, &time, 0));
  CHECK(read(timer, &count, sizeof(count)) == sizeof(count));
  sem_post(&bell);
}

static void timer(void) {
  CHECK(!sem_init(&bell, 0, 0));
  START(ringer);
  needs(&bell);
}

int main(int argc, char** argv) {
  static const struct scenario scenarios[] = {
      {"vfork_child", vfork_child},
      {"vfork_hang", vfork_hang},
      {"vm_child", vm_child},
      {"vm_poster", vm_poster},
      {"namespaces", namespaces},
      {"named", named},
      {"held_memfd", held_memfd},
      {"lone_memfd", lone_memfd},
      {"ring", ring},
      {"ring_closed", ring_closed},
      {"ring_inherited", ring_inherited},
      {"first_signal", first_signal},
      {"cancelled", cancelled},
      {"mutex_semaphore", mutex_semaphore},
      {"gate", gate},
      {"timer", timer},
  };
  return CHOOSE(scenarios, argc, argv);
}
