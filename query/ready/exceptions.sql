-- where C++ programs throw exceptions, and where these are caught
-- SPDX-License-Identifier: GPL-2.0-or-later OR MIT
SELECT substr(kind, -5) AS what, "trigger", trigger_module, count(*) AS times
FROM v_event
WHERE class = 'usdt' AND (kind GLOB 'libstdc++*:libstdcxx:throw' OR kind GLOB 'libstdc++*:libstdcxx:catch')
GROUP BY what, "trigger", trigger_module ORDER BY times DESC LIMIT 20
