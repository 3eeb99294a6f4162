// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/names/rust_library.h"

#include <elf.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <unordered_map>
#include <vector>

#include "symbolizer/code/known_bytes.h"
#include "symbolizer/elf/machine.h"

namespace uscope::symbolizer {
namespace {

constexpr std::uint64_t kMostBytes = 256U << 20;
constexpr std::size_t kFewest = 16;  // references to the library
constexpr std::size_t kMostPath = 300;

struct Part {
  std::uint64_t address = 0;
  std::vector<std::uint8_t> bytes;
};

// The bytes of a file's segments.
class Image {
 public:
  Image(int fd, const ElfFacts& facts) {
    std::uint64_t total = 0;
    for (const Segment& segment : facts.segments) total += segment.size;
    if (total > kMostBytes) return;
    for (const Segment& segment : facts.segments) {
      Part& part = parts_.emplace_back(Part{segment.address, std::vector<std::uint8_t>(segment.size)});
      const ssize_t got = pread(fd, part.bytes.data(), part.bytes.size(), static_cast<off_t>(segment.offset));
      part.bytes.resize(got < 0 ? 0 : static_cast<std::size_t>(got));
    }
  }

  // What there is from an address on, at most `size` bytes.
  [[nodiscard]] std::span<const std::uint8_t> at(std::uint64_t address, std::uint64_t size) const {
    for (const Part& part : parts_) {
      if (address < part.address || address - part.address >= part.bytes.size()) continue;
      const auto rest = std::span(part.bytes).subspan(address - part.address);
      return rest.first(std::min<std::uint64_t>(rest.size(), size));
    }
    return {};
  }

  template <typename T>
  [[nodiscard]] std::optional<T> value(std::uint64_t address) const {
    const auto bytes = at(address, sizeof(T));
    if (bytes.size() < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes.data(), sizeof(T));
    return value;
  }

 private:
  std::vector<Part> parts_;
};

using Places = std::unordered_map<std::uint64_t, RustSource>;

// core::panic::Location: the path, its length, a line and a column. The path's address comes from a relocation.
struct Location {
  std::uint64_t path_bytes;
  std::uint32_t line;
  std::uint32_t column;
};

void add_place(const Image& image, const Elf64_Rela& relocation, Places& places) {
  if (ELF64_R_TYPE(relocation.r_info) != kRelative) return;
  const auto location = image.value<Location>(relocation.r_offset + sizeof(std::uint64_t));
  if (!location || location->path_bytes < 4 || location->path_bytes > kMostPath || location->line == 0) return;
  const auto bytes = image.at(static_cast<std::uint64_t>(relocation.r_addend), location->path_bytes);
  const std::string_view path(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (path.size() == location->path_bytes && path.ends_with(".rs"))
    places.emplace(relocation.r_offset, rust_source(path));
}

Places read_places(const Image& image, std::uint64_t dynamic, std::uint64_t dynamic_bytes) {
  std::uint64_t table = 0;
  std::uint64_t size = 0;
  for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic_bytes; at += sizeof(Elf64_Dyn)) {
    const auto entry = image.value<Elf64_Dyn>(dynamic + at);
    if (!entry || entry->d_tag == DT_NULL) break;
    if (entry->d_tag == DT_RELA) table = entry->d_un.d_ptr;
    if (entry->d_tag == DT_RELASZ) size = entry->d_un.d_val;
  }
  Places places;
  for (std::uint64_t at = 0; at + sizeof(Elf64_Rela) <= size; at += sizeof(Elf64_Rela)) {
    const auto relocation = image.value<Elf64_Rela>(table + at);
    if (!relocation) break;
    add_place(image, *relocation, places);
  }
  return places;
}

// Instructions that load an address, wherever their bytes stand: an address that happens to be one of a place is one.
void add_references(std::span<const std::uint8_t> code, std::uint64_t address, const Places& places,
                    std::vector<RustReference>& references) {
  for (std::size_t at = 0; at + kAddressLoadBytes <= code.size(); at++) {
    const auto loaded = loaded_address(code.subspan(at), address + at);
    if (!loaded) continue;
    const auto place = places.find(*loaded);
    if (place != places.end()) references.push_back({address + at, place->second});
  }
}

// Where the crates begin. A program whose own files are not known (`cargo install`: cargo's copy of them) has no such
// place. `library`: behind it, files that seem to be the program's may be bundled ones.
std::uint64_t first_of_crates(std::span<const RustReference> references, std::uint64_t library, std::uint64_t main) {
  std::uint64_t last_own = 0;
  for (const RustReference& one : references)
    if (one.source == RustSource::kProgram && one.address <= library) last_own = one.address;
  if (last_own == 0) return UINT64_MAX;
  last_own = std::max(last_own, main);
  for (const RustReference& one : references)
    if (one.address > last_own && (one.source == RustSource::kCrate || one.source == RustSource::kPackage))
      return one.address;
  return UINT64_MAX;
}

}  // namespace

RustSource rust_source(std::string_view path) {
  const auto holds = [&](std::string_view part) { return path.find(part) != std::string_view::npos; };
  constexpr std::array<std::string_view, 10> kLibrary{
      "std", "core", "alloc", "test", "proc_macro", "unwind", "panic_unwind", "panic_abort", "backtrace", "stdarch"};
  for (std::size_t at = path.find("library/"); at != std::string_view::npos; at = path.find("library/", at + 1)) {
    const std::string_view rest = path.substr(at + 8);
    const std::string_view crate = rest.substr(0, rest.find('/'));
    if ((at == 0 || path[at - 1] == '/') && std::find(kLibrary.begin(), kLibrary.end(), crate) != kLibrary.end())
      return RustSource::kLibrary;
  }
  constexpr std::array<std::string_view, 10> kBundled{"/gimli-",          "/addr2line-", "/object-", "/miniz_oxide-",
                                                      "/rustc-demangle-", "/adler-",     "/adler2-", "/hashbrown-",
                                                      "/memchr-",         "/rust/deps/"};
  if (std::any_of(kBundled.begin(), kBundled.end(), holds)) return RustSource::kBundled;
  if (holds("/rustc") && holds("/vendor/")) return RustSource::kBundled;
  if (path.starts_with("/usr/share/cargo/registry/")) return RustSource::kPackage;
  const bool copied = holds("/registry/") || holds("/git/checkouts/") || holds("/cargo/vendor/");
  return copied ? RustSource::kCrate : RustSource::kProgram;
}

std::optional<RustLibrary> find_rust_library(std::span<const RustReference> references, std::uint64_t main) {
  const bool is_package = std::any_of(references.begin(), references.end(),
                                      [](const RustReference& one) { return one.source == RustSource::kPackage; });
  const auto is_other = [&](RustSource source) {
    return source == RustSource::kCrate || source == RustSource::kPackage ||
           (source == RustSource::kProgram && !is_package);
  };
  RustLibrary best;
  std::size_t most = 0;
  RustLibrary gap;
  std::size_t count = 0;
  const auto end_gap = [&](std::uint64_t before) {
    gap.before = before;
    if (count > most) {
      most = count;
      best = gap;
    }
    gap.after = before;
    count = 0;
  };
  for (const RustReference& one : references) {
    if (one.source == RustSource::kLibrary) count++;
    if (is_other(one.source)) end_gap(one.address);
  }
  end_gap(UINT64_MAX);
  if (most < kFewest) return std::nullopt;
  // main() is among the last functions of the program's own.
  if (main > best.after && main < best.before) best.after = main;
  best.crates = first_of_crates(references, best.after, main);
  return best;
}

std::optional<RustLibrary> read_rust_library(int fd, const ElfFacts& facts, std::uint64_t dynamic,
                                             std::uint64_t dynamic_bytes, std::uint64_t main) {
  const Image image(fd, facts);
  const Places places = read_places(image, dynamic, dynamic_bytes);
  if (places.size() < kFewest) return std::nullopt;
  std::vector<RustReference> references;
  for (const Segment& segment : facts.exec_segments)
    add_references(image.at(segment.address, segment.size), segment.address, places, references);
  return find_rust_library(references, main);
}

}  // namespace uscope::symbolizer
