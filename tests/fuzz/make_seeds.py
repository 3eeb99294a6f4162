#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Writes the seeds that are made by hand into the corpora: make_seeds.py [CORPUS-FOLDER]. What fuzzers found lies beside them."""
import lzma
import pathlib
import struct
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "support" / "py"))
import elf_writer as ew  # noqa: E402
import raw_seeds  # noqa: E402


def go_table(magic, functions, text):
    """Go's function table as of 1.18 (0xfffffff0) or 1.20 (0xfffffff1): functions are (start, name, [(bytes, delta)])."""
    functab = b""
    names = b""
    pctab = b"\0"
    records = b""
    count = len(functions)
    first_record = (count * 2 + 1) * 4
    for start, name, steps in functions:
        functab += struct.pack("<II", start - text, first_record + len(records))
        records += struct.pack("<IIIIIIIIII", start - text, len(names), 0, 0, len(pctab), 0, 0, 0, 0, 0)
        names += name.encode() + b"\0"
        value = -1
        for length, delta in steps:
            change = delta - value
            pctab += ew.uleb((change << 1) ^ (change >> 63) & ((1 << 64) - 1)) + ew.uleb(length)
            value = delta
        pctab += b"\0"
    functab += struct.pack("<I", functions[-1][0] + sum(n for n, _ in functions[-1][2]) - text)
    head_bytes = 8 + 8 * 8
    at_names = head_bytes
    at_pctab = at_names + len(names)
    at_functab = at_pctab + len(pctab)
    at_functab += -at_functab % 8
    head = struct.pack("<IHBBQQQQQQQQ", magic, 0, 1, 8, count, 0, text, at_names, at_names, at_names, at_pctab, at_functab)
    return (head + names + pctab).ljust(at_functab, b"\0") + functab + records


def elf_seeds():
    seeds = {"sound": ew.elf(ew.sound_frames(), symbols=[("relay", ew.TEXT, len(ew.RELAY))], build_id=b"0123456789"),
             "overlapping": ew.elf(ew.overlapping_frames()),
             "debug_frame": ew.elf(ew.sound_frames(), frames_name=".debug_frame"),
             "not_elf": b"#!/bin/sh\nexit 0\n",
             "empty": b"",
             "header_only": ew.elf()[:64],
             "elf32": ew.elf(ident=(1, 1)),
             "big_endian": ew.elf(ident=(2, 2)),
             "aarch64": ew.elf(machine=ew.EM_AARCH64),
             "object": ew.elf(kind=1),
             "segment_beyond": ew.elf(ew.sound_frames(), segment_bytes=1 << 40),
             "section_beyond": ew.elf(ew.sound_frames(), frames_size=1 << 40)}
    for name in ("cie_ring", "fde_gigantic", "expression_loops"):
        seeds[name] = ew.elf(ew.absurd_frames()[name])
    inner = ew.elf(symbols=[("hidden", ew.TEXT, 8)])
    seeds["debugdata"] = ew.elf(ew.sound_frames(), sections=[
        (".gnu_debugdata", lzma.compress(inner, preset=6), ew.SHT_PROGBITS, 0)])
    seeds["debugdata_damaged"] = ew.elf(sections=[(".gnu_debugdata", lzma.compress(inner)[:-20], ew.SHT_PROGBITS, 0)])
    seeds["debuglink"] = ew.elf(ew.sound_frames(), build_id=b"0123456789", sections=[
        (".gnu_debuglink", b"../x.debug\0\0" + struct.pack("<I", 1), ew.SHT_PROGBITS, 0),
        (".gnu_debugaltlink", b"dwz\0" + b"0123456789", ew.SHT_PROGBITS, 0)])
    blob = struct.pack("<I", 16)
    size_at = ew.Layout(ew.RELAY + blob).frames - 16 + 11
    seeds["v8"] = ew.elf(text=ew.RELAY + blob + b"\x90" * 40, symbols=[
        ("v8_Default_embedded_blob_code_", ew.TEXT, 0), ("v8_Default_embedded_blob_code_size_", size_at, 4)])
    table = go_table(0xFFFFFFF1, [(ew.TEXT, "main.main", [(4, 0), (8, 8)]), (ew.TEXT + 12, "runtime.goexit", [(4, 0)])],
                     ew.TEXT)
    seeds["go"] = ew.elf(sections=[(".gopclntab", table, ew.SHT_PROGBITS, ew.SHF_ALLOC)])
    return seeds


def all_seeds():
    elves = elf_seeds()
    yield "elf_rows", elves
    yield "elf_names", {name: data + struct.pack("<QQ", ew.TEXT, ew.TEXT + 4) for name, data in elves.items() if data}
    frames = {name: b"\0" + data for name, data in ew.absurd_frames().items()}
    frames["sound"] = b"\0" + ew.sound_frames()
    frames["overlapping"] = b"\0" + ew.overlapping_frames()
    # .debug_frame's CIE has another id, and counts pointers from the section's start.
    debug = struct.pack("<IIB", 20, 0xFFFFFFFF, 1) + b"\0" + b"\1\x78\x10" + ew.CFA_RSP_8_RA + b"\0" * 6
    debug += struct.pack("<IIQQ", 28, 0, 0x1000, 0x100) + bytes([0x44, 0x0E, 16, 0x86, 2, 0x46, 0x0C, 6, 16])[:8]
    frames["debug_frame"] = b"\1" + debug
    yield "call_frames", frames
    functions = [(0x401000, "main.main", [(4, 0), (60, 24)]), (0x401040, "runtime.systemstack", [(64, 8)]),
                 (0x401080, "runtime.goexit", [(16, 0)])]
    yield "go_table", {"go118": go_table(0xFFFFFFF0, functions, 0x401000),
                       "go120": go_table(0xFFFFFFF1, functions, 0x401000)}
    yield "perf_map", {
        "whole": b"\1\3" + struct.pack("<HHH", 0x10, 0x30, 0x99) + b"10 10 first\n30 8 LazyCompile:~read a.js:1:1\n",
        "part": b"\0\1" + struct.pack("<HQ", 0xFFFF, 1 << 63) + b"10 x\n0x8000000000000000 FF a b\r\n1 2"}
    entry = struct.pack("<IIIII", 0x1000, 0x1010, 3, 2, 0)
    entry += struct.pack("<IIIIII", 0x1000, 0x11, 0x1008, 0x19, 0x1010, 0) + struct.pack("<II", 0, 2)
    yield "row_cache", {"entry": entry, "rows_without_end": entry[:8] + b"\xff\xff\xff\x7f" + entry[12:], "short": entry[:9]}
    yield "raw_file", raw_seeds.seeds()
    yield "loader", raw_seeds.seeds()
    yield "step", {"zeros": b"\0" * 64, "stack": struct.pack("<HB", 0xFFFF, 1) + struct.pack("<17H", *range(0, 136, 8)) * 4}
    insns = bytes(range(23)) * 2  # each operation, with an operand of any size behind it
    yield "query", {"zeros": b"\0" * 64, "each_operation": b"\0\3\2\56" + b"".join(struct.pack("<BHq", op, 0x321, -op) for op in insns),
                    "raw": b"\xff" + struct.pack("<IIII", 1, 2, 0, 1) + struct.pack("<BBBBIq", 3, 1, 0, 0, 0, 6)
                    + struct.pack("<BBBBIq", 22, 0, 1, 0, 0, 0) + b"\0" * (62 * 16) + b"\x80" * 200}
    yield "user_walk", {"zeros": b"\0" * 64, "counted": bytes(range(256))}


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent / "corpus")
    for target, seeds in all_seeds():
        (folder / target).mkdir(parents=True, exist_ok=True)
        for name, data in seeds.items():
            (folder / target / f"seed_{name}").write_bytes(data)


main()
