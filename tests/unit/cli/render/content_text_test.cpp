// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/content_text.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

#include <csignal>
#include <ctime>

#include "cli/render/call_text.h"
#include "tests/unit/cli/render/call_row.h"
#include "uscope/record.h"

namespace uscope::cli {
namespace {

using analyzer::EventContent;
using analyzer::EventRow;
using Holds = EventContent::Holds;
using Source = analyzer::EventString::Source;

EventRow call_of(const std::string& call, std::initializer_list<std::int64_t> args, std::int64_t result = 0) {
  EventRow row = row_of(call, args);
  row.how = "returned";
  row.result = result;
  return row;
}

template <typename Structure>
std::string raw_bytes(const Structure& structure) {
  return {reinterpret_cast<const char*>(&structure), sizeof(structure)};
}

std::string text_of(EventRow row, std::vector<EventContent> contents) {
  row.contents = std::move(contents);
  return arguments_text(row);
}

EventContent structure(int arg, std::string bytes, Source source = Source::kProgram, bool cut = false) {
  return {arg, Holds::kStructure, source, std::move(bytes), false, cut};
}

EventContent data(int arg, std::optional<std::string> bytes, Source source = Source::kProgram, bool cut = false) {
  return {arg, Holds::kData, source, std::move(bytes), false, cut};
}

TEST(ContentText, DataIsInQuotes) {
  EXPECT_EQ(text_of(call_of("write", {1, 16, 5}), {data(1, std::string("a\n\0\"\\", 5))}), R"(1, "a\n\0\"\\", 5)");
  EXPECT_EQ(text_of(call_of("write", {1, 16, 9}), {data(1, "ab", Source::kProgram, true)}), R"(1, "ab"…, 9)");
  EXPECT_EQ(text_of(call_of("read", {0, 16, 9}), {data(1, "", Source::kKernel)}), R"(0, "", 9)");
  EXPECT_EQ(text_of(call_of("write", {1, 16, 9}), {data(1, std::nullopt)}), R"(1, "[redacted]", 9)");
  EXPECT_EQ(text_of(call_of("write", {1, 16, 9}), {}), "1, 0x10, 9");
  // At an argument that is no pointer to data, of a store that somebody has damaged, they say nothing.
  EXPECT_EQ(text_of(call_of("write", {1, 16, 9}), {data(0, "x"), structure(1, "x"), structure(2, "x")}), "1, 0x10, 9");
}

TEST(ContentText, Structures) {
  const pollfd asked[] = {{3, POLLIN | POLLPRI, 0}, {-1, POLLIN, 0}};
  EventRow poll = call_of("poll", {16, 2, 1000}, 1);
  const pollfd found[] = {{3, POLLIN | POLLPRI, POLLHUP}, {-1, POLLIN, 0}};
  poll.contents = {structure(0, raw_bytes(asked)), structure(0, raw_bytes(found), Source::kKernel)};
  EXPECT_EQ(arguments_text(poll), "[{fd=3, events=POLLIN|POLLPRI}, {fd=-1}], 2, 1000");
  EXPECT_EQ(result_text(poll), "1 ([{fd=3, revents=POLLHUP}])");
  EXPECT_EQ(text_of(call_of("poll", {16, 999, 0}), {structure(0, raw_bytes(asked[0]), Source::kProgram, true)}),
            "[{fd=3, events=POLLIN|POLLPRI}, …], 999, 0");

  EXPECT_EQ(text_of(call_of("poll", {16, 0, 5}), {structure(0, "")}), "[], 0, 5");

  epoll_event event{};
  event.events = EPOLLIN | EPOLLET;
  event.data.u64 = 5;
  EXPECT_EQ(text_of(call_of("epoll_ctl", {4, 1, 5, 16}), {structure(3, raw_bytes(event))}),
            "4, EPOLL_CTL_ADD, 5, {EPOLLIN|EPOLLET, {u64=5}}");
  EXPECT_EQ(text_of(call_of("epoll_wait", {4, 16, 8, -1}, 1), {structure(1, raw_bytes(event), Source::kKernel)}),
            "4, [{EPOLLIN|EPOLLET, {u64=5}}], 8, -1");
  EXPECT_EQ(text_of(call_of("epoll_wait", {4, 16, 8, 0}), {structure(1, "", Source::kKernel)}), "4, [], 8, 0");

  EXPECT_EQ(text_of(call_of("nanosleep", {16, 0}), {structure(0, raw_bytes(timespec{1, 5}))}),
            "{tv_sec=1, tv_nsec=5}, NULL");
  EXPECT_EQ(text_of(call_of("select", {0, 0, 0, 0, 16}), {structure(4, raw_bytes(timespec{1, 5}))}),
            "0, NULL, NULL, NULL, {tv_sec=1, tv_usec=5}");
  EXPECT_EQ(
      text_of(call_of("utimensat", {-100, 0, 16, 0}), {structure(2, raw_bytes(itimerspec{{0, UTIME_NOW}, {7, 0}}))}),
      "AT_FDCWD, NULL, [UTIME_NOW, {tv_sec=7, tv_nsec=0}], 0");
  EXPECT_EQ(text_of(call_of("pipe", {16}), {structure(0, std::string("\3\0\0\0\4\0\0\0", 8), Source::kKernel)}),
            "[3, 4]");
}

// Whether a ready one may lie behind the copy's end, the result says.
TEST(ContentText, OfAPollAllThatWasFound) {
  std::string bytes;
  for (int fd = 0; fd < 300; fd++) bytes += raw_bytes(pollfd{fd, POLLIN, static_cast<short>(fd >= 298 ? POLLIN : 0)});
  EventRow poll = call_of("poll", {16, 999, 0}, 2);
  poll.contents = {structure(0, bytes, Source::kKernel, true)};
  EXPECT_EQ(result_text(poll), "2 ([{fd=298, revents=POLLIN}, {fd=299, revents=POLLIN}])");
  poll.result = 3;
  EXPECT_EQ(result_text(poll), "3 ([{fd=298, revents=POLLIN}, {fd=299, revents=POLLIN}, …])");
}

TEST(ContentText, WaitStatus) {
  const auto status = [](int value) {
    return text_of(call_of("wait4", {-1, 16, 0, 0}, 7), {structure(1, raw_bytes(value), Source::kKernel)});
  };
  EXPECT_EQ(status(0x300), "-1, [{WIFEXITED(s) && WEXITSTATUS(s) == 3}], 0, NULL");
  EXPECT_EQ(status(SIGSEGV | 0x80), "-1, [{WIFSIGNALED(s) && WTERMSIG(s) == SIGSEGV && WCOREDUMP(s)}], 0, NULL");
  EXPECT_EQ(status(SIGSTOP << 8 | 0x7f), "-1, [{WIFSTOPPED(s) && WSTOPSIG(s) == SIGSTOP}], 0, NULL");
  EXPECT_EQ(status(0xffff), "-1, [{WIFCONTINUED(s)}], 0, NULL");
  siginfo_t info{};
  info.si_signo = SIGCHLD;
  info.si_code = CLD_KILLED;
  info.si_pid = 7;
  info.si_status = SIGKILL;
  EXPECT_EQ(
      text_of(call_of("waitid", {0, 0, 16, 4, 0}), {structure(2, raw_bytes(info), Source::kKernel)}),
      "P_ALL, 0, {si_signo=SIGCHLD, si_code=CLD_KILLED, si_pid=7, si_uid=0, si_status=SIGKILL, …}, WEXITED, NULL");
}

TEST(ContentText, Files) {
  struct stat file {};
  file.st_mode = S_IFREG | 0644;
  file.st_size = 123;
  EXPECT_EQ(text_of(call_of("fstat", {3, 16}), {structure(1, raw_bytes(file), Source::kKernel)}),
            "3, {st_mode=S_IFREG|0644, st_size=123, …}");
  file.st_mode = S_IFCHR | 0620;
  file.st_rdev = makedev(0x88, 1);
  EXPECT_EQ(text_of(call_of("fstat", {3, 16}), {structure(1, raw_bytes(file), Source::kKernel)}),
            "3, {st_mode=S_IFCHR|0620, st_rdev=makedev(0x88, 0x1), …}");
  EXPECT_EQ(text_of(call_of("fstat", {3, 16}), {structure(1, raw_bytes(file).substr(1), Source::kKernel)}), "3, 0x10");
}

std::string vector_of(std::uint64_t count, std::initializer_list<std::uint64_t> lengths) {
  usc_vector vector{};
  vector.count = count;
  std::copy(lengths.begin(), lengths.end(), vector.length);
  return raw_bytes(vector).substr(0, offsetof(usc_vector, length) + lengths.size() * 8);
}

TEST(ContentText, Buffers) {
  EXPECT_EQ(text_of(call_of("writev", {1, 16, 2}), {data(1, "abc"), structure(1, vector_of(2, {1, 2}))}),
            R"(1, [{iov_base="a", iov_len=1}, {iov_base="bc", iov_len=2}], 2)");
  EXPECT_EQ(text_of(call_of("writev", {1, 16, 3}), {data(1, "abc"), structure(1, vector_of(3, {1, 9, 9}))}),
            R"(1, [{iov_base="a", iov_len=1}, {iov_base="bc"…, iov_len=9}, {iov_base=…, iov_len=9}], 3)");
  // Read: no more than the result says.
  EXPECT_EQ(text_of(call_of("readv", {1, 16, 2}, 3),
                    {data(1, "abc", Source::kKernel), structure(1, vector_of(2, {2, 9}), Source::kKernel)}),
            R"(1, [{iov_base="ab", iov_len=2}, {iov_base="c", iov_len=9}], 2)");
  EXPECT_EQ(text_of(call_of("writev", {1, 16, 1}), {data(1, std::nullopt), structure(1, vector_of(1, {5}))}),
            R"(1, [{iov_base="[redacted]", iov_len=5}], 1)");
  EXPECT_EQ(text_of(call_of("writev", {1, 16, -1}), {data(1, ""), structure(1, vector_of(~0ULL, {~0ULL}))}),
            "1, [{iov_base=…, iov_len=18446744073709551615}, …], 18446744073709551615");
  // Lengths that no memory has, one after the other.
  EXPECT_EQ(text_of(call_of("writev", {1, 16, 3}),
                    {data(1, "abc", Source::kProgram, true), structure(1, vector_of(3, {~0ULL - 1, 9, ~0ULL}))}),
            R"(1, [{iov_base="abc"…, iov_len=18446744073709551614}, {iov_base=…, iov_len=9}, )"
            "{iov_base=…, iov_len=18446744073709551615}], 3");
  EXPECT_EQ(text_of(call_of("writev", {1, 16, 0}), {data(1, ""), structure(1, vector_of(0, {}))}), "1, [], 0");
  EventRow send = call_of("sendmsg", {3, 16, 0}, 2);
  send.strings = {{1, "inet:127.0.0.1:80", false, Source::kProgram}};
  EXPECT_EQ(text_of(send, {data(1, "ab"), structure(1, vector_of(1, {2}))}),
            R"(3, {msg_name={inet:127.0.0.1:80}, msg_iov=[{iov_base="ab", iov_len=2}], msg_iovlen=1, )"
            "msg_controllen=0, msg_flags=0}, 0");
  EXPECT_EQ(text_of(call_of("writev", {1, 16, 1}), {structure(1, "short")}), "1, 0x10, 1");
}

TEST(ContentText, OfOnePart) {
  EventRow stat = call_of("fstat", {3, 16});
  EXPECT_EQ(content_text(stat, structure(1, "ab", Source::kKernel)), "6162");
  EXPECT_EQ(content_text(stat, structure(77, "ab")), "6162");
  EXPECT_EQ(content_text(stat, data(-1, "ab")), "\"ab\"");
}

}  // namespace
}  // namespace uscope::cli
