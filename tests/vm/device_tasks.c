// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/*
 * What the kernel module keeps of tasks: which count as traced when they end, execute or are released without a
 * tracepoint of their own, and that nothing of a task can be asked for once the hooks have gone. Run in the guest with
 * the module loaded (stress.py); with init_on_free=1 a task that the module should not look at any more looks alive.
 */
#define _GNU_SOURCE 1
#include "device_calls.h"

#define OUTLIVED 40
#define SLACK 16 /* tasks that come and go meanwhile */
#define CALLS 64

static int failures;

static void check(int right, const char* what, long value, long wanted) {
  if (right) return;
  failures++;
  printf("FAILED %s: %ld, not %ld\n", what, value, wanted);
}

static void expect(long value, long wanted, const char* what) {
  check(value == wanted, what, value, wanted);
}

static int open_device(void) {
  int device = open(USC_DEVICE_PATH, O_RDWR | O_NONBLOCK | O_CLOEXEC);

  if (device >= 0) return device;
  perror(USC_DEVICE_PATH);
  exit(1);
}

static long traced_by(int device) {
  uint64_t traced = 0;
  int error = count_traced(device, &traced);

  return error ? -error : (long)traced;
}

/* A thread that has been joined, and a process whose files are closed, count until they have come to their end. */
static void expect_traced(int device, long wanted, const char* what) {
  int i;

  for (i = 0; i < 1000 && traced_by(device) != wanted; i++) usleep(10000);
  expect(traced_by(device), wanted, what);
}

static int trace(const struct actor* actors, int count) {
  int device = open_device(), i;

  expect(start_session(device, USC_TARGET_PID), 0, "START");
  for (i = 0; i < count; i++) expect(add_pid(device, actors[i].pid), 0, "TARGET");
  expect(plain_request(device, USC_DEVICE_ATTACH), 0, "ATTACH");
  expect(plain_request(device, USC_DEVICE_ADOPT), 0, "ADOPT");
  return device;
}

static void start_actors(struct actor* actors, int count, enum actor_kind kind) {
  int i;

  for (i = 0; i < count; i++)
    if (start_actor(&actors[i], kind) || wait_for_actor(&actors[i], kind)) {
      printf("FAILED an actor does not run\n");
      exit(1);
    }
}

/* The first thread ended before tracing began, so that its end was not seen; then another thread executes, which
 * releases it; and the process ends. */
static void first_threads_that_are_released(void) {
  struct actor actors[OUTLIVED];
  int device, i;

  start_actors(actors, OUTLIVED, ACTOR_OUTLIVED);
  device = trace(actors, OUTLIVED);
  expect_traced(device, OUTLIVED, "processes without their first thread");
  for (i = 0; i < OUTLIVED; i++) order_actor(&actors[i], 'e');
  for (i = 0; i < OUTLIVED; i++) expect(wait_for_actor(&actors[i], ACTOR_OUTLIVED), 0, "an exec");
  expect_traced(device, OUTLIVED, "after their exec");
  check(map_entries() <= all_tasks() + SLACK, "entries after their exec", map_entries(), all_tasks());
  /* Once more: now the first thread's end has been seen. */
  for (i = 0; i < OUTLIVED; i++) order_actor(&actors[i], 'e');
  for (i = 0; i < OUTLIVED; i++) expect(wait_for_actor(&actors[i], ACTOR_OUTLIVED), 0, "an exec");
  expect_traced(device, OUTLIVED, "after their second exec");
  check(map_entries() <= all_tasks() + SLACK, "entries after their second exec", map_entries(), all_tasks());
  for (i = 0; i < OUTLIVED; i++) end_actor(&actors[i]);
  expect_traced(device, 0, "after their end");
  check(map_entries() <= all_tasks() + SLACK, "entries after their end", map_entries(), all_tasks());
  close(device);
  expect(map_entries(), 0, "entries of a closed device");
}

static void nothing_after_detach(void) {
  static struct usc_attached_call calls[CALLS];
  struct usc_device_mappings mappings = {0};
  struct actor actor;
  uint32_t count = 0;
  int device, i;

  start_actors(&actor, 1, ACTOR_THREADS);
  device = trace(&actor, 1);
  for (i = 0; i < 1000 && !count; i++) { /* until its threads wait */
    expect(list_attached(device, calls, CALLS, &count), 0, "ATTACHED");
    usleep(1000);
  }
  check(count > 0 && (pid_t)calls[0].pid == actor.pid, "pid of the calls under way", count ? calls[0].pid : 0,
        actor.pid);
  expect(plain_request(device, USC_DEVICE_DETACH), 0, "DETACH");
  expect(map_entries(), 0, "entries after DETACH");
  expect(list_attached(device, calls, CALLS, &count), EALREADY, "ATTACHED after DETACH");
  expect(traced_by(device), -EALREADY, "OPEN_CALLS after DETACH");
  mappings.pid = actor.pid;
  expect(ASK(device, USC_DEVICE_MAPPINGS, mappings), EALREADY, "MAPPINGS after DETACH");
  expect(plain_request(device, USC_DEVICE_ADOPT), EALREADY, "ADOPT after DETACH");
  expect(plain_request(device, USC_DEVICE_ATTACH), EALREADY, "ATTACH after DETACH");
  end_actor(&actor);
  close(device);
}

/* They are traced when they are met, end in every way, and nobody else is. */
static void actors_that_come_and_go(void) {
  struct actor plain, threads;
  int device, i;

  start_actors(&plain, 1, ACTOR_PLAIN);
  start_actors(&threads, 1, ACTOR_THREADS);
  device = trace(&plain, 1);
  expect_traced(device, 1, "one process traced");
  for (i = 0; i < 50; i++) {
    order_actor(&plain, "fte"[i % 3]);
    order_actor(&threads, "fte"[i % 3]);
    expect(wait_for_actor(&plain, ACTOR_PLAIN), 0, "an actor's answer");
    expect(wait_for_actor(&threads, ACTOR_THREADS), 0, "an actor's answer");
  }
  expect_traced(device, 1, "one process after forks, threads and execs");
  end_actor(&plain);
  expect_traced(device, 0, "no process");
  end_actor(&threads);
  close(device);
}

static int run(int argc, char** argv) {
  (void)argc;
  (void)argv;
  first_threads_that_are_released();
  nothing_after_detach();
  actors_that_come_and_go();
  printf("device_tasks: %d failures\n", failures);
  return failures ? 1 : 0;
}

int main(int argc, char** argv) {
  act(argc, argv);
  return run_beside_actors(run, argc, argv);
}
