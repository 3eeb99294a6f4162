// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Files that ask for much: parts that overlap, names that do not end, thousands of headers for the same bytes.
#include <elf.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include "symbolizer/elf/elf_facts.h"
#include "symbolizer/elf/elf_sections.h"
#include "symbolizer/go/go_sections.h"
#include "symbolizer/names/symbols.h"
#include "tests/support/crowd.h"
#include "tests/support/processor_time.h"

namespace uscope::symbolizer {
namespace {

constexpr std::size_t kTable = std::size_t{64} << 20;       // as large as a string table may be
constexpr double kMostSeconds = test::kSanitized ? 80 : 8;  // what is unbounded takes hours

// A file of one segment at address 0, which grows as parts are put into it.
class Image {
 public:
  Image() : bytes_(sizeof(Elf64_Ehdr)) {}

  template <typename T>
  std::uint64_t put(const std::vector<T>& items) {
    const std::uint64_t at = (bytes_.size() + 15) & ~std::uint64_t{15};
    bytes_.resize(at + items.size() * sizeof(T));
    std::memcpy(bytes_.data() + at, items.data(), items.size() * sizeof(T));
    return at;
  }
  std::vector<Elf64_Phdr> segments;
  std::vector<Elf64_Shdr> sections;
  std::uint16_t names = 0;

  std::span<const std::byte> finish() {
    segments.push_back({PT_LOAD, PF_R, 0, 0, 0, bytes_.size(), bytes_.size(), 4096});
    Elf64_Ehdr header{};
    std::memcpy(static_cast<void*>(header.e_ident), ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_DYN;
    header.e_machine = EM_X86_64;
    header.e_version = EV_CURRENT;
    header.e_ehsize = sizeof(header);
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_phnum = static_cast<std::uint16_t>(segments.size());
    header.e_phoff = put(segments);
    if (!sections.empty()) {
      header.e_shnum = static_cast<std::uint16_t>(sections.size());
      header.e_shoff = put(sections);
      header.e_shstrndx = names;
    }
    std::memcpy(bytes_.data(), &header, sizeof(header));
    return bytes_;
  }

 private:
  std::vector<std::byte> bytes_;
};

TEST(HostileFiles, LibrariesWhoseNamesDoNotEnd) {
  Image image;
  const std::uint64_t table = image.put(std::vector<char>(kTable, 'a'));
  std::vector<Elf64_Dyn> dynamic;
  dynamic.push_back({DT_STRTAB, {table}});
  dynamic.push_back({DT_STRSZ, {kTable}});
  for (std::uint64_t i = 0; i < 65'000; i++) dynamic.push_back({DT_NEEDED, {i}});
  const std::uint64_t bytes = dynamic.size() * sizeof(Elf64_Dyn);
  const std::uint64_t at = image.put(dynamic);
  image.segments.push_back({PT_DYNAMIC, PF_R, at, at, at, bytes, bytes, 8});
  const auto whole = image.finish();
  EXPECT_LT(test::processor_seconds_of([&] {
              const auto facts = read_elf_facts_from_memory(whole, "x");
              ASSERT_TRUE(facts) << facts.error().what;
              EXPECT_TRUE(facts->needed.empty());
            }),
            kMostSeconds);
}

TEST(HostileFiles, ThousandsOfHeadersOfTheSameNotes) {
  Image image;
  const std::uint64_t size = std::uint64_t{32} << 20;
  const std::uint64_t at = image.put(std::vector<char>(size, 0));
  for (int i = 0; i < 4000; i++) image.segments.push_back({PT_NOTE, PF_R, at, at, at, size, size, 4});
  const auto whole = image.finish();
  EXPECT_LT(test::processor_seconds_of([&] { EXPECT_TRUE(read_elf_facts_from_memory(whole, "x")); }), kMostSeconds);
}

TEST(HostileFiles, SectionsWhoseNamesDoNotEnd) {
  Image image;
  const std::uint64_t size = std::uint64_t{15} << 20;
  const std::uint64_t at = image.put(std::vector<char>(size, 'a'));
  image.sections.push_back({});
  image.sections.push_back({0, SHT_STRTAB, 0, 0, at, size, 0, 0, 1, 0});
  image.names = 1;
  for (std::uint32_t i = 0; i < 60'000; i++) image.sections.push_back({i, SHT_PROGBITS, 0, 0, at, 16, 0, 0, 1, 0});
  const auto whole = image.finish();
  EXPECT_LT(test::processor_seconds_of([&] {
              const auto elf = open_elf_in_memory(whole, "x");
              ASSERT_TRUE(elf);
              const auto sections = read_sections(elf->get());
              EXPECT_EQ(sections.size(), 60'002U);
              EXPECT_LE(sections.back().name.size(), 64U);
              (void)ModuleSymbols::open_image(whole, "x");
            }),
            kMostSeconds);
}

// Every eighth byte looks like the beginning of Go's function table.
TEST(HostileFiles, BeginningsOfTablesEverywhere) {
  Image image;
  const std::vector<std::uint64_t> heads(std::size_t{2} << 20, 0x08010000fffffff1ULL);
  image.put(heads);
  const auto whole = image.finish();
  EXPECT_LT(test::processor_seconds_of([&] {
              const auto elf = open_elf_in_memory(whole, "x");
              const auto facts = read_elf_facts_from_memory(whole, "x");
              ASSERT_TRUE(elf && facts);
              EXPECT_FALSE(read_go_pclntab(elf->get(), *facts));
              EXPECT_LE(go_pclntab_bytes(elf->get(), *facts).size(), 8 * whole.size());
            }),
            kMostSeconds);
}

// Thousands of symbol tables that are one.
TEST(HostileFiles, ThousandsOfSymbolTables) {
  Image image;
  const std::vector<Elf64_Sym> symbols(200'000, Elf64_Sym{1, STT_FUNC, 0, 3, 0x100, 1});
  const std::uint64_t at = image.put(symbols);
  const std::uint64_t texts = image.put(std::vector<char>{0, 'f', 0});
  image.sections.push_back({});
  image.sections.push_back({0, SHT_STRTAB, 0, 0, texts, 3, 0, 0, 1, 0});
  image.sections.push_back({0, SHT_PROGBITS, SHF_ALLOC, 0, at, 16, 0, 0, 1, 0});
  image.sections.push_back({0, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0, 0, 0x1000, 0, 0, 1, 0});
  image.names = 1;
  for (int i = 0; i < 5000; i++)
    image.sections.push_back({0, SHT_SYMTAB, 0, 0, at, symbols.size() * sizeof(Elf64_Sym), 1, 0, 8, sizeof(Elf64_Sym)});
  const auto whole = image.finish();
  EXPECT_LT(test::processor_seconds_of([&] {
              const auto opened = ModuleSymbols::open_image(whole, "x");
              ASSERT_TRUE(opened);
              EXPECT_EQ((*opened)->resolve(0x100, true).front().function, "f");
            }),
            kMostSeconds);
}

}  // namespace
}  // namespace uscope::symbolizer
