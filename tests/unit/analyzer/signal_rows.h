// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Signals for the sample trace (sample_trace.h): to be written between its rows and what counts them.
#pragma once

namespace uscope::test {

// `worker` sends SIGTERM twice, the second one to gcc, who has a handler; the kernel sends make a SIGCHLD that it
// ignores, and the thread with the hostile name a SIGSEGV.
constexpr const char* kSignalRows = R"sql(
INSERT INTO kind VALUES
  (20, 'SIGTERM sent', 'signal', 'none', 271), (21, 'SIGTERM delivered', 'signal', 'none', 15),
  (22, 'SIGCHLD sent', 'signal', 'none', 273), (23, 'SIGSEGV sent', 'signal', 'none', 267),
  (24, 'SIGSEGV delivered', 'signal', 'none', 11);
INSERT INTO event VALUES
  (101, 1001000000000, NULL, 'sent', 2, 2, 20, NULL, 1, 0, 0, 0, 0, 0, 0, NULL),
  (102, 1001100000000, NULL, 'sent', 2, 2, 20, NULL, 1, 0, 0, 0, 0, 0, 0, NULL),
  (103, 1001200000000, NULL, 'delivered', 3, 3, 21, NULL, 2, 0, 0, 0, 0, 0, 0, NULL),
  (104, 1001300000000, NULL, 'sent', 1, 2, 22, NULL, NULL, 0, 0, 0, 0, 0, 0, NULL),
  (105, 1001400000000, NULL, 'sent', 5, 4, 23, NULL, NULL, 0, 0, 0, 0, 0, 0, NULL),
  (106, 1001500000000, NULL, 'delivered', 5, 4, 24, NULL, 4, 0, 0, 0, 0, 0, 0, NULL);
INSERT INTO signal(event_id, number, code, result, blocked, sender_pid, sender_tid, sender, receiver_pid, receiver_tid,
  receiver, info_pid, info_uid, info_status, info_address, handler, handler_frame_id) VALUES
  (101, 15, 0, 'pending', 1, 100, 110, 'worker', 900, NULL, CAST(x'HOSTILE' AS TEXT), 100, 0, NULL, NULL, NULL, NULL),
  (102, 15, 0, 'queued', 0, 100, 110, 'worker', 101, NULL, 'gcc', 100, 0, NULL, NULL, NULL, NULL),
  (103, 15, 0, NULL, NULL, NULL, NULL, NULL, 101, 101, 'gcc', 100, 0, NULL, NULL, 4198400, 7),
  (104, 17, 1, 'ignored', 0, NULL, NULL, NULL, 100, NULL, 'make', 101, 0, 1, NULL, NULL, NULL),
  (105, 11, 1, 'queued', 0, NULL, NULL, NULL, 103, 103, CAST(x'HOSTILE' AS TEXT), NULL, NULL, NULL, 16, NULL, NULL),
  (106, 11, 1, NULL, NULL, NULL, NULL, NULL, 103, 103, CAST(x'HOSTILE' AS TEXT), NULL, NULL, NULL, 16, 0, NULL);
)sql";

}  // namespace uscope::test
