// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Where a Rust program, also one without symbols, has crates and Rust's standard library. Functions that may panic
// refer to the place in the source, with the file's path. rustc gives the linker the program's own objects, then those
// of crates, then those of the library, and linkers keep that order: the library is the longest stretch of code that
// refers to files of the library and to none of the program and its crates. Crates begin with the first function behind
// the last one of the program's that refers to a crate's file. Functions of library and crates that were made for the
// program's types (generic ones) lie among the program's, and are not known.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "support/result.h"
#include "symbolizer/elf/elf_facts.h"

namespace uscope::symbolizer {

enum class RustSource : std::uint8_t {
  kLibrary,  // std, core, alloc
  kBundled,  // a crate that comes with them, and that programs may use, too: says nothing
  kCrate,    // copied by cargo
  kPackage,  // of a distribution, which builds its programs as crates, too
  kProgram,  // anything else
};

[[nodiscard]] RustSource rust_source(std::string_view path);

// Code that refers to a source file.
struct RustReference {
  std::uint64_t address = 0;
  RustSource source = RustSource::kProgram;
};

// ELF addresses.
struct RustLibrary {
  std::uint64_t after = 0;  // both of code that is not the library's
  std::uint64_t before = UINT64_MAX;
  std::uint64_t crates = UINT64_MAX;  // of the first code that is a crate's; none of the program's is behind it
};

// `references` by address; `main`: the address of main(), which is the program's. In programs that a distribution has
// built, files behind the crates that seem to be the program's are bundled ones. nullopt: too few are the library's.
[[nodiscard]] std::optional<RustLibrary> find_rust_library(std::span<const RustReference> references,
                                                           std::uint64_t main);

// The same, of a file; it is read whole, up to 256 MiB, and not kept.
[[nodiscard]] std::optional<RustLibrary> read_rust_library(int fd, const ElfFacts& facts, std::uint64_t dynamic,
                                                           std::uint64_t dynamic_bytes, std::uint64_t main);

}  // namespace uscope::symbolizer
