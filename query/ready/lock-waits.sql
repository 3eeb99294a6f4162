-- where threads wait for locks and conditions, and for how long
-- SPDX-License-Identifier: GPL-2.0-or-later OR MIT
SELECT "trigger", process, count(*) AS waits, sum(dur_ns) AS total_ns, quantile(dur_ns, 0.99) AS p99_ns, max(dur_ns) AS longest_ns
FROM v_event WHERE kind GLOB 'futex*' AND dur_ns > 10000
GROUP BY "trigger", process ORDER BY total_ns DESC LIMIT 20
