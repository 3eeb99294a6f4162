-- which calls fail, with what error, and which functions make them
-- SPDX-License-Identifier: GPL-2.0-or-later OR MIT
SELECT kind, errno, "trigger", count(*) AS errors
FROM v_event WHERE errno IS NOT NULL
GROUP BY kind, errno, "trigger" ORDER BY errors DESC LIMIT 20
