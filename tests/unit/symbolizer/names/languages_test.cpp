// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Names of what the compilers of other languages write, against those languages' own tools.
#include "tests/unit/symbolizer/symbols_test_support.h"

namespace uscope::symbolizer {
namespace {

constexpr char kRust[] = R"(
mod shop {
    pub struct Counter<T> { pub total: T }
    pub trait Add { fn add(&mut self, n: i32) -> i32; }
    impl Add for Counter<i32> {
        #[inline(never)]
        fn add(&mut self, n: i32) -> i32 {
            self.total += n;
            let fail = move |m: i32| -> i32 { if m > 0 { panic!("shown") } else { m } };
            fail(self.total)
        }
    }
    #[inline(never)]
    pub fn twice<T: Add>(value: &mut T) -> i32 { value.add(1) + value.add(2) }
}
#[inline(never)]
fn სადილი(n: i32) -> i32 { shop::twice(&mut shop::Counter { total: n }) }
fn main() { std::process::exit(სადილი(std::env::args().count() as i32)); }
)";

// "shop[b12d5a71]::main" and "shop::main::h0123456789abcdef" without what is in brackets, and without the hash.
std::string without_hashes(const std::string& name) {
  constexpr std::size_t kHash = 19;
  std::string text;
  bool brackets = false;
  for (const char c : name) {
    if (c == '[') brackets = true;
    if (!brackets) text += c;
    if (c == ']') brackets = false;
  }
  const bool hash = text.size() > kHash && text.rfind("::h") == text.size() - kHash;
  return hash ? text.substr(0, text.size() - kHash) : text;
}

// The backtrace that Rust's own library prints, with its own demangler: "  3:  0x401234 - shop::twice". In full it has
// hashes and crate numbers, which are left out here as everywhere.
void expect_names_of_backtrace(const std::string& options, int least) {
  ASSERT_TRUE(has_command("rustc"));
  const TemporaryFolder folder;
  const std::string program = folder.file("shop");
  output_of("PATH=/usr/bin:$PATH rustc -C relocation-model=static -C target-feature=+crt-static " + options + " -o '" +
            program + "' '" + folder.write("shop.rs", kRust) + "' 2>/dev/null");
  const auto symbols = open_module(program);
  ASSERT_TRUE(symbols);
  int seen = 0;
  for (const std::string& line : lines_of("RUST_BACKTRACE=full '" + program + "' 2>&1 || true")) {
    const std::size_t address = line.find(" 0x");
    const std::size_t dash = line.find(" - ");
    if (address == std::string::npos || dash == std::string::npos || line.find("shop") == std::string::npos) continue;
    const std::string name = without_hashes(line.substr(dash + 3));
    EXPECT_EQ(symbols->resolve(hex(line.substr(address + 1)), false).back().function, name) << line;
    seen++;
  }
  EXPECT_GE(seen, least);
}

TEST(Languages, RustNamesOfTheOldKind) {
  expect_names_of_backtrace("", 5);
}

TEST(Languages, RustNamesOfTheNewKind) {
  expect_names_of_backtrace("-C symbol-mangling-version=v0", 5);
}

constexpr char kGo[] = R"(
package main

import "os"

type counter struct{ total int }

//go:noinline
func (c *counter) add(n int) int { c.total += n; return c.total }

//go:noinline
func twice[T any](f func(T) int, v T) int { return f(v) + f(v) }

func main() {
	c := &counter{}
	visit := func(n int) int { return c.add(n) }
	os.Exit(twice(visit, len(os.Args)) - 3)
}
)";

TEST(Languages, GoNamesAsTheyAre) {
  ASSERT_TRUE(has_command("go"));
  const TemporaryFolder folder;
  const std::string program = folder.file("program");
  const std::string source = folder.write("main.go", kGo);
  output_of("GOCACHE='" + folder.file("cache") + "' go build -o '" + program + "' '" + source + "'");
  const auto symbols = open_module(program);
  ASSERT_TRUE(symbols);
  std::vector<std::string> seen;
  for (const std::string& line : lines_of("go tool nm '" + program + "'")) {
    std::istringstream fields(line);
    std::string address;
    std::string type;
    std::string name;
    fields >> address >> type;
    std::getline(fields >> std::ws, name);
    if (type != "T" || !name.starts_with("main.")) continue;
    EXPECT_EQ(function_at(*symbols, hex(address)), name + "+0");
    seen.push_back(name);
  }
  const std::vector<std::string> expected{"main.(*counter).add", "main.main", "main.main.func1",
                                          "main.twice[go.shape.int_0]"};
  EXPECT_EQ(seen, expected);
}

}  // namespace
}  // namespace uscope::symbolizer
