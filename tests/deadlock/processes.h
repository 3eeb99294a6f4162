// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* What the programs share in which several processes hang, or only wait. Each process has a name, its role, and writes
 * before it waits a line "ROLE PID TID DESCRIPTOR" to the file that HANG_SAYS names: tests/system/hangs/waits.py knows
 * from it whom and what a diagnosis must name. -1: the wait is about no descriptor. A process ends with its parent, and
 * by itself after the deadline. */
#ifndef USCOPE_PROCESSES_H
#define USCOPE_PROCESSES_H

/* No alarm: a timer is a thing that may end a wait, so the hang would be none. */
#define ENDS_WITH_ITS_STARTER
#include "hang.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static inline void say(const char* role, int fd) {
  const char* path = getenv("HANG_SAYS");
  int file = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0666) : dup(1);
  CHECK(file >= 0);
  dprintf(file, "%s %d %ld %d\n", role, getpid(), syscall(SYS_gettid), fd);
  close(file);
}

/* A child by the name of its function. */
#define FORK(function) forked(#function, function)
static inline pid_t forked(const char* name, void (*run)(void)) {
  pid_t parent = getpid(), child = fork();
  CHECK(child >= 0);
  if (child) return child;
  CHECK(!prctl(PR_SET_PDEATHSIG, SIGKILL) && !prctl(PR_SET_NAME, name));
  if (getppid() != parent) _exit(0);
  run();
  _exit(0);
}

/* The calls in which a process hangs, each with a name of its own in its stack. */
FRAME static int waits_for(pid_t child) {
  int status;
  pid_t ended = waitpid(child, &status, 0);
  OPAQUE(ended);
  return ended;
}

FRAME static int reads(int fd) {
  char byte[64];
  ssize_t got = read(fd, byte, sizeof(byte));
  OPAQUE(got);
  return got;
}

FRAME static int writes(int fd) {
  static char page[4096];
  ssize_t put = 0;
  while ((put = write(fd, page, sizeof(page))) > 0) {
  }
  OPAQUE(put);
  return put;
}

/* Sends so much that the next write waits. */
static inline void fill(int fd) {
  static const char page[4096];
  int flags = fcntl(fd, F_GETFL);
  CHECK(!fcntl(fd, F_SETFL, flags | O_NONBLOCK));
  while (write(fd, page, sizeof(page)) > 0) {
  }
  CHECK(errno == EAGAIN);
  CHECK(!fcntl(fd, F_SETFL, flags));
}

static inline void read_all(int fd) {
  while (reads(fd) > 0) {
  }
}

static inline int temporary(const char* name) {
  int fd = open(name, O_RDWR | O_CREAT, 0666);
  CHECK(fd >= 0);
  return fd;
}

/* Waits for a process to have come so far: a byte that it sends. */
struct gate {
  int ends[2];
};

static inline struct gate new_gate(void) {
  struct gate gate;
  CHECK(!pipe2(gate.ends, O_CLOEXEC));
  return gate;
}

static inline void open_gate(const struct gate* gate) {
  CHECK(write(gate->ends[1], "x", 1) == 1);
}

static inline void await_gate(const struct gate* gate) {
  char byte;
  CHECK(read(gate->ends[0], &byte, 1) == 1);
}

static inline void end_gate(struct gate* gate) {
  close(gate->ends[0]);
  close(gate->ends[1]);
}

#endif
