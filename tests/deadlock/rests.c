// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* Programs in good health whose processes wait for each other: somebody outside, a time, or a signal lets them go on.
 * Each is made to break a simple rule for hangs. Where the first process is said to be a stranger, it is not looked at;
 * the others are its "target". */
#include "processes.h"

#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/ptrace.h>
#include <sys/select.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/un.h>

static int first[2], second[2];

static void make(int ends[2]) {
  CHECK(!pipe(ends));
}
static void stream(int ends[2]) {
  CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
}
static void handler(int signal) {
  (void)signal;
}
static void handles(int signal) {
  struct sigaction action = {.sa_handler = handler};
  CHECK(!sigaction(signal, &action, 0));
}
static void idles(int fd) {
  char byte;
  say("idle", fd);
  ssize_t got = read(fd, &byte, 1);
  OPAQUE(got);
}
static void idle_worker(void) {
  close(first[1]);
  idles(first[0]);
}
static void three_workers(void) {
  make(first);
  for (int i = 0; i < 3; i++) FORK(idle_worker);
  close(first[0]);
}

/* A supervisor that waits for signals. */
static void sigsuspends(void) {
  handles(SIGCHLD);
  handles(SIGHUP);
  three_workers();
  sigset_t none;
  sigemptyset(&none);
  say("main", -1);
  sigsuspend(&none);
}
static void sigwaits(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGHUP);
  CHECK(!sigprocmask(SIG_BLOCK, &set, 0));
  three_workers();
  int signal;
  say("main", -1);
  sigwait(&set, &signal);
}
static void signal_descriptor(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGHUP);
  CHECK(!sigprocmask(SIG_BLOCK, &set, 0));
  three_workers();
  struct pollfd wait = {signalfd(-1, &set, 0), POLLIN, 0};
  say("main", wait.fd);
  poll(&wait, 1, -1);
}
static int self_pipe_end;
static void writes_to_self(int signal) {
  (void)signal;
  ssize_t put = write(self_pipe_end, "x", 1);
  (void)put;
}
/* Its handler writes to the pipe of which it has both ends. */
static void self_pipe(void) {
  make(first);
  self_pipe_end = first[1];
  struct sigaction action = {.sa_handler = writes_to_self};
  CHECK(!sigaction(SIGHUP, &action, 0));
  fd_set set;
  FD_ZERO(&set);
  FD_SET(first[0], &set);
  say("main", first[0]);
  select(first[0] + 1, &set, 0, 0, 0);
}
static void self_pipe_read(void) {
  make(first);
  self_pipe_end = first[1];
  struct sigaction action = {.sa_handler = writes_to_self};
  CHECK(!sigaction(SIGHUP, &action, 0));
  say("main", first[0]);
  reads(first[0]);
}
static void event_handler(void) {
  int fd = eventfd(0, 0);
  handles(SIGUSR1);
  uint64_t value;
  say("main", fd);
  ssize_t got = read(fd, &value, sizeof(value));
  OPAQUE(got);
}

/* A supervisor that waits for clients; its workers wait for work. */
static void epoll_listener(void) {
  three_workers();
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  snprintf(name.sun_path, sizeof(name.sun_path), "rests.socket");
  int listener = socket(AF_UNIX, SOCK_STREAM, 0), set = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  CHECK(!bind(listener, (struct sockaddr*)&name, sizeof(name)) && !listen(listener, 8) &&
        !epoll_ctl(set, EPOLL_CTL_ADD, listener, &event));
  say("main", set);
  epoll_wait(set, &event, 1, -1);
}
/* An init that only waits for its children, one of which waits for clients. */
static void accepts(void) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  snprintf(name.sun_path, sizeof(name.sun_path), "rests.socket");
  int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  CHECK(!bind(listener, (struct sockaddr*)&name, sizeof(name)) && !listen(listener, 8));
  say("accepts", listener);
  int client = accept(listener, 0, 0);
  OPAQUE(client);
}
static void init(void) {
  FORK(accepts);
  say("main", -1);
  waits_for(-1);
}

/* The lock's holder lets go after a time. */
static void wants(void) {
  int fd = temporary("rests.lock");
  say("wants", fd);
  flock(fd, LOCK_EX);
}
static void holds_for_a_time(void) {
  int fd = open("rests.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  CHECK(fd >= 0 && !flock(fd, LOCK_EX));
  FORK(wants);
  say("main", -1);
  poll(0, 0, DEADLINE * 1000);
}
/* The classic lock with a time limit: an alarm interrupts the wait. The holder waits for the one that gives up. */
static void gives_up(void) {
  handles(SIGALRM);
  alarm(DEADLINE - 10);
  wants();
}
static void alarm_lock(void) {
  int fd = open("rests.lock", O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  CHECK(fd >= 0 && !flock(fd, LOCK_EX));
  pid_t child = FORK(gives_up);
  say("main", -1);
  waits_for(child);
}
static void timer(void) {
  three_workers();
  struct itimerspec when = {.it_value.tv_sec = DEADLINE - 10};
  int fd = timerfd_create(CLOCK_MONOTONIC, 0);
  CHECK(!timerfd_settime(fd, 0, &when, 0));
  say("main", fd);
  reads(fd);
}
/* Two peers that would both wait for ever, if their sockets had no time limit. */
static void receives(const char* role, int fd) {
  struct timeval limit = {DEADLINE - 10, 0};
  CHECK(!setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)));
  say(role, fd);
  reads(fd);
}
static void limited_peer(void) {
  close(first[0]);
  receives("limited_peer", first[1]);
}
static void receive_timeout(void) {
  stream(first);
  FORK(limited_peer);
  close(first[1]);
  receives("main", first[0]);
}
static void heartbeat_peer(void) {
  close(first[0]);
  say("heartbeat_peer", first[1]);
  reads(first[1]);
}
static void heartbeat(void) {
  stream(first);
  FORK(heartbeat_peer);
  close(first[1]);
  struct pollfd wait = {first[0], POLLIN, 0};
  say("main", first[0]);
  poll(&wait, 1, (DEADLINE - 10) * 1000);
}
static void heartbeat_select(void) {
  stream(first);
  FORK(heartbeat_peer);
  close(first[1]);
  fd_set set;
  FD_ZERO(&set);
  FD_SET(first[0], &set);
  struct timeval limit = {DEADLINE - 10, 0};
  say("main", first[0]);
  select(first[0] + 1, &set, 0, 0, &limit);
}
static void vfork_sleeps(void) {
  say("main", -1);
  if (!vfork()) {
    say("child", -1);
    sleep(DEADLINE - 10);
    _exit(0);
  }
}
/* A pool whose children share a pipe of work, both ends of it, and a lock around it; the parent reads what comes from
 * outside. */
static void pool_child(void) {
  int fd = temporary("rests.lock");
  flock(fd, LOCK_EX);
  idles(first[0]);
}
static void pool(void) {
  make(first);
  for (int i = 0; i < 3; i++) FORK(pool_child);
  say("main", 0);
  reads(0);
}
/* One thread is stopped by a tracer, which may let it go on whenever it likes. */
static void traced(void) {
  CHECK(!ptrace(PTRACE_TRACEME, 0, 0, 0));
  say("traced", -1);
  raise(SIGSTOP);
}
static void tracer(void) {
  pid_t child = FORK(traced);
  int status;
  CHECK(waitpid(child, &status, 0) == child && WIFSTOPPED(status));
  say("main", 0);
  reads(0);
}
/* Waits for one that computes. */
static void spins(void) {
  for (volatile int going = 1; going;) {
  }
}
static void spinner(void) {
  pid_t child = FORK(spins);
  say("main", -1);
  waits_for(child);
}

/* Anybody may send to a name. */
static void datagram(void) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  snprintf(name.sun_path, sizeof(name.sun_path), "rests.socket");
  int fd = socket(AF_UNIX, SOCK_DGRAM, 0);
  CHECK(!bind(fd, (struct sockaddr*)&name, sizeof(name)));
  say("main", fd);
  reads(fd);
}
static void udp(void) {
  struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  int fd = socket(AF_INET, SOCK_DGRAM, 0);
  CHECK(!bind(fd, (struct sockaddr*)&name, sizeof(name)));
  say("main", fd);
  reads(fd);
}
/* It reads from itself what its other thread writes now and then. */
static void timer_thread(void) {
  say("timer_thread", -1);
  sleep(DEADLINE);
  CHECK(write(first[1], "x", 1) == 1);
}
static void ticks(void) {
  make(first);
  START(timer_thread);
  say("main", first[0]);
  reads(first[0]);
}

/* Of these the first process is a stranger, who is asleep for a time, and holds what the target needs. */
static void stranger_sleeps(void) {
  say("stranger", -1);
  sleep(DEADLINE);
}
static void target_reads(void) {
  say("target", first[0]);
  reads(first[0]);
}
static void stranger_pipe(void) {
  make(first);
  FORK(target_reads);
  stranger_sleeps();
}
static void target_socket(void) {
  close(first[1]);
  say("target", first[0]);
  reads(first[0]);
}
static void stranger_socket(void) {
  stream(first);
  FORK(target_socket);
  stranger_sleeps();
}
static void target_event(void) {
  uint64_t value;
  say("target", first[0]);
  ssize_t got = read(first[0], &value, sizeof(value));
  OPAQUE(got);
}
static void stranger_event(void) {
  first[0] = eventfd(0, 0);
  FORK(target_event);
  stranger_sleeps();
}
/* The write end lies in the queue of the stranger's socket; or the target has it, too. */
static void sends(int end) {
  char control[CMSG_SPACE(sizeof(int))] = {0}, byte = 'x';
  struct iovec data = {&byte, 1};
  struct msghdr message = {
      .msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
  struct cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(header), &end, sizeof(int));
  close(second[1]);
  CHECK(sendmsg(second[0], &message, 0) == 1);
  close(second[0]);
}
static void target_in_flight(void) {
  make(first);
  sends(first[1]);
  close(first[1]);
  target_reads();
}
static void stranger_in_flight(void) {
  stream(second);
  FORK(target_in_flight);
  close(second[0]);
  stranger_sleeps();
}
static void target_in_flight_too(void) {
  make(first);
  sends(first[1]);
  target_reads();
}
static void stranger_in_flight_too(void) {
  stream(second);
  FORK(target_in_flight_too);
  close(second[0]);
  stranger_sleeps();
}
/* A thread of the stranger has descriptors of its own, which are not in the process's table. */
static void own_files(void) {
  CHECK(!unshare(CLONE_FILES));
  meet();
  meet();
  sleep(DEADLINE);
}
static void target_reads_own(void) {
  say("target", first[0]);
  reads(first[0]);
}
static void stranger_thread_files(void) {
  make(first);
  FORK(target_reads_own);
  expect(2);
  START(own_files);
  meet();
  close(first[0]);
  close(first[1]);
  meet();
  stranger_sleeps();
}
/* The stranger has locked the record. */
static void target_locks(void) {
  int fd = temporary("record.lock");
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
  say("target", fd);
  int done = fcntl(fd, F_SETLKW, &lock);
  OPAQUE(done);
}
static void stranger_record_lock(void) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};
  CHECK(!fcntl(temporary("record.lock"), F_SETLK, &lock));
  FORK(target_locks);
  stranger_sleeps();
}
/* The lock belongs to the open file, which the stranger has, too: it may unlock it. */
static void target_waits(void) {
  CHECK(!flock(first[0], LOCK_EX));
  pid_t child = FORK(wants);
  say("target", -1);
  waits_for(child);
}
static void stranger_lock(void) {
  first[0] = temporary("rests.lock");
  FORK(target_waits);
  stranger_sleeps();
}
/* A pty whose other side a stranger has: a shell that waits for what is typed. */
static void target_shell(void) {
  int terminal = open(ptsname(first[0]), O_RDWR | O_NOCTTY);
  close(first[0]);
  pid_t child = fork();
  if (!child) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    idles(terminal);
    _exit(0);
  }
  say("target", -1);
  waits_for(child);
}
static void stranger_terminal(void) {
  first[0] = posix_openpt(O_RDWR | O_NOCTTY);
  CHECK(first[0] >= 0 && !grantpt(first[0]) && !unlockpt(first[0]));
  FORK(target_shell);
  stranger_sleeps();
}
/* A full pipe that the stranger may read. */
static void target_writes(void) {
  close(first[0]);
  say("target", first[1]);
  writes(first[1]);
}
static void stranger_reads(void) {
  make(first);
  FORK(target_writes);
  stranger_sleeps();
}

#define SCENARIO(name) \
  { #name, name }
static const struct scenario scenarios[] = {
    SCENARIO(sigsuspends),
    SCENARIO(sigwaits),
    SCENARIO(signal_descriptor),
    SCENARIO(self_pipe),
    SCENARIO(self_pipe_read),
    SCENARIO(event_handler),
    SCENARIO(epoll_listener),
    SCENARIO(init),
    SCENARIO(holds_for_a_time),
    SCENARIO(alarm_lock),
    SCENARIO(timer),
    SCENARIO(receive_timeout),
    SCENARIO(heartbeat),
    SCENARIO(heartbeat_select),
    SCENARIO(vfork_sleeps),
    SCENARIO(pool),
    SCENARIO(tracer),
    SCENARIO(spinner),
    SCENARIO(stranger_pipe),
    SCENARIO(stranger_socket),
    SCENARIO(stranger_event),
    SCENARIO(stranger_in_flight),
    SCENARIO(stranger_in_flight_too),
    SCENARIO(stranger_thread_files),
    SCENARIO(stranger_record_lock),
    SCENARIO(datagram),
    SCENARIO(udp),
    SCENARIO(ticks),
    SCENARIO(stranger_lock),
    SCENARIO(stranger_terminal),
    SCENARIO(stranger_reads),
};

int main(int argc, char** argv) {
  return CHOOSE(scenarios, argc, argv);
}
