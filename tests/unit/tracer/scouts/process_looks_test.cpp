// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What is asked about files that a program serves, which says of them what it likes.
#include "tracer/scouts/process_looks.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/fuse.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <sstream>
#include <string>

#include "symbolizer/reader/file_owner.h"

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kFileNode = 2;
constexpr std::size_t kFileBytes = 100;
constexpr int kUnable = 77;  // exit status: nothing can be mounted here

// A file system with files of root that nobody else may write: says its server.
class Server {
 public:
  explicit Server(int fuse) : fuse_(fuse) {}

  [[noreturn]] void serve() const {
    std::array<char, 1 << 17> room{};
    while (true) {
      const ssize_t got = read(fuse_, room.data(), room.size());
      if (got < 0 && errno != EINTR) _exit(1);
      if (got < static_cast<ssize_t>(sizeof(fuse_in_header))) continue;
      fuse_in_header head{};
      std::memcpy(&head, room.data(), sizeof(head));
      answer(head);
    }
  }

 private:
  template <typename Answer>
  void reply(const fuse_in_header& head, const Answer& answer) const {
    send(head, 0, &answer, sizeof(answer));
  }
  void send(const fuse_in_header& head, int error, const void* answer, std::size_t bytes) const {
    fuse_out_header out{};
    out.len = static_cast<std::uint32_t>(sizeof(out) + bytes);
    out.error = error;
    out.unique = head.unique;
    std::string text(reinterpret_cast<const char*>(&out), sizeof(out));
    text.append(static_cast<const char*>(answer), bytes);
    (void)!write(fuse_, text.data(), text.size());
  }
  static fuse_attr attributes_of(std::uint64_t node) {
    fuse_attr attributes{};
    attributes.ino = node;
    attributes.mode = node == FUSE_ROOT_ID ? S_IFDIR | 0755 : S_IFREG | 0755;
    attributes.nlink = 1;
    attributes.size = node == FUSE_ROOT_ID ? 0 : kFileBytes;
    return attributes;
  }
  void answer(const fuse_in_header& head) const {
    const std::string content(kFileBytes, 'x');
    fuse_init_out init{};
    init.major = 7;
    init.minor = 31;
    init.max_write = 4096;
    fuse_entry_out entry{};
    entry.nodeid = kFileNode;
    entry.attr = attributes_of(kFileNode);
    fuse_attr_out attributes{};
    attributes.attr = attributes_of(head.nodeid);
    switch (head.opcode) {
      case FUSE_INIT:
        return reply(head, init);
      case FUSE_LOOKUP:
        return reply(head, entry);
      case FUSE_GETATTR:
        return reply(head, attributes);
      case FUSE_OPEN:
        return reply(head, fuse_open_out{});
      case FUSE_READ:
        return send(head, 0, content.data(), content.size());
      case FUSE_FORGET:
      case FUSE_BATCH_FORGET:
      case FUSE_INTERRUPT:
        return;
      default:
        return send(head, -ENOSYS, nullptr, 0);
    }
  }

  int fuse_;
};

// In a process with mounts of its own: what is said of two files, in lines.
[[noreturn]] void look_at_served_files(const std::string& folder, int out) {
  const int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC);
  const std::string options = "fd=" + std::to_string(fuse) + ",rootmode=40000,user_id=0,group_id=0,allow_other";
  if (fuse < 0 || unshare(CLONE_NEWNS) != 0 || mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
      mount("served", folder.c_str(), "fuse", MS_NOSUID | MS_NODEV, options.c_str()) != 0)
    _exit(kUnable);
  const pid_t server = fork();
  if (server == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    alarm(20);
    Server(fuse).serve();
  }
  close(fuse);
  std::string text;
  for (const char* name : {"/one", "/two"}) {
    const OpenedFile file = opened_file(ask(nullptr, 0, open_file, OpenRequest{.path = folder + name}.bytes()));
    struct stat status {};
    if (!file.fd || !file.is_copy || fstat(file.fd.get(), &status) != 0) {
      kill(server, SIGKILL);
      _exit(2);
    }
    text += symbolizer::owner_of(file.fd.get()) + "\n" + symbolizer::payer_of(file.fd.get()) + "\n";
    text += std::to_string(file.status.st_uid) + " " + std::to_string(status.st_size) + "\n";
  }
  (void)!write(out, text.data(), text.size());
  // First: the files that were copied are still open, and whoever closes them asks the server.
  kill(server, SIGKILL);
  waitpid(server, nullptr, 0);
  _exit(0);
}

TEST(ProcessLooks, WhatIsServedHasNoOwnerByItsServersWord) {
  std::string folder = testing::TempDir() + "servedXXXXXX";
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  const pid_t child = fork();
  if (child == 0) {
    alarm(20);
    look_at_served_files(folder, ends[1]);
  }
  close(ends[1]);
  std::array<char, 1024> room{};
  const ssize_t count = read(ends[0], room.data(), room.size() - 1);
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  rmdir(folder.c_str());
  if (WIFEXITED(status) && WEXITSTATUS(status) == kUnable) GTEST_SKIP() << "FUSE cannot be mounted here";
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0 && count > 0) << status;
  std::istringstream lines(room.data());
  std::array<std::string, 6> said;
  for (std::string& line : said) std::getline(lines, line);
  EXPECT_NE(said[0].find(" inode "), std::string::npos) << said[0];
  EXPECT_NE(said[0], said[3]);  // a reader, and rows, of each file's own
  EXPECT_EQ(said[1], "user 4294967280");
  EXPECT_EQ(said[4], "user 4294967280");
  EXPECT_EQ(said[2], "0 100");  // the server's word, which is for the file's key only
}

}  // namespace
}  // namespace uscope::tracer
