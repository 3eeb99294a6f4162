// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/code/locked_words.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "support/unique_fd.h"
#include "symbolizer/names/symbols.h"

namespace uscope::symbolizer {
namespace {

using Words = std::vector<std::uint64_t>;

// Of a function at 0x1000; at 0x2000 is one that locks its argument, at 0x3000 one that exchanges it.
Words words_of(const std::vector<int>& bytes) {
  const auto code_of = [](const std::vector<int>& from) {
    std::vector<std::byte> out;
    for (const int byte : from) out.push_back(static_cast<std::byte>(byte));
    return out;
  };
  const auto code_at = [&](std::uint64_t address, std::size_t) {
    if (address == 0x2000)
      return code_of({0xba, 1, 0, 0, 0, 0xf0, 0x0f, 0xb1, 0x17, 0xc3});  // lock cmpxchg %edx,(%rdi)
    if (address == 0x3000) return code_of({0x87, 0x07, 0xc3});           // xchg %eax,(%rdi)
    return std::vector<std::byte>();
  };
  return locked_words(code_of(bytes), 0x1000, code_at);
}

TEST(LockedWords, StandInTheInstruction) {
  // lock cmpxchg %edx,0x5000(%rip); the same without the prefix, of 0x6000
  EXPECT_EQ(words_of({0xf0, 0x0f, 0xb1, 0x15, 0xf8, 0x3f, 0, 0, 0x0f, 0xb1, 0x15, 0xf1, 0x4f, 0, 0, 0xc3}),
            (Words{0x5000, 0x6000}));
}

TEST(LockedWords, AreInARegister) {
  // lea 0x5000(%rip),%rbx; nop; lock cmpxchg %edx,0x4(%rbx)
  EXPECT_EQ(words_of({0x48, 0x8d, 0x1d, 0xf9, 0x3f, 0, 0, 0x90, 0xf0, 0x0f, 0xb1, 0x53, 0x04, 0xc3}), Words{0x5004});
  // The register has come from elsewhere.
  EXPECT_EQ(words_of({0x48, 0x89, 0xfb, 0xf0, 0x0f, 0xb1, 0x13, 0xc3}), Words{});
}

TEST(LockedWords, ArePassedToAFunctionThatLocks) {
  // lea 0x5000(%rip),%rdi; call 0x2000
  EXPECT_EQ(words_of({0x48, 0x8d, 0x3d, 0xf9, 0x3f, 0, 0, 0xe8, 0xf4, 0x0f, 0, 0, 0xc3}), Words{0x5000});
  // lea 0x5000(%rip),%rbp; mov %rbp,%rdi; call 0x2000
  EXPECT_EQ(words_of({0x48, 0x8d, 0x2d, 0xf9, 0x3f, 0, 0, 0x48, 0x89, 0xef, 0xe8, 0xf1, 0x0f, 0, 0, 0xc3}),
            Words{0x5000});
  // call 0x3000, which lets go of it
  EXPECT_EQ(words_of({0x48, 0x8d, 0x3d, 0xf9, 0x3f, 0, 0, 0xe8, 0xf4, 0x1f, 0, 0, 0xc3}), Words{});
  // Another argument by then: mov %rbx,%rdi
  EXPECT_EQ(words_of({0x48, 0x8d, 0x3d, 0xf9, 0x3f, 0, 0, 0x48, 0x89, 0xdf, 0xe8, 0xf1, 0x0f, 0, 0, 0xc3}), Words{});
}

TEST(LockedWords, AreNotWhatIsReadOrLetGoOf) {
  // xchg %eax,0x5000(%rip); lea 0x5000(%rip),%rax; lock cmpxchg %rdx,0x5000(%rip) is of 64 bits
  EXPECT_EQ(words_of({0x87, 0x05, 0xfa, 0x3f, 0, 0, 0xc3}), Words{});
  EXPECT_EQ(words_of({0x48, 0x8d, 0x05, 0xf9, 0x3f, 0, 0, 0xc3}), Words{});
  EXPECT_EQ(words_of({0xf0, 0x48, 0x0f, 0xb1, 0x15, 0xf7, 0x3f, 0, 0, 0xc3}), Words{});
}

// This machine's libc: random() and its like share one lock, which no other function has.
TEST(LockedWords, OfLibcAreSharedByTheFunctionsOfOnePart) {
  Dl_info info{};
  // AddressSanitizer has functions of its own by some of these names.
  void* const loaded = dlopen("libc.so.6", RTLD_LAZY);
  ASSERT_NE(loaded, nullptr);
  const auto place_of = [&](const char* name) {
    const auto address = reinterpret_cast<std::uint64_t>(dlsym(loaded, name));
    EXPECT_NE(dladdr(reinterpret_cast<void*>(address), &info), 0) << name;
    return address - reinterpret_cast<std::uint64_t>(info.dli_fbase);
  };
  const std::uint64_t random = place_of("random");
  const UniqueFd file(open(info.dli_fname, O_RDONLY | O_CLOEXEC));
  const auto libc = ModuleSymbols::open(file.get(), info.dli_fname);
  ASSERT_TRUE(libc) << info.dli_fname;
  const auto locks_at = [&](std::uint64_t place) { return (*libc)->resolve(place, true).back().locks; };
  const Words words = locks_at(random);
  ASSERT_EQ(words.size(), 1U);
  for (const char* name : {"srandom", "initstate", "setstate"}) EXPECT_EQ(locks_at(place_of(name)), words) << name;
  const Words others = locks_at(place_of("getpwnam"));
  ASSERT_FALSE(others.empty());
  EXPECT_EQ(std::find(others.begin(), others.end(), words[0]), others.end());
  EXPECT_TRUE(locks_at(place_of("getpid")).empty());
}

}  // namespace
}  // namespace uscope::symbolizer
