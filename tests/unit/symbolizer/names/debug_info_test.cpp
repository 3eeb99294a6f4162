// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Inlined calls and lines from DWARF, against binutils' addr2line, which shares no code with libdw.
#include "symbolizer/names/debug_info.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "tests/support/processor_time.h"
#include "tests/unit/symbolizer/symbols_test_support.h"

namespace uscope::symbolizer {
namespace {

constexpr char kInlines[] = R"(
#include <cstdio>
#include <cstdlib>
#include <unistd.h>
#include <string>
#include <vector>

namespace shop {
namespace {
inline __attribute__((always_inline)) int innermost(int n) {
  return getppid() + n;
}
}
struct Counter {
  int total = 0;
  __attribute__((always_inline)) void add(int n) {
    total += innermost(n);
    if (total == 1234567) abort();
  }
};
template <typename T>
__attribute__((always_inline)) inline T twice(T value) {
  Counter counter;
  counter.add(value);
  counter.add(value + 1);
  return counter.total;
}
__attribute__((noinline)) int outer(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    sum += twice(i);
    if (sum == 7654321) throw std::string("cold");
  }
  return sum;
}
}

__attribute__((noinline)) static int by_lambda(std::vector<int>& values) {
  auto visit = [&](int n) __attribute__((always_inline)) { values.push_back(shop::innermost(n)); };
  for (int i = 0; i < 3; i++) visit(i);
  return values.back();
}

int main(int argc, char**) {
  std::vector<int> values;
  std::printf("%d %d\n", shop::outer(argc), by_lambda(values));
  return 0;
}
)";

// Whether addr2line may be trusted with the innermost name: where a function has no linker name it shows that of the
// physical function instead.
bool without_linker_name(const std::string& function) {
  return function.starts_with("innermost ") || function.starts_with("operator() ");
}

// A frame as both tools can tell it: "function file:line".
using Chain = std::vector<std::string>;

std::string plain_name(std::string name) {
  // llvm-symbolizer's form comes second.
  for (const char* mark : {" [clone ", " (."}) {
    const std::size_t clone = name.find(mark);
    if (clone != std::string::npos) name.resize(clone);
  }
  name = name.substr(0, name.find(".cold"));
  // Functions without a linker name: addr2line leaves out their scopes.
  if (name == "shop::(anonymous namespace)::innermost" || name == "by_lambda::operator()")
    name = name.substr(name.rfind("::") + 2);
  return name;
}

// The chain of each address that objdump shows as an instruction, by addr2line or a tool with its options.
std::vector<std::pair<std::uint64_t, Chain>> chains_by_tool(const std::string& path, const TemporaryFolder& folder,
                                                            const std::string& tool) {
  std::string addresses;
  for (const std::string& line : lines_of("objdump -d --no-show-raw-insn -j .text '" + path + "'")) {
    const std::size_t colon = line.find(":\t");
    if (colon != std::string::npos && line.starts_with(" "))
      addresses += "0x" + line.substr(line.find_first_not_of(' '), colon - line.find_first_not_of(' ')) + "\n";
  }
  std::vector<std::pair<std::uint64_t, Chain>> chains;
  std::string function;
  for (const std::string& line :
       lines_of(tool + " -a -i -f -C -e '" + path + "' < '" + folder.write("addresses", addresses) + "'")) {
    if (line.starts_with("0x")) {
      chains.push_back({hex(line), {}});
    } else if (chains.empty()) {
      ADD_FAILURE() << tool << " says " << line;
      break;
    } else if (function.empty()) {
      function = line;
    } else {
      chains.back().second.push_back(function + " " + line.substr(0, line.find(" (discriminator")));
      function.clear();
    }
  }
  return chains;
}

std::string base_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

Chain ours(ModuleSymbols& symbols, std::uint64_t address) {
  Chain chain;
  for (const SymbolizedFrame& frame : symbols.resolve(address, true)) {
    const std::string line = frame.line == 0 ? "?" : std::to_string(frame.line);
    chain.push_back(plain_name(frame.function) + " " + base_name(frame.file) + ":" + line);
  }
  return chain;
}

Chain with_base_names(Chain chain) {
  for (std::string& frame : chain) {
    const std::size_t name = frame.rfind(' ');
    frame = plain_name(frame.substr(0, name)) + " " + base_name(frame.substr(name + 1));
    if (frame.ends_with(":0")) frame.back() = '?';  // as llvm-symbolizer writes it
  }
  return chain;
}

class Inlines : public testing::Test {
 protected:
  std::string build(const std::string& compiler_and_options) {
    const std::string path = folder_.file("inlines");
    output_of(compiler_and_options + " -o '" + path + "' '" + folder_.write("inlines.cpp", kInlines) + "'");
    return path;
  }

  // Compares every instruction of the program's own code.
  void compare(const std::string& path, const std::string& tool = "addr2line") {
    const auto symbols = open_module(path);
    ASSERT_TRUE(symbols);
    const std::vector<ListedSymbol> listed = listed_symbols(path, "--syms");
    std::size_t compared = 0;
    for (const auto& [address, chain] : chains_by_tool(path, folder_, tool)) {
      // Start-up code of the C library has no DWARF here; padding between functions belongs to none, whatever the
      // symbol before it, which addr2line shows.
      const bool inside = std::any_of(listed.begin(), listed.end(), [&, at = address](const ListedSymbol& symbol) {
        return at >= symbol.start && at < symbol.start + symbol.size;
      });
      if (!inside || chain.empty() || chain.back().find("inlines.cpp") == std::string::npos) continue;
      Chain expected = with_base_names(chain);
      const Chain found = ours(*symbols, address);
      if (without_linker_name(found[0]) && !without_linker_name(expected[0]))
        expected[0] = found[0].substr(0, found[0].rfind(' ')) + expected[0].substr(expected[0].rfind(' '));
      EXPECT_EQ(found, expected) << std::hex << address;
      compared++;
      inlined_ += chain.size() > 1 ? 1 : 0;
    }
    EXPECT_GT(compared, 60u);
  }

  TemporaryFolder folder_;
  std::size_t inlined_ = 0;  // addresses compared that lie in inlined calls
};

TEST_F(Inlines, AgreeWithAddr2line) {
  compare(build("c++ -std=c++17 -O2 -g"));
  EXPECT_GT(inlined_, 20u);
}

TEST_F(Inlines, AgreeWithAddr2lineInDwarf4) {
  compare(build("c++ -std=c++17 -O2 -gdwarf-4"));
}

TEST_F(Inlines, AgreeWithAddr2lineCompressed) {
  compare(build("c++ -std=c++17 -O2 -g -gz"));
}

TEST_F(Inlines, AgreeWithAddr2lineUnoptimised) {
  // binutils 2.40 takes the wrong files for functions in their own sections from DWARF 5.
  compare(build("c++ -std=c++17 -O0 -gdwarf-4"));
}

TEST_F(Inlines, AgreeWithAddr2lineFromClang) {
  if (!has_command("clang++")) GTEST_SKIP() << "clang++ is not installed";
  // binutils 2.40 misreads the indexed range lists of DWARF 5.
  compare(build("clang++ -std=c++17 -O2 -gdwarf-4"));
}

TEST_F(Inlines, AgreeWithLlvmSymbolizer) {
  if (!has_command("clang++") || !has_command("llvm-symbolizer"))
    GTEST_SKIP() << "clang++ or llvm-symbolizer is not installed";
  const std::string tool = "llvm-symbolizer --output-style=GNU";
  compare(build("clang++ -std=c++17 -O2 -g"), tool);
  compare(build("c++ -std=c++17 -O2 -g"), tool);
  compare(build("c++ -std=c++17 -O0 -g"), tool);
}

// One chain in full: names, offsets, lines, as written above.
TEST_F(Inlines, AChainInFull) {
  const std::string path = build("c++ -std=c++17 -O2 -g");
  const auto symbols = open_module(path);
  ASSERT_TRUE(symbols);
  const std::uint64_t outer = address_of(path, "_ZN4shop5outerEi");
  std::uint64_t call = 0;  // the return address of outer's first call of getppid
  bool next = false;
  for (const std::string& line : lines_of("objdump -d --no-show-raw-insn '" + path + "'")) {
    const std::uint64_t address = hex(line);
    if (address <= outer) continue;
    if (next) call = address;
    if (call != 0) break;
    next = line.find("call") != std::string::npos && line.find("getppid") != std::string::npos;
  }
  ASSERT_NE(call, 0u);
  const std::vector<SymbolizedFrame> frames = symbols->resolve(call, false);
  ASSERT_EQ(frames.size(), 4u);
  const std::string file = folder_.file("inlines.cpp");
  const std::vector<std::string> names = {"shop::(anonymous namespace)::innermost", "shop::Counter::add(int)",
                                          "int shop::twice<int>(int)", "shop::outer(int)"};
  const std::vector<std::uint32_t> lines = {11, 17, 24, 31};
  for (std::size_t i = 0; i < 4; i++) {
    EXPECT_EQ(frames[i].function, names[i]);
    EXPECT_EQ(frames[i].file, file);
    EXPECT_EQ(frames[i].line, lines[i]) << names[i];
    EXPECT_EQ(frames[i].inlined, i < 3);
    EXPECT_LE(frames[i].function_offset, frames[3].function_offset);
  }
  EXPECT_EQ(frames[3].function_offset, call - outer);
  EXPECT_GT(frames[0].function_offset, 0u);
}

TEST_F(Inlines, SplitUnitsGiveNamesAndLines) {
  const std::string path = build("env -C '" + folder_.file("") + "' c++ -std=c++17 -O2 -g -gsplit-dwarf");
  const auto symbols = open_module(path);
  ASSERT_TRUE(symbols);
  const std::uint64_t outer = address_of(path, "_ZN4shop5outerEi");
  const std::vector<SymbolizedFrame> frames = symbols->resolve(outer, true);
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].function, "shop::outer(int)");
  EXPECT_EQ(frames[0].line, 28u);
}

TEST_F(Inlines, WithoutDwarfOnlyFunctions) {
  const std::string path = build("c++ -std=c++17 -O2");
  const auto symbols = open_module(path);
  ASSERT_TRUE(symbols);
  const std::vector<SymbolizedFrame> frames = symbols->resolve(address_of(path, "_ZN4shop5outerEi") + 1, true);
  const SymbolizedFrame expected{
      .function = "shop::outer(int)", .function_offset = 1, .file = "", .line = 0, .inlined = false};
  EXPECT_EQ(frames, std::vector<SymbolizedFrame>{expected});
}

// DWARF names a function whose symbol was stripped.
TEST_F(Inlines, NamesWithoutSymbols) {
  const std::string path = build("c++ -std=c++17 -O2 -g");
  const std::uint64_t outer = address_of(path, "_ZN4shop5outerEi");
  const std::string bare = folder_.file("bare");
  output_of("objcopy -N _ZN4shop5outerEi '" + path + "' '" + bare + "'");
  const auto symbols = open_module(bare);
  ASSERT_TRUE(symbols);
  EXPECT_EQ(function_at(*symbols, outer + 4), "shop::outer(int)+4");
}

// What cannot be read is named; what can be read has nothing to say.
TEST_F(Inlines, SaysWhyDebugInformationIsNotRead) {
  const auto trouble_of = [](const std::string& path) {
    const auto symbols = open_module(path);
    const std::uint64_t outer = address_of(path, "_ZN4shop5outerEi");
    EXPECT_EQ(function_at(*symbols, outer + 4), "shop::outer(int)+4");
    return symbols->debug_trouble();
  };
  const std::string path = build("c++ -std=c++17 -O2 -g");
  EXPECT_EQ(trouble_of(path), "");
  const auto copied = [&](const std::string& how) {
    const std::string copy = folder_.file("copy");
    output_of("objcopy " + how + " '" + path + "' '" + copy + "'");
    return copy;
  };
  EXPECT_EQ(trouble_of(copied("--compress-debug-sections=zlib")), "");
  EXPECT_EQ(trouble_of(copied("--strip-debug")), "") << "it has none";
  const std::string zstd = copied("--compress-debug-sections=zstd");
  const auto symbols = open_module(zstd);
  const bool is_read = symbols->resolve(address_of(zstd, "_ZN4shop5outerEi") + 4, true).back().line != 0;
  EXPECT_EQ(trouble_of(zstd).find("zstd") == std::string::npos, is_read) << "this libelf may read it";
  const std::string damaged = folder_.file("damaged");
  output_of("head -c 99 /dev/zero > '" + folder_.file("zeros") +
            "'; objcopy --rename-section .debug_info=.zdebug_info "
            "--update-section .debug_info='" +
            folder_.file("zeros") + "' '" + path + "' '" + damaged + "'");
  EXPECT_NE(trouble_of(damaged).find("damaged"), std::string::npos);
}

TEST_F(Inlines, SaysThatFunctionsAreSplitOff) {
  const std::string source = folder_.write("inlines.cpp", kInlines);
  const std::string path = folder_.file("split");
  for (const char* version : {"4", "5"}) {
    const std::string object = folder_.file("some.o");
    output_of(std::string("c++ -std=c++17 -O2 -gdwarf-") + version + " -gsplit-dwarf -c -o '" + object + "' '" +
              source + "' && c++ -o '" + path + "' '" + object + "'");
    const auto symbols = open_module(path);
    EXPECT_EQ(symbols->debug_trouble(), "") << "nothing was looked up";
    EXPECT_NE(symbols->resolve(address_of(path, "_ZN4shop5outerEi") + 4, true).back().line, 0U);
    EXPECT_NE(symbols->debug_trouble().find("some.dwo)"), std::string::npos) << symbols->debug_trouble();
  }
}

// Of DWARF 5, addr2line does not read the lines of this form.
TEST_F(Inlines, AgreeWithAddr2lineInGnusCompressedForm) {
  const std::string path = build("c++ -std=c++17 -O2 -gdwarf-4");
  output_of("objcopy --compress-debug-sections=zlib-gnu '" + path + "'");
  compare(path);
  EXPECT_GT(inlined_, 20u);
}

// A unit whose blocks nest 200,000 deep, which recursive readers do not survive, and one of long sibling chains.
TEST(HostileDwarf, DeepAndWideTrees) {
  const TemporaryFolder folder;
  for (const char* children : {".rept 200000\n.uleb128 3\n.endr\n.rept 200000\n.byte 0\n.endr\n",
                               ".rept 400000\n.uleb128 3\n.byte 0\n.endr\n"}) {
    const std::string source = folder.write("deep.s", R"(
        .text
        .globl _start
        .type _start, @function
_start: nop
        nop
        .size _start, . - _start
.Lend:
        .section .debug_abbrev, "", @progbits
.Labbrev:
        .uleb128 1, 0x11
        .byte 1
        .uleb128 0x11, 0x1, 0x12, 0x1, 0, 0
        .uleb128 2, 0x2e
        .byte 1
        .uleb128 0x3, 0x8, 0x11, 0x1, 0x12, 0x1, 0, 0
        .uleb128 3, 0xb
        .byte 1
        .uleb128 0, 0
        .byte 0
        .section .debug_info, "", @progbits
        .long .Linfo_end - .Linfo_start
.Linfo_start:
        .short 4
        .long .Labbrev
        .byte 8
        .uleb128 1
        .quad _start, .Lend
        .uleb128 2
        .asciz "by_dwarf"
        .quad _start, .Lend
)" + std::string(children) + R"(
        .byte 0, 0
.Linfo_end:
)");
    const std::string path = folder.file("deep");
    output_of("cc -nostdlib -static -o '" + path + "' '" + source + "' && objcopy -N _start '" + path + "'");
    const std::string entry = lines_of("readelf -h '" + path + "' | grep 'Entry point'").at(0);
    const auto symbols = open_module(path);
    ASSERT_TRUE(symbols);
    EXPECT_LT(test::processor_seconds_of(
                  [&] { EXPECT_EQ(function_at(*symbols, hex(entry.substr(entry.find("0x"))) + 1), "by_dwarf+1"); }),
              20);
  }
}

}  // namespace
}  // namespace uscope::symbolizer
