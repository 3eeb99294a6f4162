/* SPDX-License-Identifier: GPL-2.0-or-later OR MIT */
/*
 * For programs that drive /dev/uscope themselves (device_tasks.c, device_sequences.c): requests in their right form,
 * and actors: processes that wait for orders on a pipe, to be traced or to be left alone. A program that has actors
 * calls act() first of all: an actor is the same program, executed anew.
 */
#ifndef USCOPE_TESTS_VM_DEVICE_CALLS_H
#define USCOPE_TESTS_VM_DEVICE_CALLS_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "uscope/device.h"
#include "uscope/trace_map.h"

#define RING_BYTES (1u << 20)

/* Errno, 0 = done. */
#define ASK(device, command, request) ((request).size = sizeof(request), ioctl(device, command, &(request)) ? errno : 0)

static inline void fill_start(struct usc_device_start* start, uint32_t target_kind) {
  memset(start, 0, sizeof(*start));
  start->size = sizeof(*start);
  start->config.cpus = (uint32_t)sysconf(_SC_NPROCESSORS_CONF);
  start->config.scope.mode = USC_MODE_ALL_ALL;
  start->config.scope.budget = 64;
  start->config.target.kinds = target_kind;
  start->config.target.follow = USC_FOLLOW_TREE;
  memset(start->config.calls[USC_CALLS_NATIVE], 0xff, sizeof(start->config.calls[USC_CALLS_NATIVE]));
  start->ring_bytes = RING_BYTES;
  start->rows = 4096;
  start->index_entries = 4096;
  start->rules = 256;
}

static inline int start_session(int device, uint32_t target_kind) {
  struct usc_device_start start;

  fill_start(&start, target_kind);
  return ASK(device, USC_DEVICE_START, start);
}

static inline int add_pid(int device, pid_t pid) {
  struct usc_device_target target = {.kind = USC_TARGET_PID, .value = (uint64_t)pid};

  return ASK(device, USC_DEVICE_TARGET, target);
}

static inline int plain_request(int device, unsigned long command) {
  return ioctl(device, command, 0) ? errno : 0;
}

static inline int list_attached(int device, struct usc_attached_call* calls, uint32_t capacity, uint32_t* count) {
  struct usc_device_attached request = {.capacity = capacity, .buffer = (uintptr_t)calls};
  int error = ASK(device, USC_DEVICE_ATTACHED, request);

  *count = request.count;
  return error;
}

static inline int count_traced(int device, uint64_t* traced) {
  static struct usc_event events[256];
  struct usc_device_open_calls request = {.capacity = 256, .buffer = (uintptr_t)events};
  int error = ASK(device, USC_DEVICE_OPEN_CALLS, request);

  *traced = request.traced;
  return error;
}

/* The first number in a file of /proc or /sys, from the given column on; -1: it cannot be read. */
static inline long number_in(const char* path, char column_after) {
  char text[512];
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  ssize_t bytes = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
  char* at = text;

  if (fd >= 0) close(fd);
  if (bytes <= 0) return -1;
  text[bytes] = 0;
  if (column_after) at = strchr(text, column_after) ? strchr(text, column_after) + 1 : text;
  return strtol(at, NULL, 10);
}

/* Tasks in the module's trace map, and all that there are. */
static inline long map_entries(void) {
  return number_in("/sys/module/uscope/parameters/tasks", 0);
}
static inline long all_tasks(void) {
  return number_in("/proc/loadavg", '/');
}

static inline char state_of(pid_t pid) {
  char path[64], text[256], *end;
  int fd;
  ssize_t bytes;

  snprintf(path, sizeof(path), "/proc/%d/stat", pid);
  fd = open(path, O_RDONLY | O_CLOEXEC);
  bytes = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
  if (fd >= 0) close(fd);
  if (bytes <= 0) return 0;
  text[bytes] = 0;
  end = strrchr(text, ')');
  return end && end[1] ? end[2] : 0;
}

/* An actor of its own process group, to which its descendants belong. */
struct actor {
  pid_t pid;
  int orders;  /* f: fork, t: make a thread, e: execute itself anew; closed: end */
  int answers; /* a byte for each start, and for each order done */
};

/* Who takes the orders: the only thread; the first of four; the second of two; the second, the first having ended. */
enum actor_kind { ACTOR_PLAIN, ACTOR_THREADS, ACTOR_SECOND, ACTOR_OUTLIVED, ACTOR_KINDS };

static const char* actor_kind_text;

static void* actor_pauses(void* unused) {
  for (;;) pause();
  return unused;
}

static void* actor_returns(void* unused) {
  return unused;
}

static void actor_executes(void) {
  /* Of a process whose first thread has ended, /proc/self/exe is not there. */
  execl("/proc/thread-self/exe", "actor", "actor", actor_kind_text, (char*)NULL);
  _exit(97);
}

static void* actor_takes_orders(void* unused) {
  char order;

  if (write(1, "s", 1) != 1) _exit(96);
  while (read(0, &order, 1) == 1) {
    pthread_t thread;
    pid_t child;

    switch (order) {
      case 'f':
        child = fork();
        if (!child) _exit(0);
        if (child > 0) waitpid(child, NULL, 0);
        break;
      case 't':
        if (!pthread_create(&thread, NULL, actor_returns, NULL)) pthread_join(thread, NULL);
        break;
      case 'e':
        actor_executes();
    }
    if (write(1, &order, 1) != 1) _exit(96);
  }
  _exit(0);
  return unused;
}

/* In main(), first of all. */
static inline void act(int argc, char** argv) {
  pthread_t thread;
  int i;

  if (argc != 3 || strcmp(argv[1], "actor") != 0) return;
  actor_kind_text = argv[2];
  if (atoi(argv[2]) == ACTOR_THREADS)
    for (i = 0; i < 3; i++) pthread_create(&thread, NULL, actor_pauses, NULL);
  if (atoi(argv[2]) == ACTOR_OUTLIVED || atoi(argv[2]) == ACTOR_SECOND) {
    if (pthread_create(&thread, NULL, actor_takes_orders, NULL)) _exit(95);
    if (atoi(argv[2]) == ACTOR_OUTLIVED) syscall(SYS_exit, 0); /* the thread only */
    actor_pauses(NULL);
  }
  actor_takes_orders(NULL);
}

/* Not as a child of the caller: the module spares a tracer's children. It becomes one of the caller's parent. */
static inline int start_actor(struct actor* actor, enum actor_kind kind) {
  int orders[2], answers[2];
  char text[8];
  pid_t middle;

  if (pipe2(orders, O_CLOEXEC)) return -1;
  if (pipe2(answers, O_CLOEXEC)) {
    close(orders[0]);
    close(orders[1]);
    return -1;
  }
  snprintf(text, sizeof(text), "%d", (int)kind);
  middle = fork();
  if (!middle) {
    if (fork()) _exit(0);
    actor->pid = getpid();
    setpgid(0, 0);
    dup2(orders[0], 0);
    dup2(answers[1], 1);
    if (write(1, &actor->pid, sizeof(actor->pid)) == sizeof(actor->pid))
      execl("/proc/self/exe", "actor", "actor", text, (char*)NULL);
    _exit(97);
  }
  close(orders[0]);
  close(answers[1]);
  actor->orders = orders[1];
  actor->answers = answers[0];
  if (middle > 0) waitpid(middle, NULL, 0);
  return read(actor->answers, &actor->pid, sizeof(actor->pid)) == sizeof(actor->pid) ? 0 : -1;
}

/* Its first thread has ended, where it is of that kind. -1: it has ended as a whole. */
static inline int wait_for_actor(const struct actor* actor, enum actor_kind kind) {
  char answer;

  if (read(actor->answers, &answer, 1) != 1) return -1;
  while (kind == ACTOR_OUTLIVED && state_of(actor->pid) != 'Z') usleep(1000);
  return 0;
}

static inline void order_actor(const struct actor* actor, char order) {
  ssize_t unused = write(actor->orders, &order, 1);

  (void)unused;
}

/* All of its threads have passed the tracepoint of their end, which comes before their files are closed. */
static inline void end_actor(struct actor* actor) {
  char answer;

  close(actor->orders);
  while (read(actor->answers, &answer, 1) > 0) continue;
  close(actor->answers);
  actor->pid = 0;
}

/* Runs what a program does in a process of its own, and collects the actors that it leaves. */
static inline int run_beside_actors(int (*run)(int, char**), int argc, char** argv) {
  int status, result = 1;
  pid_t runner, ended;

  prctl(PR_SET_CHILD_SUBREAPER, 1);
  signal(SIGPIPE, SIG_IGN);
  runner = fork();
  if (!runner) exit(run(argc, argv));
  while ((ended = wait(&status)) > 0)
    if (ended == runner) result = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
  return result;
}

#endif
