// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/*
 * What is hard for a tracer, in numbers that are known: storms KIND NUMBER. Prints how many calls were made, getppid
 * where nothing else is said; each of them must be in the trace, or counted as lost.
 *   forks     NUMBER short processes, eight at a time, one call each
 *   threads   NUMBER threads, eight at a time, one call each, and a process that ends while its threads call
 *   execs     NUMBER execs, one after the other, one call before each
 *   mappings  NUMBER calls, while two threads map and unmap executable memory
 *   stacks    NUMBER calls with the stack pointer at places that are no stack
 * And for a tracer that comes later: storms KIND NUMBER FILE. FILE is a struct meeting; until it says go no call is
 * counted, and then each is a getpgrp.
 *   met-forks NUMBER short processes, eight at a time, one call each, and as many before as it takes
 *   met-execs NUMBER execs, one call before each, and as many before as it takes
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define AT_ONCE 8

static void require(int right, const char* what) {
  if (right) return;
  perror(what);
  exit(3);
}

static void forks(long number) {
  long i, running = 0;

  for (i = 0; i < number; i++) {
    pid_t child = fork();

    require(child >= 0, "fork");
    if (!child) {
      getppid();
      _exit(0);
    }
    if (++running == AT_ONCE) {
      require(wait(NULL) > 0, "wait");
      running--;
    }
  }
  while (running--) require(wait(NULL) > 0, "wait");
}

static void* one_call(void* unused) {
  getppid();
  return NULL;
}

static void* many_calls(void* unused) {
  for (;;) getpgrp();
  return unused;
}

static void threads(long number) {
  pthread_t thread[AT_ONCE];
  long i, j, count;
  pid_t child;

  for (i = 0; i < number; i += count) {
    count = number - i < AT_ONCE ? number - i : AT_ONCE;
    for (j = 0; j < count; j++) require(!pthread_create(&thread[j], NULL, one_call, NULL), "pthread_create");
    for (j = 0; j < count; j++) pthread_join(thread[j], NULL);
  }
  child = fork();
  require(child >= 0, "fork");
  if (!child) {
    for (j = 0; j < AT_ONCE; j++) require(!pthread_create(&thread[j], NULL, many_calls, NULL), "pthread_create");
    usleep(20000);
    _exit(0); /* with all of them in the middle of something */
  }
  require(wait(NULL) == child, "wait");
}

static void execs(char** argv, long number) {
  char left[32];

  getppid();
  if (number <= 1) return;
  snprintf(left, sizeof(left), "%ld", number - 1);
  execl("/proc/self/exe", argv[0], "execs", left, argv[3] ? argv[3] : argv[2], (char*)NULL);
  require(0, "exec");
}

/* Shared by all processes of a storm, and by the one that watches it. */
struct meeting {
  volatile uint32_t go;
  volatile uint32_t made;
};

static struct meeting* meet(const char* path) {
  int file = open(path, O_RDWR | O_CLOEXEC);
  struct meeting* meeting;

  require(file >= 0, path);
  meeting = mmap(NULL, sizeof(*meeting), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  require(meeting != MAP_FAILED, "mmap");
  close(file);
  return meeting;
}

static void call_if_met(struct meeting* meeting) {
  if (!meeting->go) return;
  getpgrp();
  __sync_fetch_and_add(&meeting->made, 1);
}

static void met_forks(long number, struct meeting* meeting) {
  long running = 0, counted = 0;

  while (counted < number) {
    const int go = meeting->go != 0;
    pid_t child = fork();

    require(child >= 0, "fork");
    if (!child) {
      call_if_met(meeting);
      _exit(0);
    }
    counted += go;
    if (++running == AT_ONCE) {
      require(wait(NULL) > 0, "wait");
      running--;
    }
  }
  while (running--) require(wait(NULL) > 0, "wait");
}

static void met_execs(char** argv, long number, struct meeting* meeting) {
  call_if_met(meeting);
  if (meeting->made >= number) return;
  execl("/proc/self/exe", argv[0], argv[1], argv[2], argv[3], (char*)NULL);
  require(0, "exec");
}

static volatile int over;

static void* map_and_unmap(void* file) {
  while (!over) {
    char* place = mmap(NULL, 65536, PROT_READ | PROT_EXEC, MAP_PRIVATE, *(int*)file, 0);
    char* data = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    require(place != MAP_FAILED && data != MAP_FAILED, "mmap");
    data[4096] = 1;
    require(!mprotect(data, 4096, PROT_READ | PROT_EXEC), "mprotect");
    munmap(data, 1 << 20);
    munmap(place, 65536);
  }
  return NULL;
}

static void mappings(long number) {
  pthread_t thread[2];
  int file = open("/proc/self/exe", O_RDONLY), i;

  require(file >= 0, "/proc/self/exe");
  for (i = 0; i < 2; i++) require(!pthread_create(&thread[i], NULL, map_and_unmap, &file), "pthread_create");
  while (number--) {
    getppid();
    if (number % 16 == 0) sched_yield();
  }
  over = 1;
  for (i = 0; i < 2; i++) pthread_join(thread[i], NULL);
}

/* getppid with another stack pointer: nothing touches it before it is back. */
static void call_on(uint64_t stack_pointer) {
  long result;

  __asm__ volatile("mov %%rsp, %%rbx\n\tmov %[sp], %%rsp\n\tsyscall\n\tmov %%rbx, %%rsp"
                   : "=a"(result)
                   : "0"((long)SYS_getppid), [sp] "r"(stack_pointer)
                   : "rbx", "rcx", "r11", "memory");
}

static void stacks(long number) {
  static const uint64_t places[] = {0,
                                    8,
                                    1,
                                    4095,
                                    0x7fffffffefff,
                                    0x7ffffffffff8,
                                    0x800000000000,
                                    0x8000000000000000,
                                    0xffff800000000000,
                                    0xffff888000000000,
                                    0xffffffff81000000,
                                    0xffffffffff600000,
                                    0xfffffffffffffff8,
                                    ~0ull};
  char* pages = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  long i;

  require(pages != MAP_FAILED, "mmap");
  require(!mprotect(pages + 8192, 4096, PROT_NONE), "mprotect");
  memset(pages + 4096, 0x41, 4096);
  for (i = 0; i < number; i++) switch (i % 4) {
      case 0:
        call_on(places[i / 4 % (sizeof(places) / sizeof(places[0]))]);
        break;
      case 1:
        call_on((uintptr_t)pages + 8192 - i % 64); /* before a page that cannot be read */
        break;
      case 2:
        call_on((uintptr_t)pages + i % 4096); /* never written to */
        break;
      default:
        call_on((uintptr_t)&stacks + i % 64); /* code */
    }
}

int main(int argc, char** argv) {
  const long number = argc >= 3 ? atol(argv[2]) : 0;
  const char* what = argc >= 3 ? argv[1] : "";

  if (number < 1) return 2;
  if (!strcmp(what, "forks")) {
    forks(number);
  } else if (!strcmp(what, "threads")) {
    threads(number);
  } else if (!strcmp(what, "execs")) {
    execs(argv, number);
    printf("%s\n", argv[3] ? argv[3] : argv[2]);
    return 0;
  } else if (argc == 4 && !strncmp(what, "met-", 4)) {
    struct meeting* meeting = meet(argv[3]);

    if (!strcmp(what, "met-execs"))
      met_execs(argv, number, meeting);
    else
      met_forks(number, meeting);
    printf("%u\n", meeting->made);
    return 0;
  } else if (!strcmp(what, "mappings")) {
    mappings(number);
  } else if (!strcmp(what, "stacks")) {
    stacks(number);
  } else {
    return 2;
  }
  printf("%ld\n", number);
  return 0;
}
