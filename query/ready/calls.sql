-- which calls are made, and how long they take
-- SPDX-License-Identifier: GPL-2.0-or-later OR MIT
SELECT kind, count(*) AS calls, count(errno) AS errors, sum(dur_ns) AS total_ns, quantile(dur_ns, 0.5) AS p50_ns,
  quantile(dur_ns, 0.99) AS p99_ns, max(dur_ns) AS longest_ns
FROM v_event WHERE class = 'syscall'
GROUP BY kind ORDER BY calls DESC LIMIT 30
