// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/names/rust_library.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace uscope::symbolizer {
namespace {

TEST(RustSource, ByItsPath) {
  for (const char* path :
       {"library/std/src/fs.rs", "/rustc/2c8cc343237b8f7d5a3c3703e3a87f2eb2c54a74/library/core/src/str/mod.rs",
        "/usr/src/rustc-1.63.0/library/alloc/src/vec/mod.rs"})
    EXPECT_EQ(rust_source(path), RustSource::kLibrary) << path;
  for (const char* path :
       {"/cargo/registry/src/github.com-1ecc6299db9ec823/hashbrown-0.12.3/src/raw/mod.rs",
        "/rust/deps/gimli-0.31.1/src/read/abbrev.rs", "/usr/src/rustc-1.63.0/vendor/addr2line-0.16.0/src/lib.rs",
        "/usr/src/rustc-1.63.0/vendor/rustc-demangle/src/v0.rs"})
    EXPECT_EQ(rust_source(path), RustSource::kBundled) << path;
  EXPECT_EQ(rust_source("/root/.cargo/registry/src/index.crates.io-6f17d22bba15001f/walkdir-2.4.0/src/lib.rs"),
            RustSource::kCrate);
  EXPECT_EQ(rust_source("/usr/share/cargo/registry/ignore-0.4.18/src/walk.rs"), RustSource::kPackage);
  for (const char* path : {"src/main.rs", "crates/library/src/lib.rs", "/srv/library/main.rs", "my_library/std/x.rs"})
    EXPECT_EQ(rust_source(path), RustSource::kProgram) << path;
}

// A word: l = the library, c = a crate, d = a distribution's, p = the program, b = bundled; each 16 bytes behind the
// last.
std::vector<RustReference> references_of(const std::string& word) {
  std::vector<RustReference> references;
  for (std::size_t at = 0; at < word.size(); at++) {
    const auto source = std::string("lbcdp").find(word[at]);
    constexpr RustSource kSources[] = {RustSource::kLibrary, RustSource::kBundled, RustSource::kCrate,
                                       RustSource::kPackage, RustSource::kProgram};
    references.push_back({0x1000 + at * 16, kSources[source]});
  }
  return references;
}

// The crates begin at this letter of the word, where main() is behind the letter `main`.
std::string crates(const std::string& word, std::size_t main) {
  const auto library = find_rust_library(references_of(word), 0x1000 + main * 16 + 8);
  if (!library || library->crates == UINT64_MAX) return "none";
  return std::to_string((library->crates - 0x1000) / 16);
}

std::string found(const std::string& word) {
  const auto library = find_rust_library(references_of(word), 0);
  if (!library) return "none";
  return std::to_string(library->after == 0 ? 0 : (library->after - 0x1000) / 16) + " " +
         (library->before == UINT64_MAX ? "end" : std::to_string((library->before - 0x1000) / 16));
}

TEST(RustLibrary, IsTheLongestStretchOfItsOwn) {
  const std::string many(20, 'l');
  EXPECT_EQ(found("plpclc" + many), "5 end");
  EXPECT_EQ(found("plpclc" + many + "blb" + "c"), "5 29");
  EXPECT_EQ(found("pl" + many + "p" + many + many), "22 end");
  EXPECT_EQ(found("dldld" + many + "plp" + many), "4 end");  // a distribution's: p is bundled
  EXPECT_EQ(found("pllllp"), "none");
  EXPECT_EQ(found(""), "none");
}

TEST(RustLibrary, CratesBeginBehindTheProgram) {
  const std::string many(20, 'l');
  EXPECT_EQ(crates("pcplclc" + many + "c", 0), "4");
  EXPECT_EQ(crates("pcplclc" + many + "c", 5), "6");  // main() is the program's, too
  EXPECT_EQ(crates("pcplp" + many, 0), "none");
  EXPECT_EQ(crates("ccl" + many + "c", 0), "none");     // cargo's copy of a program: its own files are not known
  EXPECT_EQ(crates("pdplddl" + many + "plp", 1), "4");  // a distribution's: p is bundled behind the library's begin
}

}  // namespace
}  // namespace uscope::symbolizer
