-- functions that write a few bytes at a time
-- SPDX-License-Identifier: GPL-2.0-or-later OR MIT
SELECT "trigger", kind, count(*) AS writes, sum(result) AS bytes
FROM v_event WHERE kind IN ('write', 'pwrite64', 'writev', 'sendto', 'sendmsg') AND result BETWEEN 1 AND 511
GROUP BY "trigger", kind ORDER BY writes DESC LIMIT 20
