// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The first facts that a tracer needs of an ELF file: where its code lies, and the libraries that it loads. Files come
// from traced programs and may be damaged or hostile: every read is bounded, and nothing is mapped, so that a file
// which shrinks meanwhile causes an error and no SIGBUS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "support/result.h"
#include "symbolizer/elf/elf_handles.h"

namespace uscope::symbolizer {

// The part of a PT_LOAD that comes from the file. In bytes; `address` is the ELF virtual address of `offset`.
struct Segment {
  std::uint64_t offset = 0;
  std::uint64_t size = 0;
  std::uint64_t address = 0;
};

struct ElfFacts {
  std::vector<Segment> exec_segments;  // executable ones, by file offset
  std::vector<Segment> segments;       // all PT_LOADs with bytes from the file, by file offset
  std::uint64_t load_start = 0;        // ELF addresses that the PT_LOADs span, rounded outwards to 4096
  std::uint64_t load_end = 0;
  std::string build_id;  // raw bytes, empty if there is none
  std::uint64_t entry = 0;
  bool position_independent = false;  // ET_DYN
  bool dynamic = false;               // has a PT_DYNAMIC
  std::string interpreter;            // PT_INTERP
  std::vector<std::string> needed;    // DT_NEEDED, in order
  bool mixed = false;                 // may hold a language's run-time system: a static program; Go, C++, Rust
  std::vector<std::string> runpath;   // DT_RUNPATH and DT_RPATH, split at ':', not expanded
  std::uint64_t file_size = 0;
};

// Reads the facts of the file behind `fd` with pread; the caller keeps `fd`. `name` is for messages only. Returns an
// error that says what the file is instead: not an ELF file, 32-bit, for another machine, not a program or library,
// truncated.
Result<ElfFacts> read_elf_facts(int fd, const std::string& name);

// The same for an image in memory, whose bytes must outlive the call.
Result<ElfFacts> read_elf_facts_from_memory(std::span<const std::byte> image, const std::string& name);

// The build-id, raw bytes; empty if there is none within the bounds.
std::string read_build_id(Elf* elf);

// Converts a file offset to an ELF address, and back; nullopt if no segment holds it.
std::optional<std::uint64_t> address_of_offset(std::span<const Segment> segments, std::uint64_t offset);
std::optional<std::uint64_t> offset_of_address(std::span<const Segment> segments, std::uint64_t address);

// libelf's handle for a file or an image that is a 64-bit little-endian x86-64 program or library; other files are an
// error. Files are opened with ELF_C_READ: sections are read, not mapped.
Result<ElfHandle> open_elf(int fd, const std::string& name);
Result<ElfHandle> open_elf_in_memory(std::span<const std::byte> image, const std::string& name);
Result<ElfFacts> elf_facts_of(Elf* elf, std::uint64_t file_size, const std::string& name);

}  // namespace uscope::symbolizer
