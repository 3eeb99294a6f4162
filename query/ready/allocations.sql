-- which functions allocate memory by malloc: how often, and how many bytes
-- SPDX-License-Identifier: GPL-2.0-or-later OR MIT
SELECT "trigger", count(*) AS calls, sum(a0) AS bytes, quantile(a0, 0.5) AS p50, max(a0) AS most
FROM v_event
WHERE class = 'ufunction' AND kind GLOB '*:malloc'
GROUP BY "trigger" ORDER BY bytes DESC LIMIT 20
