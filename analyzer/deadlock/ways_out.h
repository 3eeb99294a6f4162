// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The one list of ways in which a wait may end although all that are known to be able to end it wait for good. Each of
// them is asked of every wait in a call, whatever it waits for, at one place: WaitFollower::follow(). A wait that has
// one accuses nobody. What is certain to come from outside (an untraced holder, a time limit) makes the verdict `none`;
// what only may come makes a circle `undecided`, and the text names the way (nearly_stuck.h). docs/deadlock.md has the
// same list in words.
//
// Waits for a futex are followed by their owners, and asked elsewhere (deadlock.cpp): a handler may post a semaphore,
// wake a bare futex, signal a condition variable and release a lock of Python's; io_uring and untraced processes may
// write to its memory. No handler unlocks a mutex.
//
// To add a way: a line here, a member of WaitFollower of that name, a line in docs/deadlock.md, and a row in
// tests/deadlock/outs.c, which tries each way with each wait.
#pragma once

// X(member of WaitFollower)
// sharers   who else has the open file shuts the socket down, enlarges the full pipe, or adds to the epoll set; first,
//           since troubles and signals are asked of them, too
// gaps      the trace does not know all threads, or what the thread does now
// limits    the call or its socket has a time limit, whoever set it
// timers    a timer sends the process a signal, whoever armed it
// handlers  the process has a handler of a signal that may come from outside
// children  the end of a child sends SIGCHLD, of which the process has a handler
// tracees   the process waits for children, and traces others: whatever these do ends the wait, a signal to them, too
// numbers   a descriptor's number may have come to stand for something else since the wait began
// troubles  what could not be looked at: memory, descriptors, timers, a table that another process changes, io_uring,
//           who else may become a child of the first process of a pid namespace
// flights   descriptors lie in a socket's queue: one of them may be the other end
#define USC_WAYS_OUT(X) \
  X(sharers)            \
  X(gaps)               \
  X(limits)             \
  X(timers)             \
  X(handlers)           \
  X(children)           \
  X(tracees)            \
  X(numbers)            \
  X(troubles)           \
  X(flights)
