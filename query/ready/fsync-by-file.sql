-- how long programs wait until files are on the disk, by file
-- SPDX-License-Identifier: GPL-2.0-or-later OR MIT
SELECT process, object AS file, kind, count(*) AS calls, sum(dur_ns) AS total_ns, quantile(dur_ns, 0.99) AS p99_ns,
  hist(dur_ns) AS took
FROM v_event WHERE kind IN ('fsync', 'fdatasync', 'sync_file_range', 'syncfs')
GROUP BY process, object, kind ORDER BY total_ns DESC LIMIT 20
