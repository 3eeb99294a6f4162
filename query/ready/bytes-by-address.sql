-- bytes that sockets carry, by address
-- SPDX-License-Identifier: GPL-2.0-or-later OR MIT
SELECT process, object AS socket, count(*) AS calls,
  sum(iif(kind GLOB '*send*' OR kind GLOB '*write*' OR kind = 'splice', result, 0)) AS sent,
  sum(iif(kind GLOB 'recv*' OR kind GLOB '*read*', result, 0)) AS received
FROM v_event
WHERE object_kind IN ('inet', 'inet6', 'unix', 'vsock', 'socket') AND result > 0
  AND (kind GLOB 'send*' OR kind GLOB 'recv*' OR kind IN ('read', 'readv', 'write', 'writev', 'splice'))
  AND kind NOT GLOB '*mmsg'
GROUP BY process, object ORDER BY sent + received DESC LIMIT 20
