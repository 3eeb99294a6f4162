// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Names from separate debug files, split off by objcopy and dwz: each must be what addr2line says of the whole file.
#include "symbolizer/debug_files/debug_files.h"

#include <sys/stat.h>

#include <chrono>
#include <cstring>
#include <random>

#include "tests/unit/symbolizer/symbols_test_support.h"

namespace uscope::symbolizer {
namespace {

constexpr char kSource[] = R"(
#include <stdlib.h>
#include <unistd.h>
static inline __attribute__((always_inline)) int innermost(int n) { return getppid() + n; }
static inline __attribute__((always_inline)) int middle(int n) {
  int sum = innermost(n);
  if (sum == 7) abort();
  return sum;
}
static __attribute__((noinline)) int hidden(int n) {
  int sum = 0;
  for (int i = 0; i < n; i++) sum += middle(i) * 3;
  return sum;
}
int shown(int n) { return hidden(n) + middle(n); }
int main(int argc, char **argv) { (void)argv; return shown(argc); }
)";

// "innermost file:line; hidden file:line", in the words of addr2line.
std::string told_by(ModuleSymbols& symbols, std::uint64_t address) {
  std::string chain;
  for (const SymbolizedFrame& frame : symbols.resolve(address, true)) {
    const bool known = frame.line != 0;
    chain +=
        frame.function + " " + (known ? frame.file : "??") + ":" + (known ? std::to_string(frame.line) : "?") + "; ";
  }
  return chain;
}

class SeparateDebug : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directories(bin() + "/.debug");
    build("-O2 -g");
    for (const char* name : {"hidden", "shown", "main"})
      for (std::uint64_t at = address_of(whole(), name), end = at + size_of(name); at < end; at += 2)
        addresses_.push_back(at);
    ASSERT_GT(addresses_.size(), 30u);
    std::ostringstream command;
    command << "addr2line -f -i -a -e '" << whole() << "'" << std::hex;
    for (const std::uint64_t address : addresses_) command << " 0x" << address;
    const std::vector<std::string> lines = lines_of(command.str());
    for (std::size_t i = 0; i < lines.size(); i++) {
      if (lines[i].starts_with("0x")) {
        expected_.emplace_back();
        continue;
      }
      const std::string place = lines.at(i + 1).substr(0, lines[i + 1].find(" (discriminator"));
      expected_.back() += lines[i] + " " + place + "; ";
      i++;
    }
    ASSERT_EQ(expected_.size(), addresses_.size());
    output_of("objcopy --only-keep-debug '" + whole() + "' '" + debug() + "'");
  }

  [[nodiscard]] std::string bin() const { return folder_.file("bin"); }
  [[nodiscard]] std::string whole() const { return folder_.file("whole"); }
  [[nodiscard]] std::string debug() const { return folder_.file("program.debug"); }
  [[nodiscard]] std::string program() const { return bin() + "/program"; }
  [[nodiscard]] std::string root() const { return folder_.file("root"); }

  void build(const std::string& options) {
    const std::string source = folder_.write("source.c", kSource);
    output_of("cc " + options + " -Wl,--build-id -o '" + whole() + "' '" + source + "'");
  }

  [[nodiscard]] std::uint64_t size_of(const std::string& name) const {
    for (const ListedSymbol& symbol : listed_symbols(whole(), "--syms"))
      if (symbol.name == name) return symbol.size;
    ADD_FAILURE() << name;
    return 0;
  }

  // The program without symbols, with a link to debug().
  void strip_with_link() const {
    output_of("objcopy --strip-all --add-gnu-debuglink='" + debug() + "' '" + whole() + "' '" + program() + "'");
  }

  [[nodiscard]] std::string build_id_path() const {
    const UniqueFd fd(open(whole().c_str(), O_RDONLY | O_CLOEXEC));
    elf_version(EV_CURRENT);
    const ElfHandle elf(elf_begin(fd.get(), ELF_C_READ, nullptr));
    std::ostringstream hex;
    for (const char byte : build_id_of(elf.get())) {
      hex << (hex.str().size() == 2 ? "/" : "");
      hex.width(2);
      hex.fill('0');
      hex << std::hex << static_cast<unsigned>(static_cast<unsigned char>(byte));
    }
    EXPECT_EQ(hex.str().size(), 41u);
    const std::string path = root() + "/.build-id/" + hex.str() + ".debug";
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    return path;
  }

  std::unique_ptr<ModuleSymbols> opened(DebugFetcher fetch = {}) {
    finder_ = std::make_unique<DebugFileFinder>(std::vector{root()}, std::move(fetch));
    const UniqueFd fd(open(program().c_str(), O_RDONLY | O_CLOEXEC));
    auto symbols = ModuleSymbols::open(fd.get(), program(), finder_.get());
    EXPECT_TRUE(symbols) << (symbols ? "" : symbols.error().what);
    return symbols ? std::move(*symbols) : nullptr;
  }

  void expect_all(const DebugFetcher& fetch = {}) {
    const auto symbols = opened(fetch);
    ASSERT_TRUE(symbols);
    for (std::size_t i = 0; i < addresses_.size(); i++)
      EXPECT_EQ(told_by(*symbols, addresses_[i]), expected_[i]) << std::hex << addresses_[i];
  }

  // What the stripped file says itself: where the function begins, by its FDE.
  void expect_none(const DebugFetcher& fetch = {}) {
    const auto symbols = opened(fetch);
    ASSERT_TRUE(symbols);
    std::ostringstream name;
    name << "program+0x" << std::hex << address_of(whole(), "hidden");
    EXPECT_EQ(told_by(*symbols, address_of(whole(), "hidden")), name.str() + " ??:?; ");
  }

  TemporaryFolder folder_;
  std::unique_ptr<DebugFileFinder> finder_;
  std::vector<std::uint64_t> addresses_;
  std::vector<std::string> expected_;
};

TEST_F(SeparateDebug, WithoutOneThereAreFdeStarts) {
  strip_with_link();
  expect_none();
}

TEST_F(SeparateDebug, ByLinkBesideTheBinary) {
  strip_with_link();
  std::filesystem::copy(debug(), bin());
  expect_all();
}

TEST_F(SeparateDebug, ByLinkInTheDebugFolder) {
  strip_with_link();
  std::filesystem::copy(debug(), bin() + "/.debug");
  expect_all();
}

TEST_F(SeparateDebug, ByLinkBelowTheRoot) {
  strip_with_link();
  std::filesystem::create_directories(root() + bin());
  std::filesystem::copy(debug(), root() + bin());
  expect_all();
}

// Each length of a name has its own padding before the CRC.
TEST_F(SeparateDebug, ByLinksOfEveryLength) {
  for (const std::string name : {"a", "ab", "abc", "abcd", "abcde"}) {
    std::filesystem::copy(debug(), bin() + "/" + name);
    output_of("objcopy --strip-all --add-gnu-debuglink='" + bin() + "/" + name + "' '" + whole() + "' '" + program() +
              "'");
    expect_all();
  }
}

TEST_F(SeparateDebug, ByBuildId) {
  output_of("objcopy --strip-all '" + whole() + "' '" + program() + "'");
  expect_none();
  std::filesystem::copy(debug(), build_id_path());
  expect_all();
}

TEST_F(SeparateDebug, CompressedAndWithoutBuildId) {
  output_of("objcopy --remove-section=.note.gnu.build-id --compress-debug-sections '" + debug() + "'");
  output_of("objcopy --strip-all --remove-section=.note.gnu.build-id --add-gnu-debuglink='" + debug() + "' '" +
            whole() + "' '" + program() + "'");
  std::filesystem::copy(debug(), bin());
  expect_all();
}

// By eu-strip, whose debug files keep the program headers of the whole file.
TEST_F(SeparateDebug, SplitByElfutils) {
  output_of("eu-strip -f '" + debug() + "' -o '" + program() + "' '" + whole() + "'");
  std::filesystem::copy(debug(), bin());
  expect_all();
}

// A program that kept its DWARF and lost its symbol table, and one of the other kind.
TEST_F(SeparateDebug, OnlyWhatTheFileLacks) {
  std::filesystem::copy(debug(), build_id_path());
  output_of("objcopy --strip-debug '" + whole() + "' '" + program() + "'");
  expect_all();
  output_of("llvm-objcopy -R .symtab -R .strtab '" + whole() + "' '" + program() + "'");
  expect_all();
}

TEST_F(SeparateDebug, AnotherCrcIsRefused) {
  strip_with_link();
  std::ofstream(bin() + "/program.debug", std::ios::binary) << read_file(debug()) << '\0';
  expect_none();
}

TEST_F(SeparateDebug, AnotherBuildIdIsRefused) {
  strip_with_link();
  const std::string place = build_id_path();
  std::filesystem::remove(debug());
  build("-O1 -g");
  output_of("objcopy --only-keep-debug '" + whole() + "' '" + place + "'");
  build("-O2 -g");
  expect_none();
  // The CRC of a link is right, but the file is another program's.
  build("-O1 -g");
  output_of("objcopy --only-keep-debug '" + whole() + "' '" + bin() + "/program.debug'");
  build("-O2 -g");
  output_of("objcopy --strip-all --add-gnu-debuglink='" + bin() + "/program.debug' '" + whole() + "' '" + program() +
            "'");
  expect_none();
}

TEST_F(SeparateDebug, WhatIsNoRegularFileIsPassedOver) {
  strip_with_link();
  const std::string place = build_id_path();
  ASSERT_EQ(mkfifo(place.c_str(), 0600), 0);
  ASSERT_EQ(mkfifo((bin() + "/program.debug").c_str(), 0600), 0);
  std::filesystem::create_symlink("/dev/zero", bin() + "/.debug/program.debug");
  expect_none();
  std::filesystem::create_directories(root() + bin());
  std::filesystem::copy(debug(), root() + bin());
  expect_all();
}

TEST_F(SeparateDebug, ALinkLeadsToNoOtherFolder) {
  std::filesystem::copy(debug(), folder_.file("outside"));
  const std::string crc_link = folder_.file("link");
  output_of("objcopy --strip-all --add-gnu-debuglink='" + folder_.file("outside") + "' '" + whole() + "' '" +
            program() + "'");
  output_of("objcopy -O binary --only-section=.gnu_debuglink --set-section-flags .gnu_debuglink=alloc '" + program() +
            "' '" + crc_link + "'");
  const std::string section = read_file(crc_link);
  ASSERT_EQ(section.size(), 12u);  // "outside" and the CRC
  std::string name = "../outside";
  name.resize(12);
  std::ofstream(crc_link, std::ios::binary) << name + section.substr(8);
  output_of("objcopy --update-section .gnu_debuglink='" + crc_link + "' '" + program() + "'");
  expect_none();
}

TEST_F(SeparateDebug, FetchedByBuildId) {
  strip_with_link();
  std::vector<std::string> asked;
  const auto fetch = [&](const std::string& build_id) {
    asked.push_back(build_id);
    return UniqueFd(open(debug().c_str(), O_RDONLY | O_CLOEXEC));
  };
  expect_all(fetch);
  ASSERT_EQ(asked.size(), 1u);
  EXPECT_EQ(asked[0].size(), 20u);
  // What lies on this machine is not asked for.
  std::filesystem::copy(debug(), build_id_path());
  expect_all(fetch);
  EXPECT_EQ(asked.size(), 1u);
}

TEST_F(SeparateDebug, FetchedFilesAreChecked) {
  strip_with_link();
  build("-O1 -g");
  const std::string other = folder_.file("other");
  std::filesystem::rename(whole(), other);
  build("-O2 -g");
  const std::string text = folder_.write("text", "<html>no such file</html>");
  for (const std::string& path : {other, text, folder_.file("missing"), std::string("/dev/zero")})
    expect_none([&](const std::string&) { return UniqueFd(open(path.c_str(), O_RDONLY | O_CLOEXEC)); });
}

// Two programs share what dwz moved out of both: neither's DWARF can be read without it.
TEST_F(SeparateDebug, AlternateFilesOfDwz) {
  const std::string source = folder_.write("second.c", "int extra;\n" + std::string(kSource));
  const std::string second = folder_.file("second");
  output_of("cc -O2 -g -Wl,--build-id -o '" + second + "' '" + source + "'");
  output_of("objcopy --only-keep-debug '" + second + "' '" + second + ".debug'");
  const std::string common = folder_.file("common.dwz");
  output_of("dwz -m '" + common + "' -M ../common.dwz '" + debug() + "' '" + second + ".debug'");
  strip_with_link();
  std::filesystem::copy(debug(), bin());
  expect_all();
  // Without the common file symbols remain.
  const std::string aside = folder_.file("aside");
  std::filesystem::rename(common, aside);
  std::string hidden = told_by(*opened(), address_of(whole(), "hidden"));
  EXPECT_EQ(hidden, "hidden ??:?; ");
  // Another file in its place is not it.
  std::filesystem::copy(second + ".debug", common);
  hidden = told_by(*opened(), address_of(whole(), "hidden"));
  EXPECT_EQ(hidden, "hidden ??:?; ");
  // Fetched by its build-id, once the debug file itself was found.
  std::size_t asked = 0;
  expect_all([&](const std::string&) {
    asked++;
    return UniqueFd(open(aside.c_str(), O_RDONLY | O_CLOEXEC));
  });
  EXPECT_EQ(asked, 1u);
}

// The mini symbol table of Fedora's packages, made as its find-debuginfo does.
class MiniDebug : public SeparateDebug {
 protected:
  void add_mini(const std::string& compress) const {
    const std::string mini = folder_.file("mini");
    output_of("objcopy -S --remove-section=.comment --keep-symbol=hidden --keep-symbol=main '" + debug() + "' '" +
              mini + "'");
    output_of(compress + " < '" + mini + "' > '" + mini + ".xz'");
    output_of("objcopy --strip-all --add-section .gnu_debugdata='" + mini + ".xz' '" + whole() + "' '" + program() +
              "'");
  }
};

TEST_F(MiniDebug, NamesFunctions) {
  add_mini("xz -9e");
  const auto symbols = open_module(program());
  ASSERT_TRUE(symbols);
  for (const char* name : {"hidden", "main"}) {
    const std::uint64_t start = address_of(whole(), name);
    EXPECT_EQ(told_by(*symbols, start), std::string(name) + " ??:?; ");
    EXPECT_EQ(function_at(*symbols, start + size_of(name) - 1), name + ("+" + std::to_string(size_of(name) - 1)));
  }
  // Not in the table: a name for its FDE, and not that of the symbol before it.
  std::ostringstream shown;
  shown << "program+0x" << std::hex << address_of(whole(), "shown");
  EXPECT_EQ(told_by(*symbols, address_of(whole(), "shown")), shown.str() + " ??:?; ");
}

TEST_F(MiniDebug, BombsAndDamageAreRefused) {
  const auto begin = std::chrono::steady_clock::now();
  add_mini("sh -c 'cat >/dev/null; head -c 300M /dev/zero | xz -0'");
  ASSERT_LT(std::filesystem::file_size(program()), 1u << 20);
  expect_none();
  EXPECT_LT(opened()->footprint(), 4u << 20);
  add_mini("cat");
  expect_none();
  add_mini("xz -9e");
  const std::string bytes = read_file(folder_.file("mini.xz"));
  const std::string all = read_file(program());
  const std::size_t place = all.find(bytes);
  ASSERT_NE(place, std::string::npos);
  std::mt19937_64 random(11);
  for (int i = 0; i < 100; i++) {
    std::string damaged = all;
    for (int n = 0; n <= i % 4; n++) damaged[place + random() % bytes.size()] = static_cast<char>(random());
    std::ofstream(program(), std::ios::binary) << damaged;
    const auto symbols = opened();
    ASSERT_TRUE(symbols);
    for (const std::uint64_t address : addresses_) EXPECT_FALSE(symbols->resolve(address, true).empty());
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(30));
}

TEST_F(SeparateDebug, DamagedFilesCostNoMoreThanTheirNames) {
  output_of("objcopy --strip-all '" + whole() + "' '" + program() + "'");
  const std::string place = build_id_path();
  const std::string bytes = read_file(debug());
  std::mt19937_64 random(12);
  for (int i = 0; i < 300; i++) {
    std::string damaged = bytes;
    for (int n = 0; n <= i % 24; n++) damaged[random() % bytes.size()] = static_cast<char>(random());
    if (i % 10 == 0) damaged.resize(random() % bytes.size());
    std::ofstream(place, std::ios::binary) << damaged;
    const auto symbols = opened();
    ASSERT_TRUE(symbols);
    for (std::size_t at = 0; at < addresses_.size(); at += 5)
      for (const SymbolizedFrame& frame : symbols->resolve(addresses_[at], true)) EXPECT_FALSE(frame.function.empty());
  }
}

}  // namespace
}  // namespace uscope::symbolizer
