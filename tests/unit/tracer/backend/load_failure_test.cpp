// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/backend/load_failure.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

namespace uscope::tracer {
namespace {

// What libbpf 1.1 printed on 6.1 booted with lockdown=confidentiality, and where the verifier's stack did not do.
constexpr const char* kLockedDown =
    "libbpf: prog 'on_rename': BPF program load failed: Invalid argument\n"
    "libbpf: prog 'on_rename': -- BEGIN PROG LOAD LOG --\n"
    "0: R1=ctx(off=0,imm=0) R10=fp0\n"
    "unknown func bpf_probe_read#4\n"
    "processed 18 insns (limit 1000000) max_states_per_insn 0 total_states 1 peak_states 1 mark_read 1\n"
    "-- END PROG LOAD LOG --\n"
    "libbpf: prog 'on_rename': failed to load: -22\n"
    "libbpf: failed to load object 'uscope_bpf'\n"
    "libbpf: failed to load BPF skeleton 'uscope_bpf': -22\n";
constexpr const char* kTooLarge =
    "libbpf: prog 'on_sys_exit': -- BEGIN PROG LOAD LOG --\n"
    "combined stack size of 8 calls is 544. Too large\n"
    "processed 50353 insns (limit 1000000) max_states_per_insn 16 total_states 2527 peak_states 1764 mark_read 36\n"
    "-- END PROG LOAD LOG --\n"
    "libbpf: prog 'on_sys_exit': failed to load: -13\n"
    "libbpf: failed to load object 'uscope_bpf'\n";
const std::vector<Check> kNoCapability = {{"privileges", false, "missing CAP_BPF", "run uscope as root (sudo)"}};

TEST(LoadFailure, TheTellingLineIsTheVerifiersLast) {
  EXPECT_EQ(decisive_line(kLockedDown), "unknown func bpf_probe_read#4");
  EXPECT_EQ(decisive_line(kTooLarge), "combined stack size of 8 calls is 544. Too large");
  EXPECT_EQ(decisive_line("libbpf: failed to load object 'x'\n\n"), "");
  EXPECT_EQ(decisive_line(""), "");
}

TEST(LoadFailure, LockdownIsKnownByTheHelpersThatAreMissing) {
  const Error error = load_failure(EINVAL, kLockedDown, kNoCapability);
  EXPECT_NE(error.what.find("locked down"), std::string::npos) << error.what;
  EXPECT_NE(error.remedy.find("lockdown=confidentiality"), std::string::npos) << error.remedy;
}

TEST(LoadFailure, MissingPrivilegesExplainARefusalAndNothingElse) {
  EXPECT_TRUE(load_failure(EPERM, "", kNoCapability).what.starts_with("tracing needs root: missing CAP_BPF: cannot "))
      << load_failure(EPERM, "", kNoCapability).what;
  const Error large = load_failure(E2BIG, kTooLarge, kNoCapability);
  EXPECT_EQ(large.what.find("CAP_BPF"), std::string::npos) << large.what;
  EXPECT_NE(large.what.find("combined stack size"), std::string::npos) << large.what;
}

// What libbpf 1.1 printed in a control group of 60 MiB.
TEST(LoadFailure, WantOfMemoryIsNotWantOfPrivilegesNorOfTypes) {
  constexpr const char* kNoMemory =
      "libbpf: Error in bpf_create_map_xattr(rows):ENOMEM(-12). Retrying without BTF.\n"
      "libbpf: map 'rows': failed to create: Cannot allocate memory(-12)\n"
      "libbpf: failed to load object 'uscope_bpf'\n";
  const Error error = load_failure(ENOMEM, kNoMemory, kNoCapability);
  EXPECT_EQ(error.what.find("CAP_BPF"), std::string::npos) << error.what;
  EXPECT_NE(error.what.find("Cannot allocate memory"), std::string::npos) << error.what;
  EXPECT_NE(error.remedy.find("memory.max"), std::string::npos) << error.remedy;
  EXPECT_EQ(error.remedy.find("CAP_"), std::string::npos) << error.remedy;
}

}  // namespace
}  // namespace uscope::tracer
