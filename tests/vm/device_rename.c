// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/*
 * Another module logs inside a rename (logger/logger.c), with the user stack of a process that renames from code in a
 * file which the tracer has not met. To tell of that file there, the module would have to wait for the lock that the
 * process itself holds. Passes if it comes to its end. Run in the guest with both modules loaded (logger-guest).
 */
#define _GNU_SOURCE 1
#include <sys/mman.h>

#include "device_calls.h"

static const char kCodeFile[] = "/tmp/device_rename.code";
static const char kBefore[] = "/tmp/device_rename.before", kAfter[] = "/tmp/device_rename.after";

/* mov $82, %eax (rename); syscall; ret */
static const unsigned char kCode[] = {0xb8, 0x52, 0, 0, 0, 0x0f, 0x05, 0xc3};
#define RENAME 82

typedef long (*rename_function)(const char*, const char*);

static int make_file(const char* path, const void* bytes, size_t count) {
  int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);

  if (fd >= 0 && write(fd, bytes, count) != (ssize_t)count) {
    close(fd);
    return -1;
  }
  return fd;
}

/* The process that is traced. Its first call of its own is another one: at that one the module looks where it is made.
 */
static int rename_when_told(int orders, int answers) {
  int file = make_file(kCodeFile, kCode, sizeof(kCode));
  rename_function function;
  char byte;
  void* code;

  close(make_file(kBefore, "x", 1));
  code = file < 0 ? MAP_FAILED : mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, file, 0);
  if (code == MAP_FAILED || write(answers, "s", 1) != 1) return 1;
  memcpy(&function, &code, sizeof(function));
  if (read(orders, &byte, 1) != 1) return 1;
  getpgrp();
  return function(kBefore, kAfter) ? 1 : 0;
}

static int start(int device) {
  struct usc_device_start start;

  fill_start(&start, USC_TARGET_PID);
  /* Of a call that is not recorded no stack is taken: the first one is taken by the module that logs. */
  start.config.calls[USC_CALLS_NATIVE][RENAME / 64] &= ~(1ull << RENAME % 64);
  return ASK(device, USC_DEVICE_START, start);
}

/* A child of this process's parent, as the actors are: the module spares a tracer's children. */
static int trace_it(pid_t pid, int orders) {
  int device = open(USC_DEVICE_PATH, O_RDWR | O_CLOEXEC);
  uint64_t traced = 0;

  if (device < 0 || start(device) || add_pid(device, pid) || plain_request(device, USC_DEVICE_ATTACH) ||
      plain_request(device, USC_DEVICE_ADOPT) || count_traced(device, &traced) || traced != 1) {
    fprintf(stderr, "device_rename: not traced: %s\n", strerror(errno));
    return 1;
  }
  if (write(orders, "r", 1) != 1) return 1;
  while (!count_traced(device, &traced) && traced) usleep(10000);
  return 0;
}

int main(void) {
  int orders[2], answers[2], status, failed;
  const long before = number_in("/sys/module/logger/parameters/renames", 0);
  pid_t pid, tracer;
  char byte;

  if (pipe(orders) || pipe(answers)) return 1;
  pid = fork();
  if (!pid) _exit(rename_when_told(orders[0], answers[1]));
  if (read(answers[0], &byte, 1) != 1) return 1;
  tracer = fork();
  if (!tracer) _exit(trace_it(pid, orders[1]));
  failed = waitpid(tracer, &status, 0) != tracer || status;
  close(orders[1]);
  failed |= waitpid(pid, &status, 0) != pid || status;
  if (number_in("/sys/module/logger/parameters/renames", 0) != before + 1) {
    fprintf(stderr, "device_rename: %ld events logged inside of renames before, %ld after\n", before,
            number_in("/sys/module/logger/parameters/renames", 0));
    failed = 1;
  }
  unlink(kAfter);
  unlink(kCodeFile);
  return failed ? 1 : 0;
}
