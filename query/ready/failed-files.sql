-- calls that look for files that are not there, by function
-- SPDX-License-Identifier: GPL-2.0-or-later OR MIT
SELECT process, kind, "trigger", count(*) AS calls
FROM v_event WHERE errno = 'ENOENT'
GROUP BY process, kind, "trigger" ORDER BY calls DESC LIMIT 20
