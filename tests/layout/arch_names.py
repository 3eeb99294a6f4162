#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Only the rooms of a machine name its registers, ABIs, numbers of system calls, relocations and page size; all else says USC_REG_SP,
USC_ABI_NATIVE, NR_openat, USC_PAGE_BYTES (include/uscope/arch/arch.h). Each offender is printed with its line. usage: arch_names.py SOURCE_DIR"""
import os
import re
import sys

TOPS = ("include", "bpf", "kmod", "support", "trace", "syscalls", "symbolizer", "tracer", "store", "analyzer", "query", "live", "exporters",
        "cli")

# Where a machine is at home, with all folders below.
ROOMS = ("include/uscope/arch", "include/uscope/core/arch", "bpf/x86_64", "symbolizer/code", "symbolizer/elf/x86_64", "syscalls/x86_64")

# Files that know x86-64 although they lie elsewhere, with what they know of it, and why they do.
KNOWN = {
    "include/uscope/lists/abi.def": "the list of ABIs",
    "include/uscope/lists/isa.def": "the list of instruction sets",
    "include/uscope/lists/unwind_error.def": "the text of a report, which stays as it is until there is another machine",
    "syscalls/kernel_names.h": "made of the kernel's headers: names of constants",
}

REGISTERS = {"rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rsp", "rbp", "rip"} | {f"r{number}" for number in range(8, 16)}
WORD = re.compile(r"[A-Za-z_]\w*")
# rsp of start_rsp, START_RSP, startRsp and kRsp
PART = re.compile(r"[A-Z]?[a-z]+[0-9]*|[A-Z]+[0-9]*(?![a-z])|[a-z0-9]+")

# (pattern, what to write instead)
NAMES = [
    (re.compile(r"\borig_r?ax\b"), "USC_REGS_CALL()"),
    (re.compile(r"\b(?:regs|ctx)\s*->\s*(?:ip|sp|bp|[abcd]x|[sd]i|cs|flags|r\d+)\b"), "a macro of arch/x86_64/registers.h, such as USC_REGS_SP()"),
    (re.compile(r"\bUSC_ABI_(?:X86_64|I386|X32)\b|\b(?:I386|X32)_\w+|\w+_X32\b|\w+_(?:i386|x32)\b"), "USC_ABI_NATIVE, USC_ABI_COMPAT or a test of arch/"),
    (re.compile(r"\b\w+_x86_64\b(?!\.|-)"), "a table by USC_CALL_TABLE()"),
    (re.compile(r'"(?:x86_64|i386|x32)"'), "trace::abi_name(USC_ABI_NATIVE)"),
    (re.compile(r"\b(?:__)?(?:NR|COMPAT)_\w+\s*=\s*\d+|\bnr\s*[=!]=\s*\d{2,}"), "a name of arch/x86_64/calls.h"),
    (re.compile(r"asm/unistd_(?:32|64|x32)"), "<asm/unistd.h>"),
    (re.compile(r"\b(?:R|EM|AUDIT_ARCH)_(?:X86_64|386|I386)\w*"), "a name of symbolizer/elf/machine.h"),
    (re.compile(r"\b\w*[Pp]age\w*\s*(?:=|\{)\s*4096\b|\bPAGE\w*\s+4096|&\s*4095\b"), "USC_PAGE_BYTES, or page_bytes() of support/page_size.h"),
]


# Each line with a fault has one of these, which are found faster.
HINT = re.compile(r"r(?:[abcd]x|[sd]i|[sb]p|ip|[89]|1[0-5])|orig_|->|86|x32|_(?:NR|COMPAT)_|\bNR_|\bnr\b|unistd_|R_X|EM_|AUDIT|40(?:95|96)", re.I)


def registers_in(line):
    return [word for word in WORD.findall(line) if any(part.lower() in REGISTERS for part in PART.findall(word))]


def faults_of_line(line):
    """[(what is named, what to write instead)]"""
    if not HINT.search(line):
        return []
    found = [(word, "a name by role: USC_REG_SP, USC_REG_FP …") for word in registers_in(line)]
    for pattern, instead in NAMES:
        found += [(match.group(0), instead) for match in pattern.finditer(line)]
    return found


def in_room(path):
    return any(path.startswith(room + "/") for room in ROOMS)


def faults_of(source, known):
    """(messages, number of files read)"""
    faults, seen, count = [], set(), 0
    for top in TOPS:
        for folder, _, names in os.walk(os.path.join(source, top)):
            for name in sorted(names):
                path = os.path.relpath(os.path.join(folder, name), source)
                if not name.endswith((".c", ".h", ".cpp", ".def")) or in_room(path):
                    continue
                count += 1
                with open(os.path.join(source, path), encoding="utf-8") as file:
                    for number, line in enumerate(file, 1):
                        for what, instead in faults_of_line(line):
                            seen.add(path)
                            if path not in known:
                                faults.append(f"{path}:{number}: {what}: use {instead}\n    {line.strip()}")
    faults += [f"tests/layout/arch_names.py: {path} names no machine any more" for path in sorted(set(known) - seen)]
    return faults, count


def main():
    faults, count = faults_of(sys.argv[1], KNOWN)
    print("\n".join(faults + [f"{count} files outside the rooms of a machine, {len(faults)} faults"]))
    return 1 if faults or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
