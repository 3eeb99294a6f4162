// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Who had what open at the end, and which sockets had an address: what the store keeps of it.
#include <fcntl.h>
#include <sys/socket.h>

#include "tests/unit/store/descriptors/descriptor_trace.h"

namespace uscope::store {
namespace {

class HeldTest : public DescriptorsTest {
 protected:
  void bind(std::uint64_t fd, const char* address) {
    call("bind", 0, fd);
    text(1, address);
  }
  // Process, number, name, how it ended, and the call that opened it.
  std::string held() {
    return rows(
        "SELECT h.process_id, fd, coalesce(value, '?'), until, coalesce(k.name, '-') FROM held_descriptor h LEFT JOIN "
        "string s ON s.id = string_id LEFT JOIN event e ON e.id = event_id LEFT JOIN kind k ON k.id = e.kind_id "
        "ORDER BY 1, 2, until_ns IS NULL, until_ns");
  }
};

TEST_F(HeldTest, WhatNobodyClosedIsOpenAtTheEnd) {
  open("/a", 3);
  open("/b", 4);
  call("close", 0, 3);
  call("dup", 5, 4);
  call("dup2", 7, 4, 7);
  open("/c", 8);
  open("/d", 9);
  call("close_range", 0, 8, 9);
  load();
  EXPECT_EQ(held(), "1|4|/b|tracing|openat\n1|5|/b|tracing|dup\n1|7|/b|tracing|dup2");
}

TEST_F(HeldTest, AChildHasWhatItInheritsUntilItsExecOrEnd) {
  open("/kept", 3);
  open("/closed-by-exec", 4, O_CLOEXEC);
  call("fork", 101);
  make(2, 2);
  of_task(2);
  open("/own", 5);
  load();
  EXPECT_EQ(held(),
            "1|3|/kept|tracing|openat\n1|4|/closed-by-exec|tracing|openat\n"
            "2|3|/kept|tracing|openat\n2|4|/closed-by-exec|tracing|openat\n2|5|/own|tracing|openat");
}

// Whoever has one keeps the address in use; of those, what was closed is kept, too.
TEST_F(HeldTest, SocketsWithAnAddressAreKeptAlsoWhenTheyAreClosed) {
  call("socket", 3, AF_INET, SOCK_STREAM);
  bind(3, "inet:127.0.0.1:80");
  call("socket", 4, AF_INET, SOCK_STREAM);
  call("fork", 101);
  make(2, 2);
  call("close", 0, 3);
  call("close", 0, 4);
  of_task(2);
  call("dup", 6, 3);
  call("dup2", 3, 4, 3);
  load();
  EXPECT_EQ(held(),
            "1|3|socket:[at inet:127.0.0.1:80]|close|socket\n2|3|socket:[at inet:127.0.0.1:80]|close|socket\n"
            "2|3|socket:[inet]|tracing|dup2\n2|4|socket:[inet]|tracing|socket\n"
            "2|6|socket:[at inet:127.0.0.1:80]|tracing|dup");
}

// `record --path` keeps only some of the calls: what others opened is open all the same.
TEST_F(HeldTest, CallsThatAreNotKeptHaveNoRow) {
  trace_->meta("paths", R"(["/b"])");
  open("/a", 3);
  call("dup", 5, 3);
  open("/b", 4);
  open("/c", 6);
  load();
  EXPECT_EQ(held(), "1|3|/a|tracing|-\n1|4|/b|tracing|openat\n1|5|/a|tracing|-\n1|6|/c|tracing|-");
}

TEST_F(HeldTest, WhereDescriptorsAreNotKnownThatIsSaid) {
  open("/a", 3);
  next_ += 200'000'000;
  trace_->loss(USC_LOSS_RING_FULL_EVENT, 1, 1, next_ + 20, next_ + 40);
  next_ += 100;
  open("/b", 4);
  load();
  EXPECT_EQ(held(), "1|-1|?|tracing|-\n1|4|/b|tracing|openat");
}

}  // namespace
}  // namespace uscope::store
