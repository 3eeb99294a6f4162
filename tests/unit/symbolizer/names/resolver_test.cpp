// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <gtest/gtest.h>

#include <map>

#include "symbolizer/names/symbol_resolver.h"
#include "tests/unit/symbolizer/symbols_test_support.h"

namespace uscope::symbolizer {
namespace {

class Resolver : public testing::Test {
 protected:
  void SetUp() override {
    for (int i = 0; i < 5; i++) {
      const std::string name = "function_" + std::to_string(i);
      const std::string source =
          folder_.write("source.c", "int " + name + "(void) { return " + std::to_string(i) + "; }\n");
      output_of("cc -shared -nostdlib -o '" + path(i) + "' '" + source + "'");
      addresses_[i] = address_of(path(i), name);
    }
  }

  [[nodiscard]] std::string path(int i) const { return folder_.file("lib" + std::to_string(i) + ".so"); }

  std::string resolve(SymbolResolver& resolver, int i) {
    const auto opener = [&, i]() -> Result<std::unique_ptr<ModuleSymbols>> {
      opened_[i]++;
      const UniqueFd fd(open(path(i).c_str(), O_RDONLY | O_CLOEXEC));
      return ModuleSymbols::open(fd.get(), path(i));
    };
    return resolver.resolve(std::to_string(i), path(i), opener, addresses_[i] + 1, true).back().function;
  }

  TemporaryFolder folder_;
  std::map<int, std::uint64_t> addresses_;
  std::map<int, int> opened_;
};

TEST_F(Resolver, OpensEachModuleOnce) {
  SymbolResolver resolver;
  for (int round = 0; round < 3; round++)
    for (int i = 0; i < 5; i++) EXPECT_EQ(resolve(resolver, i), "function_" + std::to_string(i));
  for (int i = 0; i < 5; i++) EXPECT_EQ(opened_[i], 1);
  EXPECT_EQ(resolver.open_modules(), 5u);
  EXPECT_TRUE(resolver.errors().empty());
}

TEST_F(Resolver, ClosesTheOneUnusedForLongest) {
  SymbolResolver resolver({.modules = 2, .bytes = 1u << 30, .remembered_errors = 10});
  for (const int i : {0, 1, 0, 2}) EXPECT_EQ(resolve(resolver, i), "function_" + std::to_string(i));
  EXPECT_EQ(resolver.open_modules(), 2u);
  EXPECT_EQ(resolve(resolver, 0), "function_0");
  EXPECT_EQ(opened_[0], 1);
  EXPECT_EQ(resolve(resolver, 1), "function_1");
  EXPECT_EQ(opened_[1], 2);
}

TEST_F(Resolver, BoundsItsMemory) {
  SymbolResolver resolver({.modules = 64, .bytes = 1, .remembered_errors = 10});
  for (int i = 0; i < 5; i++) EXPECT_EQ(resolve(resolver, i), "function_" + std::to_string(i));
  EXPECT_EQ(resolver.open_modules(), 1u);
  const std::size_t one = resolver.footprint();
  EXPECT_GT(one, 0u);
  EXPECT_EQ(resolve(resolver, 0), "function_0");
  EXPECT_LT(resolver.footprint(), 2 * one);
}

TEST_F(Resolver, RemembersWhatCannotBeOpened) {
  SymbolResolver resolver({.modules = 64, .bytes = 1u << 30, .remembered_errors = 1});
  int tried = 0;
  const auto opener = [&]() -> Result<std::unique_ptr<ModuleSymbols>> {
    tried++;
    return Error{"cannot open /gone/libgone.so: No such file or directory", ""};
  };
  for (const std::uint64_t address : {0x10, 0x1234}) {
    const auto frames = resolver.resolve("gone", "/gone/libgone.so", opener, address, false);
    ASSERT_EQ(frames.size(), 1u);
    EXPECT_EQ(frames[0], unknown_frame("/gone/libgone.so", address));
  }
  EXPECT_EQ(unknown_frame("/gone/libgone.so", 0x1234).function, "libgone.so+0x1234");
  EXPECT_EQ(tried, 1);
  ASSERT_EQ(resolver.errors().size(), 1u);
  EXPECT_EQ(resolver.errors()[0].key, "gone");
  EXPECT_EQ(resolver.errors()[0].error.what, "cannot open /gone/libgone.so: No such file or directory");
  // Above the bound on errors they are not kept.
  for (int i = 0; i < 2; i++) resolver.resolve("other", "other", opener, 1, true);
  EXPECT_EQ(tried, 3);
  EXPECT_EQ(resolver.errors().size(), 1u);
}

}  // namespace
}  // namespace uscope::symbolizer
