# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Small ELF files, sound ones and such as nobody should write: for fuzzers' seeds and for the conformance tests.

All of a file is one executable segment at address 0, so that offsets are addresses. Its code lies at TEXT.
"""
import struct

TEXT = 0x1000
# A function that calls the function it is given: sub $8,%rsp; call *%rdi; add $8,%rsp; ret
RELAY = bytes.fromhex("4883ec08 ffd7 4883c408 c3".replace(" ", ""))

ET_EXEC, ET_DYN = 2, 3
EM_386, EM_X86_64, EM_AARCH64 = 3, 62, 183
SHT_PROGBITS, SHT_SYMTAB, SHT_STRTAB, SHT_NOTE = 1, 2, 3, 7
SHF_ALLOC, SHF_EXECINSTR, SHF_COMPRESSED = 2, 4, 0x800

CFA_RSP_8_RA = bytes([0x0C, 7, 8, 0x90, 1])  # def_cfa rsp+8; return address at CFA-8
PCREL_SDATA4 = 0x1B


def uleb(value):
    out = bytearray()
    while True:
        byte = value & 0x7F
        value >>= 7
        out.append(byte | (0x80 if value else 0))
        if not value:
            return bytes(out)


def padded(body, length=None):
    body += b"\0" * (-(len(body) + 4) % 8)
    return struct.pack("<I", len(body) if length is None else length) + body


def cie(program=CFA_RSP_8_RA, augmentation=b"zR", data=bytes([PCREL_SDATA4]), length=None):
    """A CIE of .eh_frame; `length` is what it claims to be."""
    body = struct.pack("<IB", 0, 1) + augmentation + b"\0" + uleb(1) + bytes([0x78]) + uleb(16)
    if augmentation.startswith(b"z"):
        body += uleb(len(data)) + data
    return padded(body + program, length)


def fde(at, cie_at, start, size, program=b"", frames=None, back=None):
    """An FDE at offset `at` of a section whose address is `frames`; `back` is what its CIE pointer says instead."""
    pointer = at + 4 - cie_at if back is None else back
    body = struct.pack("<I", pointer & 0xFFFFFFFF)
    body += struct.pack("<iI", start - (frames + at + 8), size & 0xFFFFFFFF) + uleb(0) + program
    return padded(body)


# After sub $8,%rsp the CFA is rsp + 16, and after add it is rsp + 8 again.
RELAY_PROGRAM = bytes([0x44, 0x0E, 16, 0x46, 0x0E, 8])


class Layout:
    """Where the parts of a file lie: code, then call frame information at `frames`."""

    def __init__(self, text=RELAY):
        self.text = text.ljust((len(text) + 15) // 16 * 16, b"\x90")
        self.frames = TEXT + len(self.text)


def elf(frames=b"", text=RELAY, sections=(), symbols=(), machine=EM_X86_64, kind=ET_DYN, ident=(2, 1), entry=0,
        frames_name=".eh_frame", frames_size=None, segment_bytes=None, build_id=None):
    """The file's bytes. `sections`: (name, bytes, type, flags). `symbols`: (name, value, size), functions.
    `frames_size` and `segment_bytes` are what the headers claim."""
    layout = Layout(text)
    body = bytearray(b"\0" * TEXT + layout.text + frames)
    headers = [(b"", 0, 0, 0, 0, 0, 0, 0)]  # name, type, flags, address, offset, size, link, entsize
    headers.append((b".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, TEXT, len(layout.text), 0, 0))
    if frames or frames_size:
        size = len(frames) if frames_size is None else frames_size
        headers.append((frames_name.encode(), SHT_PROGBITS, SHF_ALLOC, layout.frames, layout.frames, size, 0, 0))

    def add(name, data, kind_of, flags=0, link=0, entsize=0):
        body.extend(b"\0" * (-len(body) % 8))
        headers.append((name.encode(), kind_of, flags, len(body), len(body), len(data), link, entsize))
        body.extend(data)

    if build_id:
        add(".note.gnu.build-id", struct.pack("<III", 4, len(build_id), 3) + b"GNU\0" + build_id, SHT_NOTE, SHF_ALLOC)
    for name, data, kind_of, flags in sections:
        add(name, data, kind_of, flags)
    if symbols:
        texts, table = b"\0", b"\0" * 24
        for name, value, size in symbols:
            table += struct.pack("<IBBHQQ", len(texts), 0x12, 0, 1, value, size)
            texts += name.encode() + b"\0"
        add(".symtab", table, SHT_SYMTAB, 0, len(headers) + 1, 24)
        add(".strtab", texts, SHT_STRTAB)
    names, offsets = b"\0", []
    for header in headers + [(b".shstrtab",)]:
        offsets.append(len(names) if header[0] else 0)
        names += header[0] + b"\0" if header[0] else b""
    add(".shstrtab", names, SHT_STRTAB)
    body.extend(b"\0" * (-len(body) % 8))
    section_table = len(body)
    for header, name in zip(headers, offsets):
        body.extend(struct.pack("<IIQQQQIIQQ", name, *header[1:6], header[6], 0, 8, header[7]))
    head = b"\x7fELF" + bytes([*ident, 1]) + b"\0" * 9
    head += struct.pack("<HHIQQQIHHHHHH", kind, machine, 1, entry, 64, section_table, 0, 64, 56, 1, 64, len(headers),
                        len(headers) - 1)
    size = len(body) if segment_bytes is None else segment_bytes
    head += struct.pack("<IIQQQQQQ", 1, 5, 0, 0, 0, size, size, 0x1000)
    body[: len(head)] = head
    return bytes(body)


def sound_frames(text=RELAY, program=RELAY_PROGRAM):
    first = cie()
    return first + fde(len(first), 0, TEXT, len(text), program, Layout(text).frames) + b"\0\0\0\0"


def absurd_frames():
    """Call frame information that is wrong in one way each: name -> bytes, for elf()."""
    at = Layout().frames
    first = cie()
    here = len(first)
    good = fde(here, 0, TEXT, len(RELAY), RELAY_PROGRAM, at)

    def one(program, **how):
        return first + fde(here, 0, TEXT, len(RELAY), program, at, **how) + b"\0\0\0\0"

    loop = bytes([0x2F]) + struct.pack("<h", -3)  # DW_OP_skip to itself
    return {
        "cie_length": cie(length=0xFFFFFFF0) + good,
        "cie_length_64": b"\xff\xff\xff\xff" + struct.pack("<Q", 1 << 62) + cie()[4:] + good,
        "cie_of_itself": fde(0, 0, TEXT, len(RELAY), RELAY_PROGRAM, at, back=4) + first,
        "cie_is_an_fde": first + good
        + fde(here + len(good), here, TEXT, len(RELAY), RELAY_PROGRAM, at) + b"\0\0\0\0",
        "cie_outside": one(RELAY_PROGRAM, back=0x7FFFFFFF),
        "cie_ring": fde(0, 0, TEXT, 8, b"", at, back=-(len(good) - 4) & 0xFFFFFFFF)
        + fde(len(good), 0, TEXT + 8, 8, b"", at, back=len(good) + 4),
        "fde_gigantic": first + fde(here, 0, TEXT - 0x800, 0xFFFFFFFF, b"\x0e\xff\xff\xff\x7f", at) + b"\0\0\0\0",
        "fde_beyond_the_file": first + fde(here, 0, TEXT, 0x7FFFFFFF, RELAY_PROGRAM, at) + b"\0\0\0\0",
        "expression_loops": one(bytes([0x0F, 3]) + loop),
        "saved_by_looping_expression": one(RELAY_PROGRAM + bytes([0x10, 6, 3]) + loop),
        "expression_too_long": one(bytes([0x0F]) + uleb(1 << 40)),
        "remembers_without_end": one(bytes([0x0A]) * 20000),
        "restores_nothing": one(bytes([0x0B])),
        "advances_for_ever": one(RELAY_PROGRAM + bytes([0x04, 0xFF, 0xFF, 0xFF, 0xFF, 0x0E, 16]) * 3000),
        "register_beyond": one(bytes([0x0C]) + uleb(1 << 35) + uleb(8)),
        "offset_beyond": one(bytes([0x0E]) + uleb((1 << 64) - 1)),
        "augmentation_unknown": cie(augmentation=b"zXQ", data=b"\0\0\0") + good,
        "garbage": bytes((i * 167 + 13) & 0xFF for i in range(997)),
    }


def overlapping_frames():
    """The right FDE, and others over the same code: the one that starts last holds, of equal ones the first."""
    at = Layout().frames
    first = cie()
    out = first
    out += fde(len(out), 0, TEXT - 0x40, 0x1000, b"\x0e\x80\x08", at)
    out += fde(len(out), 0, TEXT, len(RELAY), RELAY_PROGRAM, at)
    out += fde(len(out), 0, TEXT, len(RELAY) - 2, b"\x0e\xf0\x7f", at)
    return out + b"\0\0\0\0"
