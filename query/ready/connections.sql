-- connections that are made and taken, and how that ends
-- SPDX-License-Identifier: GPL-2.0-or-later OR MIT
SELECT process, kind, errno, count(*) AS calls, max(dur_ns) AS longest_ns
FROM v_event WHERE kind IN ('connect', 'accept', 'accept4', 'listen', 'bind')
GROUP BY process, kind, errno ORDER BY calls DESC LIMIT 30
