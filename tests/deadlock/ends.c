// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* Hangs through pipes, sockets and what else processes hold by a descriptor: nobody is left who would serve the other
 * end. */
#include "processes.h"

#include <arpa/inet.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/un.h>

static int first[2], second[2], third[2];

static void make(int ends[2]) {
  CHECK(!pipe(ends));
}

/* What a program does that reads its child's output after it has waited for the child. */
static void talker(void) {
  close(first[0]);
  say("talker", first[1]);
  writes(first[1]);
}
static void child_full_pipe(void) {
  make(first);
  pid_t child = FORK(talker);
  close(first[1]);
  say("main", -1);
  waits_for(child);
}

/* The sibling has inherited the end that must be closed before the reader sees the end of the file. */
static void sibling(void) {
  close(first[0]);
  close(second[1]);
  say("sibling", second[0]);
  reads(second[0]);
}
static void writer_that_ends(void) {}
static void sibling_holds_end(void) {
  make(first);
  make(second);
  FORK(sibling);
  waits_for(FORK(writer_that_ends));
  close(first[1]);
  close(second[0]);
  say("main", first[0]);
  read_all(first[0]);
}

static void reader_holds_end(void) {
  make(first);
  waits_for(FORK(writer_that_ends));
  say("main", first[0]);
  read_all(first[0]);
}

static void stream(int ends[2], int tcp) {
  if (!tcp) {
    CHECK(!socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
    return;
  }
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t length = sizeof(address);
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(listener >= 0 && !bind(listener, (struct sockaddr*)&address, length) && !listen(listener, 1));
  CHECK(!getsockname(listener, (struct sockaddr*)&address, &length));
  ends[0] = socket(AF_INET, SOCK_STREAM, 0);
  CHECK(!connect(ends[0], (struct sockaddr*)&address, length));
  ends[1] = accept(listener, 0, 0);
  CHECK(ends[1] >= 0);
  close(listener);
}

static void peer(void) {
  close(first[0]);
  say("peer", first[1]);
  writes(first[1]);
}
static void both_write(int tcp) {
  stream(first, tcp);
  FORK(peer);
  close(first[1]);
  say("main", first[0]);
  writes(first[0]);
}
static void both_write_unix(void) {
  both_write(0);
}
static void both_write_tcp(void) {
  both_write(1);
}

static void both_read_unix(void) {
  stream(first, 0);
  if (!fork()) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "peer");
    close(first[0]);
    say("peer", first[1]);
    reads(first[1]);
    _exit(0);
  }
  close(first[1]);
  say("main", first[0]);
  reads(first[0]);
}

/* A pipeline whose reader waits for a word of the one that waits for both. */
static void source(void) {
  close(first[0]);
  close(second[0]);
  close(second[1]);
  say("source", first[1]);
  writes(first[1]);
}
static void sink(void) {
  close(first[1]);
  close(second[1]);
  say("sink", second[0]);
  reads(second[0]);
}
static void never_reads(void) {
  make(first);
  make(second);
  FORK(source);
  FORK(sink);
  close(first[0]);
  close(first[1]);
  close(second[0]);
  say("main", -1);
  waits_for(-1);
}

/* Each child waits for the parent, and the parent for one of them, whichever. */
static void left(void) {
  close(first[0]);
  close(second[0]);
  close(second[1]);
  close(third[1]);
  say("left", third[0]);
  reads(third[0]);
}
static void right(void) {
  close(second[0]);
  close(first[0]);
  close(first[1]);
  close(third[1]);
  say("right", third[0]);
  reads(third[0]);
}
static void poll_two(void) {
  make(first);
  make(second);
  make(third);
  FORK(left);
  FORK(right);
  close(first[1]);
  close(second[1]);
  close(third[0]);
  struct pollfd set[] = {{first[0], POLLIN, 0}, {second[0], POLLIN, 0}};
  say("main", first[0]);
  say("main", second[0]);
  poll(set, 2, -1);
}

static void epoll_dead(void) {
  make(first);
  make(second);
  int set = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  CHECK(!epoll_ctl(set, EPOLL_CTL_ADD, first[0], &event) && !epoll_ctl(set, EPOLL_CTL_ADD, second[0], &event));
  say("main", set);
  epoll_wait(set, &event, 1, -1);
}

/* The end lies in the queue of a socket that nobody else has. */
static void in_flight(void) {
  make(first);
  stream(second, 0);
  char control[CMSG_SPACE(sizeof(int))] = {0}, byte = 'x';
  struct iovec data = {&byte, 1};
  struct msghdr message = {
      .msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
  struct cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  memcpy(CMSG_DATA(header), &first[1], sizeof(int));
  CHECK(sendmsg(second[0], &message, 0) == 1);
  close(first[1]);
  say("main", first[0]);
  read_all(first[0]);
}

static void fifo_one_end(void) {
  CHECK(!mkfifo("lonely.fifo", 0666));
  say("main", -1);
  open("lonely.fifo", O_RDONLY);
}

/* Each waits for the other one to open the other end of its FIFO. */
static void opens(const char* reads, const char* writes) {
  int in = open(reads, O_RDONLY);
  int out = open(writes, O_WRONLY);
  CHECK(in < 0 || out < 0);
}
static void asker(void) {
  say("asker", -1);
  opens("answers.fifo", "questions.fifo");
}
static void answerer(void) {
  say("answerer", -1);
  opens("questions.fifo", "answers.fifo");
}
static void fifo_cross(void) {
  CHECK(!mkfifo("questions.fifo", 0666) && !mkfifo("answers.fifo", 0666));
  FORK(asker);
  waits_for(FORK(answerer));
}

/* Handlers for signals that end programs, so that files are removed; no timer is armed. */
static void removes_files(int number) {
  _exit(number);
}
static void cleaner(void) {
  close(second[1]);
  close(first[0]);
  for (int number = SIGHUP; number <= SIGXFSZ; number++) signal(number, removes_files);
  say("cleaner", second[0]);
  reads(second[0]);
}
static void alarm_handler(void) {
  make(first);
  make(second);
  FORK(cleaner);
  close(first[1]);
  close(second[0]);
  say("main", first[0]);
  reads(first[0]);
}

static void event(void) {
  int fd = eventfd(0, 0);
  say("main", fd);
  uint64_t value;
  OPAQUE(fd);
  CHECK(read(fd, &value, sizeof(value)) > 0);
}

static void queue(void) {
  char name[64], message[16];
  snprintf(name, sizeof(name), "/uscope-hang-%d", getpid());
  struct mq_attr attributes = {.mq_maxmsg = 1, .mq_msgsize = sizeof(message)};
  mqd_t queue = mq_open(name, O_RDWR | O_CREAT, 0600, &attributes);
  CHECK(queue >= 0 && !mq_unlink(name));
  say("main", queue);
  mq_receive(queue, message, sizeof(message), 0);
}

/* After a SIGSTOP and a SIGCONT, poll goes on as restart_syscall. */
static void stops_its_parent(void) {
  usleep(300000);
  kill(getppid(), SIGSTOP);
  usleep(100000);
  kill(getppid(), SIGCONT);
}
static void poll_continued(void) {
  make(first);
  FORK(stops_its_parent);
  struct pollfd set[] = {{first[0], POLLIN, 0}};
  say("main", first[0]);
  poll(set, 1, -1);
}

/* Its stack lies where those of 32-bit programs do. */
static void* low_reader(void* unused) {
  say("low_reader", first[0]);
  reads(first[0]);
  return unused;
}
static void low_stack(void) {
  const size_t bytes = 1 << 20;
  void* stack = mmap(0, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
  pthread_attr_t attributes;
  pthread_t thread;
  CHECK(stack != MAP_FAILED && !pthread_attr_init(&attributes) && !pthread_attr_setstack(&attributes, stack, bytes));
  make(first);
  CHECK(!pthread_create(&thread, &attributes, low_reader, 0));
  say("main", -1);
  joins(thread);
}

/* It has a handler, which might read what fills the pipe; hardly any does. */
static void handler(int number) {
  OPAQUE(number);
}
static void own_full_pipe(void) {
  make(first);
  CHECK(signal(SIGUSR1, handler) != SIG_ERR);
  say("main", first[1]);
  writes(first[1]);
}

/* The event loop waits for a word that a handler would send, and for the child, whose output it does not read. */
static void event_loop(void) {
  make(first);
  make(second);
  make(third);
  CHECK(signal(SIGUSR1, handler) != SIG_ERR);
  FORK(talker);
  close(first[1]);
  close(third[1]);
  struct pollfd set[] = {{second[0], POLLIN, 0}, {third[0], POLLIN, 0}};
  say("main", second[0]);
  poll(set, 2, -1);
}

/* As socat does, it keeps the write end of the pipe that it reads, and has a handler that ends it. */
static void relayed(void) {
  close(first[0]);
  close(second[1]);
  say("relayed", second[0]);
  reads(second[0]);
}
static void keeps_write_end(void) {
  make(first);
  make(second);
  CHECK(signal(SIGTERM, removes_files) != SIG_ERR);
  FORK(relayed);
  close(second[0]);
  struct pollfd set[] = {{first[0], POLLIN, 0}};
  say("main", first[0]);
  poll(set, 1, -1);
}

/* The listener's queue is full, and who should accept waits for the one that connects. */
static struct sockaddr_un socket_name;
static void caller(void) {
  close(first[0]);
  int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  say("caller", fd);
  int done = connect(fd, (struct sockaddr*)&socket_name, sizeof(socket_name));
  OPAQUE(done);
}
static void connect_full(void) {
  socket_name.sun_family = AF_UNIX;
  snprintf(socket_name.sun_path, sizeof(socket_name.sun_path), "full.socket");
  first[0] = socket(AF_UNIX, SOCK_STREAM, 0);
  CHECK(!bind(first[0], (struct sockaddr*)&socket_name, sizeof(socket_name)) && !listen(first[0], 0));
  int earlier = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  CHECK(!connect(earlier, (struct sockaddr*)&socket_name, sizeof(socket_name)));
  pid_t child = FORK(caller);
  say("main", -1);
  waits_for(child);
}

static const struct scenario scenarios[] = {
    {"child_full_pipe", child_full_pipe},
    {"sibling_holds_end", sibling_holds_end},
    {"reader_holds_end", reader_holds_end},
    {"both_write_unix", both_write_unix},
    {"both_write_tcp", both_write_tcp},
    {"both_read_unix", both_read_unix},
    {"never_reads", never_reads},
    {"poll_two", poll_two},
    {"epoll_dead", epoll_dead},
    {"in_flight", in_flight},
    {"fifo_one_end", fifo_one_end},
    {"fifo_cross", fifo_cross},
    {"alarm_handler", alarm_handler},
    {"event", event},
    {"queue", queue},
    {"connect_full", connect_full},
    {"poll_continued", poll_continued},
    {"low_stack", low_stack},
    {"own_full_pipe", own_full_pipe},
    {"event_loop", event_loop},
    {"keeps_write_end", keeps_write_end},
};

int main(int argc, char** argv) {
  return CHOOSE(scenarios, argc, argv);
}
