// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* Apache's PR 42031 with Apache's own means: the event MPM before r574462 (2007). The listener holds timeout_mutex and
 * waits on a condition variable for an idle worker; the workers need timeout_mutex before they become idle. Its queues
 * are as in server/mpm/event/fdqueue.c, without connections. `join`: the first thread waits for the listener's end;
 * `pod`: it reads the pipe of death, as an Apache process does. */
#include "hang.h"

#include <apr_atomic.h>
#include <apr_general.h>
#include <apr_thread_cond.h>
#include <apr_thread_mutex.h>
#include <apr_thread_proc.h>
#include <sys/inotify.h>

#define WORKERS 4
#define REQUESTS 40 /* that go well: who wakes the listener is seen then */

static apr_thread_mutex_t* timeout_mutex;
static apr_thread_mutex_t* idlers_mutex;
static apr_thread_cond_t* wait_for_idler;
static apr_thread_mutex_t* one_big_mutex;
static apr_thread_cond_t* not_empty;
static apr_uint32_t idlers;
static int queued, popped;
static apr_uint32_t is_locked; /* timeout_mutex, by the listener */

FRAME void ap_queue_info_set_idle(void) {
  if (apr_atomic_inc32(&idlers) == 0) {
    CHECK(!apr_thread_mutex_lock(idlers_mutex));
    CHECK(!apr_thread_cond_signal(wait_for_idler));
    CHECK(!apr_thread_mutex_unlock(idlers_mutex));
  }
}

FRAME void ap_queue_info_wait_for_idler(void) {
  CHECK(!apr_thread_mutex_lock(idlers_mutex));
  while (apr_atomic_read32(&idlers) == 0) CHECK(!apr_thread_cond_wait(wait_for_idler, idlers_mutex));
  CHECK(!apr_thread_mutex_unlock(idlers_mutex));
  apr_atomic_dec32(&idlers);
}

FRAME void ap_queue_push(void) {
  CHECK(!apr_thread_mutex_lock(one_big_mutex));
  queued++;
  CHECK(!apr_thread_cond_signal(not_empty));
  CHECK(!apr_thread_mutex_unlock(one_big_mutex));
}

FRAME int ap_queue_pop(void) {
  CHECK(!apr_thread_mutex_lock(one_big_mutex));
  while (queued == 0) CHECK(!apr_thread_cond_wait(not_empty, one_big_mutex));
  queued--;
  int number = popped++;
  CHECK(!apr_thread_mutex_unlock(one_big_mutex));
  return number;
}

FRAME void process_socket(int number) {
  usleep(3000);
  /* The last ones are still at work when the listener has the lock. */
  while (number >= REQUESTS && !apr_atomic_read32(&is_locked)) usleep(1000);
  CHECK(!apr_thread_mutex_lock(timeout_mutex));
  CHECK(!apr_thread_mutex_unlock(timeout_mutex));
}

static void* worker_thread(apr_thread_t* thread, void* data) {
  (void)thread;
  CHECK(!prctl(PR_SET_NAME, "worker"));
  for (;;) {
    ap_queue_info_set_idle();
    process_socket(ap_queue_pop());
  }
  return data;
}

FRAME void process_timeouts(void) {
  CHECK(!apr_thread_mutex_lock(timeout_mutex));
  apr_atomic_set32(&is_locked, 1);
  ap_queue_info_wait_for_idler();
  CHECK(!apr_thread_mutex_unlock(timeout_mutex));
}

static void* listener_thread(apr_thread_t* thread, void* data) {
  (void)thread;
  CHECK(!prctl(PR_SET_NAME, "listener"));
  for (int i = 0; i < REQUESTS + WORKERS; i++) {
    ap_queue_info_wait_for_idler();
    ap_queue_push();
  }
  process_timeouts();
  return data;
}

static apr_thread_t* serve(void) {
  apr_pool_t* pool;
  apr_thread_t *listener, *worker;
  CHECK(!apr_initialize());
  CHECK(!apr_pool_create(&pool, 0));
  CHECK(!apr_thread_mutex_create(&timeout_mutex, APR_THREAD_MUTEX_DEFAULT, pool));
  CHECK(!apr_thread_mutex_create(&idlers_mutex, APR_THREAD_MUTEX_DEFAULT, pool));
  CHECK(!apr_thread_mutex_create(&one_big_mutex, APR_THREAD_MUTEX_DEFAULT, pool));
  CHECK(!apr_thread_cond_create(&wait_for_idler, pool));
  CHECK(!apr_thread_cond_create(&not_empty, pool));
  for (int i = 0; i < WORKERS; i++) CHECK(!apr_thread_create(&worker, 0, worker_thread, 0, pool));
  CHECK(!apr_thread_create(&listener, 0, listener_thread, 0, pool));
  return listener;
}

static void join(void) {
  apr_status_t status;
  CHECK(!apr_thread_join(&status, serve()));
}

/* Something outside ends the wait; in Apache the parent, which has the other end of the pipe. */
static void pod(void) {
  int changes = inotify_init();
  char event;
  CHECK(changes >= 0);
  serve();
  CHECK(read(changes, &event, 1) == 1);
}

int main(int argc, char** argv) {
  static const struct scenario scenarios[] = {{"join", join}, {"pod", pod}};
  return CHOOSE(scenarios, argc, argv);
}
