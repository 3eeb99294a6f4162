// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A traced program may have chosen the name of any candidate, so each is checked to be a regular file, then an ELF
// file, then the file asked for by build-id or CRC, and only then read. A CRC requires reading the whole file: it comes
// last, and is not computed for files above kMaxLinked.
#include "symbolizer/debug_files/debug_files.h"

#include <fcntl.h>
#include <lzma.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "support/byte_reader.h"
#include "support/regular_file.h"
#include "support/text.h"
#include "symbolizer/elf/elf_facts.h"
#include "symbolizer/elf/machine.h"

namespace uscope::symbolizer {
namespace {

constexpr std::size_t kMaxBuildId = 64;
constexpr std::uint64_t kMaxLinked = 2ULL << 30;
constexpr std::uint64_t kMaxLinkSection = 4096 + kMaxBuildId;  // a path, and a CRC or a build-id
constexpr std::uint64_t kMaxCompressed = 64U << 20;
constexpr std::size_t kMaxDecompressed = 64U << 20;
constexpr std::uint64_t kMaxXzMemory = 80U << 20;  // xz -9e takes 65 MiB to decompress

const ElfSection* section_named(const std::vector<ElfSection>& sections, std::string_view name) {
  const auto found =
      std::find_if(sections.begin(), sections.end(), [&](const ElfSection& section) { return section.name == name; });
  return found == sections.end() ? nullptr : &*found;
}

bool has_bytes(const std::vector<ElfSection>& sections, std::string_view name) {
  const ElfSection* section = section_named(sections, name);
  return section != nullptr && section->header.sh_type != SHT_NOBITS && section->header.sh_size != 0;
}

// The file that dwz writes for several files is not a program: its type is that of an object file.
bool is_alternate(Elf* elf) {
  GElf_Ehdr header;
  return elf_kind(elf) == ELF_K_ELF && gelf_getclass(elf) == ELFCLASS64 && gelf_getehdr(elf, &header) != nullptr &&
         header.e_ident[EI_DATA] == ELFDATA2LSB && header.e_machine == kElfMachine;
}

ElfHandle open_kind(int fd, const std::string& path, DebugFileKind kind) {
  if (kind == DebugFileKind::kDebug) {
    Result<ElfHandle> elf = open_elf(fd, path);
    return elf ? std::move(*elf) : nullptr;
  }
  struct stat status {};
  if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) return nullptr;
  ElfHandle elf(elf_begin(fd, ELF_C_READ, nullptr));
  return elf && is_alternate(elf.get()) ? std::move(elf) : nullptr;
}

std::unique_ptr<DebugFile> debug_file(UniqueFd fd, const std::string& path, DebugFileKind kind) {
  ElfHandle elf = fd ? open_kind(fd.get(), path, kind) : nullptr;
  if (!elf) return nullptr;
  auto file = std::make_unique<DebugFile>();
  file->fd = std::move(fd);
  file->elf = std::move(elf);
  file->sections = read_sections(file->elf.get());
  file->path = path;
  return file;
}

std::unique_ptr<DebugFile> debug_file_at(const std::string& path, DebugFileKind kind = DebugFileKind::kDebug) {
  auto file = open_regular(path, "", Leases::kBroken);
  return debug_file(file ? std::move(*file) : UniqueFd(), path, kind);
}

std::unique_ptr<DebugFile> with_build_id(std::unique_ptr<DebugFile> file, const std::string& build_id) {
  return file && build_id_of(file->elf.get()) == build_id ? std::move(file) : nullptr;
}

// The CRC of .gnu_debuglink is the one of zlib and xz, over the whole file.
std::optional<std::uint32_t> crc_of(int fd) {
  struct stat status {};
  if (fstat(fd, &status) != 0 || static_cast<std::uint64_t>(status.st_size) > kMaxLinked) return std::nullopt;
  std::vector<std::uint8_t> block(1U << 20);
  std::uint32_t crc = 0;
  std::uint64_t at = 0;
  // Checked again, since a file may grow while it is read.
  while (at <= kMaxLinked) {
    const ssize_t got = pread(fd, block.data(), block.size(), static_cast<off_t>(at));
    if (got < 0) return std::nullopt;
    if (got == 0) return crc;
    crc = lzma_crc32(block.data(), static_cast<std::size_t>(got), crc);
    at += static_cast<std::uint64_t>(got);
  }
  return std::nullopt;
}

// The text at the start of a section, and the bytes after its NUL. Empty if there is no such text.
struct Link {
  std::string name;
  std::string rest;
};

Link read_link(const std::vector<ElfSection>& sections, std::string_view section_name) {
  const ElfSection* section = section_named(sections, section_name);
  const Elf_Data* data = section != nullptr ? section_data(*section, kMaxLinkSection) : nullptr;
  if (data == nullptr) return {};
  ByteReader in(ByteReader::Bytes(static_cast<const std::uint8_t*>(data->d_buf), data->d_size));
  std::string name(in.c_string());
  return {std::move(name), std::string(in.text(in.left()))};
}

// Includes the last slash; empty for a path that is not absolute.
std::string folder_of(const std::string& path) {
  return path.starts_with('/') ? path.substr(0, path.rfind('/') + 1) : "";
}

bool decompress(const Elf_Data& data, std::vector<std::byte>& out) {
  constexpr std::size_t kFirst = 1U << 20;
  lzma_stream stream = LZMA_STREAM_INIT;
  if (lzma_stream_decoder(&stream, kMaxXzMemory, LZMA_CONCATENATED) != LZMA_OK) return false;
  stream.next_in = static_cast<const std::uint8_t*>(data.d_buf);
  stream.avail_in = data.d_size;
  lzma_ret state = LZMA_OK;
  while (state == LZMA_OK && out.size() < kMaxDecompressed) {
    const std::size_t filled = out.size();
    out.resize(std::min(kMaxDecompressed, std::max(kFirst, filled * 2)));
    stream.next_out = reinterpret_cast<std::uint8_t*>(out.data()) + filled;
    stream.avail_out = out.size() - filled;
    state = lzma_code(&stream, LZMA_FINISH);
  }
  out.resize(out.size() - stream.avail_out);
  lzma_end(&stream);
  out.shrink_to_fit();
  return state == LZMA_STREAM_END;
}

}  // namespace

std::string build_id_of(Elf* elf) {
  const std::string id = read_build_id(elf);
  return id.size() > kMaxBuildId ? "" : id;
}

std::string alternate_build_id(const std::vector<ElfSection>& sections) {
  const std::string build_id = read_link(sections, ".gnu_debugaltlink").rest;
  return build_id.size() <= kMaxBuildId ? build_id : "";
}

std::unique_ptr<DebugFile> read_debug_data(const std::vector<ElfSection>& sections) {
  const ElfSection* section = section_named(sections, ".gnu_debugdata");
  const Elf_Data* data = section != nullptr ? section_data(*section, kMaxCompressed) : nullptr;
  auto file = std::make_unique<DebugFile>();
  if (data == nullptr || !decompress(*data, file->image)) return nullptr;
  Result<ElfHandle> elf = open_elf_in_memory(file->image, section->name);
  if (!elf) return nullptr;
  file->elf = std::move(*elf);
  file->sections = read_sections(file->elf.get());
  return file;
}

DebugFileFinder::DebugFileFinder(std::vector<std::string> roots, DebugFetcher fetch)
    : roots_(std::move(roots)), fetch_(std::move(fetch)) {}

std::unique_ptr<DebugFile> DebugFileFinder::by_build_id(const std::string& build_id, DebugFileKind kind) const {
  if (build_id.size() < 2) return nullptr;
  const std::string hex = hex_of(build_id);
  for (const std::string& root : roots_) {
    std::string path = root;
    path.append("/.build-id/").append(hex, 0, 2).append("/").append(hex, 2).append(".debug");
    if (auto file = with_build_id(debug_file_at(path, kind), build_id)) return file;
  }
  return nullptr;
}

std::unique_ptr<DebugFile> DebugFileFinder::by_link(const std::vector<ElfSection>& sections, const std::string& path,
                                                    const std::string& build_id) const {
  constexpr std::size_t kAlignment = 4;
  const Link link = read_link(sections, ".gnu_debuglink");
  const std::string folder = folder_of(path);
  if (folder.empty() || link.name.empty() || link.name.find('/') != std::string::npos) return nullptr;
  const std::size_t padding = (kAlignment - (link.name.size() + 1) % kAlignment) % kAlignment;
  ByteReader rest(std::as_bytes(std::span(link.rest)));
  rest.bytes(padding);
  const auto crc = rest.fixed<std::uint32_t>();
  if (!rest.ok()) return nullptr;

  std::vector<std::string> candidates{folder + link.name, folder + ".debug/" + link.name};
  for (const std::string& root : roots_) candidates.push_back(root + folder + link.name);
  for (const std::string& candidate : candidates) {
    auto file = debug_file_at(candidate);
    if (!file) continue;
    const std::string other = build_id_of(file->elf.get());
    if (!build_id.empty() && !other.empty() && other != build_id) continue;
    if (crc_of(file->fd.get()) == crc) return file;
  }
  return nullptr;
}

std::unique_ptr<DebugFile> DebugFileFinder::fetched(const std::string& build_id, DebugFileKind kind) const {
  if (!fetch_ || build_id.empty()) return nullptr;
  return with_build_id(debug_file(fetch_(build_id), "", kind), build_id);
}

std::unique_ptr<DebugFile> DebugFileFinder::alternate_of(const std::vector<ElfSection>& sections,
                                                         const std::string& path) const {
  const std::string build_id = alternate_build_id(sections);
  if (build_id.empty()) return nullptr;
  const std::string name = read_link(sections, ".gnu_debugaltlink").name;
  const std::string place = name.starts_with('/') ? name : folder_of(path) + name;
  if (!name.empty() && place.starts_with('/'))
    if (auto file = with_build_id(debug_file_at(place, DebugFileKind::kAlternate), build_id)) return file;
  if (auto file = by_build_id(build_id, DebugFileKind::kAlternate)) return file;
  return fetched(build_id, DebugFileKind::kAlternate);
}

DebugFiles DebugFileFinder::find(Elf* elf, const std::vector<ElfSection>& sections, const std::string& path) const {
  DebugFiles found;
  const bool dwarf = has_bytes(sections, ".debug_info") || has_bytes(sections, ".zdebug_info");
  if (!dwarf || !has_bytes(sections, ".symtab")) {
    const std::string build_id = build_id_of(elf);
    found.debug = by_build_id(build_id, DebugFileKind::kDebug);
    if (!found.debug) found.debug = by_link(sections, path, build_id);
    if (!found.debug) found.debug = fetched(build_id, DebugFileKind::kDebug);
  }
  if (dwarf)
    found.alternate = alternate_of(sections, path);
  else if (found.debug)
    found.alternate = alternate_of(found.debug->sections, found.debug->path);
  return found;
}

}  // namespace uscope::symbolizer
