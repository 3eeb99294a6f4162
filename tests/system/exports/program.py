# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""A program with something of each class of events: calls, signals, time on the CPU and off it, threads and children, and names that are
hostile to formats. usage: program.py PROGRAM_WITH_A_HOSTILE_NAME"""

import ctypes
import os
import signal
import subprocess
import sys
import threading
import time
import zlib

HOSTILE_THREAD = b'"\\,];{}\x1b\n<b>'


def compute():
    ctypes.CDLL(None).prctl(15, HOSTILE_THREAD, 0, 0, 0)  # PR_SET_NAME
    data = os.urandom(1 << 17)
    until = time.process_time() + 0.15
    while time.process_time() < until:
        zlib.compress(data)


thread = threading.Thread(target=compute)
thread.start()
subprocess.run([sys.argv[1]], check=True)
child = subprocess.Popen(["/bin/sleep", "1000"])
signal.signal(signal.SIGUSR1, lambda number, frame: None)
os.kill(os.getpid(), signal.SIGUSR1)
time.sleep(0.05)
child.kill()
child.wait()
thread.join()
