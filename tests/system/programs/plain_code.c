// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* Code made at run time that leaves rbp alone, as small functions of a compiler do: main < outer < caller < (the code),
 * which makes the system call itself. What follows from its frame pointer is main's caller at best: nobody can see
 * `caller`. */
#define _GNU_SOURCE
#include <string.h>
#include <sys/mman.h>

#define FRAME __attribute__((noinline))

/* mov $110 (getppid),%eax; syscall; ret */
static const unsigned char code[] = {0xb8, 110, 0, 0, 0, 0x0f, 0x05, 0xc3};
static long (*made)(void);

FRAME long caller(void) {
  long result = made();
  __asm__ volatile("");
  return result + 1;
}

FRAME long outer(void) {
  long result = caller();
  __asm__ volatile("");
  return result + 1;
}

int main(void) {
  void* memory = mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 1;
  memcpy(memory, code, sizeof(code));
  made = (long (*)(void))memory;
  return outer() < 0;
}
