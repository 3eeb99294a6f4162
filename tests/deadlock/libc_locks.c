// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* Locks of libc's own. Of most scenarios, a signal handler takes the lock that the code has which it interrupted;
 * others have two threads, or are in good health. */
#define _GNU_SOURCE
#include "hang.h"

#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <pwd.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <syslog.h>
#include <time.h>

static volatile long sink;

static void sleeps(void) {
  sigset_t all;
  sigfillset(&all);
  pthread_sigmask(SIG_BLOCK, &all, 0);
  for (;;) sleep(1);
}

static void every_millisecond(void (*handler)(int), int timer) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};
  CHECK(!sigaction(timer == ITIMER_REAL ? SIGALRM : SIGVTALRM, &action, 0));
  struct itimerval each = {{0, 1000}, {0, 1000}};
  CHECK(!setitimer(timer, &each, 0));
}

static void nothing(void) {}
static void nothing_at_exit(int status, void* argument) {
  (void)status;
  (void)argument;
}

FRAME static void stamps(void) {
  time_t now = time(0);
  struct tm parts;
  sink = localtime_r(&now, &parts)->tm_sec;
}
FRAME static void formats(void) {
  char text[80];
  struct tm parts = {0};
  sink = (long)strftime(text, sizeof(text), "%c %Z", &parts);
  stamps();
}
FRAME static void makes_time(void) {
  struct tm parts = {0};
  sink = mktime(&parts);
}
/* Larger than what a thread keeps for itself. */
FRAME static void allocates(void) {
  void* volatile block = malloc(3000);
  free(block);
}
FRAME static void reallocates(void) {
  void* volatile block = malloc(3000);
  void* volatile larger = realloc(block, 9000);
  free(larger);
}
FRAME static void clears(void) {
  void* volatile block = calloc(1, 5000);
  free(block);
}
FRAME static void forks(void) {
  if (!fork()) _exit(0);
}
FRAME static void sets(void) {
  setenv("USCOPE_A", "a", 1);
}
FRAME static void unsets(void) {
  unsetenv("USCOPE_A");
}
FRAME static void puts_in(void) {
  static char text[] = "USCOPE_B=b";
  putenv(text);
}
FRAME static void registers(void) {
  atexit(nothing);
}
FRAME static void registers_other(void) {
  on_exit(nothing_at_exit, 0);
}
FRAME static void logs(void) {
  syslog(LOG_DEBUG, "uscope");
}
FRAME static void closes_log(void) {
  closelog();
}
FRAME static void draws(void) {
  sink = random();
}
FRAME static void seeds(void) {
  srandom(1);
}
FRAME static void asks_user(void) {
  sink = getpwnam("root") != 0;
}
FRAME static void asks_host(void) {
  sink = gethostbyname("127.0.0.1") != 0;
}

struct pair {
  const char* name;
  void (*work)(void);
  void (*handler)(void);
};
static const struct pair pairs[] = {
    {"localtime_localtime", stamps, stamps},
    {"localtime_tzset", stamps, tzset},
    {"strftime_mktime", formats, makes_time},
    {"malloc_malloc", allocates, allocates},
    {"realloc_calloc", reallocates, clears},
    {"malloc_fork", reallocates, forks},
    {"setenv_setenv", sets, sets},
    {"setenv_unsetenv", sets, unsets},
    {"setenv_putenv", sets, puts_in},
    {"atexit_atexit", registers, registers},
    {"atexit_on_exit", registers, registers_other},
    {"syslog_syslog", logs, logs},
    {"syslog_closelog", logs, closes_log},
    {"random_srandom", draws, seeds},
    {"getpwnam_getpwnam", asks_user, asks_user},
};

static const struct pair* chosen;

static void on_time(int number) {
  int saved = errno;
  (void)number;
  chosen->handler();
  errno = saved;
}

static void interrupts(void) {
  START(sleeps);
  every_millisecond(on_time, ITIMER_VIRTUAL);
  for (;;) chosen->work();
}

/* A stream whose every write asks for a mutex; who has that writes to the stream. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static FILE* journal;

static ssize_t guarded(void* cookie, const char* bytes, size_t size) {
  (void)cookie;
  (void)bytes;
  takes(&mutex);
  pthread_mutex_unlock(&mutex);
  return (ssize_t)size;
}

FRAME static int writes(void) {
  return fputs("a line that is written at once\n", journal) + 1;
}

static void writer(void) {
  meet();
  writes();
}

static void stream_cycle(void) {
  journal = fopencookie(0, "w", (cookie_io_functions_t){.write = guarded});
  setvbuf(journal, 0, _IONBF, 0);
  expect(2);
  START(writer);
  takes(&mutex);
  meet();
  usleep(200000);
  writes();
}

/* One thread has the time zone's lock while it opens a FIFO that nobody writes to. */
static void opener(void) {
  stamps();
}

static void time_zone_of_fifo(void) {
  char path[] = "/tmp/uscope-zone-XXXXXX";
  CHECK(mkdtemp(path));
  char zone[64];
  snprintf(zone, sizeof(zone), ":%s/fifo", path);
  CHECK(!mkfifo(zone + 1, 0600));
  setenv("TZ", zone, 1);
  START(opener);
  usleep(200000);
  unlink(zone + 1);
  rmdir(path);
  stamps();
}

/* In good health. */
static void contender(void) {
  for (;;) {
    stamps();
    reallocates();
    draws();
  }
}

static void contends(void) {
  for (int i = 0; i < 4; i++) START(contender);
  contender();
}

static void on_alarm(int number) {
  int saved = errno;
  (void)number;
  stamps();
  clears();
  asks_host();
  errno = saved;
}

static void handles(void) {
  START(sleeps);
  every_millisecond(on_alarm, ITIMER_REAL);
  for (;;) pause();
}

int main(int argc, char** argv) {
  static const struct scenario scenarios[] = {
      {"stream_cycle", stream_cycle},
      {"time_zone_of_fifo", time_zone_of_fifo},
      {"contends", contends},
      {"handles", handles},
  };
  for (unsigned i = 0; argc == 2 && i < sizeof(pairs) / sizeof(*pairs); i++) {
    if (strcmp(argv[1], pairs[i].name)) continue;
    chosen = &pairs[i];
    static const struct scenario interrupting[] = {{"", interrupts}};
    char* empty[] = {argv[0], "", 0};
    return CHOOSE(interrupting, 2, empty);
  }
  return CHOOSE(scenarios, argc, argv);
}
