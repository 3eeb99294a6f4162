-- how many calls each thread makes, and how long it is in them
-- SPDX-License-Identifier: GPL-2.0-or-later OR MIT
SELECT pid, tid, thread, count(*) AS calls, sum(dur_ns) AS total_ns
FROM v_event WHERE class = 'syscall'
GROUP BY pid, tid, thread ORDER BY calls DESC LIMIT 30
