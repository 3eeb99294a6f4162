// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* Condition variables, read-write locks, semaphores, barriers, joins. */
#include "hang.h"

#include <semaphore.h>
#include <stdatomic.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t news = PTHREAD_COND_INITIALIZER;
static pthread_cond_t done = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t one = PTHREAD_RWLOCK_INITIALIZER;
static pthread_rwlock_t two = PTHREAD_RWLOCK_INITIALIZER;
static sem_t tea, milk;
static pthread_t threads[3];
static atomic_int rounds;

FRAME static int waits_for(pthread_cond_t* condition) {
  int result = pthread_cond_wait(condition, &mutex);
  OPAQUE(result);
  return result;
}

FRAME static int reads(pthread_rwlock_t* lock) {
  int result = pthread_rwlock_rdlock(lock);
  OPAQUE(result);
  return result;
}

FRAME static int writes(pthread_rwlock_t* lock) {
  int result = pthread_rwlock_wrlock(lock);
  OPAQUE(result);
  return result;
}

FRAME static int needs(sem_t* semaphore) {
  int result = sem_wait(semaphore);
  OPAQUE(result);
  return result;
}

/* The first time the news come while it waits, the second time before it does: nothing says that there were any. */
static void consumer(void) {
  for (int i = 0; i < 2; i++) {
    takes(&mutex);
    if (i == 0) rounds = 1;
    waits_for(&news);
    pthread_mutex_unlock(&mutex);
    if (i > 0) break;
    rounds = 2;
    while (rounds != 3) usleep(1000);
  }
  pthread_cond_signal(&done);
}

static void tell(void) {
  takes(&mutex);
  pthread_cond_signal(&news);
  pthread_mutex_unlock(&mutex);
}

static void producer(void) {
  while (rounds != 1) usleep(1000);
  tell();
  while (rounds != 2) usleep(1000);
  tell();
  rounds = 3;
}

static void lost_wakeup(void) {
  START(consumer);
  joins(START(producer));
  takes(&mutex);
  waits_for(&done);
}

static void lost_wakeup_join(void) {
  pthread_t waits = START(consumer);
  joins(START(producer));
  joins(waits);
}

static void upgrader(void) {
  reads(&one);
  meet();
  writes(&one);
}

static void other_upgrader(void) {
  upgrader();
}

static void rwlock_upgrade(void) {
  expect(2);
  pthread_t first = START(upgrader);
  START(other_upgrader);
  joins(first);
}

static void alone(void) {
  reads(&one);
  writes(&one);
}

static void rwlock_alone(void) {
  joins(START(alone));
}

static void ant(void) {
  writes(&one);
  meet();
  reads(&two);
}

static void bee(void) {
  writes(&two);
  meet();
  writes(&one);
}

static void rwlock_cycle(void) {
  expect(2);
  pthread_t first = START(ant);
  START(bee);
  joins(first);
}

static void brews(void) {
  needs(&milk);
  sem_post(&tea);
}

static void pours(void) {
  needs(&tea);
  sem_post(&milk);
}

static void semaphore(void) {
  CHECK(!sem_init(&tea, 0, 0) && !sem_init(&milk, 0, 0));
  pthread_t first = START(brews);
  START(pours);
  joins(first);
}

static void barrier(void) {
  expect(3);
  pthread_t first = START(meet);
  START(meet);
  joins(first);
}

static void dog(void) {
  meet();
  joins(threads[1]);
}

static void eel(void) {
  meet();
  joins(threads[2]);
}

static void fox(void) {
  meet();
  joins(threads[0]);
}

/* Of three, since glibc refuses to join a thread that joins the caller. */
static void join_cycle(void) {
  CHECK(!sem_init(&tea, 0, 0));
  expect(4);
  threads[0] = START(dog);
  threads[1] = START(eel);
  threads[2] = START(fox);
  meet();
  needs(&tea);
}

static void needy(void) {
  meet();
  takes(&mutex);
}

/* Who joins holds what the joined one wants. */
static void join_holding(void) {
  takes(&mutex);
  expect(2);
  pthread_t thread = START(needy);
  meet();
  joins(thread);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;

FRAME static void late(void);

FRAME static void sets_up(void) {
  joins(START(late));
}

FRAME static void late(void) {
  pthread_once(&once, sets_up);
  __asm__ volatile("");
}

static void once_again(void) {
  late();
}

int main(int argc, char** argv) {
  static const struct scenario scenarios[] = {
      {"lost_wakeup", lost_wakeup},
      {"lost_wakeup_join", lost_wakeup_join},
      {"rwlock_upgrade", rwlock_upgrade},
      {"rwlock_alone", rwlock_alone},
      {"rwlock_cycle", rwlock_cycle},
      {"semaphore", semaphore},
      {"barrier", barrier},
      {"join_cycle", join_cycle},
      {"join_holding", join_holding},
      {"once", once_again},
  };
  return CHOOSE(scenarios, argc, argv);
}
