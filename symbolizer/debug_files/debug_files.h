// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Separate debug information of one ELF file: symbols and DWARF that were moved out of it, and where to find them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "support/result.h"
#include "support/unique_fd.h"
#include "symbolizer/elf/elf_handles.h"
#include "symbolizer/elf/elf_sections.h"

namespace uscope::symbolizer {

// For one program, or shared by several (made by dwz).
enum class DebugFileKind { kDebug, kAlternate };

// Another ELF file; its bytes outlive its Elf.
struct DebugFile {
  UniqueFd fd;                   // or
  std::vector<std::byte> image;  // decompressed
  ElfHandle elf;
  std::vector<ElfSection> sections;
  std::string path;  // empty if the file has none: decompressed, or fetched
};

// The files found for one ELF file; each may be missing.
struct DebugFiles {
  std::unique_ptr<DebugFile> debug;      // .symtab, and DWARF if the file itself has none
  std::unique_ptr<DebugFile> alternate;  // the DWARF that dwz moved out of the DWARF in use (.gnu_debugaltlink)
};

// Returns the debug file for a build-id (raw bytes), or an empty UniqueFd. The file is checked like any other.
using DebugFetcher = std::function<UniqueFd(const std::string& build_id)>;

// Searches debug files in the places that gdb uses, in this order, in the mount namespace of this process:
// - ROOT/.build-id/xx/yyyy.debug of each root: the file must carry the same build-id;
// - the name in .gnu_debuglink, in the binary's folder, its .debug folder, and ROOT/<the binary's folder>: the file's
//   CRC-32 must be the link's, and if both have a build-id they must be equal. So a file of that name that belongs to
//   another binary (of another mount namespace) is not taken;
// - the fetcher, by build-id: the file must carry the same one.
// Only regular ELF files for x86-64 are read; anything else in these places is skipped without waiting for it.
class DebugFileFinder {
 public:
  explicit DebugFileFinder(std::vector<std::string> roots, DebugFetcher fetch = {});

  // `elf` and its `sections` are the binary's; `path` is the path that was traced, of which only the folder is used.
  // For a file that has .symtab and .debug_info no debug file is searched.
  [[nodiscard]] DebugFiles find(Elf* elf, const std::vector<ElfSection>& sections, const std::string& path) const;

 private:
  [[nodiscard]] std::unique_ptr<DebugFile> by_build_id(const std::string& build_id, DebugFileKind kind) const;
  [[nodiscard]] std::unique_ptr<DebugFile> by_link(const std::vector<ElfSection>& sections, const std::string& path,
                                                   const std::string& build_id) const;
  [[nodiscard]] std::unique_ptr<DebugFile> fetched(const std::string& build_id, DebugFileKind kind) const;
  [[nodiscard]] std::unique_ptr<DebugFile> alternate_of(const std::vector<ElfSection>& sections,
                                                        const std::string& path) const;

  std::vector<std::string> roots_;
  DebugFetcher fetch_;
};

// The ELF file inside .gnu_debugdata, whose .symtab has the functions that .dynsym lacks: xz, at most 64 MiB
// decompressed. Returns null if there is none, or if it is damaged or larger.
std::unique_ptr<DebugFile> read_debug_data(const std::vector<ElfSection>& sections);

// The build-id that .gnu_debugaltlink names, raw bytes; empty if there is no such section.
std::string alternate_build_id(const std::vector<ElfSection>& sections);

// The build-id of an ELF file, raw bytes; empty if it has none, or one longer than 64 bytes.
std::string build_id_of(Elf* elf);

}  // namespace uscope::symbolizer
