// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/names/demangle.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "tests/support/processor_time.h"
#include "tests/unit/symbolizer/symbols_test_support.h"

namespace uscope::symbolizer {
namespace {

TEST(Demangle, NamesOfCxx) {
  EXPECT_EQ(demangle("_ZN6uscope10symbolizer8demangleESt17basic_string_viewIcSt11char_traitsIcEE"),
            "uscope::symbolizer::demangle(std::basic_string_view<char, std::char_traits<char> >)");
  EXPECT_EQ(demangle("_ZNK3Foo3barEi"), "Foo::bar(int) const");
  EXPECT_EQ(demangle("_Z4coldv.cold"), "cold() [clone .cold]");
  EXPECT_EQ(demangle("_ZN12_GLOBAL__N_16hiddenEv"), "(anonymous namespace)::hidden()");
}

TEST(Demangle, NamesOfRustWithoutTheHash) {
  EXPECT_EQ(demangle("_ZN4core3fmt9Formatter3pad17h0123456789abcdefE"), "core::fmt::Formatter::pad");
  EXPECT_EQ(
      demangle("_ZN71_$LT$Test$u20$$u2b$$u20$$u27$static$u20$as$u20$foo..Bar$LT$Test$GT$$GT$3bar17h930b740aa94f1d3aE"),
      "<Test + 'static as foo::Bar<Test>>::bar");
  EXPECT_EQ(demangle("_RNvCskwGfYPst2Cb_7mycrate7example"), "mycrate::example");
  EXPECT_EQ(demangle("_RNqCs4fqI2P2rA04_11utf8_identsu30____7hkackfecea1cbdathfdh9hlq6y"),
            "utf8_idents::საჭმელად_გემრიელი_სადილი");
}

// As rustc-demangle does it: characters that can be shown; others, and what is no number, stay.
TEST(Demangle, RustNamesOfTheOldKindWithCharactersOutsideAscii) {
  EXPECT_EQ(demangle("_ZN4shop13_$u10e1$$u61$17h0123456789abcdefE"), "shop::სa");
  EXPECT_EQ(demangle("_ZN4shop10_$u1f980$b17h0123456789abcdefE"), "shop::🦀b");
  for (const char* kept : {"$ud800$", "$u110000$", "$u85$", "$u$", "$ux1$", "$u0000e1$"}) {
    const std::string name = std::string("a") + kept;
    const std::string shown = name == "a$u0000e1$" ? "aá" : name;
    EXPECT_EQ(demangle("_ZN4shop" + std::to_string(name.size()) + name + "17h0123456789abcdefE"), "shop::" + shown);
  }
}

TEST(Demangle, OtherNamesAsTheyAre) {
  for (const char* name : {"", "read", "_start", "_Z", "_R", "_Read", "main.cold", "_ZN", "?f@@YAXXZ", "Z4coldv"})
    EXPECT_EQ(demangle(name), name);
}

TEST(Demangle, HostileBytesBecomeUtf8) {
  EXPECT_EQ(demangle(std::string("a\xff\xfe") + "b"), "a\\xff\\xfeb");
  EXPECT_EQ(demangle("_Z3\xc3(\x80v"), "\\xc3(\\x80()");
  EXPECT_EQ(demangle(std::string("_Z1f\0v", 6)), std::string("_Z1f\0v", 6));
  EXPECT_EQ(bounded_utf8("12é456", 3), "12…");
  EXPECT_EQ(bounded_utf8("12é456", 4), "12é…");
}

// The names that binutils' own c++filt gives for every symbol of a large C++ library.
TEST(Demangle, AgreesWithCxxfiltOnLibstdcxx) {
  const std::string library = output_of("c++ -print-file-name=libstdc++.so.6");
  const std::string path = library.substr(0, library.find('\n'));
  const TemporaryFolder folder;
  std::string list;
  std::vector<std::string> mangled;
  for (const ListedSymbol& symbol : listed_symbols(path)) {
    mangled.push_back(symbol.name);
    list += symbol.name + "\n";
  }
  ASSERT_GT(mangled.size(), 2000u);
  const std::vector<std::string> expected = lines_of("c++filt --no-verbose < " + folder.write("names", list));
  ASSERT_EQ(expected.size(), mangled.size());
  for (std::size_t i = 0; i < mangled.size(); i++) EXPECT_EQ(demangle(mangled[i]), expected[i]) << mangled[i];
}

// Above 1024 bytes libiberty refuses names under its own limit, as strace and binutils show them.
TEST(Demangle, LongNames) {
  std::string mangled = "_ZN";
  std::string plain;
  for (int i = 0; i < 150; i++) {
    mangled += "10namespace1";
    plain += "namespace1::";
  }
  EXPECT_EQ(demangle(mangled + "1fEv"), plain + "f()");
  const std::string too_long = "_Z5000" + std::string(5000, 'x') + "v";
  EXPECT_EQ(demangle(too_long), too_long.substr(0, kMaxMangledName) + "…");
}

// f(A<A<…>, A<…>>): each level holds the one below twice, by a substitution of three letters.
std::string nested_twice(int levels) {
  constexpr char kDigits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
  std::string name = "_Z1f1A";
  for (int i = 0; i < levels; i++) name += "IS_";
  name += "Iii";
  for (int i = 0; i < levels; i++) name += std::string("ES") + kDigits[i] + "_";
  return name + "E";
}

TEST(Demangle, ExplodingNamesStayMangled) {
  EXPECT_EQ(demangle(nested_twice(1)), "f(A<A<int, int>, A<int, int> >)");
  EXPECT_GT(demangle(nested_twice(9)).size(), 8000u);
  EXPECT_LT(test::processor_seconds_of([] {
              EXPECT_EQ(demangle(nested_twice(11)), nested_twice(11));
              EXPECT_EQ(demangle(nested_twice(36)), nested_twice(36));  // 2^36 times "int"
            }),
            2);
}

// Deep recursion within the input's bound must fit in the stack of a thread.
TEST(Demangle, DeepNamesFitTheStack) {
  std::thread([] {
    for (const std::string piece :
         {"P", "R", "K", "1AI", "FvP", "A1_", "XadL_Z1fI", "N1AI", "Dp", "DTfp_", "LZ", "XplLi1E"}) {
      std::string name = "_Z1f";
      while (name.size() + piece.size() < kMaxMangledName) name += piece;
      EXPECT_EQ(demangle(name).substr(0, 4), name.substr(0, 4)) << piece;
    }
    for (const std::string piece : {"R", "Q", "P", "O", "S", "T", "NvNv", "INv", "XC1a", "FK"}) {
      std::string name = "_R";
      while (name.size() + piece.size() < kMaxMangledName) name += piece;
      EXPECT_EQ(demangle(name), name) << piece;
    }
    const std::string name(600, 'n');
    EXPECT_EQ(demangle("_Z600" + name + std::string(900, 'P') + "i"), name + "(int" + std::string(900, '*') + ")");
  }).join();
}

}  // namespace
}  // namespace uscope::symbolizer
