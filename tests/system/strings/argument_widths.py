#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""The letters of syscalls/syscalls.def against the types of arguments that the running kernel's tracepoints have: a number is shown with the
bits that the kernel reads, signed where the kernel's type is. Needs root, for tracefs.

    argument_widths.py syscalls/x86_64/native.def
"""

import os
import re
import sys

EVENTS = "/sys/kernel/tracing/events/syscalls"

# Tracepoints with another name than the call.
NAMES = {"stat": "newstat", "fstat": "newfstat", "lstat": "newlstat", "uname": "newuname", "umount2": "umount", "sendfile": "sendfile64"}

# Bits and sign of types that are no pointers; what is not here is unsigned and has 64.
TYPES = {"umode_t": (16, False), "int": (32, True), "pid_t": (32, True), "clockid_t": (32, True), "timer_t": (32, True), "mqd_t": (32, True),
         "key_t": (32, True), "key_serial_t": (32, True), "__s32": (32, True), "s32": (32, True), "rwf_t": (32, True), "qid_t": (32, False),
         "unsigned int": (32, False), "unsigned": (32, False), "u32": (32, False), "__u32": (32, False), "uid_t": (32, False),
         "gid_t": (32, False), "enum landlock_rule_type": (32, False), "long": (64, True), "loff_t": (64, True), "off_t": (64, True),
         "ssize_t": (64, True), "__s64": (64, True)}

# Bits and sign of the letters of numbers; None: a name, a descriptor, or digits in hexadecimal.
LETTERS = {"d": (32, None), "D": (32, None), "i": (32, True), "u": (32, False), "l": (64, True), "z": (64, False), "f": (32, None), "F": (64, None),
           "g": (32, True), "m": (16, False), "o": (64, None), "M": (32, None)}

# What is right although the types differ, and why.
DIFFERENT = {
    "readv.fd": "the kernel takes an unsigned long and looks at 32 bits", "writev.fd": "the same", "preadv.fd": "the same",
    "pwritev.fd": "the same", "preadv2.fd": "the same", "pwritev2.fd": "the same", "mmap.fd": "the same",
    "preadv.pos_l": "an offset, which is signed", "pwritev.pos_l": "the same", "preadv2.pos_l": "the same", "pwritev2.pos_l": "the same",
    "ptrace.pid": "the kernel takes a long and looks at the 32 bits of a pid_t",
    "umask.mask": "a mode, of which the kernel looks at nine bits",
}


def arguments_of(call):
    try:
        text = open(f"{EVENTS}/sys_enter_{NAMES.get(call, call)}/format").read()
    except OSError:
        return None
    fields = re.findall(r"field:(.*?)\s*(\w+);\s*offset:(\d+);", text)
    return [(kind.replace("const ", "").strip(), name) for kind, name, offset in fields if int(offset) >= 16]


def wrong_letters(call, letters, arguments):
    for letter, (kind, name) in zip(letters, arguments):
        place = f"{call}.{name}"
        if place in DIFFERENT or letter == "H":
            continue
        if "*" in kind:
            if letter in LETTERS:
                yield f"{place}: a pointer ({kind}) has the letter {letter} of a number"
            continue
        bits, signed = TYPES.get(kind, (64, False))
        if letter not in LETTERS:
            if bits != 64:
                yield f"{place}: {kind} of {bits} bits has the letter {letter} of a pointer"
            continue
        letter_bits, letter_signed = LETTERS[letter]
        if letter_bits != bits:
            yield f"{place}: the letter {letter} has {letter_bits} bits, the kernel reads {bits} ({kind})"
        elif letter_signed is not None and letter_signed != signed:
            yield f"{place}: the letter {letter} is {'signed' if letter_signed else 'unsigned'}, {kind} is not"


def main():
    calls = re.findall(r'USC_SYSCALL\(\d+, "(\w+)", [^"]*"([^"]*)"\)', open(sys.argv[1]).read())
    known, wrong = 0, []
    for call, letters in calls:
        arguments = arguments_of(call)
        if arguments is None:
            continue
        known += 1
        if len(arguments) < len(letters) or (len(arguments) > len(letters) and call not in ("preadv", "pwritev")):
            wrong.append(f"{call}: {len(letters)} letters, the kernel takes {len(arguments)} arguments")
        wrong += wrong_letters(call, letters, arguments)
    print(f"{known} of {len(calls)} calls have a tracepoint here")
    print("\n".join(wrong))
    sys.exit(1 if wrong or known < 300 else 0)


main()
