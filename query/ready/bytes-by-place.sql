-- which functions read and write most bytes
-- SPDX-License-Identifier: GPL-2.0-or-later OR MIT
SELECT "trigger", kind, count(*) AS calls, sum(result) AS bytes
FROM v_event
WHERE result >= 0 AND (kind GLOB 'read*' OR kind GLOB 'write*' OR kind GLOB 'pread*' OR kind GLOB 'pwrite*'
  OR kind GLOB 'send*' OR kind GLOB 'recv*') AND kind NOT GLOB '*mmsg' AND kind <> 'readlink' AND kind <> 'readlinkat'
GROUP BY "trigger", kind ORDER BY bytes DESC LIMIT 20
