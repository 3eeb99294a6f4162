// Separate debug information of one ELF file: symbols and DWARF that were taken out of it, and where they rest.
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

// Of one program, or shared by several (by dwz).
enum class DebugFileKind { kDebug, kAlternate };

// A further ELF file: its bytes outlive its Elf.
struct DebugFile {
  UniqueFd fd;                   // or
  std::vector<std::byte> image;  // decompressed
  ElfHandle elf;
  std::vector<ElfSection> sections;
  std::string path;  // empty where it has none: decompressed, or fetched
};

// What was found for one ELF file; each may be missing.
struct DebugFiles {
  std::unique_ptr<DebugFile> debug;      // .symtab, and DWARF where the file itself has none
  std::unique_ptr<DebugFile> alternate;  // what dwz moved out of the DWARF that is used (.gnu_debugaltlink)
};

// Gives the debug file of a build-id (raw bytes), or an empty UniqueFd. It is checked like any other.
using DebugFetcher = std::function<UniqueFd(const std::string& build_id)>;

// Finds debug files in the places gdb looks at, in this order, in the mount namespace of this process:
// - ROOT/.build-id/xx/yyyy.debug of each root: the file must carry the same build-id;
// - by .gnu_debuglink's name, in the binary's folder, its .debug folder, and ROOT/<the binary's folder>: the file's
//   CRC-32 must be the link's, and a build-id must not differ where both have one. So a file of that name which belongs
//   to another binary (of another mount namespace) is not taken;
// - the fetcher, asked by build-id: the file must carry the same one.
// Only regular ELF files for x86-64 are read; whatever else lies there is passed over without waiting for it.
class DebugFileFinder {
 public:
  explicit DebugFileFinder(std::vector<std::string> roots, DebugFetcher fetch = {});

  // `elf` and its `sections`; `path` is what it was traced as and serves for its folder only. A file that has .symtab
  // and .debug_info needs no debug file, and none is looked for.
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

// The ELF file inside .gnu_debugdata, whose .symtab has the functions that .dynsym lacks: xz, of at most 64 MiB
// decompressed. Null where there is none, or it is damaged or larger.
std::unique_ptr<DebugFile> read_debug_data(const std::vector<ElfSection>& sections);

// The build-id that .gnu_debugaltlink asks for, raw bytes; empty where there is no such section.
std::string alternate_build_id(const std::vector<ElfSection>& sections);

// The build-id of an ELF file, raw bytes; empty where it has none, or one that is longer than 64 bytes.
std::string build_id_of(Elf* elf);

}  // namespace uscope::symbolizer
