-- which programs start processes and threads, and which other programs they execute
-- SPDX-License-Identifier: GPL-2.0-or-later OR MIT
SELECT process, kind, count(*) AS calls, count(errno) AS errors
FROM v_event WHERE kind IN ('fork', 'vfork', 'clone', 'clone3', 'execve', 'execveat')
GROUP BY process, kind ORDER BY calls DESC LIMIT 30
