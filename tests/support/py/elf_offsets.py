# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""ELF addresses as file offsets: uscope's rel_pc is an address of the ELF file, strace prints offsets."""

import functools
import struct


@functools.lru_cache(maxsize=None)
def segments(path):
    """(address, offset, size) of each PT_LOAD of a 64-bit little-endian file; none where it cannot be read."""
    try:
        with open(path, "rb") as file:
            header = file.read(64)
            if header[:6] != b"\x7fELF\x02\x01":
                return ()
            table, entry_size, entries = struct.unpack_from("<Q14xHH", header, 32)
            file.seek(table)
            found = []
            for _ in range(entries):
                kind, _, offset, address, _, size = struct.unpack_from("<IIQQQQ", file.read(entry_size))
                if kind == 1:
                    found.append((address, offset, size))
            return tuple(found)
    except OSError:
        return ()


def file_offset(path, address):
    for start, offset, size in segments(path):
        # A return address can lie just behind the segment's last instruction.
        if start <= address <= start + size:
            return address - start + offset
    return address


def symbol_address(path, name):
    """The value of a symbol of .symtab of a 64-bit little-endian file; KeyError where there is none."""
    with open(path, "rb") as file:
        data = file.read()
    table, (entry_size, entries) = struct.unpack_from("<Q", data, 40)[0], struct.unpack_from("<HH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + number * entry_size) for number in range(entries)]
    for _, kind, _, _, offset, size, link, _, _, symbol_bytes in sections:
        if kind != 2:
            continue
        strings = sections[link][4]
        for at in range(offset, offset + size, symbol_bytes):
            text, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", data, at)
            if data.startswith(name.encode() + b"\0", strings + text):
                return value
    raise KeyError(f"{path} has no symbol {name}")
