// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Computes without end and without a call, once it has written its pid. A line comes for each SIGUSR1.
//   loop: one thread
//   between: computes for a while between two calls, and ends; writes nothing
//   holder: a thread computes while it holds a mutex, a second one waits for the mutex, and the first thread joins both
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile unsigned long steps;

static void compute(void) {
  for (;;) steps++;
}

static void compute_a_while(void) {
  for (unsigned long n = 0; n < 50000000; n++) steps++;
}

__attribute__((noinline)) static void work(void) {
  getppid();
  compute_a_while();
  getpgrp();
}

static void on_signal(int number) {
  (void)number;
  if (write(1, "signal\n", 7) < 0) _exit(3);
}

static void say_pid(void) {
  char text[32];
  const int length = snprintf(text, sizeof(text), "%d\n", getpid());
  if (write(1, text, (size_t)length) < 0) _exit(2);
}

static void* wait_for_it(void* nothing) {
  pthread_mutex_lock(&mutex);
  return nothing;
}

static void* hold(void* waiter) {
  pthread_mutex_lock(&mutex);
  pthread_create(waiter, NULL, wait_for_it, NULL);
  pthread_setname_np(*(pthread_t*)waiter, "waiter");
  say_pid();
  compute();
  return NULL;
}

int main(int argc, char** argv) {
  signal(SIGUSR1, on_signal);
  if (argc > 1 && strcmp(argv[1], "between") == 0) {
    work();
    return 0;
  }
  if (argc > 1 && strcmp(argv[1], "holder") == 0) {
    pthread_t holder;
    pthread_t waiter;
    pthread_create(&holder, NULL, hold, &waiter);
    pthread_setname_np(holder, "holder");
    pthread_join(holder, NULL);
    return pthread_join(waiter, NULL);
  }
  say_pid();
  compute();
}
