// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* A program for tests of names: the call is made in functions inlined into one without a dynamic symbol. */
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

static inline __attribute__((always_inline)) long innermost(int n) {
  return syscall(SYS_getppid) + n;
}

static inline __attribute__((always_inline)) long middle(int n) {
  long sum = innermost(n);

  if (sum == 7) abort();
  return sum;
}

static __attribute__((noinline)) long hidden(int n) {
  long sum = 0;

  for (int i = 0; i < n; i++) sum += middle(i) * 3;
  return sum;
}

int main(int argc, char** argv) {
  (void)argv;
  return hidden(argc) == 12345;
}
