// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/waits/wait_calls.h"

#include <asm/unistd.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <climits>
#include <cstring>
#include <sstream>

#include "uscope/arch/arch.h"

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kMostPolled = 65536;

// What the arguments mean that are ints.
int int_of(std::uint64_t argument) {
  return static_cast<int>(static_cast<std::uint32_t>(argument));
}

std::uint8_t timed_if(bool is_timed) {
  return is_timed ? USC_TIMED_YES : USC_TIMED_NEVER;
}

void add(CallWaits& waits, std::uint64_t fd, usc_wants_kind wants) {
  waits.things.push_back({.wants = wants, .fd = int_of(fd)});
  waits.is_followed = true;
}

void add_poll(CallWaits& waits, const CallFound& call, const ReadMemory& read) {
  const std::uint64_t count = std::min<std::uint64_t>(static_cast<std::uint32_t>(call.args[1]), kMostPolled);
  std::vector<pollfd> set(count);
  if (count != 0 && !read(call.args[0], static_cast<void*>(set.data()), count * sizeof(pollfd))) {
    waits.unreadable = true;
    return;
  }
  waits.is_followed = true;
  for (const pollfd& one : set) {
    if (one.fd < 0) continue;
    const bool in = (one.events & (POLLIN | POLLRDNORM | POLLPRI | POLLRDBAND | POLLRDHUP)) != 0;
    const bool out = (one.events & (POLLOUT | POLLWRNORM | POLLWRBAND)) != 0;
    waits.things.push_back({.wants = wants_of(in, out), .fd = one.fd});
  }
}

void add_select(CallWaits& waits, const CallFound& call, const ReadMemory& read) {
  const std::size_t count = std::min<std::size_t>(static_cast<std::uint32_t>(call.args[0]), kMostPolled);
  constexpr std::size_t kBits = 64;
  std::vector<std::uint64_t> sets[3];
  for (std::size_t i = 0; i < 3; i++) {
    sets[i].assign((count + kBits - 1) / kBits, 0);
    const std::uint64_t at = call.args[i + 1];
    if (at == 0 || count == 0) continue;
    if (!read(at, static_cast<void*>(sets[i].data()), sets[i].size() * sizeof(std::uint64_t))) {
      waits.unreadable = true;
      return;
    }
  }
  waits.is_followed = true;
  for (std::size_t fd = 0; fd < count; fd++) {
    const auto has = [&](std::size_t set) { return (sets[set][fd / kBits] >> (fd % kBits) & 1U) != 0; };
    if (!has(0) && !has(1) && !has(2)) continue;
    waits.things.push_back({.wants = wants_of(has(0), has(1)), .fd = static_cast<int>(fd)});
  }
}

void add_children(CallWaits& waits, std::uint32_t pid, std::uint32_t pgid) {
  waits.things.push_back({.what = USC_WAITED_CHILD, .pid = pid, .pgid = pgid});
  waits.is_followed = true;
  waits.timed = USC_TIMED_NEVER;
}

void add_waitid(CallWaits& waits, const CallFound& call) {
  const auto id = static_cast<std::uint32_t>(call.args[1]);
  switch (int_of(call.args[0])) {
    case P_ALL:
      return add_children(waits, 0, 0);
    case P_PID:
      return add_children(waits, id, 0);
    case P_PGID:
      waits.own_group = id == 0;
      return add_children(waits, 0, id);
    default:  // P_PIDFD
      waits.things.push_back({.what = USC_WAITED_PIDFD, .fd = int_of(call.args[1])});
      waits.is_followed = true;
      waits.timed = USC_TIMED_NEVER;
  }
}

// A 64-bit program may have its stack anywhere, and may make 32-bit calls: the instruction tells. Those of the 32-bit
// vDSO return behind such an instruction, too.
std::uint8_t abi_of_instruction(const CallFound& call, const ReadMemory& read) {
  constexpr std::uint64_t kLow = 0xffffffff;
  USC_CALL_CODE code = 0;
  if (call.pc > sizeof(code) && read(call.pc - sizeof(code), static_cast<void*>(&code), sizeof(code))) {
    if (code == USC_CODE_SYSCALL) return USC_ABI_NATIVE;
    if (code == USC_CODE_COMPAT_SYSCALL) return USC_ABI_COMPAT;
  }
  return call.stack_pointer <= kLow ? USC_ABI_COMPAT : USC_ABI_NATIVE;
}

// Of the calls that go on by restart_syscall, only poll waits for descriptors; the others sleep, or wait for a futex.
bool continues_poll(const std::string& wchan) {
  return wchan.find("poll") != std::string::npos;
}

// MAX_RW_COUNT: no call moves more.
constexpr std::uint64_t kMostBytes = 0x7ffff000;

// What a call asks to move: bytes, in so many buffers; 0: it has no list of them.
struct Asked {
  std::uint64_t bytes = 0;
  std::uint32_t parts = 0;
};

void add(Asked& asked, const Asked& more) {
  asked.bytes = std::min(asked.bytes + more.bytes, kMostBytes);
  asked.parts += more.parts;
}

std::optional<Asked> vector_asks(std::uint64_t at, std::uint64_t count, const ReadMemory& read) {
  constexpr std::uint64_t kMostBuffers = 1024;  // UIO_MAXIOV
  if (count > kMostBuffers) return std::nullopt;
  std::vector<iovec> buffers(count);
  if (count != 0 && !read(at, static_cast<void*>(buffers.data()), count * sizeof(iovec))) return std::nullopt;
  Asked asked;
  for (const iovec& buffer : buffers) add(asked, {std::min<std::uint64_t>(buffer.iov_len, kMostBytes), 1});
  return asked;
}

// Of `count` messages, whose heads are so far apart.
std::optional<Asked> messages_ask(std::uint64_t at, std::uint64_t count, std::size_t apart, const ReadMemory& read) {
  constexpr std::uint64_t kMostMessages = 1024;
  Asked asked;
  for (std::uint64_t i = 0; i < count; i++) {
    msghdr head{};
    if (i == kMostMessages || !read(at + i * apart, static_cast<void*>(&head), sizeof(head))) return std::nullopt;
    const auto more = vector_asks(reinterpret_cast<std::uint64_t>(head.msg_iov), head.msg_iovlen, read);
    if (!more) return std::nullopt;
    add(asked, *more);
  }
  return asked;
}

std::optional<Asked> asked_by(const CallFound& call, const ReadMemory& read) {
  const std::uint64_t* const a = call.args;
  const auto bytes = [](std::uint64_t count) { return Asked{std::min(count, kMostBytes), 0}; };
  switch (call.nr) {
    case __NR_read:
    case __NR_pread64:
    case __NR_recvfrom:
    case __NR_write:
    case __NR_pwrite64:
    case __NR_sendto:
    case __NR_tee:
    case __NR_mq_timedsend:
    case __NR_mq_timedreceive:
    case __NR_msgsnd:
    case __NR_msgrcv:
      return bytes(a[2]);
    case __NR_sendfile:
      return bytes(a[3]);
    case __NR_splice:
      return bytes(a[4]);
    case __NR_readv:
    case __NR_preadv:
    case __NR_preadv2:
    case __NR_writev:
    case __NR_pwritev:
    case __NR_pwritev2:
      return vector_asks(a[1], a[2], read);
    case __NR_recvmsg:
    case __NR_sendmsg:
      return messages_ask(a[1], 1, sizeof(msghdr), read);
    case __NR_recvmmsg:
    case __NR_sendmmsg:
      return messages_ask(a[1], static_cast<std::uint32_t>(a[2]), sizeof(mmsghdr), read);
    default:
      return std::nullopt;
  }
}

// Whether a message has an address of its own: a datagram goes there, whoever the socket is connected to. Also where
// that cannot be read.
bool names_receiver(const CallFound& call, const ReadMemory& read) {
  if (call.nr == __NR_sendto) return call.args[4] != 0;
  msghdr head{};
  return !read(call.args[1], static_cast<void*>(&head), sizeof(head)) || head.msg_name != nullptr;
}

void add_open(CallWaits& waits, int folder, std::uint64_t path, std::uint64_t flags, const ReadMemory& read) {
  const auto text = text_at(path, read);
  if (!text || text->empty()) return;
  const std::uint64_t access = flags & O_ACCMODE;
  waits.timed = USC_TIMED_NEVER;
  waits.path = OpenedPath{*text, folder, access != O_WRONLY, access != O_RDONLY};
}

void add_semaphores(CallWaits& waits, const CallFound& call, const ReadMemory& read) {
  constexpr std::uint64_t kMostChanges = 500;  // SEMOPM
  waits.semaphores = int_of(call.args[0]);
  std::vector<sembuf> changes(std::min(call.args[2], kMostChanges));
  if (changes.empty()) return;
  if (!read(call.args[1], static_cast<void*>(changes.data()), changes.size() * sizeof(sembuf))) return;
  for (const sembuf& change : changes) waits.changes.push_back({change.sem_num, change.sem_op});
}

void add_vfork(CallWaits& waits) {
  waits.things.push_back({.what = USC_WAITED_VFORK});
  waits.is_followed = true;
  waits.timed = USC_TIMED_NEVER;
}

}  // namespace

// Up to the end of each page: what lies behind the text may not be there.
std::optional<std::string> text_at(std::uint64_t at, const ReadMemory& read) {
  constexpr std::size_t kPage = USC_PAGE_BYTES;
  std::string text;
  while (text.size() < PATH_MAX) {
    std::array<char, kPage> page{};
    const std::size_t bytes = kPage - at % kPage;
    if (!read(at, static_cast<void*>(page.data()), bytes)) return std::nullopt;
    const std::size_t length = strnlen(page.data(), bytes);
    text.append(page.data(), length);
    if (length < bytes) return text;
    at += bytes;
  }
  return std::nullopt;
}

std::optional<CallFound> parse_call(const std::string& line, const std::string& wchan, const ReadMemory& read) {
  std::istringstream in(line);
  std::int64_t number = 0;
  if (!(in >> number) || number < 0) return std::nullopt;
  CallFound call;
  call.nr = static_cast<std::uint32_t>(number);
  in >> std::hex;
  for (std::uint64_t& argument : call.args) in >> argument;
  if (!(in >> call.stack_pointer)) return std::nullopt;
  in >> call.pc;
  const std::uint8_t marked = USC_ABI_OF_MARK(call.nr);
  call.abi = marked != USC_ABI_NATIVE ? marked : abi_of_instruction(call, read);
  if (call.abi == USC_ABI_NATIVE && call.nr == __NR_restart_syscall && continues_poll(wchan)) call.nr = __NR_poll;
  return call;
}

usc_wants_kind wants_of(bool in, bool out) {
  if (in) return out ? USC_WANTS_READ_OR_WRITE : USC_WANTS_READ;
  return out ? USC_WANTS_WRITE : USC_WANTS_OTHER;
}

CallWaits waits_of(const CallFound& call, const ReadMemory& read) {
  CallWaits waits;
  if (call.abi != USC_ABI_NATIVE) return waits;
  const std::uint64_t* const a = call.args;
  if (const auto asked = asked_by(call, read)) {
    waits.bytes = asked->bytes;
    waits.parts = asked->parts;
  }
  switch (call.nr) {
    case __NR_read:
    case __NR_readv:
    case __NR_pread64:
    case __NR_preadv:
    case __NR_preadv2:
    case __NR_recvfrom:
    case __NR_recvmsg:
      add(waits, a[0], USC_WANTS_READ);
      waits.timed = USC_TIMED_NEVER;  // of a socket: not known, by the caller
      break;
    case __NR_recvmmsg:
      add(waits, a[0], USC_WANTS_READ);
      waits.timed = timed_if(a[4] != 0);
      break;
    case __NR_write:
    case __NR_writev:
    case __NR_pwrite64:
    case __NR_pwritev:
    case __NR_pwritev2:
      add(waits, a[0], USC_WANTS_WRITE);
      waits.timed = USC_TIMED_NEVER;
      break;
    case __NR_sendto:
    case __NR_sendmsg:
    case __NR_sendmmsg:
      if (names_receiver(call, read)) break;
      add(waits, a[0], USC_WANTS_WRITE);
      waits.timed = USC_TIMED_NEVER;
      break;
    case __NR_sendfile:
      add(waits, a[0], USC_WANTS_WRITE);
      add(waits, a[1], USC_WANTS_READ);
      waits.timed = USC_TIMED_NEVER;
      break;
    case __NR_splice:
      add(waits, a[0], USC_WANTS_READ);
      add(waits, a[2], USC_WANTS_WRITE);
      waits.timed = USC_TIMED_NEVER;
      break;
    case __NR_tee:
      add(waits, a[0], USC_WANTS_READ);
      add(waits, a[1], USC_WANTS_WRITE);
      waits.timed = USC_TIMED_NEVER;
      break;
    case __NR_accept:
    case __NR_accept4:
      add(waits, a[0], USC_WANTS_ACCEPT);
      waits.timed = USC_TIMED_NEVER;
      break;
    case __NR_connect:
      add(waits, a[0], USC_WANTS_CONNECT);
      waits.timed = USC_TIMED_NEVER;
      break;
    case __NR_poll:
      add_poll(waits, call, read);
      waits.timed = timed_if(int_of(a[2]) >= 0);
      break;
    case __NR_ppoll:
      add_poll(waits, call, read);
      waits.timed = timed_if(a[2] != 0);
      break;
    case __NR_select:
    case __NR_pselect6:
      add_select(waits, call, read);
      waits.timed = timed_if(a[4] != 0);
      break;
    case __NR_epoll_wait:
    case __NR_epoll_pwait:
      waits.epoll_fd = int_of(a[0]);
      waits.is_followed = true;
      waits.timed = timed_if(int_of(a[3]) >= 0);
      break;
    case __NR_epoll_pwait2:
      waits.epoll_fd = int_of(a[0]);
      waits.is_followed = true;
      waits.timed = timed_if(a[3] != 0);
      break;
    case __NR_flock:
      add(waits, a[0], USC_WANTS_LOCK);
      waits.timed = USC_TIMED_NEVER;
      break;
    case __NR_fcntl:
      if (int_of(a[1]) != F_SETLKW && int_of(a[1]) != F_OFD_SETLKW) break;
      add(waits, a[0], USC_WANTS_LOCK);
      waits.timed = USC_TIMED_NEVER;
      break;
    case __NR_wait4: {
      const int pid = int_of(a[0]);
      waits.own_group = pid == 0;
      add_children(waits, pid > 0 ? static_cast<std::uint32_t>(pid) : 0,
                   pid < -1 ? static_cast<std::uint32_t>(-static_cast<std::int64_t>(pid)) : 0);
      break;
    }
    case __NR_waitid:
      add_waitid(waits, call);
      break;
    case __NR_vfork:
      add_vfork(waits);
      break;
    case __NR_clone:
      if ((a[0] & CLONE_VFORK) != 0) add_vfork(waits);
      break;
    case __NR_clone3: {
      std::uint64_t flags = 0;
      waits.unreadable = !read(a[0], static_cast<void*>(&flags), sizeof(flags));
      if ((flags & CLONE_VFORK) != 0) add_vfork(waits);
      break;
    }
    case __NR_nanosleep:
    case __NR_clock_nanosleep:
      waits.timed = USC_TIMED_YES;
      break;
    case __NR_pause:
    case __NR_rt_sigsuspend:
      waits.timed = USC_TIMED_NEVER;
      break;
    case __NR_msgsnd:
    case __NR_msgrcv:
      waits.timed = USC_TIMED_NEVER;
      waits.messages = int_of(a[0]);
      break;
    case __NR_open:
      add_open(waits, AT_FDCWD, a[0], a[1], read);
      break;
    case __NR_creat:
      add_open(waits, AT_FDCWD, a[0], O_WRONLY, read);
      break;
    case __NR_openat:
      add_open(waits, int_of(a[0]), a[1], a[2], read);
      break;
    case __NR_openat2: {
      std::uint64_t flags = 0;
      if (read(a[2], static_cast<void*>(&flags), sizeof(flags))) add_open(waits, int_of(a[0]), a[1], flags, read);
      break;
    }
    case __NR_rt_sigtimedwait:
      waits.timed = timed_if(a[2] != 0);
      break;
    case __NR_semop:
      waits.timed = USC_TIMED_NEVER;
      add_semaphores(waits, call, read);
      break;
    case __NR_semtimedop:
      waits.timed = timed_if(a[3] != 0);
      add_semaphores(waits, call, read);
      break;
    case __NR_mq_timedsend:
      add(waits, a[0], USC_WANTS_WRITE);
      waits.timed = timed_if(a[4] != 0);
      waits.on_queue = true;
      break;
    case __NR_mq_timedreceive:
      add(waits, a[0], USC_WANTS_READ);
      waits.timed = timed_if(a[4] != 0);
      waits.on_queue = true;
      break;
    case __NR_io_getevents:
    case __NR_io_pgetevents:
      waits.timed = timed_if(a[4] != 0);
      break;
    case __NR_futex:
      waits.timed = timed_if(a[3] != 0);
      break;
    default:
      break;
  }
  return waits;
}

}  // namespace uscope::tracer
