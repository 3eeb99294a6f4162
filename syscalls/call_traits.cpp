// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "syscalls/call_traits.h"

#include <algorithm>
#include <iterator>

namespace uscope::syscalls {
namespace {

struct TransferEntry {
  std::string_view name;
  Transfer transfer;
};

constexpr Transfer kReads{.reads = true, .counts_bytes = true};
constexpr Transfer kWrites{.writes = true, .counts_bytes = true};
constexpr Transfer kReadsMessages{.reads = true};  // the result is a number of messages
constexpr Transfer kWritesMessages{.writes = true};

constexpr Transfer copies(int source, int target) {
  return {.reads = true, .writes = true, .counts_bytes = true, .source = source, .target = target};
}

constexpr TransferEntry kTransfers[] = {
    {"read", kReads},         {"pread64", kReads},           {"readv", kReads},
    {"preadv", kReads},       {"preadv2", kReads},           {"recvfrom", kReads},
    {"recvmsg", kReads},      {"recvmmsg", kReadsMessages},  {"mq_timedreceive", kReads},
    {"write", kWrites},       {"pwrite64", kWrites},         {"writev", kWrites},
    {"pwritev", kWrites},     {"pwritev2", kWrites},         {"sendto", kWrites},
    {"sendmsg", kWrites},     {"sendmmsg", kWritesMessages}, {"mq_timedsend", kWritesMessages},  // the result is 0
    {"vmsplice", kWrites},    {"sendfile", copies(1, 0)},    {"sendfile64", copies(1, 0)},
    {"splice", copies(0, 2)}, {"tee", copies(0, 1)},         {"copy_file_range", copies(0, 2)},
};

// A 32-bit call with wide times is the call without that ending.
std::string_view without_width(std::string_view name) {
  constexpr std::string_view kWide = "_time64";
  return name.ends_with(kWide) ? name.substr(0, name.size() - kWide.size()) : name;
}

}  // namespace

Transfer transfer_of(std::string_view name) {
  const auto* const at = std::find_if(std::begin(kTransfers), std::end(kTransfers),
                                      [&](const TransferEntry& entry) { return entry.name == without_width(name); });
  return at == std::end(kTransfers) ? Transfer() : at->transfer;
}

}  // namespace uscope::syscalls
