# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Threads of Python that hold what the other wants; the first one waits for their end."""
import signal
import threading

red, blue = threading.Lock(), threading.Lock()
both = threading.Barrier(2)


def takes(first, second):
    with first:
        both.wait()
        with second:
            pass


signal.alarm(120)
threads = [threading.Thread(target=takes, args=locks) for locks in ((red, blue), (blue, red))]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
