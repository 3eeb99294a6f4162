-- which processes write to which files, and how much
-- SPDX-License-Identifier: GPL-2.0-or-later OR MIT
SELECT process, object AS file, count(*) AS calls, sum(result) AS bytes
FROM v_event
WHERE object_kind = 'file' AND result > 0 AND (kind GLOB '*write*' OR kind IN ('sendfile', 'copy_file_range', 'splice'))
GROUP BY process, object ORDER BY bytes DESC LIMIT 20
