// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/java/image_symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>

#include "fake_java_vm.h"
#include "tracer/java/target_memory.h"
#include "tracer/process/thread_ids.h"

namespace uscope::tracer {
namespace {

// The dynamic linker's answers are the oracle.
TEST(ImageSymbols, ThoseOfALibraryOfThisProcess) {
  void* const function = dlsym(RTLD_DEFAULT, "tzset");
  ASSERT_NE(function, nullptr);
  Dl_info where{};
  ASSERT_NE(dladdr(function, &where), 0);
  ProcessMemory process(static_cast<std::uint32_t>(getpid()));
  MemoryReader memory(process);
  const auto image = ImageSymbols::at(memory, reinterpret_cast<std::uint64_t>(where.dli_fbase));
  ASSERT_TRUE(image) << image.error().what;
  for (const char* const name : {"tzset", "program_invocation_name", "opterr"})
    EXPECT_EQ(image->find(name), reinterpret_cast<std::uint64_t>(dlsym(RTLD_DEFAULT, name))) << name;
  EXPECT_FALSE(image->find("gHotSpotVMStructs").has_value());
}

TEST(ImageSymbols, WhatIsNoImage) {
  FakeMemory fake;
  fake.put_bytes(0x1000, "#!/bin/sh");
  MemoryReader memory(fake);
  const auto image = ImageSymbols::at(memory, 0x1000);
  ASSERT_FALSE(image);
  EXPECT_EQ(image.error().what, "no 64-bit ELF image at 0x1000");
}

// An image at 0x10000 whose tables the test writes.
void put_image(FakeMemory& memory) {
  Elf64_Ehdr head{};
  std::memcpy(static_cast<void*>(head.e_ident), ELFMAG, SELFMAG);
  head.e_ident[EI_CLASS] = ELFCLASS64;
  head.e_phoff = 0x100;
  head.e_phnum = 2;
  memory.put(0x10000, head);
  Elf64_Phdr part{};
  part.p_type = PT_LOAD;
  memory.put(0x10100, part);
  part.p_type = PT_DYNAMIC;
  part.p_vaddr = 0x200;
  part.p_memsz = 0x40;
  memory.put(0x10100 + sizeof(part), part);
  memory.put(0x10200, Elf64_Dyn{.d_tag = DT_STRTAB, .d_un = {.d_val = 0x1000}});
  memory.put(0x10210, Elf64_Dyn{.d_tag = DT_SYMTAB, .d_un = {.d_val = 0x2000}});
  memory.put(0x10220, Elf64_Dyn{.d_tag = DT_GNU_HASH, .d_un = {.d_val = 0x3000}});
  memory.put_bytes(0x11000, std::string("\0a\0", 3));
}

TEST(ImageSymbols, OneOfATable) {
  FakeMemory fake;
  put_image(fake);
  Elf64_Sym symbol{};
  symbol.st_name = 1;
  symbol.st_shndx = 1;
  symbol.st_value = 0x44;
  fake.put(0x12000 + sizeof(symbol), symbol);
  std::uint64_t at = 0x13000;
  for (const std::uint32_t word : {1U, 1U, 0U, 0U, 1U, (5381U * 33 + 'a') | 1U}) {
    fake.put(at, word);
    at += sizeof(word);
  }
  MemoryReader memory(fake);
  const auto image = ImageSymbols::at(memory, 0x10000);
  ASSERT_TRUE(image) << image.error().what;
  EXPECT_EQ(image->find("a"), 0x10044U);
  EXPECT_EQ(image->find("b"), std::nullopt);
}

TEST(ImageSymbols, AChainWithoutEndAndAFirstSymbolBehindIt) {
  FakeMemory fake;
  put_image(fake);
  fake.put_bytes(0x13000, std::string(0x10000, '\x02'));  // hashes that never end a chain
  for (const std::uint32_t first : {0x02020202U, 0U}) {
    fake.put(0x13000, std::uint32_t{1});
    fake.put(0x13004, first);
    fake.put(0x13008, std::uint32_t{0});
    MemoryReader memory(fake);
    const auto image = ImageSymbols::at(memory, 0x10000);
    ASSERT_TRUE(image) << image.error().what;
    EXPECT_EQ(image->find("a"), std::nullopt);
  }
}

TEST(MemoryReader, ValuesAcrossPagesAndTextsWithoutEnd) {
  FakeMemory fake;
  fake.put(0x1ffc, std::uint64_t{0x1122334455667788});
  fake.put_bytes(0x3ffc, "text");
  MemoryReader memory(fake);
  EXPECT_EQ(memory.pointer(0x1ffc), 0x1122334455667788U);
  EXPECT_EQ(memory.c_string(0x3ffc, 64), std::nullopt);  // the next page cannot be read
  fake.put_bytes(0x4000, std::string("s\0", 2));
  EXPECT_EQ(memory.c_string(0x3ffc, 64), "texts");
  EXPECT_EQ(memory.c_string(0x3ffc, 4), std::nullopt);
  EXPECT_EQ(memory.get<std::uint64_t>(~std::uint64_t{0} - 2), std::nullopt);
}

TEST(MemoryReader, AnOldValueUntilItForgets) {
  FakeMemory fake;
  fake.put(0x1000, std::uint64_t{1});
  MemoryReader memory(fake);
  EXPECT_EQ(memory.pointer(0x1000), 1U);
  fake.put(0x1000, std::uint64_t{2});
  EXPECT_EQ(memory.pointer(0x1000), 1U);
  memory.forget();
  EXPECT_EQ(memory.pointer(0x1000), 2U);
}

TEST(ThreadIds, ThoseOfThisProcess) {
  const auto ids = thread_ids_of(static_cast<std::uint32_t>(getpid()));
  const auto self = ids.find(static_cast<std::uint32_t>(getpid()));
  ASSERT_NE(self, ids.end());
  EXPECT_EQ(self->second, static_cast<std::uint32_t>(getpid()));
}

}  // namespace
}  // namespace uscope::tracer
