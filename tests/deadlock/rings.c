// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Waits that an io_uring ends, of which /proc shows nothing: it lies in the program's own memory and has no descriptor
// (IORING_SETUP_NO_MMAP, IORING_SETUP_REGISTERED_FD_ONLY; Linux 6.5). After some seconds it writes into a pipe of which
// the waiting process has both ends.
//
//   rings SECONDS own|thread    who set the ring up: the thread that waits, or another one, which waits for that one
//   rings SECONDS none          there is no ring, and nobody ends the wait
#include <linux/io_uring.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#define NO_MMAP (1U << 14)
#define REGISTERED_FD_ONLY (1U << 15)
#define NO_SQARRAY (1U << 16)
#define REGISTERED_RING (1U << 4)

static int pipes[2];
static struct {
  long long seconds;
  long long nanoseconds;
} limit;

static void* page(void) {
  return mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
}

static void set_up(void) {
  char* ring = page();
  struct io_uring_sqe* entries = page();
  struct io_uring_params params = {.flags = NO_MMAP | REGISTERED_FD_ONLY | NO_SQARRAY};
  const uint64_t at_ring = (uintptr_t)ring;
  const uint64_t at_entries = (uintptr_t)entries;
  // user_addr, which older headers call resv2.
  memcpy((char*)&params.cq_off + sizeof(params.cq_off) - sizeof(at_ring), &at_ring, sizeof(at_ring));
  memcpy((char*)&params.sq_off + sizeof(params.sq_off) - sizeof(at_entries), &at_entries, sizeof(at_entries));
  const long number = syscall(SYS_io_uring_setup, 4, &params);
  if (number < 0) {
    puts("no rings");
    exit(0);
  }
  entries[0] = (struct io_uring_sqe){
      .opcode = IORING_OP_TIMEOUT, .addr = (uintptr_t)&limit, .len = 1, .flags = IOSQE_IO_HARDLINK, .fd = -1};
  entries[1] = (struct io_uring_sqe){.opcode = IORING_OP_WRITE, .fd = pipes[1], .addr = (uintptr_t) "x", .len = 1};
  __atomic_store_n((unsigned*)(ring + params.sq_off.tail), 2U, __ATOMIC_RELEASE);
  if (syscall(SYS_io_uring_enter, number, 2, 0, REGISTERED_RING, NULL, 0) != 2) exit(1);
}

static void* wait_here(void* unused) {
  char byte;
  (void)unused;
  return read(pipes[0], &byte, 1) == 1 ? NULL : pipes;
}

int main(int argc, char** argv) {
  if (argc != 3 || pipe(pipes) != 0) return 2;
  limit.seconds = atoi(argv[1]);
  if (strcmp(argv[2], "none") != 0) set_up();
  puts("waits");
  fflush(stdout);
  if (strcmp(argv[2], "thread") != 0) return wait_here(NULL) != NULL;
  pthread_t thread;
  void* failed = NULL;
  if (pthread_create(&thread, NULL, wait_here, NULL) != 0 || pthread_join(thread, &failed) != 0) return 1;
  return failed != NULL;
}
