-- where the time in calls goes: the functions whose calls take most of it
-- SPDX-License-Identifier: GPL-2.0-or-later OR MIT
SELECT "trigger", kind, count(*) AS calls, sum(dur_ns) AS total_ns
FROM v_event WHERE class = 'syscall' AND dur_ns IS NOT NULL
GROUP BY "trigger", kind ORDER BY total_ns DESC LIMIT 20
