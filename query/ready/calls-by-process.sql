-- how many calls each process makes, and how many of them fail
-- SPDX-License-Identifier: GPL-2.0-or-later OR MIT
SELECT pid, process, count(*) AS calls, count(errno) AS errors, sum(dur_ns) AS total_ns
FROM v_event WHERE class = 'syscall'
GROUP BY pid, process ORDER BY calls DESC LIMIT 30
