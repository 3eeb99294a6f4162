// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/*
 * Requests to /dev/uscope in any order: device_sequences REQUESTS [SEED]. Two threads ask at the same time, through
 * descriptors that they duplicate and close, while the processes that are traced, and others, fork, execute and end;
 * rings are mapped and unmapped in between. device_fuzz.c asks what a request may hold; this asks when it may come.
 *
 * Checked: each answer is one that include/uscope/device.h gives for a phase in which the session may have been; no
 * call of a process is told of that nobody asked to trace; no more tasks count as traced than there can be; the trace
 * map is empty when no hook is there, and holds no more tasks than the machine while hooks are; each request ends in
 * bounded time.
 */
#define _GNU_SOURCE 1
#include <poll.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <time.h>

#include "device_calls.h"
#include "uscope/target.h"

#define THREADS 2
#define ACTORS 8             /* of these, any may be asked for */
#define STRANGERS 4          /* these never */
#define SESSION_REQUESTS 120 /* of each thread, in one session */
#define MOST_TIMES 10        /* as many requests as asked for, until each command was answered */
#define CALLS 256
#define SLACK 64
#define MOST_SECONDS 60 /* of one request; under emulation, with KASAN, on a busy machine */
#define MOST_TRACED (ACTORS * 8)

static struct actor actors[ACTORS], strangers[STRANGERS];
static pthread_rwlock_t actors_lock = PTHREAD_RWLOCK_INITIALIZER; /* taken to write where one is replaced */
static atomic_bool asked[ACTORS];                                 /* in this session */
static int master;                                                /* the session's first descriptor */
static uint32_t target_kind;
static atomic_uint reached;            /* the phase, for certain */
static atomic_uint under_way[THREADS]; /* the phase that a thread's request leads to, 0 = to none */
static atomic_int failures;
static pthread_barrier_t barrier;
static atomic_bool stopping;
static atomic_ulong accepted[32], refused;

static void fail(const char* what, long value) {
  if (atomic_fetch_add(&failures, 1) < 20) printf("FAILED %s (%ld)\n", what, value);
}

struct worker {
  unsigned number;
  uint64_t state;
  int device; /* a duplicate */
  void* mapped;
  size_t mapped_bytes;
  struct usc_attached_call calls[CALLS];
};

static uint64_t draw(struct worker* w) {
  w->state ^= w->state << 13;
  w->state ^= w->state >> 7;
  w->state ^= w->state << 17;
  return (w->state * 0x2545f4914f6cdd1dull) >> 16;
}

static double seconds(void) {
  struct timespec now;

  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void raise_to(atomic_uint* at, unsigned value) {
  unsigned old = atomic_load(at);

  while (old < value && !atomic_compare_exchange_weak(at, &old, value)) continue;
}

/* Where a request leads that is answered with success, 0 = nowhere. */
static unsigned next_phase(unsigned long command) {
  switch (command) {
    case USC_DEVICE_START:
      return USC_PHASE_STARTED;
    case USC_DEVICE_ATTACH:
      return USC_PHASE_TRACING;
    case USC_DEVICE_CLOSE_ENTRIES:
      return USC_PHASE_CLOSING;
    case USC_DEVICE_DETACH:
      return USC_PHASE_ENDED;
    default:
      return 0;
  }
}

/* Is an answer one that the rules give in a phase between these two? */
static bool is_permitted(unsigned long command, int error, unsigned from, unsigned to) {
  const bool refusal = error == ENODATA || error == EALREADY;
  unsigned phase;

  for (phase = from; phase <= to; phase <<= 1) {
    const int rule = usc_device_refusal((unsigned)command, phase);

    if (rule == (refusal ? error : 0)) return true;
    /* A second LAUNCH. */
    if (!rule && command == USC_DEVICE_LAUNCH && error == EALREADY) return true;
  }
  return false;
}

/* The last phase that another thread's request may have led to by now. */
static unsigned latest_phase(const struct worker* w) {
  unsigned i, latest = 0, certain;

  for (i = 0; i < THREADS; i++) {
    const unsigned next = atomic_load(&under_way[i]);

    if (i != w->number && next > latest) latest = next;
  }
  certain = atomic_load(&reached); /* behind the others: it is raised before they are cleared */
  return latest > certain ? latest : certain;
}

static int ask(struct worker* w, unsigned long command, void* request) {
  const unsigned from = atomic_load(&reached), next = next_phase(command);
  const double began = seconds();
  unsigned to;
  int error;

  atomic_store(&under_way[w->number], next);
  error = ioctl(w->device, command, request) ? errno : 0;
  to = latest_phase(w);
  if (seconds() - began > MOST_SECONDS) fail("a request took too long: command", (long)(command & 0xff));
  if (!is_permitted(command, error, from, to) && atomic_fetch_add(&failures, 1) < 20)
    printf("FAILED command %lx: errno %d, which no phase from %u to %u permits\n", command & 0xff, error, from, to);
  if (!error && next) raise_to(&reached, next);
  atomic_store(&under_way[w->number], 0);
  if (command == USC_DEVICE_ATTACH && error && error != ENODATA && error != EALREADY) fail("ATTACH", error);
  if (error == ENODATA || error == EALREADY)
    atomic_fetch_add(&refused, 1);
  else if (!error)
    atomic_fetch_add(&accepted[(command & 0xff) - 0x70], 1);
  return error;
}

#define ASK_FOR(w, command, request) ((request).size = sizeof(request), ask(w, command, &(request)))

/* The calls of a process are told of only if it, or an ancestor of its process group, was asked for. */
static void check_calls(const struct usc_attached_call* calls, uint32_t count) {
  uint32_t i, k;

  if (target_kind != USC_TARGET_PID && count) fail("calls under way without an adoption", count);
  for (i = 0; i < count; i++) {
    const pid_t group = getpgid((pid_t)calls[i].pid);

    if (group < 0) continue; /* it has ended since */
    for (k = 0; k < ACTORS; k++)
      if (actors[k].pid == group && atomic_load(&asked[k])) break;
    if (k == ACTORS) fail("a call of a process that nobody asked for: pid", calls[i].pid);
  }
}

static void ask_for_calls(struct worker* w) {
  struct usc_device_attached attached = {.capacity = CALLS, .buffer = (uintptr_t)w->calls};
  struct usc_device_open_calls open_calls = {.capacity = 16, .before_ns = ~0ull, .buffer = (uintptr_t)w->calls};

  if (draw(w) % 2) {
    pthread_rwlock_rdlock(&actors_lock);
    if (!ASK_FOR(w, USC_DEVICE_ATTACHED, attached)) check_calls(w->calls, attached.count);
    pthread_rwlock_unlock(&actors_lock);
  } else if (!ASK_FOR(w, USC_DEVICE_OPEN_CALLS, open_calls)) {
    if (open_calls.traced > MOST_TRACED) fail("more tasks count as traced than there are", (long)open_calls.traced);
  }
}

static void ask_for_target(struct worker* w) {
  struct usc_device_target target = {.kind = USC_TARGET_PID, .value = (uint64_t)getpid()};
  struct usc_device_launch launch = {.pid = getpid()};
  const unsigned which = draw(w) % (ACTORS + 1);

  pthread_rwlock_rdlock(&actors_lock);
  if (which < ACTORS) { /* else the tracer itself, which is never traced */
    launch.pid = actors[which].pid;
    target.value = (uint64_t)actors[which].pid;
  }
  if (draw(w) % 8 == 0) {
    (void)ASK_FOR(w, USC_DEVICE_LAUNCH, launch);
  } else {
    if (which < ACTORS) atomic_store(&asked[which], true);
    (void)ASK_FOR(w, USC_DEVICE_TARGET, target);
  }
  pthread_rwlock_unlock(&actors_lock);
}

static void ask_something(struct worker* w) {
  union {
    uint32_t size;
    struct usc_device_version version;
    struct usc_device_table table;
    struct usc_device_file file;
    struct usc_device_file_key key;
    struct usc_device_reserve reserve;
    struct usc_device_files files;
    struct usc_device_mappings mappings;
    struct usc_device_stack stack;
    struct usc_device_stats stats;
    struct usc_device_losses losses;
    struct usc_device_probes probes;
  } r;

  memset(&r, 0, sizeof(r));
  switch (draw(w) % 12) {
    case 0:
      (void)ASK_FOR(w, USC_DEVICE_VERSION, r.version);
      break;
    case 1:
      (void)ASK_FOR(w, USC_DEVICE_TABLE, r.table);
      break;
    case 2:
      r.file.file = 8 + draw(w) % 64;
      r.file.state = USC_FILE_WITHOUT;
      (void)ASK_FOR(w, USC_DEVICE_FILE, r.file);
      break;
    case 3:
      r.key.address = (uintptr_t)ask_something;
      (void)ASK_FOR(w, USC_DEVICE_FILE_KEY, r.key);
      break;
    case 4:
      r.reserve.key.ino = draw(w);
      (void)ASK_FOR(w, USC_DEVICE_RESERVE, r.reserve);
      break;
    case 5:
    case 6:
      r.mappings.pid = draw(w) % 2 ? actors[draw(w) % ACTORS].pid : strangers[draw(w) % STRANGERS].pid;
      (void)ASK_FOR(w, USC_DEVICE_MAPPINGS, r.mappings);
      break;
    case 7:
      if (draw(w) % 2)
        (void)ASK_FOR(w, USC_DEVICE_STACK, r.stack);
      else
        (void)ASK_FOR(w, USC_DEVICE_RESEND, r.stack);
      break;
    case 8:
      (void)ASK_FOR(w, USC_DEVICE_STATS, r.stats);
      break;
    case 10: { /* walks of other processes go on meanwhile */
      uint32_t serials[16];
      struct usc_file_key keys[16] = {{0}};

      for (int i = 0; i < 16; i++) {
        serials[i] = 8 + draw(w) % 64;
        keys[i].ino = draw(w);
      }
      r.files.count = 16;
      r.files.buffer = draw(w) % 2 ? (uintptr_t)serials : (uintptr_t)keys;
      if (r.files.buffer == (uintptr_t)serials)
        (void)ASK_FOR(w, USC_DEVICE_RELEASE, r.files);
      else
        (void)ASK_FOR(w, USC_DEVICE_FORGET, r.files);
      break;
    }
    case 9: /* none: what attaches to functions waits for all tasks (device_functions.c) */
      (void)ASK_FOR(w, USC_DEVICE_PROBES, r.probes);
      break;
    default:
      r.losses.capacity = 16;
      r.losses.buffer = (uintptr_t)w->calls;
      (void)ASK_FOR(w, USC_DEVICE_LOSSES, r.losses);
  }
}

/* The next phase, or any. */
static void move_on(struct worker* w) {
  static const unsigned long commands[] = {USC_DEVICE_START, USC_DEVICE_ATTACH, USC_DEVICE_CLOSE_ENTRIES,
                                           USC_DEVICE_DETACH};
  unsigned long command = commands[draw(w) % 4];

  if (draw(w) % 4) { /* as it should be; and not too soon */
    const unsigned now = atomic_load(&reached);

    command = now == USC_PHASE_OPENED    ? USC_DEVICE_START
              : now == USC_PHASE_STARTED ? USC_DEVICE_ATTACH
                                         : USC_DEVICE_ADOPT;
  }
  if (command == USC_DEVICE_START) {
    struct usc_device_start start;

    fill_start(&start, target_kind);
    (void)ask(w, command, &start);
  } else {
    (void)ask(w, command, NULL);
  }
}

static void use_the_descriptor(struct worker* w) {
  const size_t region = 4096 + RING_BYTES;
  struct pollfd ready = {w->device, POLLIN, 0};
  const unsigned from = atomic_load(&reached);
  uint64_t count;
  int other;

  switch (draw(w) % 6) {
    case 0: /* a second opener */
      other = open(USC_DEVICE_PATH, O_RDWR | O_CLOEXEC);
      if (other >= 0 || errno != EBUSY) fail("a second open", other >= 0 ? 0 : errno);
      break;
    case 1:
      close(w->device);
      w->device = fcntl(master, F_DUPFD_CLOEXEC, 3);
      break;
    case 2:
      if (poll(&ready, 1, 0) < 0) fail("poll", errno);
      break;
    case 3:
      if (read(w->device, &count, sizeof(count)) != sizeof(count) && errno != EAGAIN) fail("read", errno);
      break;
    default:
      if (w->mapped) munmap(w->mapped, w->mapped_bytes);
      w->mapped_bytes = draw(w) % 2 ? 4096 : RING_BYTES;
      w->mapped = mmap(NULL, w->mapped_bytes, PROT_READ, MAP_SHARED, w->device,
                       (off_t)(draw(w) % 2 * region + (w->mapped_bytes == 4096 ? 0 : 4096)));
      if (w->mapped == MAP_FAILED) {
        w->mapped = NULL;
        if (from != USC_PHASE_OPENED && errno != EAGAIN && errno != ENOMEM && errno != EINVAL) fail("mmap", errno);
      }
  }
}

static void replace_actor(unsigned which) {
  end_actor(&actors[which]);
  /* Its number is no longer one that was asked for. */
  atomic_store(&asked[which], false);
  if (start_actor(&actors[which], (enum actor_kind)(which % ACTOR_KINDS))) fail("an actor does not start", errno);
}

/* Nobody waits for what they answer: the pipe holds it all. */
static void stir(struct worker* w) {
  const unsigned which = draw(w) % ACTORS;

  if (draw(w) % 4 == 0) {
    order_actor(&strangers[draw(w) % STRANGERS], "fte"[draw(w) % 3]);
    return;
  }
  if (draw(w) % 8) {
    pthread_rwlock_rdlock(&actors_lock);
    order_actor(&actors[which], "ftee"[draw(w) % 4]);
  } else {
    pthread_rwlock_wrlock(&actors_lock);
    replace_actor(which);
  }
  pthread_rwlock_unlock(&actors_lock);
}

static void one_step(struct worker* w) {
  switch (draw(w) % 16) {
    case 0:
    case 1:
    case 2:
      move_on(w);
      break;
    case 3:
    case 4:
      ask_for_target(w);
      break;
    case 5:
    case 6:
    case 7:
    case 8:
      ask_for_calls(w);
      break;
    case 9:
    case 10:
      use_the_descriptor(w);
      break;
    case 11:
    case 12:
    case 13:
      stir(w);
      break;
    default:
      ask_something(w);
  }
}

static void* work(void* argument) {
  struct worker* w = argument;
  int i;

  for (;;) {
    pthread_barrier_wait(&barrier);
    if (atomic_load(&stopping)) return NULL;
    w->device = fcntl(master, F_DUPFD_CLOEXEC, 3);
    for (i = 0; i < SESSION_REQUESTS; i++) one_step(w);
    pthread_barrier_wait(&barrier); /* the main thread looks at what is there */
    pthread_barrier_wait(&barrier);
    if (w->mapped) munmap(w->mapped, w->mapped_bytes);
    w->mapped = NULL;
    close(w->device);
    pthread_barrier_wait(&barrier);
  }
}

static int open_device(void) {
  const double began = seconds();
  int device;

  /* A process that was forked a moment ago may still have its copy of the descriptor. */
  while ((device = open(USC_DEVICE_PATH, O_RDWR | O_NONBLOCK | O_CLOEXEC)) < 0 && errno == EBUSY &&
         seconds() - began < MOST_SECONDS)
    usleep(1000);
  if (device >= 0) return device;
  perror(USC_DEVICE_PATH);
  exit(1);
}

static void check_map(void) {
  const long entries = map_entries(), tasks = all_tasks();
  const unsigned phase = atomic_load(&reached);

  if (!(phase & USC_PHASES_HOOKED) && entries != 0) fail("entries without a hook", entries);
  if (entries > tasks + SLACK) fail("more entries than tasks", entries - tasks);
}

static void session(struct worker* main_worker) {
  unsigned i;

  master = open_device();
  atomic_store(&reached, USC_PHASE_OPENED);
  target_kind = draw(main_worker) % 4 ? USC_TARGET_PID : USC_TARGET_LAUNCH;
  for (i = 0; i < ACTORS; i++) atomic_store(&asked[i], false);
  pthread_barrier_wait(&barrier);
  pthread_barrier_wait(&barrier);
  check_map();
  pthread_barrier_wait(&barrier);
  close(master);
  pthread_barrier_wait(&barrier);
}

/* The number of a command without which the run says nothing, and which was never answered; 0: there is none. */
static unsigned first_unanswered(void) {
  static const unsigned long needed[] = {USC_DEVICE_START,      USC_DEVICE_TARGET,        USC_DEVICE_ATTACH,
                                         USC_DEVICE_ADOPT,      USC_DEVICE_MAPPINGS,      USC_DEVICE_ATTACHED,
                                         USC_DEVICE_OPEN_CALLS, USC_DEVICE_CLOSE_ENTRIES, USC_DEVICE_DETACH};
  unsigned i;

  for (i = 0; i < sizeof(needed) / sizeof(*needed); i++)
    if (!atomic_load(&accepted[(needed[i] & 0xff) - 0x70])) return needed[i] & 0xff;
  return 0;
}

static int run(int argc, char** argv) {
  const unsigned long requests = argc > 1 ? strtoul(argv[1], NULL, 0) : 20000;
  const uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 1;
  static struct worker workers[THREADS], main_worker;
  pthread_t threads[THREADS];
  unsigned long done;
  unsigned i;

  setvbuf(stdout, NULL, _IOLBF, 0);
  main_worker.state = seed * 0x9e3779b97f4a7c15ull | 1;
  for (i = 0; i < ACTORS; i++)
    if (start_actor(&actors[i], (enum actor_kind)(i % ACTOR_KINDS))) return 1;
  for (i = 0; i < STRANGERS; i++)
    if (start_actor(&strangers[i], (enum actor_kind)(i % ACTOR_KINDS))) return 1;
  pthread_barrier_init(&barrier, NULL, THREADS + 1);
  for (i = 0; i < THREADS; i++) {
    workers[i].number = i;
    workers[i].state = (seed + i + 1) * 0xd1342543de82ef95ull | 1;
    if (pthread_create(&threads[i], NULL, work, &workers[i])) return 1;
  }
  /* What a short run asks for by chance: so many requests, and on until each command was answered. */
  for (done = 0; done < requests || (first_unanswered() && done < MOST_TIMES * requests);
       done += THREADS * SESSION_REQUESTS)
    session(&main_worker);
  close(open_device()); /* which waits until the last session has ended */
  if (map_entries() != 0) fail("entries of a closed device", map_entries());
  atomic_store(&stopping, true);
  pthread_barrier_wait(&barrier);
  for (i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  for (i = 0; i < ACTORS; i++) end_actor(&actors[i]);
  for (i = 0; i < STRANGERS; i++) end_actor(&strangers[i]);
  if (first_unanswered()) fail("never answered: command", first_unanswered());
  printf("%lu steps in %lu sessions, %lu adoptions, %lu lists of calls, %lu requests refused, %d failures\n", done,
         atomic_load(&accepted[USC_DEVICE_START & 15]), atomic_load(&accepted[(USC_DEVICE_ADOPT & 0xff) - 0x70]),
         atomic_load(&accepted[(USC_DEVICE_ATTACHED & 0xff) - 0x70]), atomic_load(&refused), atomic_load(&failures));
  return atomic_load(&failures) ? 1 : 0;
}

int main(int argc, char** argv) {
  act(argc, argv);
  return run_beside_actors(run, argc, argv);
}
