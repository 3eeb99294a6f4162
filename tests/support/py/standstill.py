# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Whether the machine stood still while a test ran: an emulated one whose host is busy does, and so does one that was paused."""
import threading
import time


class Standstill:
    """A thread that has nothing to do but to wake up, and notes how late it does."""

    PERIOD = 0.02

    def __init__(self):
        self.longest = 0.0  # seconds
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self._thread.start()

    def _watch(self):
        before = time.monotonic()
        while not self._ended.wait(self.PERIOD):
            now = time.monotonic()
            self.longest = max(self.longest, now - before - self.PERIOD)
            before = now

    def end(self):
        self._ended.set()
        self._thread.join()
