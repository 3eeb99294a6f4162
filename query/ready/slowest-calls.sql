-- the calls that take longest, by the function that makes them
-- SPDX-License-Identifier: GPL-2.0-or-later OR MIT
SELECT kind, "trigger", count(*) AS calls, quantile(dur_ns, 0.99) AS p99_ns, max(dur_ns) AS longest_ns
FROM v_event WHERE class = 'syscall' AND dur_ns IS NOT NULL
GROUP BY kind, "trigger" ORDER BY longest_ns DESC LIMIT 20
