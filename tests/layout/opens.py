#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later OR MIT
"""Files are opened by support/regular_file.h. Each other file that opens something itself is listed here, with the reason why no traced
program chooses what that is, or why nothing but a folder or a file of /proc can be opened. usage: opens.py SOURCE_DIR"""
import os
import re
import sys

ROOMS = ("support", "trace", "syscalls", "symbolizer", "tracer", "descriptors", "store", "analyzer", "query", "live", "exporters", "pages", "cli")

PROC = "only files of /proc that the kernel makes"
OWN = "what uscope itself made, or makes"
SYS = "only files that the kernel makes (/sys, tracefs, /proc)"
HELD = "O_PATH: held and looked at, never opened"

ALLOWED = {
    "support/regular_file.cpp": "the one way",
    "trace/raw_header.cpp": PROC,
    "support/private_file.cpp": OWN + ", and folders for that",
    "support/process/child_process.cpp": "/dev/null",
    "support/process/inherited.cpp": "/dev/null, and " + PROC,
    "support/sandbox/confine.cpp": "names the calls that it refuses",
    "support/sandbox/own_user.cpp": PROC + ", and /etc/subuid and /etc/subgid",
    "support/sandbox/renounce.cpp": PROC,
    "symbolizer/debug_files/debuginfod_child.cpp": "/dev/null",
    "symbolizer/reader/row_cache.cpp": OWN + ", in a folder that nobody else may write",
    "tracer/backend/backend.cpp": SYS,
    "tracer/backend/bpf_backend.cpp": SYS,
    "tracer/backend/bpf_samples.cpp": SYS + ", and " + PROC,
    "tracer/backend/uprobe_single.cpp": SYS,
    "tracer/backend/kmod_backend.cpp": "the module's own device, and " + SYS,
    "tracer/host/host.cpp": SYS,
    "tracer/host/kmod_checks.cpp": SYS + ", and the kernel's modules",
    "tracer/java/image_symbols.cpp": PROC,
    "tracer/jit/perf_map_file.cpp": PROC + "; maps are opened by process_looks.cpp",
    "tracer/probes/kernel_symbols.cpp": PROC,
    "tracer/process/command_session.cpp": "/dev/null",
    "tracer/process/cpu_times.cpp": PROC,
    "tracer/process/descriptor_snapshot.cpp": PROC,
    "tracer/process/file_writers.cpp": PROC,
    "tracer/process/outsiders.cpp": PROC,
    "tracer/process/process_list.cpp": PROC + "; links of /proc and paths: " + HELD,
    "tracer/process/process_setting.cpp": PROC + "; environ, which is of a process, is read by a scout",
    "tracer/process/shared_mappings.cpp": PROC,
    "tracer/process/terminal_relay.cpp": PROC,
    "tracer/process/thread_ids.cpp": PROC,
    "tracer/process/thread_state.cpp": PROC,
    "tracer/process/time_offset.cpp": PROC,
    "tracer/scouts/code_look.cpp": PROC,
    "tracer/scouts/foreign_code.cpp": PROC,
    "tracer/scouts/kernel_breakpoints.cpp": PROC,
    "tracer/scouts/path_look.cpp": HELD + " but by open_if_regular()",
    "tracer/scouts/process_looks.cpp": HELD + " but by open_if_regular()",
    "tracer/scouts/scouts.cpp": PROC,
    "tracer/targets/copied_code.cpp": PROC,
    "tracer/targets/kernel_functions.cpp": SYS,
    "tracer/targets/tracepoints.cpp": SYS,
    "tracer/waits/descriptors.cpp": PROC + "; a FIFO's path: " + HELD,
    "tracer/waits/held_locks.cpp": PROC,
    "tracer/waits/look_sharers.cpp": PROC,
    "tracer/waits/mounts.cpp": PROC + "; counts of calls in /sys",
    "tracer/waits/thread_status.cpp": PROC,
    "tracer/waits/timers.cpp": PROC,
    "tracer/waits/wait_look.cpp": PROC,
    "store/files/output_file.cpp": OWN + ", folders for it, and a stream that its user names and owns",
    "store/files/output_folder.cpp": OWN,
    "cli/main.cpp": "/dev/null",
    "cli/session/installation.cpp": "commands of fixed names",
    "cli/session/nearby_traces.cpp": "folders, for the names in them",
    "cli/session/record_probes.cpp": "cgroup.procs of a control group",
    "cli/session/record_target.cpp": PROC,
}

WAYS = [
    # open() and its like, of the system and not of a class, with flags
    re.compile(r"(?<![\w.>])(?:(?<!:)::)?(?:open|openat|open64|openat64)\s*\([^;]{0,200}?\bO_[A-Z]+", re.S),
    re.compile(r"(?<![\w.>:])::open(?:at)?\s*\("),
    re.compile(r"\b(?:SYS_open|SYS_openat2?|SYS_open_by_handle_at|SYS_creat)\b"),
    re.compile(r"(?<![\w.>:])(?:std::)?(?:fopen|freopen|fopen64|popen|creat|opendir|dlopen|mkostemp|mkstemp|openat2|nftw|ftw|fts_open|scandir)\s*\("),
    re.compile(r"\b(?:i|o)?fstream\b(?!>)|\bbasic_filebuf\b|\bfilebuf\b"),
    re.compile(r"\b(?:recursive_)?directory_iterator\b"),
]


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.S)


def opens(text):
    """What of a source file opens something, in the order of the list above."""
    plain = without_comments(text)
    return [re.sub(r"\s+", " ", found.group(0)) for way in WAYS for found in way.finditer(plain)]


def faults_of(source, allowed):
    """(messages, number of files that open something)"""
    faults, seen = [], set()
    for room in ROOMS:
        for folder, folders, names in os.walk(os.path.join(source, room)):
            folders[:] = [name for name in folders if name != "node_modules"]
            for name in names:
                if not name.endswith((".cpp", ".h", ".c")):
                    continue
                path = os.path.relpath(os.path.join(folder, name), source)
                with open(os.path.join(source, path), encoding="utf-8") as file:
                    found = opens(file.read())
                if not found:
                    continue
                seen.add(path)
                if path not in allowed:
                    faults.append(f"{path}: {found[0]}: use open_regular() or open_if_regular() of support/regular_file.h; or, if no traced "
                                  "program can choose what is opened, list the file in tests/layout/opens.py with the reason")
    faults += [f"tests/layout/opens.py: {path} opens nothing any more" for path in sorted(set(allowed) - seen)]
    return sorted(faults), len(seen)


def main():
    faults, count = faults_of(sys.argv[1], ALLOWED)
    print("\n".join(faults + [f"{count} files open something themselves, {len(faults)} faults"]))
    return 1 if faults or count == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
