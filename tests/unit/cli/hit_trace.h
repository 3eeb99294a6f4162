// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A raw trace with hits of probes among calls: what readers, and who prints while tracing, must make the same lines of.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "tests/support/frame_word.h"
#include "tests/unit/trace/raw_trace.h"

namespace uscope::test {

inline usc_hit hit_of(usc_source source, std::uint32_t kind, std::uint64_t entry,
                      const std::vector<std::uint64_t>& args = {}, usc_how how = USC_HOW_HIT) {
  usc_hit hit{};
  hit.source = source;
  hit.kind = kind;
  hit.entry_ns = entry;
  hit.how = how;
  hit.stack = 7;
  hit.image = 1;
  hit.flags = USC_EVENT_NO_RESULT;
  std::copy(args.begin(), args.end(), std::begin(hit.args));
  return hit;
}

// One thread: 40 ns in a function, in it a read in which it sleeps; a function of the kernel that fails; samples; and a
// tracepoint whose kind is not told. It sleeps when tracing ends, in a function that has not returned.
inline void write_hits(const std::filesystem::path& path) {
  const std::uint64_t at = kStart + 1000;
  RawTrace trace(path, 1);
  trace.task({});
  trace.exec(1, 1, 1, 2, "/opt/bin/app", std::string("app\0", 4));
  trace.file(2, "/opt/bin/app", "IDA");
  trace.stack(7, {test::frame_word(2, 0x1010, true), test::frame_word(2, 0x1020, false)});
  trace.place(1, "vmlinux+0x123 vfs_read+0x23");
  trace.kind(USC_SOURCE_SAMPLE, USC_SAMPLE_USER, "user", {"cpu:unsigned int", "period_ns:u64"});
  trace.kind(USC_SOURCE_OFFCPU, USC_OFFCPU_SLEEPING, "sleeping",
             {"waker_tid:pid_t", "waker_pid:pid_t", "queued_ns:u64", "state:unsigned int"});
  trace.kind(USC_SOURCE_UFUNCTION, 1, "libc.so.6:fopen", {"path:const char *", "mode:const char *"});
  trace.kind(USC_SOURCE_KFUNCTION, 1, "vfs_read", {"file:struct file *", "count:size_t", "pos:long"});
  trace.kind(USC_SOURCE_USDT, 1, "python3.11:python:gc\x1b", {});
  trace.string(1, at + 10, 0, "/etc/passwd");
  trace.string(1, at + 10, 1, "r\n");
  trace.string(1, at + 12, 1, "data");
  usc_hit kernel = hit_of(USC_SOURCE_KFUNCTION, 1, at + 14, {0xffff888000000000, 64, ~0ULL}, USC_HOW_RETURNED);
  kernel.flags = 0;
  kernel.result = -4;
  trace.hit(1, at + 30, hit_of(USC_SOURCE_OFFCPU, USC_OFFCPU_SLEEPING, at + 16, {9, 8, 3, 1}, USC_HOW_RETURNED), {1});
  trace.hit(1, at + 34, kernel, {1});
  trace.event({.entry = at + 12, .end = at + 36, .result = -4, .nr = 0, .stack = 7, .a1 = 0x7000});
  trace.hit(1, at + 40, hit_of(USC_SOURCE_SAMPLE, USC_SAMPLE_USER, at + 40, {1, 10101010}));
  trace.hit(1, at + 45, hit_of(USC_SOURCE_USDT, 1, at + 45));
  trace.hit(1, at + 46, hit_of(USC_SOURCE_TRACEPOINT, 5, at + 46, {1}));
  trace.hit(1, at + 50, hit_of(USC_SOURCE_UFUNCTION, 1, at + 10, {0x9000, 0x9100}, USC_HOW_RETURNED));
  trace.hit(1, at + 60, hit_of(USC_SOURCE_SAMPLE, USC_SAMPLE_USER, at + 60, {0, 10101010}));
  trace.string(1, at + 70, 0, "/dev/null");
  trace.hit(1, at + 99, hit_of(USC_SOURCE_UFUNCTION, 1, at + 70, {0x9000, 0}, USC_HOW_OPEN));
  trace.hit(1, at + 99, hit_of(USC_SOURCE_OFFCPU, USC_OFFCPU_SLEEPING, at + 80, {}, USC_HOW_OPEN), {1});
  trace.totals();
}

}  // namespace uscope::test
