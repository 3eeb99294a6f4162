// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The process that talks to debuginfod servers, and the protocol between it and its parent.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>

namespace uscope::symbolizer {

inline constexpr std::size_t kMaxDebuginfodId = 64;

// Each is one message on a SOCK_SEQPACKET socket. The child sends a first reply when it is ready, or has failed to
// start.
struct DebuginfodRequest {
  std::uint32_t milliseconds = 0;  // after this time the transfer is given up
  std::uint32_t size = 0;
  std::array<unsigned char, kMaxDebuginfodId> build_id{};
};

struct DebuginfodReply {
  std::int32_t error = 0;        // 0: the file's descriptor comes with the message; else an errno number
  std::array<char, 256> text{};  // the cause of the failure, if errno does not express it
};

// Never returns. `urls` and `cache` are as in DebuginfodOptions; an empty `cache` means libdebuginfod's own.
[[noreturn]] void serve_debuginfod(int socket, const std::string& urls, const std::string& cache,
                                   std::chrono::milliseconds per_file);

}  // namespace uscope::symbolizer
