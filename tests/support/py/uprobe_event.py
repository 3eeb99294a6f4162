# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""A probe of another tracer's: one of perf's, at a function's entry in a file, in all processes, as long as the context lasts. Needs root."""
import contextlib
import ctypes
import os
import struct

from elf_offsets import file_offset, symbol_address

PERF_EVENT_OPEN = 298
ATTR_BYTES = 112
TYPE_FILE = "/sys/bus/event_source/devices/uprobe/type"


@contextlib.contextmanager
def uprobe_event(path, function):
    with open(TYPE_FILE, encoding="ascii") as file:
        kind = int(file.read())
    name = ctypes.create_string_buffer(os.fsencode(path))
    # struct perf_event_attr: type, size, 40 bytes of what stays 0, wakeup_events, bp_type, config1 (the path), config2 (the offset).
    attr = struct.pack("<II40xIIQQ", kind, ATTR_BYTES, 0, 0, ctypes.addressof(name), file_offset(path, symbol_address(path, function)))
    libc = ctypes.CDLL(None, use_errno=True)
    fd = libc.syscall(PERF_EVENT_OPEN, ctypes.create_string_buffer(attr, ATTR_BYTES), -1, 0, -1, 0)
    if fd < 0:
        raise OSError(ctypes.get_errno(), f"perf_event_open of a probe at {function} in {path}")
    try:
        yield
    finally:
        os.close(fd)
