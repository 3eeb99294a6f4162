// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* A library, or with PROGRAM a program, in two versions: functions of other names, with frames of other sizes, at other
 * addresses. tests/system/stacks/changed_files.py puts one into the other's place. */
#define _GNU_SOURCE
#include <sys/syscall.h>
#include <unistd.h>

#define FRAME __attribute__((noinline))
#define OPAQUE(value) __asm__ volatile("" : : "r"(value) : "memory")

#ifdef SECOND
FRAME long second_leaf(void) {
  char room[600];
  OPAQUE(room);
  long result = syscall(SYS_getppid);
  OPAQUE(room);
  return result;
}

FRAME long second_middle(int times) {
  char room[40];
  long result = 0;
  OPAQUE(room);
  for (int i = 0; i < times; i++) result += second_leaf();
  OPAQUE(room);
  return result;
}

FRAME long second_top(void) {
  char room[200];
  OPAQUE(room);
  long result = second_middle(1) + 3;
  OPAQUE(room);
  return result;
}
#define TOP second_top
#else
FRAME long first_leaf(void) {
  char room[24];
  OPAQUE(room);
  long result = syscall(SYS_getppid);
  OPAQUE(room);
  return result;
}

FRAME long first_top(void) {
  char room[88];
  OPAQUE(room);
  long result = first_leaf() + 1;
  OPAQUE(room);
  return result;
}
#define TOP first_top
#endif

#ifdef PROGRAM
int main(void) {
  long result = TOP();
  OPAQUE(result);
  return 0;
}
#else
long entry(void) {
  long result = TOP();
  OPAQUE(result);
  return result;
}
#endif
