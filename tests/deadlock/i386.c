// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* A 32-bit program that waits in futex, for nobody. */
static int word;

static int call(int number, int first, int second, int third, int fourth) {
  int result;
  __asm__ volatile("int $0x80"
                   : "=a"(result)
                   : "a"(number), "b"(first), "c"(second), "d"(third), "S"(fourth)
                   : "memory");
  return result;
}

void _start(void) {
  call(27, 120, 0, 0, 0);                  /* alarm */
  for (;;) call(240, (int)&word, 0, 0, 0); /* futex, FUTEX_WAIT */
}
