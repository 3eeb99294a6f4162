// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Does one thing very often: much KIND COUNT [FILE]. What a tracer does for it must grow with COUNT and not with its
// square.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE 4096UL
#define AREA ((char*)0x200000000000UL)

static void fail(const char* what) {
  perror(what);
  exit(1);
}

static void map_and_unmap(long i, long addresses) {
  char* at = AREA + (unsigned long)(i % addresses) * 2 * PAGE;

  if (mmap(at, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != at) fail("mmap");
  munmap(at, PAGE);
}

static void map_file(const char* path) {
  int from = open(path, O_RDONLY), to = memfd_create("much", 0);
  struct stat status;
  void* at;

  if (from < 0 || to < 0 || fstat(from, &status) != 0 || sendfile(to, from, NULL, status.st_size) != status.st_size)
    fail(path);
  at = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, to, 0);
  if (at == MAP_FAILED) fail("mmap of a file");
  munmap(at, PAGE);
  close(from);
  close(to);
}

static void child(void) {
  pid_t pid = fork();

  if (pid < 0) fail("fork");
  if (pid == 0) _exit(0);
  waitpid(pid, NULL, 0);
}

// Each process forks the next one and ends; the first waits for all by a pipe.
static void chain(long count) {
  int ends[2];
  char byte;

  if (pipe(ends) != 0) fail("pipe");
  if (fork() == 0) {
    close(ends[0]);
    while (--count > 0) {
      pid_t pid = fork();

      if (pid != 0) _exit(pid < 0);
    }
    _exit(0);
  }
  close(ends[1]);
  while (read(ends[0], &byte, 1) > 0)
    ;
  while (wait(NULL) > 0)
    ;
}

static void* nothing(void* unused) {
  return unused;
}

static void thread(void) {
  pthread_t id;

  if (pthread_create(&id, NULL, nothing, NULL) != 0) fail("pthread_create");
  pthread_join(id, NULL);
}

static void open_name(long i) {
  char name[64];

  snprintf(name, sizeof(name), "/nowhere/%ld", i);
  if (open(name, O_RDONLY) >= 0) exit(1);
}

// Many descriptors, of which each of many children closes one.
static void descriptors(long count) {
  struct rlimit limit;
  long open_ones = 1000;

  getrlimit(RLIMIT_NOFILE, &limit);
  limit.rlim_cur = limit.rlim_max;
  setrlimit(RLIMIT_NOFILE, &limit);
  if (open_ones > (long)limit.rlim_cur - 100) open_ones = (long)limit.rlim_cur - 100;
  for (long i = 0; i < open_ones; i++) dup(1);
  for (long i = 0; i < count; i++) {
    pid_t pid = fork();

    if (pid == 0) {
      close(3 + (int)(i % open_ones));
      _exit(0);
    }
    waitpid(pid, NULL, 0);
  }
}

int main(int argc, char** argv) {
  const char* kind = argc > 1 ? argv[1] : "";
  long count = argc > 2 ? atol(argv[2]) : 0;

  if (strcmp(kind, "chain") == 0) {
    chain(count);
    return 0;
  }
  if (strcmp(kind, "descriptors") == 0) {
    descriptors(count);
    return 0;
  }
  for (long i = 0; i < count; i++) {
    if (strcmp(kind, "map") == 0)
      map_and_unmap(i, 1L << 30);
    else if (strcmp(kind, "map_one") == 0)
      map_and_unmap(i, 1);
    else if (strcmp(kind, "map_some") == 0)
      map_and_unmap(i, 512);
    else if (strcmp(kind, "files") == 0)
      map_file(argv[3]);
    else if (strcmp(kind, "processes") == 0)
      child();
    else if (strcmp(kind, "threads") == 0)
      thread();
    else if (strcmp(kind, "names") == 0)
      open_name(i);
    else if (strcmp(kind, "renames") == 0) {
      char name[32];

      snprintf(name, sizeof(name), "n%ld", i);
      prctl(PR_SET_NAME, name);
    } else
      return 2;
  }
  return 0;
}
