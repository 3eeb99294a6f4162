// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "live/live_names.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <utility>

#include "support/end_signals.h"
#include "support/process/fd_passing.h"
#include "support/sandbox/confine.h"

namespace uscope::live {
namespace {

// One packet each. A file: its path, its place and its build-id behind, the copies' descriptor beside; a place; and the
// answer to that: the functions behind, each as a character for what is known of it, its name, and a zero.
enum class Kind : std::uint32_t { kFile, kPlace };

struct Head {
  Kind kind = Kind::kFile;
  std::uint32_t file = 0;
  std::uint64_t address = 0;
  std::uint32_t exact = 0;
  std::uint32_t path_bytes = 0;
  std::uint32_t place_bytes = 0;
  std::uint32_t has_key = 0;
  std::uint32_t pad = 0;
  std::uint64_t copy_offset = 0;
  std::uint64_t copy_bytes = 0;
  usc_file_key key{};
};

constexpr std::size_t kMostPacket = std::size_t{32} << 10;
constexpr int kRestMs = 100;  // when nothing has been asked for so long, no file stays open

std::vector<std::byte> packet(const Head& head, const std::string& text) {
  std::vector<std::byte> bytes(std::min(kMostPacket, sizeof(head) + text.size()));
  std::memcpy(bytes.data(), &head, sizeof(head));
  std::memcpy(bytes.data() + sizeof(head), text.data(), bytes.size() - sizeof(head));
  return bytes;
}

// What follows the head.
std::string text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()) + sizeof(Head), bytes.size() - sizeof(Head)};
}

constexpr unsigned kFacts = '0';
constexpr unsigned kOrigins = static_cast<unsigned>(trace::FunctionOrigin::kPart) + 1;
constexpr unsigned kRoles = static_cast<unsigned>(trace::FunctionRole::kHandsOver) + 1;

// Of another process: any text is answered, by one function at least.
LiveNames::Functions functions_of(std::string_view text) {
  LiveNames::Functions functions;
  while (!text.empty() || functions.empty()) {
    const std::string_view one = text.substr(0, text.find('\0'));
    text.remove_prefix(std::min(text.size(), one.size() + 1));
    LiveFunction& function = functions.emplace_back();
    if (one.empty()) continue;
    function.name = one.substr(1);
    const unsigned facts = static_cast<unsigned char>(one.front()) - kFacts;
    if (facts >= kOrigins * kRoles) continue;
    function.origin = static_cast<trace::FunctionOrigin>(facts % kOrigins);
    function.role = static_cast<trace::FunctionRole>(facts / kOrigins);
  }
  return functions;
}

class Reader {
 public:
  explicit Reader(UniqueFd socket) : socket_(std::move(socket)) {}

  int run() {
    // Ctrl-C in the terminal is the tracer's, which may want names still.
    (void)hold_signals();
    const auto confined = confine({});
    const std::string refused = confined ? "" : confined.error().what;
    if (!send_with_fds(socket_.get(), std::as_bytes(std::span(refused.data(), refused.size() + 1)), {}) || !confined)
      return 1;
    std::vector<std::byte> room(kMostPacket);
    while (true) {
      pollfd asked{socket_.get(), POLLIN, 0};
      if (poll(&asked, 1, kRestMs) == 0) {
        namer_->close_files();
        (void)poll(&asked, 1, -1);
      }
      std::vector<UniqueFd> fds;
      const long count = receive_with_fds(socket_.get(), room, fds);
      if (count < 0 && errno == EINTR) continue;
      if (count < static_cast<long>(sizeof(Head))) return 0;
      if (!handle(std::span(room).first(static_cast<std::size_t>(count)), std::move(fds))) return 0;
    }
  }

 private:
  bool handle(std::span<const std::byte> bytes, std::vector<UniqueFd> fds) {
    Head head{};
    std::memcpy(&head, bytes.data(), sizeof(head));
    if (head.kind == Kind::kFile) {
      const std::string text = text_of(bytes);
      symbolizer::ModuleRequest module{trace::FileId(head.file), text.substr(0, head.path_bytes), {}};
      const std::size_t before_id = std::size_t{head.path_bytes} + head.place_bytes;
      symbolizer::HeldModule held;
      if (text.size() >= before_id) {
        held.place = text.substr(head.path_bytes, head.place_bytes);
        module.traced.build_id = text.substr(before_id);
      }
      if (head.has_key != 0) module.traced.key = head.key;
      if (!fds.empty()) {
        // The same for all files.
        if (!copies_) copies_ = std::make_shared<const UniqueFd>(std::move(fds.front()));
        held.copy.emplace(copies_, head.copy_offset, head.copy_bytes);
      }
      files_.insert_or_assign(module.file, std::pair(module, std::move(held)));
      return true;
    }
    const trace::FileId file(head.file);
    const auto found = files_.find(file);
    const symbolizer::ModuleRequest unknown{file, "", {}};
    const auto& module = found == files_.end() ? unknown : found->second.first;
    std::string text;
    for (const symbolizer::NamedFrame& frame : namer_->name(module, head.address, head.exact != 0)) {
      const auto facts = static_cast<unsigned>(frame.origin) + static_cast<unsigned>(frame.role) * kOrigins;
      const std::size_t room = kMostPacket - sizeof(Head) - 2;
      if (!text.empty() && text.size() + frame.function.size() > room) break;
      text += static_cast<char>(kFacts + facts);
      text += frame.function.substr(0, room);
      text += '\0';
    }
    return send_with_fds(socket_.get(), packet(head, text), {});
  }

  symbolizer::HeldModule open(const symbolizer::ModuleRequest& module) {
    const auto found = files_.find(module.file);
    return found == files_.end() ? symbolizer::HeldModule() : found->second.second;
  }

  UniqueFd socket_;
  std::shared_ptr<const UniqueFd> copies_;
  std::unordered_map<trace::FileId, std::pair<symbolizer::ModuleRequest, symbolizer::HeldModule>> files_;
  std::unique_ptr<symbolizer::FrameNamer> namer_ =
      symbolizer::make_symbol_namer([this](const symbolizer::ModuleRequest& module) { return open(module); }, true);
};

}  // namespace

Result<std::unique_ptr<LiveNames>> LiveNames::start() {
  std::array<int, 2> sockets{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets.data()) != 0)
    return errno_error("cannot make a socket for the process that reads symbols", errno);
  UniqueFd own(sockets[0]);
  UniqueFd theirs(sockets[1]);
  auto process = ChildWork::start([&] {
    own.reset();
    return Reader(std::move(theirs)).run();
  });
  if (!process) return process.error();
  theirs.reset();
  std::array<char, 1024> said{};
  const long count = recv(own.get(), said.data(), said.size() - 1, 0);
  if (count <= 0 || said[0] != '\0')
    return Error{"the process that reads symbols could not give up its privileges: " + std::string(said.data()),
                 "`uscope doctor` tells what this kernel has"};
  (void)fcntl(own.get(), F_SETFL, O_NONBLOCK);
  return std::unique_ptr<LiveNames>(new LiveNames(std::move(own), std::move(*process)));
}

void LiveNames::add_file(const symbolizer::ModuleRequest& module, const symbolizer::HeldModule& held) {
  Head head{Kind::kFile, module.file.value()};
  head.path_bytes = static_cast<std::uint32_t>(module.path.size());
  head.has_key = module.traced.key ? 1 : 0;
  if (module.traced.key) head.key = *module.traced.key;
  head.place_bytes = static_cast<std::uint32_t>(held.place.size());
  UniqueFd copies;
  if (held.copy) {
    copies.reset(fcntl(held.copy->all(), F_DUPFD_CLOEXEC, 0));
    head.copy_offset = held.copy->offset();
    head.copy_bytes = held.copy->bytes();
  }
  unsent_.push_back({packet(head, module.path + held.place + module.traced.build_id), std::move(copies)});
  send();
}

const LiveNames::Functions* LiveNames::ask(trace::FileId file, std::uint64_t address, bool exact) {
  const NameKey key{file, address, exact};
  if (const auto found = known_.find(key); found != known_.end()) return &found->second;
  receive();
  if (const auto found = known_.find(key); found != known_.end()) return &found->second;
  if (socket_ && asked_.insert(key).second) {
    Head head{Kind::kPlace, file.value(), address, exact ? 1U : 0U};
    unsent_.push_back({packet(head, ""), UniqueFd()});
    send();
  }
  return nullptr;
}

void LiveNames::wait(std::chrono::milliseconds most) {
  const auto end = std::chrono::steady_clock::now() + most;
  while (socket_ && !asked_.empty()) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return;
    const short events = unsent_.empty() ? POLLIN : POLLIN | POLLOUT;
    pollfd waiting{socket_.get(), events, 0};
    (void)poll(&waiting, 1, static_cast<int>(left.count()));
    send();
    receive();
  }
}

std::optional<Error> LiveNames::trouble() {
  if (socket_) return std::nullopt;
  return Error{"the process that reads symbols has ended: functions that had no name by then go by their addresses",
               "one of the traced programs' files may be damaged; `uscope record` says which"};
}

// As much as the socket takes now; the rest with the next call.
void LiveNames::send() {
  while (socket_ && !unsent_.empty()) {
    const Message& next = unsent_.front();
    const int fd = next.fd.get();
    const std::span<const int> fds = fd < 0 ? std::span<const int>() : std::span(&fd, 1);
    if (!send_with_fds(socket_.get(), next.bytes, fds)) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN && errno != ENOBUFS && errno != ETOOMANYREFS) socket_.reset();
      return;
    }
    unsent_.pop_front();
  }
}

// The answers that have come. They are another process's: only what was asked for is taken.
void LiveNames::receive() {
  room_.resize(kMostPacket);
  while (socket_) {
    const long count = recv(socket_.get(), room_.data(), room_.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno == EAGAIN) break;
    if (count < static_cast<long>(sizeof(Head))) {
      socket_.reset();
      break;
    }
    Head head{};
    std::memcpy(&head, room_.data(), sizeof(head));
    const NameKey key{trace::FileId(head.file), head.address, head.exact != 0};
    if (asked_.erase(key) != 0)
      known_.emplace(key, functions_of(text_of(std::span(room_).first(static_cast<std::size_t>(count)))));
  }
  send();
}

}  // namespace uscope::live
