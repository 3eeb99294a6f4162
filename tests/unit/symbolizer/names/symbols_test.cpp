// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Names by symbols, PLT and FDE starts, against readelf, objdump, nm and the dynamic linker.
#include "symbolizer/names/symbols.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <signal.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <random>
#include <set>

#include "tests/unit/symbolizer/symbols_test_support.h"

namespace uscope::symbolizer {
namespace {

std::string libc_path() {
  Dl_info info;
  EXPECT_NE(dladdr(reinterpret_cast<void*>(&getppid), &info), 0);
  return std::filesystem::canonical(info.dli_fname).string();
}

std::uint64_t libc_base() {
  Dl_info info;
  EXPECT_NE(dladdr(reinterpret_cast<void*>(&getppid), &info), 0);
  return reinterpret_cast<std::uint64_t>(info.dli_fbase);
}

TEST(SymbolRanges, AgreeWithTryingAll) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 300; round++) {
    std::vector<ClaimedRange> ranges;
    const std::size_t count = random() % 12;
    for (std::uint32_t i = 0; i < count; i++)
      ranges.push_back({random() % 40, random() % 48, random() % 6, static_cast<std::uint32_t>(random() % 8)});
    const RangeMap map(ranges);
    for (std::uint64_t address = 0; address < 52; address++) {
      const ClaimedRange* best = nullptr;
      for (const ClaimedRange& range : ranges) {
        if (address < range.low || address >= range.high) continue;
        if (best == nullptr || range.claim > best->claim || (range.claim == best->claim && range.owner < best->owner))
          best = &range;
      }
      EXPECT_EQ(map.owner(address).value_or(99), best != nullptr ? best->owner : 99) << round << " " << address;
    }
  }
}

TEST(SymbolRanges, ReachTheEndOfTheAddressSpace) {
  const RangeMap map({{10, UINT64_MAX, 1, 3}, {20, 30, 2, 4}});
  EXPECT_EQ(map.owner(9), std::nullopt);
  EXPECT_EQ(map.owner(10), 3u);
  EXPECT_EQ(map.owner(29), 4u);
  EXPECT_EQ(map.owner(30), 3u);
  EXPECT_EQ(map.owner(UINT64_MAX - 1), 3u);
  EXPECT_EQ(map.owner(UINT64_MAX), std::nullopt);
}

TEST(Symbols, EveryFunctionOfLibcHasOneOfItsNames) {
  const auto symbols = open_module(libc_path());
  ASSERT_TRUE(symbols);
  std::map<std::uint64_t, std::set<std::string>> names;
  for (const ListedSymbol& symbol : listed_symbols(libc_path()))
    if (symbol.type != "NOTYPE" && symbol.size > 0) names[symbol.start].insert(symbol.name);
  ASSERT_GT(names.size(), 1500u);
  for (const auto& [start, aliases] : names) {
    const SymbolizedFrame frame = symbols->resolve(start, true).back();
    EXPECT_TRUE(aliases.contains(frame.function)) << std::hex << start << " " << frame.function;
    EXPECT_EQ(frame.function_offset, 0u) << frame.function;
  }
}

// The addresses come from the dynamic linker.
TEST(Symbols, AliasesHaveTheNamePeopleKnow) {
  const auto symbols = open_module(libc_path());
  ASSERT_TRUE(symbols);
  void* libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
  ASSERT_NE(libc, nullptr);
  for (const char* name :
       {"read", "write", "open", "mmap", "puts", "wait4", "fork", "clone", "pthread_create", "getppid"}) {
    void* function = dlsym(libc, name);
    ASSERT_NE(function, nullptr) << name;
    const std::uint64_t address = reinterpret_cast<std::uint64_t>(function) - libc_base();
    EXPECT_EQ(function_at(*symbols, address), std::string(name) + "+0");
    EXPECT_EQ(function_at(*symbols, address + 1, false), std::string(name) + "+1");
  }
}

// Brute force over what readelf lists; where no symbol contains the address, over the FDEs.
TEST(Symbols, RandomAddressesOfLibcAgreeWithReadelf) {
  const std::string path = libc_path();
  const auto symbols = open_module(path);
  ASSERT_TRUE(symbols);
  const std::vector<ListedSymbol> listed = listed_symbols(path);
  std::vector<std::pair<std::uint64_t, std::uint64_t>> fdes;
  for (const std::string& line : lines_of("readelf -W --debug-dump=frames '" + path + "' 2>/dev/null; true")) {
    const std::size_t pc = line.find(" FDE ") == std::string::npos ? std::string::npos : line.find(" pc=");
    if (pc == std::string::npos) continue;
    const std::size_t dots = line.find("..", pc);
    fdes.emplace_back(hex(line.substr(pc + 4, dots - pc - 4)), hex(line.substr(dots + 2)));
  }
  ASSERT_GT(fdes.size(), 3000u);
  std::uint64_t low = UINT64_MAX;
  std::uint64_t high = 0;
  for (const ListedSymbol& symbol : listed) {
    if (symbol.size == 0) continue;
    low = std::min(low, symbol.start - 4096);
    high = std::max(high, symbol.start + symbol.size + 4096);
  }
  std::mt19937_64 random(11);
  int named = 0;
  int by_fde = 0;
  for (int i = 0; i < 10000; i++) {
    const std::uint64_t address = low + random() % (high - low);
    std::set<std::string> expected;
    std::uint64_t start = 0;
    for (const ListedSymbol& symbol : listed) {
      if (address < symbol.start || address >= symbol.start + symbol.size || symbol.start < start) continue;
      if (symbol.start > start) expected.clear();
      start = symbol.start;
      expected.insert(symbol.name);
    }
    const SymbolizedFrame frame = symbols->resolve(address, true).back();
    if (!expected.empty()) {
      named++;
      EXPECT_TRUE(expected.contains(frame.function)) << std::hex << address << " " << frame.function;
      EXPECT_EQ(frame.function_offset, address - start) << frame.function;
      continue;
    }
    if (frame.function.ends_with("@plt")) continue;  // a test of its own
    std::uint64_t function = address;
    for (const auto& [from, to] : fdes)
      if (address >= from && address < to) function = from;
    by_fde += function != address ? 1 : 0;
    std::ostringstream name;
    name << std::filesystem::path(path).filename().string() << "+0x" << std::hex << function;
    EXPECT_EQ(frame.function, name.str()) << std::hex << address;
    EXPECT_EQ(frame.function_offset, address - function);
  }
  EXPECT_GT(named, 3000);
  EXPECT_GT(by_fde, 1000);
}

// Assembly with symbols that have no size, or not the size of their code.
class AssemblySymbols : public testing::Test {
 protected:
  void SetUp() override {
    const std::string source = folder_.write("fixture.s", R"(
        .text
        .globl sized, unsized, bare, first, outer, __alias, alias, last
        .type sized, @function
sized:  nop
        nop
        .size sized, 2
        nop
        nop
        .type unsized, @function
unsized:
        .cfi_startproc
        nop
        nop
        nop
        .cfi_endproc
        .type bare, @function
bare:   nop
        nop
        .type first, @function
first:  .cfi_startproc
        nop
        nop
        .type last, @function
last:   nop
        nop
        .cfi_endproc
        .type outer, @function
        .type inner, @function
outer:  nop
        nop
inner:  nop
        .size inner, . - inner
        nop
        .size outer, . - outer
        .type alias, @function
        .type __alias, @function
        .type local_alias, @function
alias:
__alias:
local_alias:
        nop
        .size alias, 1
        .size __alias, 1
        .size local_alias, 1
        .data
        .type datum, @function
datum:  .quad 0
        .size datum, 8
)");
    path_ = folder_.file("fixture.so");
    output_of("cc -shared -nostdlib -o '" + path_ + "' '" + source + "'");
    symbols_ = open_module(path_);
    ASSERT_TRUE(symbols_);
  }

  std::string at(const std::string& symbol, std::uint64_t offset) {
    return function_at(*symbols_, address_of(path_, symbol) + offset);
  }

  // "fixture.so+0xADDRESS+0"
  std::string unknown(const std::string& symbol, std::uint64_t offset) {
    std::ostringstream name;
    name << "fixture.so+0x" << std::hex << address_of(path_, symbol) + offset << "+0";
    return name.str();
  }

  TemporaryFolder folder_;
  std::string path_;
  std::unique_ptr<ModuleSymbols> symbols_;
};

TEST_F(AssemblySymbols, NameNothingBehindTheirEnd) {
  EXPECT_EQ(at("sized", 1), "sized+1");
  EXPECT_EQ(at("sized", 2), unknown("sized", 2));
  EXPECT_EQ(at("sized", 3), unknown("sized", 3));
}

TEST_F(AssemblySymbols, WithoutSizeReachAsFarAsTheirFde) {
  EXPECT_EQ(at("unsized", 0), "unsized+0");
  EXPECT_EQ(at("unsized", 2), "unsized+2");
  EXPECT_EQ(at("bare", 0), unknown("bare", 0));
  EXPECT_EQ(at("bare", 1), unknown("bare", 1));
}

TEST_F(AssemblySymbols, WithoutSizeEndAtTheNextSymbol) {
  EXPECT_EQ(at("first", 1), "first+1");
  // Inside first's FDE, but no FDE starts at `last`: what is known is the FDE's start.
  const std::string fde = unknown("first", 0);
  EXPECT_EQ(at("last", 0), fde.substr(0, fde.size() - 1) + "2");
}

TEST_F(AssemblySymbols, NestedOnesAndAliases) {
  EXPECT_EQ(at("outer", 1), "outer+1");
  EXPECT_EQ(at("outer", 2), "inner+0");
  EXPECT_EQ(at("outer", 3), "outer+3");
  EXPECT_EQ(at("alias", 0), "alias+0");
  EXPECT_EQ(at("datum", 0), unknown("datum", 0));
}

TEST_F(AssemblySymbols, ReturnAddressesBelongToTheCallBefore) {
  const std::uint64_t outer = address_of(path_, "outer");
  EXPECT_EQ(function_at(*symbols_, outer + 2, false), "outer+2");
  EXPECT_EQ(function_at(*symbols_, outer + 3, false), "inner+1");
  EXPECT_EQ(function_at(*symbols_, outer + 4, false), "outer+4");
  EXPECT_EQ(function_at(*symbols_, 0, false), "fixture.so+0x0+0");
  EXPECT_EQ(function_at(*symbols_, UINT64_MAX, true), "fixture.so+0xffffffffffffffff+0");
}

// The kernel makes a trampoline's beginning the return address of a handler: no call is before it.
TEST(Symbols, ASignalTrampolineIsNoCallBeforeIt) {
  const TemporaryFolder folder;
  const std::string source = folder.write("trampoline.S", R"(
        .text
        .type before, @function
before: .cfi_startproc
        nop
        .cfi_endproc
        .size before, . - before
        .type named, @function
named:  mov $15, %rax
        syscall
        .size named, . - named
        .type middle, @function
middle: .cfi_startproc
        nop
        .cfi_endproc
        .size middle, . - middle
short:  mov $15, %eax
        syscall
        nop
        .cfi_startproc
        .cfi_signal_frame
        nop
early:  mov $15, %rax
        syscall
        .cfi_endproc
)");
  const std::string path = folder.file("trampoline.so");
  output_of("cc -shared -nostdlib -o '" + path + "' '" + source + "'");
  const std::string bare = folder.file("bare.so");
  output_of("strip -o '" + bare + "' '" + path + "'");
  const auto with = open_module(path);
  const auto without = open_module(bare);
  ASSERT_TRUE(with && without);
  const auto place = [&](const char* symbol) { return address_of(path, symbol); };
  EXPECT_EQ(function_at(*with, place("named"), false), "named+0");
  EXPECT_EQ(function_at(*with, place("named") + 9, false), "named+9");  // in rt_sigreturn
  EXPECT_EQ(function_at(*with, place("middle"), false), "named+9");
  EXPECT_EQ(function_at(*without, place("named"), false), "__restore_rt+0");
  EXPECT_EQ(function_at(*without, place("short"), false), "__restore_rt+0");
  EXPECT_EQ(function_at(*without, place("early"), false), "__restore_rt+0");
  EXPECT_EQ(function_at(*without, place("early"), true), "__restore_rt+0");
  EXPECT_EQ(function_at(*without, place("early") + 9, false), "__restore_rt+9");
}

TEST(Symbols, TheTrampolineOfLibcIsNamed) {
  struct kernel_action {
    void* handler;
    unsigned long flags;
    std::uint64_t restorer;
    unsigned long mask;
  } action{};
  struct sigaction libcs {};
  libcs.sa_handler = [](int) {};
  ASSERT_EQ(sigaction(SIGUSR2, &libcs, nullptr), 0);
  ASSERT_EQ(syscall(SYS_rt_sigaction, SIGUSR2, nullptr, &action, sizeof(action.mask)), 0);
  const auto symbols = open_module(libc_path());
  ASSERT_TRUE(symbols);
  EXPECT_EQ(function_at(*symbols, action.restorer - libc_base(), false), "__restore_rt+0");
}

constexpr char kCalls[] = R"(
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
static int __attribute__((noinline)) hidden(int n) { return getppid() + n; }
int __attribute__((noinline)) shown(int n) { return hidden(n) * 3 + rand(); }
int main(int argc, char** argv) {
  void (*address_taken)(void*) = free;
  printf("%d %p %d\n", shown(argc), (void*)address_taken, atoi(argv[0]));
  free(malloc(10));
  return 0;
}
)";

TEST(Symbols, StrippedProgramsKeepExportedNamesAndFdeStarts) {
  const TemporaryFolder folder;
  const std::string whole = folder.file("whole");
  const std::string bare = folder.file("bare");
  output_of("cc -O1 -rdynamic -o '" + whole + "' '" + folder.write("calls.c", kCalls) + "'");
  output_of("strip -o '" + bare + "' '" + whole + "'");
  const auto with = open_module(whole);
  const auto without = open_module(bare);
  ASSERT_TRUE(with && without);
  const std::uint64_t hidden = address_of(whole, "hidden");
  const std::uint64_t shown = address_of(whole, "shown");
  EXPECT_EQ(function_at(*with, hidden + 3), "hidden+3");
  EXPECT_EQ(function_at(*with, shown + 3), "shown+3");
  EXPECT_EQ(function_at(*without, shown + 3), "shown+3");
  std::ostringstream start;
  start << "bare+0x" << std::hex << hidden << "+3";
  EXPECT_EQ(function_at(*without, hidden + 3), start.str());
}

// Every stub that objdump names, in every PLT that the linker can write.
TEST(Symbols, PltStubsAgreeWithObjdump) {
  const TemporaryFolder folder;
  const std::string source = folder.write("calls.c", kCalls);
  for (const char* options :
       {"-Wl,-z,lazy", "-Wl,-z,now", "-fcf-protection=full -Wl,-z,lazy,-z,ibtplt",
        "-fcf-protection=full -Wl,-z,now,-z,ibtplt", "-no-pie -Wl,-z,lazy", "-no-pie -fno-plt -Wl,-z,now"}) {
    const std::string path = folder.file("program");
    output_of("cc -O1 " + std::string(options) + " -o '" + path + "' '" + source + "'");
    output_of("strip '" + path + "'");
    const auto symbols = open_module(path);
    ASSERT_TRUE(symbols);
    int stubs = 0;
    for (const std::string& line : lines_of("objdump -d '" + path + "'")) {
      const std::size_t name = line.find(" <");
      if (name == std::string::npos || !line.ends_with("@plt>:")) continue;
      const std::uint64_t start = hex(line.substr(0, name));
      const std::string expected = line.substr(name + 2, line.size() - name - 4);
      EXPECT_EQ(function_at(*symbols, start), expected + "+0") << options;
      EXPECT_EQ(function_at(*symbols, start + 5), expected + "+5") << options;
      stubs++;
    }
    EXPECT_GE(stubs, std::string(options).find("-fno-plt") == std::string::npos ? 4 : 0) << options;
  }
}

// objdump shows these as "*ABS*+0xRESOLVER@plt".
TEST(Symbols, PltStubsOfIndirectFunctionsHaveTheirNames) {
  const std::string path = libc_path();
  const auto symbols = open_module(path);
  ASSERT_TRUE(symbols);
  std::map<std::uint64_t, std::set<std::string>> indirect;
  for (const ListedSymbol& symbol : listed_symbols(path))
    if (symbol.type == "IFUNC") indirect[symbol.start].insert(symbol.name);
  int known = 0;
  for (const std::string& line : lines_of("objdump -d -j .plt '" + path + "'")) {
    const std::size_t name = line.find(" <*ABS*+");
    if (name == std::string::npos || !line.ends_with("@plt>:")) continue;
    const auto aliases = indirect.find(hex(line.substr(name + 8)));
    const std::string function = symbols->resolve(hex(line.substr(0, name)), true).back().function;
    if (aliases == indirect.end()) {
      EXPECT_TRUE(function.starts_with("libc")) << function;
      continue;
    }
    known++;
    ASSERT_TRUE(function.ends_with("@plt")) << function;
    EXPECT_TRUE(aliases->second.contains(function.substr(0, function.size() - 4))) << function;
  }
  EXPECT_GT(known, 5);
}

TEST(Symbols, TheVdsoFromMemory) {
  const auto* image = reinterpret_cast<const std::byte*>(getauxval(AT_SYSINFO_EHDR));
  if (image == nullptr) GTEST_SKIP() << "this system maps no vdso";
  const auto* header = reinterpret_cast<const Elf64_Ehdr*>(image);
  const std::size_t size = header->e_shoff + std::size_t{header->e_shnum} * header->e_shentsize;
  const auto symbols = ModuleSymbols::open_image({image, size}, "[vdso]");
  ASSERT_TRUE(symbols);
  const TemporaryFolder folder;
  const std::string path = folder.write("vdso", std::string(reinterpret_cast<const char*>(image), size));
  int seen = 0;
  for (const ListedSymbol& symbol : listed_symbols(path)) {
    if (symbol.name != "__vdso_clock_gettime" && symbol.name != "__vdso_getcpu") continue;
    seen++;
    EXPECT_EQ(function_at(**symbols, symbol.start), symbol.name + "+0");
    EXPECT_EQ(function_at(**symbols, symbol.start + symbol.size, false),
              symbol.name + "+" + std::to_string(symbol.size));
  }
  EXPECT_EQ(seen, 2);
  EXPECT_EQ(function_at(**symbols, 16), "[vdso]+0x10+0");
}

TEST(Symbols, RefuseWhatIsNoProgram) {
  const TemporaryFolder folder;
  const std::string text = folder.write("text", "#!/bin/sh\nexit 0\n");
  const UniqueFd file(open(text.c_str(), O_RDONLY));
  const auto not_elf = ModuleSymbols::open(file.get(), text);
  ASSERT_FALSE(not_elf);
  EXPECT_EQ(not_elf.error().what, text + ": not an ELF file");
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const UniqueFd out(ends[0]);
  const UniqueFd in(ends[1]);
  const auto not_regular = ModuleSymbols::open(out.get(), "pipe");
  ASSERT_FALSE(not_regular);
  EXPECT_EQ(not_regular.error().what, "pipe: not a regular file");
  EXPECT_FALSE(ModuleSymbols::open(-1, "nothing"));
}

// A name and a module, each byte written as \\xNN.
constexpr std::size_t kLongestName = 5 * 16384;

// Looks up many addresses of a damaged file. It must end, without a crash; names must be there and bounded.
void use_symbols(const std::string& path) {
  const UniqueFd fd(open(path.c_str(), O_RDONLY));
  const auto symbols = ModuleSymbols::open(fd.get(), path);
  if (!symbols) return;
  for (std::uint64_t address = 0; address < 0x6000; address += 61) {
    for (const SymbolizedFrame& frame : (*symbols)->resolve(address, address % 2 == 0)) {
      ASSERT_FALSE(frame.function.empty());
      ASSERT_LE(frame.function.size(), kLongestName);
    }
  }
}

class HostileElf : public testing::Test {
 protected:
  void SetUp() override {
    path_ = folder_.file("program");
    output_of("cc -O2 -g -o '" + path_ + "' '" + folder_.write("calls.c", kCalls) + "'");
    bytes_ = read_file(path_);
    ASSERT_GT(bytes_.size(), 10000u);
  }

  // Where section `name` lies in the file.
  std::pair<std::uint64_t, std::uint64_t> section(const std::string& name) {
    Elf64_Ehdr header;
    std::memcpy(&header, bytes_.data(), sizeof(header));
    const auto section_header = [&](std::size_t i) {
      Elf64_Shdr section;
      std::memcpy(&section, bytes_.data() + header.e_shoff + i * sizeof(section), sizeof(section));
      return section;
    };
    const Elf64_Shdr names = section_header(header.e_shstrndx);
    for (std::size_t i = 0; i < header.e_shnum; i++)
      if (bytes_.c_str() + names.sh_offset + section_header(i).sh_name == name)
        return {section_header(i).sh_offset, section_header(i).sh_size};
    ADD_FAILURE() << "no section " << name;
    return {0, 0};
  }

  void flip(std::mt19937_64& random, std::uint64_t offset, std::uint64_t size, int bytes) {
    std::string damaged = bytes_;
    for (int i = 0; i < bytes; i++) damaged[offset + random() % size] = static_cast<char>(random());
    use_symbols(folder_.write("damaged", damaged));
  }

  TemporaryFolder folder_;
  std::string path_;
  std::string bytes_;
};

TEST_F(HostileElf, Truncated) {
  std::mt19937_64 random(3);
  for (std::size_t length = 0; length < bytes_.size(); length += 1 + random() % (bytes_.size() / 60))
    use_symbols(folder_.write("damaged", bytes_.substr(0, length)));
}

TEST_F(HostileElf, RandomBytesAnywhere) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 200; i++) flip(random, 0, bytes_.size(), 1 + i % 40);
}

TEST_F(HostileElf, RandomBytesInEachTable) {
  std::mt19937_64 random(5);
  for (const char* name : {".symtab", ".strtab", ".dynsym", ".rela.plt", ".eh_frame", ".debug_info", ".debug_abbrev",
                           ".debug_line", ".debug_str"}) {
    const auto [offset, size] = section(name);
    ASSERT_GT(size, 0u);
    for (int i = 0; i < 60; i++) flip(random, offset, size, 1 + i % 8);
  }
  Elf64_Ehdr header;
  std::memcpy(&header, bytes_.data(), sizeof(header));
  for (int i = 0; i < 200; i++) flip(random, header.e_shoff, header.e_shnum * sizeof(Elf64_Shdr), 1 + i % 4);
}

TEST_F(HostileElf, SymbolsOfImpossibleSizeAndName) {
  const auto [offset, size] = section(".symtab");
  const std::uint64_t shown = address_of(path_, "shown");
  const std::uint64_t main_start = address_of(path_, "main");
  std::string damaged = bytes_;
  for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= size; at += sizeof(Elf64_Sym)) {
    Elf64_Sym symbol;
    std::memcpy(&symbol, damaged.data() + offset + at, sizeof(symbol));
    if (symbol.st_value == shown) symbol.st_size = UINT64_MAX;
    if (symbol.st_value == main_start) symbol.st_name = 0x7fffffff;
    std::memcpy(damaged.data() + offset + at, &symbol, sizeof(symbol));
  }
  const auto symbols = open_module(folder_.write("damaged", damaged));
  ASSERT_TRUE(symbols);
  EXPECT_EQ(function_at(*symbols, shown + 1), "shown+1");
  // The impossible size ends with the section, and does not reach the data.
  const std::uint64_t data = address_of(path_, "main") | 0x100000;
  std::ostringstream unknown;
  unknown << "damaged+0x" << std::hex << data << "+0";
  EXPECT_EQ(function_at(*symbols, data), unknown.str());
  // main's name is damaged: DWARF still knows it.
  EXPECT_EQ(function_at(*symbols, main_start), "main+0");
}

// libdw would read on behind the section's end.
TEST_F(HostileElf, TextsWithoutAnEnd) {
  const std::uint64_t shown = address_of(path_, "shown");
  const auto whole = open_module(path_)->resolve(shown, true).back();
  EXPECT_EQ(whole.file, folder_.file("calls.c"));
  EXPECT_EQ(whole.line, 6u);
  for (const char* name : {".debug_str", ".debug_line_str"}) {
    const auto [offset, size] = section(name);
    std::string damaged = bytes_;
    damaged[offset + size - 1] = 'x';
    const auto frames = open_module(folder_.write("damaged", damaged))->resolve(shown, true);
    ASSERT_EQ(frames.size(), 1u);
    EXPECT_EQ(frames[0].function, "shown");
    EXPECT_EQ(frames[0].file, "");
  }
}

TEST(Symbols, MemoryIsBoundedWhateverIsAsked) {
  const auto symbols = open_module(libc_path());
  ASSERT_TRUE(symbols);
  symbols->resolve(0, true);
  for (std::uint64_t address = 0; address < 200000; address++) symbols->resolve(address, true);
  EXPECT_LT(symbols->footprint(), 8u << 20);
}

}  // namespace
}  // namespace uscope::symbolizer
