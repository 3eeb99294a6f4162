// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
/* Processes that wait at the two sides of a pseudo-terminal: for each other, or for somebody or something that comes.
 */
#include "processes.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <termios.h>

static int master, pipes[2];

static void new_terminal(void) {
  master = posix_openpt(O_RDWR | O_NOCTTY);
  CHECK(master >= 0 && !grantpt(master) && !unlockpt(master));
}

/* The other side, in a session of its own that it leads. */
static int leads(void) {
  int terminal = open(ptsname(master), O_RDWR | O_NOCTTY);
  close(master);
  CHECK(terminal >= 0 && setsid() > 0 && !ioctl(terminal, TIOCSCTTY, 0));
  return terminal;
}

/* A question that nobody answers: who could waits for the end of who asks. */
static void asks(void) {
  int terminal = leads();
  say("asks", terminal);
  reads(terminal);
}
static void question(void) {
  new_terminal();
  pid_t child = FORK(asks);
  say("main", -1);
  waits_for(child);
}

/* As programs do that ask for a password. */
static void asks_for_password(void) {
  int terminal = leads(), own = open("/dev/tty", O_RDWR);
  CHECK(own >= 0 && !close(terminal));
  say("asks_for_password", own);
  reads(own);
}
static void password(void) {
  new_terminal();
  pid_t child = FORK(asks_for_password);
  say("main", -1);
  waits_for(child);
}

static void polls(void) {
  struct pollfd set = {leads(), POLLIN, 0};
  int epoll = epoll_create1(0);
  struct epoll_event event = {.events = EPOLLIN};
  CHECK(!epoll_ctl(epoll, EPOLL_CTL_ADD, set.fd, &event));
  say("polls", set.fd);
  epoll_wait(epoll, &event, 1, -1);
}
static void set(void) {
  new_terminal();
  pid_t child = FORK(polls);
  say("main", -1);
  waits_for(child);
}

/* One waits for what the other one prints, and that for what the first one types. Anybody might open the terminal. */
static void both_read(void) {
  new_terminal();
  FORK(asks);
  say("main", master);
  reads(master);
}

/* What it prints is read by nobody. */
static void prints(void) {
  int terminal = leads();
  say("prints", terminal);
  writes(terminal);
}
static void full(void) {
  new_terminal();
  pid_t child = FORK(prints);
  say("main", -1);
  waits_for(child);
}

/* In good health: its reads end after a time. */
static void asks_for_a_time(void) {
  int terminal = leads();
  struct termios settings;
  CHECK(!tcgetattr(terminal, &settings));
  settings.c_lflag &= ~(tcflag_t)ICANON;
  settings.c_cc[VMIN] = 0;
  settings.c_cc[VTIME] = 255;
  CHECK(!tcsetattr(terminal, TCSANOW, &settings));
  say("asks_for_a_time", terminal);
  while (reads(terminal) == 0) {
  }
}
static void limit(void) {
  new_terminal();
  pid_t child = FORK(asks_for_a_time);
  say("main", -1);
  waits_for(child);
}

/* Somebody will open the terminal by its name. */
static void service(void) {
  new_terminal();
  say("main", master);
  reads(master);
}

/* When the leader of its session ends, who has closed the terminal, the user gets SIGHUP. The leader is nobody's child.
 */
static void user(void) {
  int terminal = open("/dev/tty", O_RDWR);
  close(pipes[0]);
  say("user", terminal);
  reads(terminal);
}
static void leader(void) {
  close(leads());
  FORK(user);
  close(pipes[0]);
  close(pipes[1]);
  say("leader", -1);
  sleep(DEADLINE);
}
static void starter(void) {
  pid_t child = fork();
  CHECK(child >= 0);
  if (child) return;
  CHECK(!prctl(PR_SET_NAME, "leader") && !prctl(PR_SET_PDEATHSIG, 0));
  alarm(DEADLINE);
  leader();
}
static void session(void) {
  new_terminal();
  CHECK(!pipe(pipes));
  waits_for(FORK(starter));
  close(pipes[1]);
  say("main", pipes[0]);
  reads(pipes[0]);
}

/* A stranger, who is not looked at, has the master, too. */
static void target(void) {
  pid_t child = FORK(asks);
  say("target", -1);
  waits_for(child);
}
static void stranger_master(void) {
  new_terminal();
  FORK(target);
  say("stranger", -1);
  sleep(DEADLINE);
}

/* The other thread puts something into the input after a time (TIOCSTI), or stops the program. */
static int typed_into;
static void types(void) {
  say("types", -1);
  sleep(DEADLINE);
  ioctl(typed_into, TIOCSTI, "\n");
}
static void asks_itself(void) {
  typed_into = leads();
  START(types);
  say("asks_itself", typed_into);
  reads(typed_into);
}
static void injected(void) {
  new_terminal();
  pid_t child = FORK(asks_itself);
  say("main", -1);
  waits_for(child);
}

#define SCENARIO(name) \
  { #name, name }
static const struct scenario scenarios[] = {
    SCENARIO(question), SCENARIO(password), SCENARIO(set),     SCENARIO(both_read),       SCENARIO(full),
    SCENARIO(limit),    SCENARIO(service),  SCENARIO(session), SCENARIO(stranger_master), SCENARIO(injected),
};

int main(int argc, char** argv) {
  return CHOOSE(scenarios, argc, argv);
}
