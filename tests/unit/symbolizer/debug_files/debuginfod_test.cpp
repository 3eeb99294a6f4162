// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// debuginfod's client against servers on this machine: the real one, and some that are slow, dead or lie.
#include "symbolizer/debug_files/debuginfod.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "symbolizer/debug_files/debug_files.h"
#include "tests/unit/symbolizer/symbols_test_support.h"

namespace uscope::symbolizer {
namespace {

using std::chrono::milliseconds;

// A listening socket on the loopback. What nobody accepts is still connected by the kernel, and waits for an answer.
class Port {
 public:
  Port() : socket_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    EXPECT_EQ(bind(socket_.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(socket_.get(), 16), 0);
    EXPECT_EQ(getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
    number_ = ntohs(address.sin_port);
  }

  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(number_); }
  [[nodiscard]] int number() const { return number_; }
  [[nodiscard]] UniqueFd accept() const { return UniqueFd(accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC)); }
  [[nodiscard]] int get() const { return socket_.get(); }
  void close() { socket_.reset(); }

 private:
  UniqueFd socket_;
  int number_ = 0;
};

// Answers every request with one body.
class Liar {
 public:
  explicit Liar(std::string body) : body_(std::move(body)), thread_([this] { run(); }) {}
  ~Liar() {
    end_ = true;
    thread_.join();
  }
  Liar(const Liar&) = delete;
  Liar& operator=(const Liar&) = delete;
  [[nodiscard]] std::string url() const { return port_.url(); }

 private:
  void run() {
    while (!end_) {
      pollfd wait{port_.get(), POLLIN, 0};
      poll(&wait, 1, 20);
      const UniqueFd peer = port_.accept();
      if (!peer) continue;
      char request[4096];
      if (recv(peer.get(), request, sizeof(request), 0) <= 0) continue;
      const std::string text =
          "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: application/octet-stream\r\n"
          "Content-Length: " +
          std::to_string(body_.size()) + "\r\n\r\n" + body_;
      send(peer.get(), text.data(), text.size(), MSG_NOSIGNAL);
    }
  }

  std::string body_;
  Port port_;
  std::atomic<bool> end_{false};
  std::thread thread_;
};

// elfutils' own server over one folder, ended with the object.
class Server {
 public:
  Server(const std::string& folder, const std::string& log) {
    Port port;
    number_ = port.number();
    port.close();
    const std::string command = "exec timeout 60 debuginfod -v -d :memory: -t 3600 -p " + std::to_string(number_) +
                                " -F '" + folder + "' > '" + log + "' 2>&1";
    const char* words[] = {"sh", "-c", command.c_str(), nullptr};
    EXPECT_EQ(posix_spawnp(&pid_, "sh", nullptr, nullptr, const_cast<char**>(words), environ), 0);
  }
  ~Server() {
    kill(pid_, SIGTERM);
    waitpid(pid_, nullptr, 0);
  }
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;
  [[nodiscard]] std::string url() const { return "http://127.0.0.1:" + std::to_string(number_); }

 private:
  int number_ = 0;
  pid_t pid_ = -1;
};

class DebuginfodClient : public testing::Test {
 protected:
  void SetUp() override {
    elf_version(EV_CURRENT);
    std::filesystem::create_directories(folder_.file("served"));
    build("served/whole", "int first(void) { return 1; }");
    build("other", "int second(void) { return 2; }");
  }

  void build(const std::string& name, const std::string& text) const {
    const std::string source = folder_.write("source.c", text + "\n");
    output_of("cc -g -shared -Wl,--build-id -o '" + folder_.file(name) + "' '" + source + "'");
  }

  [[nodiscard]] std::string build_id(const std::string& name) const {
    const UniqueFd fd(open(folder_.file(name).c_str(), O_RDONLY | O_CLOEXEC));
    const ElfHandle elf(elf_begin(fd.get(), ELF_C_READ, nullptr));
    const std::string id = build_id_of(elf.get());
    EXPECT_EQ(id.size(), 20u);
    return id;
  }

  [[nodiscard]] DebuginfodOptions options(const std::string& urls, milliseconds limit = milliseconds(5000)) const {
    DebuginfodOptions chosen;
    chosen.urls = urls;
    chosen.per_file = limit;
    chosen.overall = 12 * limit;
    chosen.cache = folder_.file("cache");
    return chosen;
  }

  static Debuginfod made(const DebuginfodOptions& chosen) {
    auto client = Debuginfod::create(chosen);
    EXPECT_TRUE(client) << (client ? "" : client.error().what);
    return std::move(*client);
  }

  // Files below the cache's folders, of which each found one is one.
  [[nodiscard]] int cached() const {
    int count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.file("cache")))
      count += entry.path().filename().string().starts_with("debuginfo") && entry.file_size() > 0;
    return count;
  }

  // Files of transfers that did not end.
  [[nodiscard]] int begun() const {
    int count = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.file("cache")))
      count += entry.path().filename().string().starts_with("debuginfo.");
    return count;
  }

  TemporaryFolder folder_;
};

TEST_F(DebuginfodClient, AsksOnlyWhereThereAreServers) {
  for (const char* none : {"", "   "}) {
    const auto client = Debuginfod::create(options(none));
    ASSERT_FALSE(client);
    EXPECT_EQ(client.error().what, "no debuginfod server is known");
  }
  const auto client = Debuginfod::create(options("http://127.0.0.1:1 ftp://127.0.0.1/"));
  ASSERT_FALSE(client);
  EXPECT_EQ(client.error().what, "not a URL of a debuginfod server: ftp://127.0.0.1/");
}

TEST_F(DebuginfodClient, TheRealServer) {
  ASSERT_TRUE(has_command("debuginfod"));
  const Server server(folder_.file("served"), folder_.file("log"));
  Debuginfod client = made(options(server.url()));
  const std::string id = build_id("served/whole");
  UniqueFd fd;
  // It does not listen at once, and reads its folder in the background; until then it does not know the file.
  for (int i = 0; i < 100 && !fd; i++) {
    std::filesystem::remove_all(folder_.file("cache"));
    Debuginfod early = made(options(server.url()));
    fd = early.fetch(id);
    if (!fd) std::this_thread::sleep_for(milliseconds(20));
  }
  ASSERT_TRUE(fd);
  for (int i = 0; i < 2; i++) {
    fd = client.fetch(id);
    ASSERT_TRUE(fd);
    EXPECT_EQ(read_file("/proc/self/fd/" + std::to_string(fd.get())), read_file(folder_.file("served/whole")));
  }
  EXPECT_FALSE(client.fetch(build_id("other")));
  EXPECT_FALSE(client.fetch(build_id("other")));
  EXPECT_EQ(client.figures().asked, 2u);
  EXPECT_EQ(client.figures().found, 1u);
  EXPECT_EQ(client.figures().unknown, 1u);
  EXPECT_EQ(client.figures().problem, "");
  EXPECT_EQ(cached(), 1);
  EXPECT_EQ(std::getenv("DEBUGINFOD_URLS"), nullptr);
}

// Two of three servers are of no use: the third one's answer counts.
TEST_F(DebuginfodClient, OneOfSeveralServers) {
  const std::string whole = read_file(folder_.file("served/whole"));
  const Liar good(whole);
  Port dead;
  dead.close();
  Port slow;
  Debuginfod client = made(options(dead.url() + " " + slow.url() + "  " + good.url()));
  EXPECT_TRUE(client.fetch(build_id("served/whole")));
  EXPECT_EQ(client.figures().found, 1u);
}

TEST_F(DebuginfodClient, SlowServersAreGivenUp) {
  const Port slow;
  const milliseconds limit(300);
  Debuginfod client = made(options(slow.url(), limit));
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 10; i++) EXPECT_FALSE(client.fetch(build_id("other") + static_cast<char>(i)));
  const auto took = std::chrono::steady_clock::now() - begin;
  EXPECT_GE(took, 2 * limit);
  EXPECT_LT(took, 2 * (limit + milliseconds(2500)));
  EXPECT_EQ(client.figures().asked, 10u);
  EXPECT_EQ(client.figures().timed_out, 2u);
  EXPECT_EQ(client.figures().not_asked, 8u);
  EXPECT_TRUE(slow.accept());
  EXPECT_EQ(begun(), 0);
}

TEST_F(DebuginfodClient, TheTimeForAllIsLimited) {
  const Port slow;
  DebuginfodOptions chosen = options(slow.url(), milliseconds(60'000));
  chosen.overall = milliseconds(300);
  Debuginfod client = made(chosen);
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 3; i++) EXPECT_FALSE(client.fetch(build_id("other") + static_cast<char>(i)));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(2900));
  EXPECT_EQ(client.figures().timed_out, 1u);
  EXPECT_EQ(client.figures().not_asked, 2u);
}

TEST_F(DebuginfodClient, DeadServersFailAtOnce) {
  Port dead;
  dead.close();
  Debuginfod client = made(options(dead.url()));
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 3; i++) EXPECT_FALSE(client.fetch(build_id("other") + static_cast<char>(i)));
  EXPECT_LT(std::chrono::steady_clock::now() - begin, milliseconds(2000));
  EXPECT_EQ(client.figures().asked, 3u);
  EXPECT_EQ(client.figures().failed, 3u);
  EXPECT_NE(client.figures().problem, "");
}

// Another program's debug file, and no ELF file at all: neither is given out, or kept for the next time.
TEST_F(DebuginfodClient, LyingServers) {
  for (const std::string& lie : {read_file(folder_.file("other")), std::string("<html>hello</html>"),
                                 read_file(folder_.file("served/whole")).substr(0, 500)}) {
    const Liar liar(lie);
    Debuginfod client = made(options(liar.url()));
    EXPECT_FALSE(client.fetch(build_id("served/whole")));
    EXPECT_EQ(client.figures().asked, 1u);
    EXPECT_EQ(client.figures().failed, 1u);
    EXPECT_EQ(client.figures().problem, "the server's answer is not the file asked for");
    EXPECT_EQ(cached(), 0);
  }
  const Liar honest(read_file(folder_.file("served/whole")));
  EXPECT_TRUE(made(options(honest.url())).fetch(build_id("served/whole")));
}

}  // namespace
}  // namespace uscope::symbolizer
