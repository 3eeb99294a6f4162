// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Functions and USDT probes of programs that are compiled here, against readelf.
#include "symbolizer/probes/file_probes.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tests/support/paths.h"
#include "tests/support/system_files.h"
#include "tests/unit/symbolizer/symbols_test_support.h"

namespace uscope::symbolizer {
namespace {

constexpr char kProbed[] = R"(
#define _SDT_HAS_SEMAPHORES 1
unsigned short shop_add_semaphore __attribute__((used, section(".probes")));
unsigned short shop_many_semaphore __attribute__((used, section(".probes")));
#include <sys/sdt.h>
#include <unistd.h>

struct Pair { long a, b; };
struct Large { long a[4]; };
typedef unsigned int id_type;
enum Mode { kOne, kTwo };

namespace ns {
struct Type {
  int base;
  __attribute__((noinline)) long add(short by, const char* name, double, id_type id) const volatile;
};
long Type::add(short by, const char* name, double ratio, id_type id) const volatile {
  STAP_PROBE3(shop, add, by, name, 5);
  return base + by + *name + static_cast<long>(ratio) + id + getppid();
}
__attribute__((noinline)) int twice(int n) { return 2 * n + getppid(); }
__attribute__((noinline)) int twice(const char* const* n) { return **n + getppid(); }
template <typename T>
__attribute__((noinline)) T pass(T value) { return value + getppid(); }
}

extern "C" {
__attribute__((noinline)) long by_value(int first, Pair pair, int last) { return first + pair.a + last + getppid(); }
__attribute__((noinline)) Large hidden(int first, Mode mode) { return {{first + getppid(), mode}}; }
__attribute__((noinline)) int many(int a, int b, int c, int d, int e, int f, int g) {
  STAP_PROBE1(shop, many, a);
  return a + b + c + d + e + f + g + getppid();
}
asm(".text; .type outside, @function; .type inside, @function;"
    "outside: xor %eax, %eax; inside: nop; push %rbx; pop %rbx; ret;"
    ".size outside, . - outside; .size inside, . - inside");
static int ifunc_target() { return 1; }
int (*resolve_chosen())() { return ifunc_target; }
int chosen() __attribute__((ifunc("resolve_chosen")));
}

int main(int argc, char** argv) {
  const char* name = argv[0];
  STAP_PROBE1(shop, add, argc);
  ns::Type type{argc};
  return static_cast<int>(type.add(1, name, 2.0, 3) + ns::twice(argc) + ns::twice(&name) + ns::pass(argc) +
                          by_value(1, {1, 2}, argc) + hidden(argc, kTwo).a[0] + many(1, 2, 3, 4, 5, 6, argc) + chosen());
}
)";

class FileProbes : public testing::Test {
 protected:
  // Compiles kProbed once.
  static void SetUpTestSuite() {
    folder_ = new TemporaryFolder;
    const std::string source = folder_->write("probed.cpp", kProbed);
    output_of("g++ -g -O2 -w -fno-ipa-cp -fno-ipa-sra -o '" + folder_->file("probed") + "' '" + source + "'");
    output_of("strip -g -o '" + folder_->file("bare") + "' '" + folder_->file("probed") + "'");
  }
  static void TearDownTestSuite() {
    delete folder_;
    folder_ = nullptr;
  }

  std::unique_ptr<ProbedFile> open_file(const std::string& path) {
    fd_.reset(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    auto file = ProbedFile::open(fd_.get(), path);
    EXPECT_TRUE(file) << (file ? "" : file.error().what);
    return file ? std::move(*file) : nullptr;
  }
  std::vector<FoundProbe> functions(const std::string& program, const std::string& name) {
    const auto file = open_file(folder_->file(program));
    return file->functions({"", name, ""}, true, false);
  }
  FoundProbe function(const std::string& program, const std::string& name) {
    auto found = functions(program, name);
    EXPECT_EQ(found.size(), 1U) << name;
    return found.empty() ? FoundProbe() : found.front();
  }
  static std::string text_of(const std::vector<FoundArgument>& arguments) {
    std::string text;
    for (const FoundArgument& argument : arguments)
      text += argument.type + " " + argument.name + "@" + std::to_string(argument.reg) + "; ";
    return text;
  }

  static inline TemporaryFolder* folder_ = nullptr;
  UniqueFd fd_;
};

TEST_F(FileProbes, NamesAreMatchedAsTheyStandAndDemangled) {
  EXPECT_EQ(functions("probed", "ns::twice").size(), 2U);
  EXPECT_EQ(functions("probed", "_ZN2ns5twiceEi").size(), 1U);
  EXPECT_EQ(functions("probed", "ns::*").size(), 4U);
  EXPECT_EQ(functions("probed", "ns::pass<*").size(), 1U);
  EXPECT_TRUE(functions("probed", "twice").empty());
  const auto twice = functions("probed", "ns::twice");
  EXPECT_EQ(twice[0].full_name, "ns::twice(char const* const*)");
  EXPECT_EQ(twice[1].full_name, "ns::twice(int)");
  EXPECT_EQ(twice[1].name, "ns::twice");
  const auto file = open_file(folder_->file("probed"));
  EXPECT_EQ(file->functions({"", "*", "TWIC"}, false, false).size(), 2U);
  const auto names = file->function_names();
  EXPECT_TRUE(std::binary_search(names.begin(), names.end(), "ns::twice"));
}

TEST_F(FileProbes, ArgumentsAreThoseOfDwarf) {
  const FoundProbe add = function("probed", "ns::Type::add");
  EXPECT_EQ(text_of(add.arguments),
            "volatile const Type *const this@5; short int by@4; const char * name@1; id_type id@2; ");
  EXPECT_EQ(add.arguments.at(1).bytes, 2);
  EXPECT_TRUE(add.arguments.at(1).is_signed);
  EXPECT_TRUE(add.arguments.at(2).is_string);
  EXPECT_FALSE(add.arguments.at(3).is_signed);
  // Where a structure is passed cannot be told from its type alone.
  EXPECT_EQ(text_of(function("probed", "by_value").arguments), "int first@5; ");
  // The result's address is in rdi.
  EXPECT_EQ(text_of(function("probed", "hidden").arguments), "int first@4; Mode mode@1; ");
  EXPECT_EQ(text_of(function("probed", "many").arguments), "int a@5; int b@4; int c@1; int d@2; int e@8; int f@9; ");
  EXPECT_EQ(text_of(function("probed", "_ZN2ns5twiceEPKPKc").arguments), "const char *const * n@5; ");
}

TEST_F(FileProbes, WithoutDwarfArgumentsAreRegisters) {
  EXPECT_EQ(text_of(function("bare", "many").arguments),
            "unsigned long arg0@5; unsigned long arg1@4; unsigned long arg2@1; unsigned long arg3@2; "
            "unsigned long arg4@8; unsigned long arg5@9; ");
}

TEST_F(FileProbes, PlacesAreInTheFunctions) {
  const std::string path = folder_->file("probed");
  const auto file = open_file(path);
  const auto facts = read_elf_facts(fd_.get(), path);
  ASSERT_TRUE(facts);
  std::set<std::string> names;
  for (const FoundProbe& probe : file->functions({"", "*", ""}, false, false)) {
    names.insert(probe.name);
    if (!probe.why_not.empty()) continue;
    ASSERT_EQ(probe.places.size(), 1U) << probe.name;
    EXPECT_TRUE(address_of_offset(facts->exec_segments, probe.places[0])) << probe.name;
  }
  for (const ListedSymbol& symbol : listed_symbols(path, "--syms"))
    if (symbol.type == "FUNC" && symbol.name.find(".cold") == std::string::npos && symbol.name.find("_Z") != 0 &&
        symbol.name != "resolve_chosen") {  // lies where `chosen` does
      EXPECT_TRUE(names.contains(symbol.name)) << symbol.name;
    }
  const FoundProbe many = function("probed", "many");
  const auto start = offset_of_address(facts->exec_segments, address_of(path, "many"));
  ASSERT_TRUE(start);
  EXPECT_GE(many.places.at(0), *start);
  EXPECT_LT(many.places.at(0), *start + 16);
  // A call of `inside` does not come by the probe of `outside`.
  EXPECT_EQ(offset_of_address(facts->exec_segments, address_of(path, "outside")),
            function("probed", "outside").places.at(0));
  EXPECT_NE(function("probed", "chosen").why_not.find("IFUNC"), std::string::npos);
}

TEST_F(FileProbes, ResultsAreThoseOfDwarf) {
  const auto result = [&](const std::string& name) {
    const FoundProbe probe = function("probed", name);
    return probe.result_type + ":" + std::to_string(probe.result_bytes) + (probe.result_is_signed ? "s" : "");
  };
  EXPECT_EQ(result("ns::Type::add"), "long int:8s");
  EXPECT_EQ(result("many"), "int:4s");
  EXPECT_EQ(result("hidden"), "Large:0");
  const FoundProbe bare = function("bare", "many");
  EXPECT_EQ(bare.result_type + std::to_string(bare.result_bytes), "8");
}

// objdump decodes the same code.
TEST_F(FileProbes, ReturnsAreThoseOfObjdump) {
  const std::string path = folder_->file("probed");
  const auto file = open_file(path);
  const auto facts = read_elf_facts(fd_.get(), path);
  ASSERT_TRUE(facts);
  std::size_t found = 0;
  for (const char* name : {"many", "by_value", "hidden", "main", "_ZN2ns5twiceEi", "_ZN2ns5twiceEPKPKc"}) {
    std::vector<std::uint64_t> listed;
    for (const std::string& line :
         lines_of("objdump -d --no-show-raw-insn --disassemble=" + std::string(name) + " '" + path + "'"))
      if (line.find("\tret") != std::string::npos)
        listed.push_back(*offset_of_address(facts->exec_segments, hex(line)));
    const auto probes = file->functions({"", name, ""}, false, true);
    ASSERT_EQ(probes.size(), 1U) << name;
    EXPECT_EQ(probes[0].why_not, "") << name;
    EXPECT_EQ(probes[0].returns, listed) << name;
    found += listed.size();
  }
  EXPECT_GE(found, 6U);
  // Its code runs on into `inside`.
  EXPECT_NE(file->functions({"", "outside", ""}, false, true).at(0).why_not.find("its returns cannot be found"),
            std::string::npos);
  EXPECT_EQ(file->functions({"", "inside", ""}, false, true).at(0).returns.size(), 1U);
}

TEST_F(FileProbes, UsdtProbesAreThoseOfReadelf) {
  const std::string path = folder_->file("probed");
  const auto file = open_file(path);
  const auto all = file->usdt_probes({"*", "*", ""}, true);
  std::set<std::uint64_t> places;
  for (const FoundProbe& probe : all) places.insert(probe.places.begin(), probe.places.end());
  const auto facts = read_elf_facts(fd_.get(), path);
  ASSERT_TRUE(facts);
  std::set<std::uint64_t> listed;
  for (const std::string& line : lines_of("readelf -n '" + path + "'")) {
    const std::size_t at = line.find("Location: ");
    if (at != std::string::npos) listed.insert(*offset_of_address(facts->exec_segments, hex(line.substr(at + 10))));
  }
  EXPECT_EQ(places, listed);
  EXPECT_GE(listed.size(), 3U);

  // Two probes of one name that read their arguments in different ways.
  const auto add = file->usdt_probes({"shop", "add", ""}, true);
  EXPECT_EQ(add.size(), 2U);
  const auto three = std::find_if(add.begin(), add.end(), [](const FoundProbe& p) { return p.arguments.size() == 3; });
  ASSERT_NE(three, add.end());
  EXPECT_EQ(three->arguments[2].from, FoundArgument::From::kConstant);
  EXPECT_EQ(three->arguments[2].offset, 5);
  EXPECT_EQ(three->arguments[1].bytes, 8);
  const auto semaphore =
      offset_of_address(facts->segments, hex(lines_of("nm '" + path + "' | grep shop_add_sem").at(0)));
  EXPECT_EQ(three->semaphore, semaphore);
  EXPECT_TRUE(file->usdt_probes({"shop", "none", ""}, true).empty());
  EXPECT_EQ(file->usdt_names(), (std::vector<std::string>{"shop:add", "shop:many"}));
}

// Probes of the same names, whose semaphores are variables of the program.
TEST_F(FileProbes, ASemaphoreOutsideItsSectionIsRefused) {
  const std::string path = folder_->file("balance");
  const std::string source = folder_->file("balance.c");
  for (const char* place : {"", "__attribute__((section(\".data\"))) = 100"}) {
    std::ofstream(source) << "#define _SDT_HAS_SEMAPHORES 1\nunsigned short shop_add_semaphore " << place
                          << ";\nunsigned short shop_many_semaphore __attribute__((section(\".probes\")));\n"
                             "#include <sys/sdt.h>\n"
                             "int main(void) { STAP_PROBE1(shop, add, 1); STAP_PROBE1(shop, many, 2); return 0; }\n";
    output_of(fmt::format("gcc -O1 -o '{0}' '{1}' && strip '{0}'", path, source));
    auto file = open_file(path);
    const auto refused = file->usdt_probes({"shop", "add", ""}, true);
    ASSERT_EQ(refused.size(), 1U) << place;
    EXPECT_TRUE(refused[0].places.empty());
    EXPECT_FALSE(refused[0].can_be_forced);
    EXPECT_NE(refused[0].why_not.find("its semaphore is not in the section .probes"), std::string::npos);
    const auto taken = file->usdt_probes({"shop", "many", ""}, true);
    ASSERT_EQ(taken.size(), 1U);
    EXPECT_EQ(taken[0].why_not, "");
    EXPECT_EQ(taken[0].places.size(), 1U);
    EXPECT_NE(taken[0].semaphore, 0U);
  }
}

TEST_F(FileProbes, ALongNopIsNoPlaceOnNewKernels) {
  const std::string path = folder_->file("nop5");
  output_of("cp '" + folder_->file("probed") + "' '" + path + "'");
  auto file = open_file(path);
  const auto many = file->usdt_probes({"shop", "many", ""}, false);
  ASSERT_EQ(many.size(), 1U);
  EXPECT_EQ(many[0].why_not, "");
  std::fstream bytes(path, std::ios::in | std::ios::out | std::ios::binary);
  bytes.seekp(static_cast<std::streamoff>(many[0].places.at(0)));
  bytes.write("\x0f\x1f\x44\x00\x00", 5);
  bytes.close();
  EXPECT_NE(file->usdt_probes({"shop", "many", ""}, false).at(0).why_not, "");
  EXPECT_EQ(file->usdt_probes({"shop", "many", ""}, true).at(0).why_not, "");
}

// Debian's libstdc++ has three.
TEST_F(FileProbes, LibrariesOfTheSystem) {
  const auto libstdcxx = open_file("/usr/lib/x86_64-linux-gnu/libstdc++.so.6");
  EXPECT_EQ(libstdcxx->usdt_names(),
            (std::vector<std::string>{"libstdcxx:catch", "libstdcxx:rethrow", "libstdcxx:throw"}));
  const auto libc = open_file(kLibc);
  const auto opens = libc->functions({"", "open", ""}, true, false);
  ASSERT_EQ(opens.size(), 1U);
  EXPECT_EQ(opens[0].name, "open");
  EXPECT_NE(libc->functions({"", "memcpy", ""}, true, false).at(0).why_not, "");
}

// Go's table of functions is there although the program is stripped.
TEST_F(FileProbes, FunctionsOfGo) {
  const auto file = open_file(std::string(paths::kFixtureFolder) + "/fixture_go_stacks_stripped");
  const auto main = file->functions({"", "main.main", ""}, true, false);
  ASSERT_EQ(main.size(), 1U);
  EXPECT_TRUE(main[0].arguments.empty());
  EXPECT_EQ(main[0].why_not, "");
}

}  // namespace
}  // namespace uscope::symbolizer
