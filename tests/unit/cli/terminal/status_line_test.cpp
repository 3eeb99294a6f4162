// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/terminal/status_line.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

namespace uscope::cli {
namespace {

struct StreamCloser {
  void operator()(std::FILE* stream) const { std::fclose(stream); }
};
using Stream = std::unique_ptr<std::FILE, StreamCloser>;

// A terminal of 60 columns, and what has been written to it.
class Terminal {
 public:
  Terminal() {
    setenv("TERM", "xterm", 1);
    const winsize size{24, 60, 0, 0};
    int slave = -1;
    if (openpty(&master_, &slave, nullptr, nullptr, &size) != 0) ADD_FAILURE() << "no pty";
    fcntl(master_, F_SETFL, O_NONBLOCK);
    stream_.reset(fdopen(slave, "w"));
  }
  ~Terminal() { close(master_); }

  std::FILE* stream() { return stream_.get(); }
  // All that arrives until nothing has come for a while: the kernel hands terminal output over in its own time.
  std::string written() {
    constexpr int kQuietMs = 100;
    std::string text;
    pollfd ready{master_, POLLIN, 0};
    while (poll(&ready, 1, kQuietMs) > 0) {
      std::string part(4096, '\0');
      const ssize_t length = read(master_, part.data(), part.size());
      if (length <= 0) break;
      text.append(part, 0, static_cast<std::size_t>(length));
    }
    return text;
  }

 private:
  int master_ = -1;
  Stream stream_;
};

TEST(StatusLine, RewritesOneLineOnATerminal) {
  Terminal terminal;
  StatusLine status(terminal.stream());
  EXPECT_TRUE(status.enabled());
  status.update({.events = 1234, .events_per_second = 56789.9, .lost = 0, .processes = 1});
  EXPECT_EQ(terminal.written(), "\r\x1b[K1,234 events  56,789/s  0 lost  1 process");
  status.update({.events = 1235, .events_per_second = 1, .lost = 0, .processes = 1});
  EXPECT_EQ(terminal.written(), "");  // too soon
  status.clear();
  EXPECT_EQ(terminal.written(), "\r\x1b[K");
  status.clear();
  EXPECT_EQ(terminal.written(), "");
  status.progress("loading", 500, 1000);
  EXPECT_EQ(terminal.written(), "\r\x1b[Kloading [###############...............] 50 %");
}

TEST(StatusLine, LeavesACleanLineBehind) {
  Terminal terminal;
  { StatusLine(terminal.stream()).update({}); }
  EXPECT_TRUE(terminal.written().ends_with("\r\x1b[K"));
}

TEST(StatusLine, WritesNothingWhereThereIsNoTerminal) {
  char* text = nullptr;
  std::size_t size = 0;
  {
    const Stream stream(open_memstream(&text, &size));
    StatusLine status(stream.get());
    EXPECT_FALSE(status.enabled());
    status.update({.events = 1, .events_per_second = 1, .lost = 1, .processes = 1});
    status.progress("loading", 1, 2);
    status.clear();
  }
  EXPECT_EQ(std::string(text, size), "");
  std::free(text);
}

TEST(StatusLine, NeverWrapsALine) {
  EXPECT_EQ(status_text({.events = 1, .events_per_second = 2, .lost = 3, .processes = 4}, 80),
            "1 event  2/s  3 lost  4 processes");
  EXPECT_EQ(status_text({.events = 1, .events_per_second = 2, .lost = 3, .processes = 4}, 10), "1 event …");
  EXPECT_EQ(progress_text("loading", 3, 0, 80), "loading  3");
  EXPECT_EQ(progress_text("loading", 9, 3, 80), "loading [##############################] 100 %");
}

}  // namespace
}  // namespace uscope::cli
