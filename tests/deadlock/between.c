// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* Hangs between processes through file locks, semaphores, children that do not end, and stopped processes; each alone,
 * and with mutexes. */
#include "processes.h"

#include <semaphore.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <termios.h>

static int first[2], second[2];
static struct gate gate;

FRAME static int locks(int fd) {
  int done = flock(fd, LOCK_EX);
  OPAQUE(done);
  return done;
}

FRAME static int locks_record(int fd, int command, off_t at) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = at, .l_len = 1};
  int done = fcntl(fd, command, &lock);
  OPAQUE(done);
  return done;
}

/* The parent holds the lock that its child needs, and waits for the child. */
static void needy(void) {
  int fd = temporary("app.lock");
  say("needy", fd);
  locks(fd);
}
static void flock_parent(void) {
  int fd = open("app.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  CHECK(fd >= 0 && !flock(fd, LOCK_EX));
  pid_t child = FORK(needy);
  say("main", -1);
  waits_for(child);
}

static void holder(void) {
  CHECK(!locks(temporary("app.lock")));
  open_gate(&gate);
  say("holder", -1);
  raise(SIGSTOP);
}
static void flock_stopped(void) {
  gate = new_gate();
  FORK(holder);
  await_gate(&gate);
  end_gate(&gate);
  pid_t child = FORK(needy);
  say("main", -1);
  waits_for(child);
}

/* Two processes that take two locks in opposite order. */
static int cross_command;
static int takes_lock(int fd) {
  return cross_command ? locks_record(fd, cross_command, 0) : locks(fd);
}
static void crosses(const char* role, const char* mine, const char* other, const struct gate* here,
                    const struct gate* there) {
  int one = temporary(mine), two = temporary(other);
  CHECK(!takes_lock(one));
  open_gate(here);
  await_gate(there);
  say(role, two);
  takes_lock(two);
}
static struct gate ant_gate, bee_gate;
static void ant(void) {
  crosses("ant", "one.lock", "two.lock", &ant_gate, &bee_gate);
}
static void bee(void) {
  crosses("bee", "two.lock", "one.lock", &bee_gate, &ant_gate);
}
static void cross(int command) {
  cross_command = command;
  ant_gate = new_gate();
  bee_gate = new_gate();
  FORK(ant);
  FORK(bee);
  end_gate(&ant_gate);
  end_gate(&bee_gate);
  say("main", -1);
  waits_for(-1);
}
static void flock_cross(void) {
  cross(0);
}
static void ofd_cross(void) {
  cross(F_OFD_SETLKW);
}

/* The kernel finds a cycle of record locks (EDEADLK) only if it is short: it looks at ten. */
enum { RING = 13 };
static int seat;
static struct gate seats[RING];
static void ring(void) {
  int fd = temporary("ring.lock");
  CHECK(!locks_record(fd, F_SETLKW, seat));
  for (int i = 0; i < RING; i++) open_gate(&seats[i]);
  for (int i = 0; i < RING; i++) await_gate(&seats[seat]);
  say("ring", fd);
  CHECK(!locks_record(fd, F_SETLKW, (seat + 1) % RING));
}
static void fcntl_ring(void) {
  for (int i = 0; i < RING; i++) seats[i] = new_gate();
  for (seat = 0; seat < RING; seat++) FORK(ring);
  for (int i = 0; i < RING; i++) end_gate(&seats[i]);
  say("main", -1);
  waits_for(-1);
}

/* Half of the cycle is a record lock, half a pipe: the kernel sees no cycle. */
static void fcntl_pipe_child(void) {
  close(first[0]);
  int fd = temporary("record.lock");
  say("fcntl_pipe_child", fd);
  locks_record(fd, F_SETLKW, 0);
}
static void fcntl_pipe(void) {
  CHECK(!pipe(first));
  int fd = temporary("record.lock");
  CHECK(!locks_record(fd, F_SETLKW, 0));
  FORK(fcntl_pipe_child);
  close(first[1]);
  say("main", first[0]);
  reads(first[0]);
}

/* The child writes to its terminal from the background, and the terminal forbids it. */
static void background(void) {
  CHECK(!setpgid(0, 0));
  say("background", 1);
  CHECK(write(1, "x", 1) == 1);
}
static void leader(void) {
  int terminal = open(ptsname(first[0]), O_RDWR | O_NOCTTY);
  close(first[0]);
  CHECK(setsid() > 0 && !ioctl(terminal, TIOCSCTTY, 0) && dup2(terminal, 0) == 0 && dup2(terminal, 1) == 1);
  struct termios settings;
  CHECK(!tcgetattr(terminal, &settings));
  settings.c_lflag |= TOSTOP;
  CHECK(!tcsetattr(terminal, TCSANOW, &settings));
  pid_t child = FORK(background);
  say("leader", -1);
  waits_for(child);
}
static void stopped_ttou(void) {
  first[0] = posix_openpt(O_RDWR | O_NOCTTY);
  CHECK(first[0] >= 0 && !grantpt(first[0]) && !unlockpt(first[0]));
  pid_t child = FORK(leader);
  say("main", -1);
  waits_for(child);
}

/* The reader of a full pipe is stopped. */
static void stopped(void) {
  close(first[1]);
  say("stopped", first[0]);
  raise(SIGSTOP);
}
static void pipe_stopped(void) {
  CHECK(!pipe(first));
  FORK(stopped);
  close(first[0]);
  say("main", first[1]);
  writes(first[1]);
}

/* A server keeps both ends of the pipe to its logger, as Apache does, and reads nothing from it. */
static void server(void) {
  close(first[0]);
  say("server", first[1]);
  writes(first[1]);
}
static void logger_stopped(void) {
  CHECK(!pipe(first));
  FORK(stopped);
  FORK(server);
  say("main", -1);
  sleep(DEADLINE);
}

/* A task of a pool waits for a task that no thread of the pool is left to run. */
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int queued, done;
static void only_worker(void) {
  CHECK(!pthread_mutex_lock(&mutex));
  queued++;
  pthread_cond_signal(&changed);
  say("only_worker", -1);
  while (!done) pthread_cond_wait(&changed, &mutex);
  pthread_mutex_unlock(&mutex);
}
static void pool_own_queue(void) {
  pthread_t thread = START(only_worker);
  say("main", -1);
  joins(thread);
}

/* One thread reads under the mutex; who should write needs the mutex first. */
static void reader(void) {
  CHECK(!pthread_mutex_lock(&mutex));
  meet();
  say("reader", first[0]);
  reads(first[0]);
}
static void locker(void) {
  meet();
  say("locker", -1);
  takes(&mutex);
  CHECK(write(first[1], "x", 1) == 1);
}
static void mutex_pipe(void) {
  CHECK(!pipe(first));
  expect(2);
  pthread_t thread = START(reader);
  START(locker);
  say("main", -1);
  joins(thread);
}

/* One thread waits for a child under the mutex; the child waits for a word of a thread that needs the mutex. */
static void listens(void) {
  close(first[1]);
  say("listens", first[0]);
  reads(first[0]);
}
static void spawner(void) {
  CHECK(!pthread_mutex_lock(&mutex));
  pid_t child = FORK(listens);
  meet();
  say("spawner", -1);
  waits_for(child);
}
static void mutex_wait4(void) {
  CHECK(!pipe(first));
  expect(2);
  pthread_t thread = START(spawner);
  START(locker);
  say("main", -1);
  joins(thread);
}

/* The child of vfork waits for a word of its parent, which goes on when the child has ended. */
static void vfork_child(void) {
  CHECK(!pipe(first));
  say("main", -1);
  if (!vfork()) {
    say("child", first[0]);
    reads(first[0]);
    _exit(0);
  }
}

/* Who took the semaphore has ended with it. */
static int semaphore;
static void changes(short flags) {
  struct sembuf down = {0, -1, flags};
  int result = semop(semaphore, &down, 1);
  OPAQUE(result);
}
static void taker(void) {
  changes(0);
}
static void new_semaphore(void) {
  semaphore = semget(IPC_PRIVATE, 1, 0600);
  CHECK(semaphore >= 0 && !semctl(semaphore, 0, SETVAL, 1));
}
static void sem_gone(void) {
  new_semaphore();
  waits_for(FORK(taker));
  say("main", semaphore);
  changes(0);
}
/* The kernel undoes what this one took. */
static void undoer(void) {
  changes(SEM_UNDO);
  open_gate(&gate);
  say("undoer", -1);
  sleep(DEADLINE);
}
static void sem_undo(void) {
  new_semaphore();
  gate = new_gate();
  FORK(undoer);
  await_gate(&gate);
  end_gate(&gate);
  say("main", semaphore);
  changes(0);
}

static sem_t* named;
static void named_taker(void) {
  CHECK(!sem_wait(named));
}
FRAME static int needs(void) {
  int result = sem_wait(named);
  OPAQUE(result);
  return result;
}
static void sem_named(void) {
  char name[64];
  snprintf(name, sizeof(name), "/uscope-hang-%d", getpid());
  named = sem_open(name, O_CREAT | O_EXCL, 0600, 1);
  CHECK(named != SEM_FAILED && !sem_unlink(name));
  waits_for(FORK(named_taker));
  say("main", -1);
  needs();
}

static void messages(void) {
  int queue = msgget(IPC_PRIVATE, 0600);
  struct {
    long type;
    char text[16];
  } message;
  say("main", queue);
  CHECK(msgrcv(queue, &message, sizeof(message.text), 0, 0) >= 0);
}

/* Both wait for each other's word, beside a third that has both ends open and waits for its own child. */
static void idler(void) {
  close(first[0]);
  close(second[0]);
  close(first[1]);
  say("idler", second[1]);
  writes(second[1]);
}
static void inheritor(void) {
  close(first[0]);
  pid_t child = FORK(idler);
  say("inheritor", -1);
  waits_for(child);
}
static void grandchild_holds_end(void) {
  CHECK(!pipe(first) && !pipe(second));
  FORK(inheritor);
  close(first[1]);
  close(second[1]);
  say("main", first[0]);
  read_all(first[0]);
}

static const struct scenario scenarios[] = {
    {"flock_parent", flock_parent},
    {"flock_stopped", flock_stopped},
    {"flock_cross", flock_cross},
    {"ofd_cross", ofd_cross},
    {"fcntl_ring", fcntl_ring},
    {"fcntl_pipe", fcntl_pipe},
    {"stopped_ttou", stopped_ttou},
    {"pipe_stopped", pipe_stopped},
    {"logger_stopped", logger_stopped},
    {"pool_own_queue", pool_own_queue},
    {"mutex_pipe", mutex_pipe},
    {"mutex_wait4", mutex_wait4},
    {"vfork_child", vfork_child},
    {"sem_gone", sem_gone},
    {"sem_undo", sem_undo},
    {"sem_named", sem_named},
    {"messages", messages},
    {"grandchild_holds_end", grandchild_holds_end},
};

int main(int argc, char** argv) {
  return CHOOSE(scenarios, argc, argv);
}
