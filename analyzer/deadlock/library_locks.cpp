// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/deadlock/library_locks.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "support/clock.h"
#include "trace/runtime_modules.h"

namespace uscope::analyzer {
namespace {

struct Part {
  std::string_view prefix;
  std::string_view name;
};

constexpr std::string_view kTimeZone = "time zone";
constexpr std::string_view kMalloc = "malloc";
constexpr std::string_view kExit = "exit";
constexpr std::string_view kSyslog = "syslog";
constexpr std::string_view kNames = "names of users and hosts";
constexpr std::string_view kRandom = "random";
constexpr std::string_view kEnvironment = "environment";
constexpr std::string_view kLocale = "locale";
constexpr std::string_view kStacks = "stacks of threads";
constexpr std::string_view kMutexes =
    "mutexes";  // libc notes the owner after it took one, and clears it before it lets go

// Functions of glibc (2.17 to 2.41) and musl, by the locks that they take. A longer prefix comes before a shorter one.
constexpr std::array kParts{
    Part{"tz", kTimeZone},
    Part{"localtime", kTimeZone},
    Part{"gmtime", kTimeZone},
    Part{"mktime", kTimeZone},
    Part{"timelocal", kTimeZone},
    Part{"strftime", kTimeZone},
    Part{"wcsftime", kTimeZone},
    Part{"ctime", kTimeZone},
    Part{"mallo", kMalloc},
    Part{"libc_malloc", kMalloc},
    Part{"libc_calloc", kMalloc},
    Part{"libc_realloc", kMalloc},
    Part{"libc_free", kMalloc},
    Part{"libc_memalign", kMalloc},
    Part{"int_malloc", kMalloc},
    Part{"int_realloc", kMalloc},
    Part{"int_memalign", kMalloc},
    Part{"int_free", kMalloc},
    Part{"calloc", kMalloc},
    Part{"realloc", kMalloc},
    Part{"free", kMalloc},
    Part{"cfree", kMalloc},
    Part{"memalign", kMalloc},
    Part{"mid_memalign", kMalloc},
    Part{"posix_memalign", kMalloc},
    Part{"aligned_alloc", kMalloc},
    Part{"valloc", kMalloc},
    Part{"pvalloc", kMalloc},
    Part{"arena_get", kMalloc},
    Part{"reused_arena", kMalloc},
    Part{"get_free_list", kMalloc},
    Part{"detach_arena", kMalloc},
    Part{"sysmalloc", kMalloc},
    Part{"systrim", kMalloc},
    Part{"heap_trim", kMalloc},
    Part{"unlink_chunk", kMalloc},
    Part{"tcache_", kMalloc},
    Part{"mallinfo", kMalloc},
    Part{"mallopt", kMalloc},
    Part{"IO_", kStreams},
    Part{"new_fclose", kStreams},
    Part{"fclose", kStreams},
    Part{"fcloseall", kStreams},
    Part{"fflush", kStreams},
    Part{"fopen", kStreams},
    Part{"freopen", kStreams},
    Part{"fdopen", kStreams},
    Part{"popen", kStreams},
    Part{"pclose", kStreams},
    Part{"fputs", kStreams},
    Part{"fputc", kStreams},
    Part{"fputw", kStreams},
    Part{"puts", kStreams},
    Part{"putc", kStreams},
    Part{"putw", kStreams},
    Part{"fwrite", kStreams},
    Part{"fread", kStreams},
    Part{"fgets", kStreams},
    Part{"fgetc", kStreams},
    Part{"fgetw", kStreams},
    Part{"getc", kStreams},
    Part{"getw", kStreams},
    Part{"gets", kStreams},
    Part{"getline", kStreams},
    Part{"getdelim", kStreams},
    Part{"ungetc", kStreams},
    Part{"ungetwc", kStreams},
    Part{"fprintf", kStreams},
    Part{"printf", kStreams},
    Part{"vfprintf", kStreams},
    Part{"vprintf", kStreams},
    Part{"fwprintf", kStreams},
    Part{"wprintf", kStreams},
    Part{"vfwprintf", kStreams},
    Part{"vwprintf", kStreams},
    Part{"buffered_vf", kStreams},
    Part{"fscanf", kStreams},
    Part{"scanf", kStreams},
    Part{"vfscanf", kStreams},
    Part{"isoc99_fscanf", kStreams},
    Part{"isoc99_scanf", kStreams},
    Part{"perror", kStreams},
    Part{"fseek", kStreams},
    Part{"ftell", kStreams},
    Part{"fgetpos", kStreams},
    Part{"fsetpos", kStreams},
    Part{"rewind", kStreams},
    Part{"setvbuf", kStreams},
    Part{"setbuf", kStreams},
    Part{"flockfile", kStreams},
    Part{"exit", kExit},
    Part{"run_exit_handlers", kExit},
    Part{"new_exitfn", kExit},
    Part{"internal_atexit", kExit},
    Part{"cxa_atexit", kExit},
    Part{"cxa_at_quick_exit", kExit},
    Part{"cxa_finalize", kExit},
    Part{"on_exit", kExit},
    Part{"atexit", kExit},
    Part{"quick_exit", kExit},
    Part{"syslog", kSyslog},
    Part{"vsyslog", kSyslog},
    Part{"openlog", kSyslog},
    Part{"closelog", kSyslog},
    Part{"setlogmask", kSyslog},
    Part{"res_", kNames},
    Part{"resolv_", kNames},
    Part{"nss_", kNames},
    Part{"gethost", kNames},
    Part{"getaddrinfo", kNames},
    Part{"gai_", kNames},
    Part{"getpw", kNames},
    Part{"getgr", kNames},
    Part{"getserv", kNames},
    Part{"getproto", kNames},
    Part{"setpwent", kNames},
    Part{"setgrent", kNames},
    Part{"random", kRandom},
    Part{"srandom", kRandom},
    Part{"rand", kRandom},
    Part{"srand", kRandom},
    Part{"initstate", kRandom},
    Part{"setstate", kRandom},
    Part{"drand48", kRandom},
    Part{"arc4random", kRandom},
    Part{"setenv", kEnvironment},
    Part{"putenv", kEnvironment},
    Part{"unsetenv", kEnvironment},
    Part{"clearenv", kEnvironment},
    Part{"add_to_environ", kEnvironment},
    Part{"setlocale", kLocale},
    Part{"newlocale", kLocale},
    Part{"freelocale", kLocale},
    Part{"duplocale", kLocale},
    Part{"dcigettext", kLocale},
    Part{"allocate_stack", kStacks},
    Part{"nptl_deallocate_stack", kStacks},
    Part{"nptl_free_tcb", kStacks},
    Part{"abort", "abort"},
    Part{"pthread_mutex_", kMutexes},
};

// Whether a function of libc's may have the lock. Functions that take one of malloc's locks give it to others, which
// have it until these return; any other lock is held by a function that takes it.
bool may_have(const StackLine& line, const Classified& what, std::string_view part) {
  if (takes_word(line, what)) return true;
  const bool by_part = what.word == 0 || part == kMalloc || part == kStreams;
  return by_part && !part.empty() && libc_part(without_underscores(line.function)) == part;
}

// Whether code of libc's stands at `from` that may have the lock, and does not wait for one itself. From there on only
// frames of libc count: an application that libc calls back (qsort, atexit) may have come from anywhere.
bool stands_in(const StackLines& stack, std::size_t from, const Classified& what, std::string_view part) {
  for (std::size_t i = from; i < stack.size(); i++) {
    const bool waits = without_underscores(stack[i].function).starts_with("lll_lock_wait");
    if (waits || !is_libcs(stack, stack[i])) return false;
    if (may_have(stack[i], what, part)) return true;
  }
  return false;
}

// Whether a signal handler of this stack has interrupted such code.
bool has_interrupted(const StackLines& stack, const Classified& what, std::string_view part) {
  for (std::size_t from = interrupted_from(stack); from < stack.size(); from = interrupted_from(stack, from))
    if (stands_in(stack, from, what, part)) return true;
  return false;
}

// Whether a thread that waits for something else has, somewhere on its stack, such a function.
bool passes_through(const StackLines& stack, const Classified& what, std::string_view part) {
  return std::any_of(stack.begin(), stack.end(),
                     [&](const StackLine& line) { return is_libcs(stack, line) && may_have(line, what, part); });
}

}  // namespace

std::string_view libc_part(std::string_view bare) {
  for (const Part& part : kParts)
    if (bare.starts_with(part.prefix)) return part.name;
  return {};
}

std::uint64_t fixed_word(const FutexWait& wait, const StackLine& line) {
  constexpr std::uint64_t kInPage = 4095;
  if (!trace::is_runtime(line.module)) return 0;
  std::uint64_t found = 0;
  for (const std::uint64_t word : line.locks) {
    if (((word ^ wait.address) & kInPage) != 0) continue;
    if (found != 0) return 0;
    found = word;
  }
  return found;
}

bool takes_word(const StackLine& line, const Classified& what) {
  return what.word != 0 && line.module == what.module &&
         std::find(line.locks.begin(), line.locks.end(), what.word) != line.locks.end();
}

bool is_owned_by_pointer(const FutexWait& wait) {
  constexpr std::uint32_t kMostTimes = 1U << 16;
  constexpr std::uint32_t kUserHalf = 1U << 15;  // of an address's upper 32 bits
  constexpr std::uint32_t kAligned = 63;         // how glibc aligns the control block
  const auto count = wait.word(4);
  const auto low = wait.word(8);
  const auto high = wait.word(12);
  if (!count || !low || !high || *count == 0 || *count >= kMostTimes) return false;
  return *high != 0 && *high < kUserHalf && (*low & kAligned) == 0;
}

bool is_taken_by_nobody(const FutexWait& wait) {
  return wait.word(4) == 0U && wait.word(8) == 0U && wait.word(12) == 0U;
}

std::size_t interrupted_from(const StackLines& stack, std::size_t after) {
  const auto begin = stack.begin() + static_cast<std::ptrdiff_t>(after);
  const auto trampoline = std::find_if(
      begin, stack.end(), [](const StackLine& line) { return line.function.find("restore_rt") != std::string::npos; });
  return trampoline == stack.end() ? stack.size() : static_cast<std::size_t>(trampoline - stack.begin()) + 1;
}

StackHolder holder_by_stack(const LastCalls& calls, std::size_t waiter, const Classified& what) {
  StackHolder found;
  const bool is_mutex = what.primitive == Primitive::kMutex && what.library == Library::kGlibc;
  const std::string_view part = is_mutex ? kMutexes : std::string_view(what.part);
  if (part.empty() && what.word == 0) return found;
  const LastCall& own = calls.threads[waiter];
  const std::size_t space = calls.processes[own.process].space;
  // A stream's lock lets the thread that has it take it again, once that has noted itself as its owner.
  const bool again = what.primitive == Primitive::kStream && !(own.wait->fresh && is_taken_by_nobody(*own.wait));
  const bool itself = !again && has_interrupted(own.stack, what, part);
  std::vector<std::size_t> others;
  for (std::size_t i = 0; i < calls.threads.size(); i++) {
    const LastCall& other = calls.threads[i];
    if (i == waiter || calls.processes[other.process].space != space) continue;
    if (other.standing == Standing::kRuns) found.sure = false;
    const bool waits_too = other.wait && own.wait && other.wait->address == own.wait->address;
    if (is_mutex || waits_too || other.standing == Standing::kRuns) continue;
    if (passes_through(other.stack, what, part)) others.push_back(i);
  }
  if (itself && others.empty()) {
    found.state = StackHolder::State::kItself;
    // Nobody keeps such a lock for a second.
    found.sure = found.sure || own.waited_ns >= kSecondNs;
  } else if (!itself && others.size() == 1) {
    found.state = StackHolder::State::kOther;
    found.thread = others[0];
  } else {
    found.candidates = std::move(others);
    if (itself) found.candidates.push_back(waiter);
  }
  return found;
}

}  // namespace uscope::analyzer
