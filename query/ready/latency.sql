-- how long calls take: a histogram of each kind
-- SPDX-License-Identifier: GPL-2.0-or-later OR MIT
SELECT kind, count(*) AS calls, hist(dur_ns) AS dur_ns
FROM v_event WHERE class = 'syscall'
GROUP BY kind ORDER BY calls DESC LIMIT 5
