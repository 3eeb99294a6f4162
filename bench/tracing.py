# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""What runs beside something that is measured: a tracer, or programs that do nothing on the two tracepoints of all calls."""
import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "support", "py"))
from server_setup import Failed, wait_for  # noqa: E402

BPF_CALL, PROG_LOAD, RAW_TRACEPOINT_OPEN, RAW_TRACEPOINT = 321, 5, 17, 17  # x86-64's bpf(2), include/uapi/linux/bpf.h
RETURN_ZERO = bytes([0xB7, 0, 0, 0, 0, 0, 0, 0, 0x95, 0, 0, 0, 0, 0, 0, 0])
LONGEST_BEGIN = 300  # seconds: a server that is loaded leaves a tracer little time


@contextlib.contextmanager
def beside(command, begun, folder, judge=None, **options):
    """The command runs, and has printed `begun`, while `with` lasts; yields its pid. `judge`: is called with its exit status and what it
    printed, once it has ended."""
    with open(os.path.join(folder, "said"), "w", encoding="utf-8") as said:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, **options)

    def text():
        with open(said.name, encoding="utf-8", errors="replace") as file:
            return file.read()

    try:
        wait_for(lambda: begun in text() or process.poll() is not None, f"{command[0]} does not begin", LONGEST_BEGIN)
        if process.poll() is not None:
            raise Failed(f"{command[0]} ended before it had begun: {text()[-400:]}")
        yield process.pid
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(600)
    if judge:
        judge(process.returncode, text())


def bpf(command, *fields):
    """bpf(2) with these fields, in order: (value, bytes)."""
    attributes = b"".join(value.to_bytes(size, "little") for value, size in fields)
    room = ctypes.create_string_buffer(attributes, 128)
    result = ctypes.CDLL(None, use_errno=True).syscall(BPF_CALL, command, room, 128)
    if result < 0:
        raise OSError(ctypes.get_errno(), "bpf: " + os.strerror(ctypes.get_errno()))
    return result


@contextlib.contextmanager
def empty_programs():
    code, license_text = ctypes.create_string_buffer(RETURN_ZERO, 16), ctypes.create_string_buffer(b"GPL")
    opened = [bpf(PROG_LOAD, (RAW_TRACEPOINT, 4), (2, 4), (ctypes.addressof(code), 8), (ctypes.addressof(license_text), 8))]
    try:
        for name in (b"sys_enter", b"sys_exit"):
            text = ctypes.create_string_buffer(name)
            opened.append(bpf(RAW_TRACEPOINT_OPEN, (ctypes.addressof(text), 8), (opened[0], 4)))
        yield
    finally:
        for fd in opened:
            os.close(fd)
