# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
# `make -j2 -f tokens.mk`: a rule takes the one token of make's job server and then needs a second one, which nobody returns: make waits
# for the rule.
define TAKES
import os, re, select
end = int(re.search("--jobserver-(?:auth|fds)=([0-9]+),", os.environ["MAKEFLAGS"]).group(1))
for _ in range(2):
    with open(os.environ["HANG_SAYS"], "a") as file:
        file.write(f"rule {os.getpid()} {os.getpid()} {end}\n")
    select.select([end], [], [])
    os.read(end, 1)
endef
export TAKES

all:
	+@/usr/bin/python3 -c "$$TAKES"; :
