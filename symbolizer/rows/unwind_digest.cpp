// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Computes the key of a cache from everything that rows depend on.
#include <gelf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <span>
#include <string>

#include "symbolizer/cfi/cfi_sections.h"
#include "symbolizer/code/text_reader.h"
#include "symbolizer/elf/fast_hash.h"
#include "symbolizer/go/go_sections.h"
#include "symbolizer/rows/row_builder.h"
#include "symbolizer/rows/v8_builtins.h"

namespace uscope::symbolizer {
namespace {

// More code than this (rustc's 100 MB) is not hashed: that takes longer than building the rows.
constexpr std::uint64_t kMostHashed = std::uint64_t{32} << 20;
constexpr std::uint64_t kMostHashedFast = std::uint64_t{64} << 20;

// Identifies the file and its state, as make and git do. No program can set the time of a file's last change (st_ctim)
// back.
std::string file_identity(int fd) {
  struct stat status {};
  if (fstat(fd, &status) != 0) return "";
  std::string identity = "state";
  for (const auto number :
       {static_cast<std::int64_t>(status.st_dev), static_cast<std::int64_t>(status.st_ino),
        std::int64_t{status.st_size}, std::int64_t{status.st_mtim.tv_sec}, std::int64_t{status.st_mtim.tv_nsec},
        std::int64_t{status.st_ctim.tv_sec}, std::int64_t{status.st_ctim.tv_nsec}})
    identity.append(" ").append(std::to_string(number));
  return identity;
}

// Passes the bytes of segments to `add`, piece by piece.
template <typename Add>
void read_segments(int fd, std::span<const Segment> segments, const Add& add) {
  std::vector<std::byte> window(TextReader::kWindow);
  for (const Segment& segment : segments) {
    std::uint64_t at = segment.offset;
    const std::uint64_t end = segment.offset + std::min(segment.size, kMaxTextBytes);
    while (at < end) {
      const ssize_t got =
          pread(fd, window.data(), std::min<std::uint64_t>(window.size(), end - at), static_cast<off_t>(at));
      if (got <= 0) break;
      add(std::span(window).first(static_cast<std::size_t>(got)));
      at += static_cast<std::uint64_t>(got);
    }
  }
}

// Identifies a file's code. A build-id identifies the code that the linker wrote; tools that edit the file later
// (patches, objcopy, patchelf) keep it, so the code is also hashed, by a very fast hash. Without a build-id it is
// SHA-256, of the data too: jump tables say how code goes on that no call frame information covers. For much code it is
// the file's state. (What data and relocations name, with a build-id, is not hashed: it says where code may begin, and
// the rows come from the code. Go's linker writes a build-id of its own kind, which the owner can set at will.)
std::string code_identity(int fd, const ElfFacts& facts) {
  const bool linked = !facts.build_id.empty();
  std::uint64_t bytes = 0;
  for (const Segment& segment : linked ? facts.exec_segments : facts.segments)
    bytes += std::min(segment.size, kMaxTextBytes);
  if (bytes > (linked ? kMostHashedFast : kMostHashed)) return file_identity(fd);
  if (linked) {
    FastHash hash;
    read_segments(fd, facts.exec_segments, [&](std::span<const std::byte> piece) { hash.add(piece); });
    const auto sum = hash.finish();
    return {reinterpret_cast<const char*>(sum.data()), sizeof(sum)};
  }
  Sha256 hash;
  read_segments(fd, facts.segments, [&](std::span<const std::byte> piece) { hash.add(piece.data(), piece.size()); });
  const Digest digest = hash.finish();
  return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

// The symbols, which tell where functions without call frame information begin and end. Names count by their places.
template <typename Add>
void add_symbols(Elf* elf, const Add& add) {
  for (Elf_Scn* section = elf_nextscn(elf, nullptr); section != nullptr; section = elf_nextscn(elf, section)) {
    GElf_Shdr header{};
    if (gelf_getshdr(section, &header) == nullptr) return;
    if (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM) continue;
    const Elf_Data* data = elf_getdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) continue;
    FastHash hash;
    hash.add(std::span(static_cast<const std::byte*>(data->d_buf), data->d_size));
    for (const auto sum : hash.finish()) add(sum);
  }
}

Result<std::vector<std::uint8_t>> unwind_material(int fd, const std::string& name) {
  const auto facts = read_elf_facts(fd, name);
  if (!facts) return facts.error();
  const auto elf = open_elf(fd, name);
  if (!elf) return elf.error();
  const auto sources = read_cfi_sources(elf->get(), *facts, name);
  if (!sources) return sources.error();
  std::vector<std::uint8_t> material;
  const auto add = [&](std::uint64_t number) {
    for (int i = 0; i < 8; i++) material.push_back(static_cast<std::uint8_t>(number >> i * 8));
  };
  // Every list is preceded by its length, so that different files give different bytes.
  add(facts->build_id.size());
  material.insert(material.end(), facts->build_id.begin(), facts->build_id.end());
  add(facts->entry);
  add(facts->exec_segments.size());
  for (const Segment& segment : facts->exec_segments) {
    add(segment.offset);
    add(segment.size);
    add(segment.address);
  }
  add(sources->size());
  for (const CfiSource& source : *sources) {
    add(source.address);
    add(source.eh_frame ? 1 : 0);
    add(source.bytes.size());
    material.insert(material.end(), source.bytes.begin(), source.bytes.end());
  }
  const std::vector<std::uint8_t> go = go_pclntab_bytes(elf->get(), *facts);
  add(go.size());
  material.insert(material.end(), go.begin(), go.end());
  const V8Facts v8 = v8_facts(elf->get(), *facts);
  if (v8.builtins) {
    add(v8.builtins->start);
    add(v8.builtins->end);
  }
  add(v8.exports_interface ? 1 : 0);
  add_symbols(elf->get(), add);
  // Rows depend on some code too: trampolines, system calls after FDEs, prologues.
  const std::string code = code_identity(fd, *facts);
  add(code.size());
  material.insert(material.end(), code.begin(), code.end());
  return material;
}

}  // namespace

Result<Digest> unwind_digest(int fd, const std::string& name) {
  const auto material = unwind_material(fd, name);
  if (!material) return material.error();
  Sha256 hash;
  hash.add(material->data(), material->size());
  return hash.finish();
}

}  // namespace uscope::symbolizer
