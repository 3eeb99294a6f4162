// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Sends descriptors from process to process (SCM_RIGHTS), together with bytes.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <span>
#include <vector>

#include "support/unique_fd.h"

namespace uscope {

// The most descriptors in one message.
constexpr std::size_t kMostPassed = 4;

// One sendmsg(); all or nothing, except on stream sockets. Returns false with errno.
[[nodiscard]] bool send_with_fds(int socket, std::span<const std::byte> bytes, std::span<const int> fds);

// One recvmsg() with these flags. Returns the number of bytes, 0 at the end, -1 with errno. Descriptors are
// close-on-exec. If more came than fit, or this process can open no more files, none is kept: the call fails with
// EMSGSIZE, or sets `*lost_fds` if that is given.
[[nodiscard]] long receive_with_fds(int socket, std::span<std::byte> bytes, std::vector<UniqueFd>& fds, int flags = 0,
                                    bool* lost_fds = nullptr);

}  // namespace uscope
