// The process that talks to debuginfod servers, and how its parent talks to it.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>

namespace uscope::symbolizer {

inline constexpr std::size_t kMaxDebuginfodId = 64;

// One message of a SOCK_SEQPACKET socket each. The child sends a first reply when it is ready, or cannot be.
struct DebuginfodRequest {
  std::uint32_t milliseconds = 0;  // until the transfer is to be given up
  std::uint32_t size = 0;
  std::array<unsigned char, kMaxDebuginfodId> build_id{};
};

struct DebuginfodReply {
  std::int32_t error = 0;        // 0: the file's descriptor comes with the message; else a number of errno
  std::array<char, 256> text{};  // what failed, where errno does not say it
};

// Never returns. `urls` and `cache` as in DebuginfodOptions, `cache` empty for libdebuginfod's own.
[[noreturn]] void serve_debuginfod(int socket, const std::string& urls, const std::string& cache,
                                   std::chrono::milliseconds per_file);

}  // namespace uscope::symbolizer
