// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Facts of ELF files, against readelf's view of well-known ones and on files that are none.
#include <elf.h>
#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <vector>

#include "support/text.h"
#include "symbolizer/elf/elf_facts.h"
#include "symbolizer/elf/vdso_image.h"
#include "tests/support/system_files.h"
#include "tests/unit/symbolizer/rows_test_support.h"

namespace uscope::symbolizer {
namespace {

std::string tool_output(const std::string& command) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  std::array<char, 4096> room{};
  for (std::size_t got = 0; pipe && (got = fread(room.data(), 1, room.size(), pipe)) > 0;)
    text.append(room.data(), got);
  if (pipe) pclose(pipe);
  return text;
}

ElfFacts facts_of(const std::string& path) {
  const UniqueFd fd = open_to_read(path);
  auto facts = read_elf_facts(fd.get(), path);
  EXPECT_TRUE(facts) << facts.error().what;
  return facts ? *facts : ElfFacts{};
}

std::string error_of(const void* bytes, std::size_t size) {
  const auto facts = read_elf_facts_from_memory({static_cast<const std::byte*>(bytes), size}, "x");
  return facts ? "" : facts.error().what;
}

TEST(Facts, LibcAsReadelfSeesIt) {
  const ElfFacts facts = facts_of(kLibc);
  const std::string readelf = tool_output(std::string("readelf -W -n -l -h ") + kLibc);
  EXPECT_NE(readelf.find("Build ID: " + hex_of(facts.build_id)), std::string::npos);
  ASSERT_EQ(facts.exec_segments.size(), 1u);
  char line[128];
  std::snprintf(line, sizeof(line), "LOAD           0x%06lx 0x%016lx 0x%016lx 0x%06lx", facts.exec_segments[0].offset,
                facts.exec_segments[0].address, facts.exec_segments[0].address, facts.exec_segments[0].size);
  EXPECT_NE(readelf.find(line), std::string::npos) << line;
  char entry[64];
  std::snprintf(entry, sizeof(entry), "Entry point address:               0x%lx", facts.entry);
  EXPECT_NE(readelf.find(entry), std::string::npos) << entry;
  EXPECT_EQ(facts.needed, std::vector<std::string>{"ld-linux-x86-64.so.2"});
  EXPECT_EQ(facts.interpreter, "/lib64/ld-linux-x86-64.so.2");
  EXPECT_TRUE(facts.dynamic);
  EXPECT_TRUE(facts.position_independent);
  EXPECT_EQ(facts.load_start, 0u);
  EXPECT_GE(facts.load_end, facts.exec_segments[0].address + facts.exec_segments[0].size);
  EXPECT_EQ(facts.load_end % 4096, 0u);
}

// By compiler and linker, and without symbols too.
TEST(Facts, FilesThatMayHoldARunTimeSystemAreMixed) {
  const auto is_mixed = [](const std::string& options) {
    const std::string source = "/tmp/uscope-mixed-test.c";
    const std::string program = "/tmp/uscope-mixed-test";
    std::ofstream(source) << "#include <stdio.h>\nstruct A { int a; };\nint main() { return puts(\"\") < 0; }";
    EXPECT_EQ(std::system(("gcc -s -o " + program + " " + options + " " + source).c_str()), 0) << options;
    const bool mixed = facts_of(program).mixed;
    std::remove(source.c_str());
    std::remove(program.c_str());
    return mixed;
  };
  EXPECT_FALSE(is_mixed(""));
  EXPECT_FALSE(is_mixed("-no-pie"));
  EXPECT_TRUE(is_mixed("-static"));
  EXPECT_TRUE(is_mixed("-static-pie"));
  EXPECT_TRUE(facts_of("/proc/self/exe").mixed);  // C++
}

TEST(Facts, NeededAndRunpathInOrder) {
  const std::string source = "/tmp/uscope-facts-test.c";
  const std::string program = "/tmp/uscope-facts-test";
  std::ofstream(source) << "double sin(double); int main(int n, char** v) { return sin(n); }";
  ASSERT_EQ(std::system(("gcc -no-pie -Wl,--no-as-needed -o " + program + " " + source +
                         " -lm -lz '-Wl,-rpath,$ORIGIN/lib:/opt/x' -Wl,--enable-new-dtags")
                            .c_str()),
            0);
  const ElfFacts facts = facts_of(program);
  EXPECT_EQ(facts.needed, (std::vector<std::string>{"libm.so.6", "libz.so.1", "libc.so.6"}));
  EXPECT_EQ(facts.runpath, (std::vector<std::string>{"$ORIGIN/lib", "/opt/x"}));
  EXPECT_FALSE(facts.position_independent);
  EXPECT_EQ(facts.load_start, 0x400000u);
  std::remove(source.c_str());
  std::remove(program.c_str());
}

TEST(Facts, OffsetsAndAddresses) {
  const std::vector<Segment> segments = {{0x1000, 0x100, 0x401000}, {0x2000, 0x10, 0x700000}};
  EXPECT_EQ(address_of_offset(segments, 0x1000), 0x401000u);
  EXPECT_EQ(address_of_offset(segments, 0x10ff), 0x4010ffu);
  EXPECT_EQ(address_of_offset(segments, 0x1100), std::nullopt);
  EXPECT_EQ(address_of_offset(segments, 0xfff), std::nullopt);
  EXPECT_EQ(address_of_offset(segments, 0x200f), 0x70000fu);
  EXPECT_EQ(offset_of_address(segments, 0x70000f), 0x200fu);
  EXPECT_EQ(offset_of_address(segments, 0x700010), std::nullopt);
  EXPECT_EQ(offset_of_address(segments, 0x401000), 0x1000u);
}

TEST(Facts, VdsoIsReadInMemory) {
  const auto facts = read_elf_facts_from_memory(vdso_image(), "[vdso]");
  ASSERT_TRUE(facts) << facts.error().what;
  ASSERT_EQ(facts->exec_segments.size(), 1u);
  EXPECT_EQ(facts->exec_segments[0].offset, 0u);
  EXPECT_GE(vdso_image().size(), facts->exec_segments[0].size);
  EXPECT_EQ(facts->build_id.size(), 20u);
}

TEST(Facts, OtherFilesAreNamed) {
  Elf64_Ehdr header{};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_version = EV_CURRENT;
  header.e_ehsize = sizeof(header);
  header.e_machine = EM_X86_64;
  header.e_type = ET_EXEC;
  EXPECT_EQ(error_of(&header, sizeof(header)), "");
  EXPECT_EQ(error_of("hello world, this is no ELF file at all, and long enough to be looked at ...", 70),
            "x: not an ELF file");
  EXPECT_EQ(error_of(&header, 20), "x: truncated or damaged ELF file: invalid ELF file data");
  header.e_machine = EM_AARCH64;
  EXPECT_EQ(error_of(&header, sizeof(header)), "x: ELF file of another machine (e_machine 183)");
  header.e_machine = EM_X86_64;
  header.e_type = ET_REL;
  EXPECT_EQ(error_of(&header, sizeof(header)), "x: ELF file, but neither program nor shared library (e_type 1)");
  header.e_ident[EI_CLASS] = ELFCLASS32;
  EXPECT_EQ(error_of(&header, sizeof(header)), "x: a 32-bit ELF file");
}

TEST(Facts, ASegmentBehindTheFilesEndIsTruncation) {
  std::ifstream in(kLibc, std::ios::binary);
  const std::vector<char> whole{std::istreambuf_iterator<char>(in), {}};
  const std::string error = error_of(whole.data(), whole.size() / 2);
  EXPECT_NE(error.find("x: truncated ELF file: program header"), std::string::npos) << error;
}

TEST(Facts, NoFileNoFolder) {
  const UniqueFd folder = open_to_read("/tmp");
  const auto facts = read_elf_facts(folder.get(), "/tmp");
  ASSERT_FALSE(facts);
  EXPECT_EQ(facts.error().what, "/tmp: not a regular file");
  const auto none = read_elf_facts(-1, "gone");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().what, "cannot stat gone: Bad file descriptor");
  const UniqueFd empty(memfd_create("empty", MFD_CLOEXEC));
  EXPECT_FALSE(read_elf_facts(empty.get(), "empty"));
}

}  // namespace
}  // namespace uscope::symbolizer
