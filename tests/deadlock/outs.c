// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* Each way out of a wait (analyzer/deadlock/ways_out.h) with each wait. `outs all SOCKET FILTER` starts, for each pair
 * that FILTER (everything, but_alarms, only_alarms) takes, a process that waits for a child of its own, which reads
 * what the process alone could write: a circle, unless the way lets one of them go on. Each says "WAIT/WAY PID TID -1"
 * before it waits. With the way `none` there is none, and the circle is a deadlock. `outs keep SOCKET` is somebody
 * outside: it keeps descriptors that are sent to it. */
#include "processes.h"

#include <linux/aio_abi.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <stddef.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/timerfd.h>
#include <sys/un.h>
#include <termios.h>
#include <time.h>

/* What the process waits for, and its child has, or the other end of it. */
struct thing {
  int mine, theirs;
};
static const char *program, *keeper, *way;
static struct thing it, more;
static int down[2]; /* the child reads it */
static pid_t child;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static int is_way(const char* name) {
  return !strcmp(way, name);
}

static void none(void) {}
static void make_pipe(void) {
  int ends[2];
  CHECK(!pipe(ends));
  it = (struct thing){ends[0], ends[1]};
}
static void make_full_pipe(void) {
  int ends[2];
  CHECK(!pipe(ends));
  fill(ends[1]);
  it = (struct thing){ends[1], ends[0]};
}
static void make_fifo(void) {
  char name[64];
  snprintf(name, sizeof(name), "outs.%d.fifo", getpid());
  CHECK(!mkfifo(name, 0600));
  int reads = open(name, O_RDONLY | O_NONBLOCK), writes = open(name, O_WRONLY);
  CHECK(reads >= 0 && writes >= 0 && !unlink(name));
  fill(writes);
  it = (struct thing){writes, reads};
}
static void make_unix(void) {
  int ends[2];
  CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
  it = (struct thing){ends[0], ends[1]};
}
static void make_full_unix(void) {
  make_unix();
  fill(it.mine);
}
static void make_tcp(void) {
  struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t bytes = sizeof(name);
  int listener = socket(AF_INET, SOCK_STREAM, 0), caller = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(!bind(listener, (struct sockaddr*)&name, bytes) && !listen(listener, 1) &&
        !getsockname(listener, (struct sockaddr*)&name, &bytes) && !connect(caller, (struct sockaddr*)&name, bytes));
  it = (struct thing){caller, accept(listener, 0, 0)};
  close(listener);
}
static void make_event(void) {
  int fd = eventfd(0, 0);
  it = (struct thing){fd, dup(fd)};
}
static void make_queue(void) {
  char name[64];
  snprintf(name, sizeof(name), "/outs.%d", getpid());
  struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = 16};
  it.mine = mq_open(name, O_RDONLY | O_CREAT, 0600, &attributes);
  it.theirs = mq_open(name, O_WRONLY);
  CHECK(it.mine >= 0 && it.theirs >= 0 && !mq_unlink(name));
}
static void make_terminal(void) {
  it.theirs = posix_openpt(O_RDWR | O_NOCTTY);
  CHECK(it.theirs >= 0 && !grantpt(it.theirs) && !unlockpt(it.theirs));
  it.mine = open(ptsname(it.theirs), O_RDWR | O_NOCTTY);
  CHECK(it.mine >= 0);
}
static void make_file(void) {
  char name[64];
  snprintf(name, sizeof(name), "outs.%d.lock", getpid());
  it = (struct thing){temporary(name), temporary(name)};
  CHECK(!unlink(name));
}
static void make_flock(void) {
  make_file();
  CHECK(!flock(it.theirs, LOCK_EX));
}
static const struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
static void make_ofd_lock(void) {
  make_file();
  CHECK(!fcntl(it.theirs, F_OFD_SETLK, &whole));
}

static void wait_read(void) {
  reads(it.mine);
}
static void wait_write(void) {
  writes(it.mine);
}
static void wait_poll(void) {
  struct pollfd set = {it.mine, POLLIN, 0};
  poll(&set, 1, -1);
}
static void wait_ppoll(void) {
  struct pollfd set = {it.mine, POLLIN, 0};
  ppoll(&set, 1, 0, 0);
}
static void wait_select(void) {
  fd_set set;
  FD_ZERO(&set);
  FD_SET(it.mine, &set);
  select(it.mine + 1, &set, 0, 0, 0);
}
static int epoll_set = -1;
static void make_epoll(void) {
  make_pipe();
  struct epoll_event event = {.events = EPOLLIN};
  epoll_set = epoll_create1(EPOLL_CLOEXEC);
  CHECK(epoll_set >= 0 && !epoll_ctl(epoll_set, EPOLL_CTL_ADD, it.mine, &event));
}
static void wait_epoll(void) {
  struct epoll_event event;
  epoll_pwait(epoll_set, &event, 1, -1, 0);
}
static void wait_receive(void) {
  char byte;
  ssize_t got = recv(it.mine, &byte, 1, 0);
  OPAQUE(got);
}
static void wait_queue(void) {
  char message[16];
  ssize_t got = mq_receive(it.mine, message, sizeof(message), 0);
  OPAQUE(got);
}
static void wait_event(void) {
  uint64_t value;
  ssize_t got = read(it.mine, &value, sizeof(value));
  OPAQUE(got);
}
static void wait_flock(void) {
  flock(it.mine, LOCK_EX);
}
static void wait_ofd(void) {
  fcntl(it.mine, F_OFD_SETLKW, &whole);
}
static void wait_posix(void) {
  fcntl(it.mine, F_SETLKW, &whole);
}
static void wait_child(void) {
  waits_for(child);
}
static void wait_any(void) {
  waits_for(-1);
}
static void wait_id(void) {
  siginfo_t info;
  waitid(P_ALL, 0, &info, WEXITED);
}
static void wait_pidfd(void) {
  struct pollfd set = {(int)syscall(SYS_pidfd_open, child, 0), POLLIN, 0};
  CHECK(set.fd >= 0);
  poll(&set, 1, -1);
}
/* A lock whose owner waits for the child. */
static void owner(void) {
  takes(&mutex);
  meet();
  reads(it.mine);
}
static void wait_mutex(void) {
  expect(2);
  START(owner);
  meet();
  takes(&mutex);
}

enum { PASSES = 1, NUMBERS = 2, SOCKET = 4, CHILDREN = 8, THREADS = 16, SHARES = 32, LOCKS = 64, SIGNALS = 128 };
static const struct wait {
  const char* name;
  void (*make)(void);
  void (*wait)(void);
  int kind;
} waits[] = {
    {"read", make_pipe, wait_read, PASSES | NUMBERS},
    {"write", make_full_pipe, wait_write, PASSES | NUMBERS | SHARES},
    {"fifo", make_fifo, wait_write, PASSES | NUMBERS | SHARES},
    {"poll", make_pipe, wait_poll, PASSES | NUMBERS},
    {"ppoll", make_unix, wait_ppoll, PASSES | NUMBERS | SHARES},
    {"select", make_pipe, wait_select, PASSES | NUMBERS},
    {"epoll", make_epoll, wait_epoll, PASSES | SHARES},
    {"receive", make_unix, wait_receive, PASSES | NUMBERS | SOCKET | SHARES},
    {"send", make_full_unix, wait_write, PASSES | NUMBERS | SOCKET | SHARES},
    {"tcp", make_tcp, wait_receive, PASSES | NUMBERS | SOCKET | SHARES},
    {"event", make_event, wait_event, PASSES | NUMBERS | SIGNALS},
    {"queue", make_queue, wait_queue, PASSES | NUMBERS},
    {"terminal", make_terminal, wait_read, PASSES | NUMBERS},
    {"flock", make_flock, wait_flock, PASSES | LOCKS},
    {"ofd", make_ofd_lock, wait_ofd, PASSES | LOCKS},
    {"posix", make_file, wait_posix, 0},
    {"child", none, wait_child, 0},
    {"any", none, wait_any, CHILDREN},
    {"id", none, wait_id, CHILDREN},
    {"pidfd", none, wait_pidfd, 0},
    {"mutex", make_pipe, wait_mutex, PASSES | THREADS},
};
static const struct wait* waited;

static void handler(int signal) {
  (void)signal;
}
static void handles(int flags) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
  CHECK(!sigaction(SIGTERM, &action, 0));
}
static void way_handler(void) {
  handles(0);
}
static void way_restart(void) {
  handles(SA_RESTART);
}
/* The signal does not come to the thread that waits, but to another one, which waits for the child, too. */
static void takes_signals(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  CHECK(!pthread_sigmask(SIG_UNBLOCK, &set, 0));
  handles(0);
  meet();
  reads(more.mine);
}
static void way_other_thread(void) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  CHECK(!sigprocmask(SIG_BLOCK, &set, 0));
  expect(2);
  START(takes_signals);
  meet();
}
static void awaits_signals(void) {
  sigset_t set;
  int signal;
  sigfillset(&set);
  meet();
  sigwait(&set, &signal);
}
static void way_sigwait(void) {
  sigset_t set;
  sigfillset(&set);
  CHECK(!sigprocmask(SIG_BLOCK, &set, 0));
  expect(2);
  START(awaits_signals);
  meet();
}
/* Of an exec, a timer is what is left of who armed it. */
static void executes(void) {
  char* arguments[] = {(char*)program, "one", (char*)keeper, (char*)waited->name, "none", (char*)way, 0};
  execv("/proc/self/exe", arguments);
  CHECK(!"exec");
}
static void way_alarm(void) {
  alarm(DEADLINE);
  executes();
}
static void way_itimer(void) {
  struct itimerval when = {.it_value.tv_sec = DEADLINE};
  struct sigaction action = {.sa_handler = handler};
  CHECK(!sigaction(SIGALRM, &action, 0) && !setitimer(ITIMER_REAL, &when, 0));
}
/* Handlers of timers' signals, without a timer: somebody sends them (kill -ALRM). */
static void way_told(void) {
  struct sigaction action = {.sa_handler = handler};
  CHECK(!sigaction(SIGALRM, &action, 0) && !sigaction(SIGVTALRM, &action, 0));
}
static void way_told_by_prof(void) {
  struct sigaction action = {.sa_handler = handler};
  CHECK(!sigaction(SIGPROF, &action, 0));
}
static void way_posix_timer(void) {
  struct sigevent event = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
  struct itimerspec when = {.it_value.tv_sec = DEADLINE};
  timer_t timer;
  CHECK(!timer_create(CLOCK_MONOTONIC, &event, &timer) && !timer_settime(timer, 0, &when, 0));
}
static void tick(union sigval value) {
  (void)value;
}
static void way_timer_thread(void) {
  struct sigevent event = {.sigev_notify = SIGEV_THREAD, .sigev_notify_function = tick};
  struct itimerspec when = {.it_value.tv_sec = DEADLINE};
  timer_t timer;
  CHECK(!timer_create(CLOCK_MONOTONIC, &event, &timer) && !timer_settime(timer, 0, &when, 0));
}
static const struct timeval far = {DEADLINE, 0};
static void way_limit(void) {
  CHECK(!setsockopt(it.mine, SOL_SOCKET, SO_RCVTIMEO, &far, sizeof(far)) &&
        !setsockopt(it.mine, SOL_SOCKET, SO_SNDTIMEO, &far, sizeof(far)));
}
/* By i386's one call for sockets; or another way where the machine has no such calls. */
static void way_limit_i386(void) {
  enum { SOCKETCALL = 102, SETSOCKOPT = 14 };
  struct low {
    unsigned arguments[5];
    int limit[2];
  }* low = mmap(0, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  CHECK(low != MAP_FAILED);
  low->limit[0] = DEADLINE;
  for (int option = SO_RCVTIMEO; option <= SO_SNDTIMEO; option++) {
    const unsigned arguments[] = {(unsigned)it.mine, SOL_SOCKET, (unsigned)option, (unsigned)(uintptr_t)low->limit,
                                  sizeof(low->limit)};
    memcpy(low->arguments, arguments, sizeof(arguments));
    int result = SOCKETCALL;
    __asm__ volatile("int $0x80"
                     : "+a"(result)
                     : "b"(SETSOCKOPT), "c"(low->arguments)
                     : "memory", "r8", "r9", "r10", "r11");
    if (result == -ENOSYS) return way_limit();
    CHECK(!result);
  }
}
static int call_keeper(void) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  snprintf(name.sun_path, sizeof(name.sun_path), "%s", keeper);
  int link = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CHECK(!connect(link, (struct sockaddr*)&name, sizeof(name)));
  return link;
}
static void pass(int fd) {
  int link = call_keeper();
  char control[CMSG_SPACE(sizeof(int))] = {0}, byte = 'x';
  struct iovec data = {&byte, 1};
  struct msghdr message = {
      .msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
  struct cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(header), &fd, sizeof(int));
  CHECK(sendmsg(link, &message, 0) == 1 && read(link, &byte, 1) == 1);
  close(link);
}
static void way_passed(void) {
  pass(it.theirs);
}
/* The thread waits for what somebody outside has; its number comes to be that of what the child has. */
static struct thing replacing;
static volatile int about_to_wait;
static void replaces(void) {
  while (!about_to_wait) usleep(1000);
  sleep(1);
  CHECK(dup2(replacing.mine, it.mine) == it.mine && !close(replacing.mine));
  reads(more.mine);
}
static void way_renumbered(void) {
  pass(it.theirs);
  close(it.theirs);
  replacing.mine = it.mine;
  waited->make();
  struct thing outer = {replacing.mine, -1};
  replacing = it;
  it = (struct thing){outer.mine, replacing.theirs};
  START(replaces);
}
/* A set keeps what was put there, whatever its number comes to be. */
static void way_stale(void) {
  int number = it.mine, kept = dup(number);
  pass(it.theirs);
  pass(kept);
  close(kept);
  close(it.theirs);
  close(number);
  make_pipe();
  CHECK(it.mine == number);
}
/* It traces who is no child of its own, and who waits for it, too. */
static void way_tracee(void) {
  struct gate gate = new_gate();
  pid_t traced = (pid_t)syscall(SYS_clone, CLONE_PARENT | SIGCHLD, 0, 0, 0, 0);
  CHECK(traced >= 0);
  if (!traced) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "traced");
    close(down[1]);
    end_gate(&gate);
    reads(down[0]);
    _exit(0);
  }
  end_gate(&gate);
  CHECK(!ptrace(PTRACE_SEIZE, traced, 0, 0));
}
/* It traces somebody outside. */
static void way_stranger(void) {
  struct ucred its;
  socklen_t bytes = sizeof(its);
  int link = call_keeper();
  CHECK(!getsockopt(link, SOL_SOCKET, SO_PEERCRED, &its, &bytes) && !close(link) &&
        !ptrace(PTRACE_SEIZE, its.pid, 0, 0));
}
/* Each of its reads waits for who has the other end of the filter. */
static void way_notified(void) {
  struct sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_read, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)it.mine, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  struct sock_fprog code = {sizeof(filter) / sizeof(*filter), filter};
  int listener = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_NEW_LISTENER, &code);
  CHECK(listener >= 0);
  pass(listener);
  close(listener);
}

/* From here a child goes on. The process itself keeps one open file at most, and does nothing for now: it is no child
 * of who waits, whose end would let that go on. */
static void go_on_in_child(int kept) {
  enum { KEPT = 200 };
  pid_t parent = getpid(), next = fork();
  CHECK(next >= 0);
  if (!next) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    return;
  }
  CHECK((kept < 0 || dup2(kept, KEPT) == KEPT) && !close_range(3, KEPT - 1, 0));
  for (;;) sleep(DEADLINE);
}
/* Somebody else has the open file that the process waits for: it may shut it down, enlarge it, or add to the set. */
static void way_shared(void) {
  go_on_in_child(epoll_set >= 0 ? epoll_set : it.mine);
}
/* Who took the lock has ended. The open file is kept by a mapping. */
static void way_mapped(void) {
  const int is_flock = waited->wait == wait_flock;
  char name[64];
  snprintf(name, sizeof(name), "/proc/self/fd/%d", it.mine);
  int file = open(name, O_RDWR);
  close(it.theirs);
  it.theirs = open(name, O_RDWR);
  pid_t taker = fork();
  CHECK(file >= 0 && taker >= 0);
  if (!taker) {
    CHECK(!(is_flock ? flock(file, LOCK_EX) : fcntl(file, F_OFD_SETLK, &whole)));
    _exit(0);
  }
  waits_for(taker);
  enum { PAGE = 4096 };
  CHECK(!ftruncate(file, PAGE));
  void* page = mmap(0, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  CHECK(page != MAP_FAILED && !close(file));
  go_on_in_child(-1);
  CHECK(!munmap(page, PAGE));
}
/* The kernel signals the eventfd when a timer has expired. */
static void way_asynchronous(void) {
  struct itimerspec when = {.it_value.tv_sec = DEADLINE};
  aio_context_t context = 0;
  int timer = timerfd_create(CLOCK_MONOTONIC, 0);
  struct iocb poll = {.aio_fildes = (unsigned)timer,
                      .aio_lio_opcode = IOCB_CMD_POLL,
                      .aio_buf = POLLIN,
                      .aio_flags = IOCB_FLAG_RESFD,
                      .aio_resfd = (unsigned)it.mine},
              *all = &poll;
  CHECK(!timerfd_settime(timer, 0, &when, 0) && !syscall(SYS_io_setup, 1, &context) &&
        syscall(SYS_io_submit, context, 1, &all) == 1 && !close(timer));
}

static const struct way {
  const char* name;
  void (*make)(void);
  int kind; /* of waits that it goes with; 0: all */
  int arms; /* 1: an alarm, which no look at a running application can tell from another process's; 2: which only a
               recording sees; 3: what counts for all processes of a recording, alone */
} ways[] = {
    {"handler", way_handler, 0, 0},
    {"restart", way_restart, 0, 0},
    {"told", way_told, 0, 0},
    {"told_by_prof", way_told_by_prof, 0, 0},
    {"peer_handler", none, 0, 0},
    {"other_thread", way_other_thread, 0, 0},
    {"sigwait", way_sigwait, 0, 0},
    {"posix_timer", way_posix_timer, 0, 0},
    {"timer_thread", way_timer_thread, 0, 0},
    {"limit", way_limit, SOCKET, 0},
    {"limit_i386", way_limit_i386, SOCKET, 0},
    {"passed", way_passed, PASSES, 0},
    {"renumbered", way_renumbered, NUMBERS, 0},
    {"tracee", way_tracee, CHILDREN, 0},
    {"shared", way_shared, SHARES, 0},
    {"mapped", way_mapped, LOCKS, 0},
    {"asynchronous", way_asynchronous, SIGNALS, 3},
    {"alarm", way_alarm, 0, 2},
    {"itimer", way_itimer, 0, 1},
};
static const struct way stale = {"stale", way_stale, 0, 0}, notified = {"notified", way_notified, 0, 0},
                        stranger = {"stranger", way_stranger, 0, 0}, nothing = {"none", none, 0, 0};

static void peer(const char* role, struct gate* gate) {
  close(down[1]);
  close(more.mine);
  if (it.mine > 0 && it.mine != it.theirs) close(it.mine);
  if (replacing.mine > 0) close(replacing.mine);
  if (epoll_set >= 0) close(epoll_set);
  if (waited->wait == wait_posix) CHECK(!fcntl(it.theirs, F_SETLK, &whole));
  if (is_way("peer_handler")) handles(0);
  say(role, -1);
  open_gate(gate);
  end_gate(gate);
  reads(down[0]);
}

/* What the process is to say it does; `says` differs from the way where a way has executed the program. */
static void run(const struct wait* wait, const struct way* chosen, const char* says) {
  char role[64];
  snprintf(role, sizeof(role), "%s/%s", wait->name, says);
  waited = wait;
  way = chosen->name;
  int ends[2];
  CHECK(!pipe(down) && !pipe(ends));
  more = (struct thing){ends[0], ends[1]};
  wait->make();
  chosen->make();
  struct gate gate = new_gate();
  pid_t parent = getpid();
  child = fork();
  CHECK(child >= 0);
  if (!child) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(0);
    if (!is_way("peer_handler")) signal(SIGTERM, SIG_DFL);
    for (int i = 0; i < 3; i++) signal((int[]){SIGALRM, SIGVTALRM, SIGPROF}[i], SIG_DFL);
    prctl(PR_SET_NAME, "peer");
    peer(role, &gate);
    _exit(0);
  }
  await_gate(&gate);
  end_gate(&gate);
  close(down[0]);
  close(more.theirs);
  if (it.theirs > 0) close(it.theirs);
  say(role, -1);
  about_to_wait = 1;
  wait->wait();
  _exit(0);
}

static void start(const struct wait* wait, const struct way* chosen) {
  pid_t parent = getpid(), process = fork();
  CHECK(process >= 0);
  if (process) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(0);
  prctl(PR_SET_NAME, chosen->name);
  run(wait, chosen, chosen->name);
}

static const struct wait* find_wait(const char* name) {
  for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++)
    if (!strcmp(waits[i].name, name)) return &waits[i];
  CHECK(!"known wait");
  return 0;
}

/* Those without a way come last: what others ask for before they wait is not asked for since. */
static void start_all(const char* filter) {
  const int alarms = strcmp(filter, "but_alarms"), others = strcmp(filter, "only_alarms");
  for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++)
    for (size_t j = 0; j < sizeof(ways) / sizeof(*ways); j++) {
      const int fits = !ways[j].kind || (waits[i].kind & ways[j].kind);
      const int chosen = ways[j].arms == 3   ? !others
                         : ways[j].arms == 2 ? alarms && others
                         : ways[j].arms      ? alarms
                                             : others;
      if (fits && chosen) start(&waits[i], &ways[j]);
    }
  if (!others) return;
  start(find_wait("epoll"), &stale);
  start(find_wait("read"), &notified);
  start(find_wait("any"), &stranger);
  sleep(2);
  for (size_t i = 0; i < sizeof(waits) / sizeof(*waits); i++) start(&waits[i], &nothing);
}

static int keep(void) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  snprintf(name.sun_path, sizeof(name.sun_path), "%s", keeper);
  int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  CHECK(!bind(listener, (struct sockaddr*)&name, sizeof(name)) && !listen(listener, 512));
  for (;;) {
    char control[CMSG_SPACE(sizeof(int))], byte;
    struct iovec data = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
    int link = accept(listener, 0, 0);
    CHECK(link >= 0);
    if (recvmsg(link, &message, 0) == 1) CHECK(write(link, &byte, 1) == 1);
    close(link);
  }
}

int main(int argc, char** argv) {
  program = argv[0];
  CHECK(argc >= 3);
  keeper = argv[2];
  if (!strcmp(argv[1], "keep")) return keep();
  if (!strcmp(argv[1], "one")) {
    CHECK(argc == 6);
    run(find_wait(argv[3]), &nothing, argv[5]);
  }
  CHECK(!strcmp(argv[1], "all") && argc == 4 && !prctl(PR_SET_PDEATHSIG, SIGKILL));
  start_all(argv[3]);
  say("all", -1);
  for (;;) pause();
}
