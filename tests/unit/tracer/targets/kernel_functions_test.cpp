// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Functions of kernels whose /proc and tracefs stand in a folder.
#include "tracer/targets/kernel_functions.h"

#include <bpf/btf.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string_view>

#include "tests/support/temporary_folder.h"
#include "tracer/targets/target_search.h"

namespace uscope::tracer {
namespace {

constexpr const char* kNowhere =
    "ftrace has no place in it: it is notrace, was run at boot only, or is not a C function";
constexpr const char* kLock = "the tracer's own programs take such a lock, and could wait there for themselves";

class KernelFunctionsTest : public testing::Test {
 protected:
  KernelFunctionsTest() {
    put("/proc/kallsyms",
        "ffffffff81000000 T _text\n"
        "ffffffff81000010 t __pfx_vfs_read\n"
        "ffffffff81000020 T vfs_read\n"
        "ffffffff81000040 T ksys_lives_after\n"
        "ffffffff81000060 t show\n"
        "ffffffff81000080 t show\n"
        "ffffffff810000a0 T __x64_sys_getppid\n"
        "ffffffff810000a0 T __ia32_sys_getppid\n"
        "ffffffff810000c0 t part.isra.0\n"
        "ffffffff810000e0 t vfs_read.cold\n"
        "ffffffff81000100 T _raw_spin_unlock_irqrestore\n"
        "ffffffff81000120 D a_variable\n"
        "ffffffff81000140 t forbidden\n"
        "ffffffffc0001000 t ext4_sync_file\t[ext4]\n"
        "ffffffffc0009000 t bpf_prog_1234\t[bpf]\n"
        "ffffffffc0009100 t optinsn\t[__builtin__kprobes]\n");
    std::filesystem::create_directories(folder_ / "sys/kernel/tracing/events");
  }
  void put(const std::string& path, const std::string& text) const {
    const auto file = std::filesystem::path(folder_.path() + path);
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << text;
  }
  void put_addresses() const {
    put("/sys/kernel/tracing/available_filter_functions", "vfs_read\n");
    put("/sys/kernel/tracing/available_filter_functions_addrs",
        "ffffffff81000024 vfs_read\n"
        "ffffffff81000080 show\n"
        "ffffffff810000a4 __ia32_sys_getppid\n"
        "ffffffff810000c0 part.isra.0\n"
        "ffffffff81000104 _raw_spin_unlock_irqrestore\n"
        "ffffffff81000144 forbidden\n"
        "ffffffffc0001004 ext4_sync_file [ext4]\n");
    put("/sys/kernel/debug/kprobes/blacklist", "0xffffffff81000140-0xffffffff81000150\tforbidden\n");
  }
  [[nodiscard]] Host host() const { return {folder_.path(), "6.12.0", 0}; }
  // Reasons by name and the last digits of the address.
  [[nodiscard]] std::map<std::string, std::string> reasons(
      KernelFunctionsBy by = KernelFunctionsBy::kKprobeMulti,
      const std::function<bool(std::string_view)>& is_meant = [](std::string_view) { return true; }) const {
    std::map<std::string, std::string> out;
    const auto functions = kernel_functions(host(), by, is_meant);
    EXPECT_TRUE(functions);
    if (!functions) return out;
    for (const KernelFunction& function : *functions)
      out[function.name + " " + std::to_string(function.address & 0xfff)] = function.why_not;
    return out;
  }
  [[nodiscard]] TargetAnswer find(const std::string& text) const {
    const std::vector targets{*parse_target(text)};
    TargetSearch search;
    search.host = host();
    auto answers = search_targets(targets, search);
    EXPECT_TRUE(answers && answers->size() == 1);
    return std::move(answers->front());
  }
  test::TemporaryFolder folder_;
};

TEST_F(KernelFunctionsTest, TraceableIsWhereFtraceCanStop) {
  put_addresses();
  const auto found = reasons();
  const std::map<std::string, std::string> expected = {
      {"_raw_spin_unlock_irqrestore 256", kLock},
      {"_text 0", kNowhere},
      {"vfs_read 32", ""},
      {"ksys_lives_after 64", kNowhere},
      {"show 96", kNowhere},
      {"show 128", ""},
      {"__x64_sys_getppid 160", ""},
      {"__ia32_sys_getppid 160", ""},
      {"part.isra.0 192", ""},
      {"forbidden 320", "the kernel forbids probes in it (kprobes/blacklist)"},
      {"ext4_sync_file 0", ""}};
  EXPECT_EQ(found, expected);
  EXPECT_EQ(why_no_kernel_functions(host(), KernelFunctionsBy::kKprobeMulti), "");
  EXPECT_NE(why_no_kernel_functions(host(), KernelFunctionsBy::kNone), "");
}

// Hooks of the kernel module wait for no lock.
TEST_F(KernelFunctionsTest, TheModuleTakesLocksToo) {
  put_addresses();
  auto found = reasons(KernelFunctionsBy::kFtrace);
  EXPECT_EQ(found["_raw_spin_unlock_irqrestore 256"], "");
  found.erase("_raw_spin_unlock_irqrestore 256");
  auto by_programs = reasons();
  by_programs.erase("_raw_spin_unlock_irqrestore 256");
  EXPECT_EQ(found, by_programs);
  EXPECT_EQ(why_no_kernel_functions(host(), KernelFunctionsBy::kFtrace), "");
  EXPECT_EQ(why_no_kernel_functions(host(), KernelFunctionsBy::kFtrace, true), "");
  // But by them the kernel serves its hooks of returns.
  EXPECT_EQ(why_no_return({.name = "vfs_read", .module = "", .address = 1, .why_not = ""}, KernelFunctionsBy::kFtrace),
            "");
  const KernelFunction server{.name = "kretprobe_rethook_handler", .module = "", .address = 1, .why_not = ""};
  EXPECT_NE(why_no_return(server, KernelFunctionsBy::kFtrace), "");
  EXPECT_EQ(why_no_return(server, KernelFunctionsBy::kKprobeMulti), "");
}

TEST_F(KernelFunctionsTest, KernelsThatListOnlyNames) {
  put("/sys/kernel/tracing/available_filter_functions", "vfs_read\nshow\next4_sync_file [ext4]\n");
  auto found = reasons();
  EXPECT_EQ(found["vfs_read 32"], "");
  EXPECT_EQ(found["ext4_sync_file 0"], "");
  EXPECT_EQ(found["forbidden 320"], kNowhere);
  // One of these two, and nobody says which.
  EXPECT_NE(found["show 96"].find("several functions"), std::string::npos);
  EXPECT_EQ(found["show 96"], found["show 128"]);
  put("/sys/kernel/tracing/available_filter_functions", "show\nshow\n");
  found = reasons();
  EXPECT_EQ(found["show 96"], "");
  EXPECT_EQ(found["show 128"], "");
  EXPECT_EQ(found["vfs_read 32"], kNowhere);
}

// What is read of a few is what is read of them among all, of whose other names tracefs may tell.
TEST_F(KernelFunctionsTest, OnlyThoseThatAreMeant) {
  const auto expect = [this](const std::string& of_show) {
    const auto is_meant = [](std::string_view name) { return name == "show" || name == "__x64_sys_getppid"; };
    auto all = reasons();
    std::erase_if(all, [&](const auto& one) { return !is_meant(one.first.substr(0, one.first.find(' '))); });
    EXPECT_EQ(all.size(), 3U);
    EXPECT_EQ(all["__x64_sys_getppid 160"], "");
    EXPECT_NE(all["show 96"].find(of_show), std::string::npos);
    EXPECT_EQ(reasons(KernelFunctionsBy::kKprobeMulti, is_meant), all);
  };
  put("/sys/kernel/tracing/available_filter_functions", "vfs_read\nshow\n__ia32_sys_getppid\n");
  expect("several functions");
  put_addresses();
  expect(kNowhere);
}

TEST_F(KernelFunctionsTest, TargetsAreFoundByPattern) {
  put_addresses();
  const TargetAnswer read = find("kfunction:vfs_*");
  ASSERT_EQ(read.matches.size(), 1U);
  EXPECT_EQ(read.matches[0].target, "kfunction:vfs_read");
  EXPECT_EQ(read.matches[0].probe.source, USC_SOURCE_KFUNCTION);
  EXPECT_EQ(read.matches[0].probe.places, (std::vector<std::uint64_t>{0xffffffff81000020}));
  EXPECT_EQ(read.matches[0].why_not, "");
  EXPECT_NE(read.matches[0].note.find("(BTF) of the kernel has no such function"), std::string::npos);
  EXPECT_NE(find("kfunction:part.*").matches.at(0).note.find("the compiler has made"), std::string::npos);
  EXPECT_NE(find("kfunction:ext4*").matches.at(0).note.find("its module ext4"), std::string::npos);
  // Two functions of one name, and one function of two names.
  EXPECT_EQ(find("kfunction:show").matches.size(), 2U);
  const TargetAnswer both = find("kfunction:*_getppid");
  ASSERT_EQ(both.matches.size(), 2U);
  EXPECT_EQ(both.matches[0].why_not, "");
  EXPECT_EQ(both.matches[1].why_not, "it is another name of __ia32_sys_getppid");
  EXPECT_EQ(find("kfunction:vfs_reed").problem.what, "kfunction:vfs_reed: the kernel has no such function");
  EXPECT_EQ(find("kfunction:vfs_reed").problem.remedy, "did you mean vfs_read?");
}

TEST_F(KernelFunctionsTest, SaysWhyThereAreNone) {
  const auto why = [this] { return why_no_kernel_functions(host(), KernelFunctionsBy::kKprobeMulti); };
  EXPECT_NE(why().find("which functions can be traced cannot be read"), std::string::npos);
  put_addresses();
  put("/proc/kallsyms", "0000000000000000 T _text\n0000000000000000 T vfs_read\n");
  EXPECT_NE(why().find("kernel.kptr_restrict"), std::string::npos);
  EXPECT_EQ(find("kfunction:vfs_read").matches.at(0).why_not, why());
  std::filesystem::remove_all(folder_ / "sys/kernel/tracing");
  EXPECT_NE(why().find("no tracefs"), std::string::npos);
  std::filesystem::remove_all(folder_ / "proc");
  EXPECT_EQ(find("kfunction:vfs_read").problem.remedy, "it takes a kernel with CONFIG_KALLSYMS");
}

KernelFunction function_of(const std::string& name, const std::string& module = "") {
  KernelFunction function;
  function.name = name;
  function.module = module;
  return function;
}

TEST(KernelTypes, ArgumentsAreThoseInRegistersOfTheirOwn) {
  btf* types = btf__new_empty();
  ASSERT_NE(types, nullptr);
  const int number = btf__add_int(types, "int", 4, BTF_INT_SIGNED);
  const int size = btf__add_typedef(types, "size_t", btf__add_int(types, "unsigned long", 8, 0));
  const int text = btf__add_ptr(types, btf__add_const(types, btf__add_int(types, "char", 1, BTF_INT_SIGNED)));
  const int truth = btf__add_int(types, "bool", 1, BTF_INT_BOOL);
  const int pair = btf__add_struct(types, "pair", 16);
  const int prototype = btf__add_func_proto(types, btf__add_typedef(types, "ssize_t", number));
  for (const auto& [name, type] : {std::pair("name", text), std::pair("count", size), std::pair("flag", truth),
                                   std::pair("fd", number), std::pair("both", pair), std::pair("last", number)})
    ASSERT_EQ(btf__add_func_param(types, name, type), 0);
  ASSERT_GT(btf__add_func(types, "known", BTF_FUNC_STATIC, prototype), 0);
  const int of_eight = btf__add_func_proto(types, 0);
  for (const char* name : {"a", "b", "c", "d", "e", "f", "g", ""})
    ASSERT_EQ(btf__add_func_param(types, name, number), 0);
  ASSERT_GT(btf__add_func(types, "wide", BTF_FUNC_STATIC, of_eight), 0);
  ASSERT_GT(btf__add_func(types, "without", BTF_FUNC_STATIC, btf__add_func_proto(types, 0)), 0);
  KernelTypes known(types);
  const auto found = known.prototype(function_of("known"));
  ASSERT_TRUE(found);
  ASSERT_EQ(found->arguments.size(), 4U);
  EXPECT_EQ(found->arguments[0].type, "const char *");
  EXPECT_TRUE(found->arguments[0].is_string);
  EXPECT_EQ(found->arguments[0].reg, 5);
  EXPECT_EQ(found->arguments[1].type, "size_t");
  EXPECT_EQ(found->arguments[1].bytes, 8);
  EXPECT_FALSE(found->arguments[1].is_signed);
  EXPECT_EQ(found->arguments[2].bytes, 1);
  EXPECT_EQ(found->arguments[3].reg, 2);
  EXPECT_EQ(found->arguments[3].bytes, 4);
  EXPECT_TRUE(found->arguments[3].is_signed);
  EXPECT_EQ(found->result_bytes, 4);
  EXPECT_TRUE(found->result_is_signed);
  EXPECT_EQ(known.prototype(function_of("without"))->result_bytes, 0);
  EXPECT_TRUE(found->too_many.empty());
  EXPECT_EQ(known.prototype(function_of("wide"))->arguments.size(), 6U);
  EXPECT_EQ(known.prototype(function_of("wide"))->too_many, (std::vector<std::string>{"g", "arg7"}));
  EXPECT_FALSE(known.prototype(function_of("known", "ext4")));
  EXPECT_FALSE(known.prototype(function_of("known.isra.0")));
}

// A module's types stand on those of the kernel, and may have a function of the same name.
TEST(KernelTypes, FunctionsOfModules) {
  btf* types = btf__new_empty();
  ASSERT_NE(types, nullptr);
  const int number = btf__add_int(types, "int", 4, BTF_INT_SIGNED);
  ASSERT_GT(btf__add_func(types, "show", BTF_FUNC_STATIC, btf__add_func_proto(types, number)), 0);
  btf* of_module = btf__new_empty_split(types);
  ASSERT_NE(of_module, nullptr);
  const int inode = btf__add_ptr(of_module, btf__add_struct(of_module, "inode", 64));
  const int prototype = btf__add_func_proto(of_module, inode);
  ASSERT_EQ(btf__add_func_param(of_module, "inode", inode), 0);
  ASSERT_EQ(btf__add_func_param(of_module, "mode", number), 0);
  ASSERT_GT(btf__add_func(of_module, "show", BTF_FUNC_STATIC, prototype), 0);
  KernelTypes known(types);
  known.add_module("ext4", of_module);
  known.add_module("bare", nullptr);
  EXPECT_TRUE(known.prototype(function_of("show"))->arguments.empty());
  const auto found = known.prototype(function_of("show", "ext4"));
  ASSERT_TRUE(found);
  ASSERT_EQ(found->arguments.size(), 2U);
  EXPECT_EQ(found->arguments[0].name + ":" + found->arguments[0].type, "inode:struct inode *");
  EXPECT_EQ(found->arguments[1].name + ":" + found->arguments[1].type, "mode:int");
  EXPECT_EQ(found->result_type, "struct inode *");
  EXPECT_EQ(found->result_bytes, 8);
  EXPECT_FALSE(known.prototype(function_of("other", "ext4")));
  EXPECT_FALSE(known.prototype(function_of("show", "bare")));
}

}  // namespace
}  // namespace uscope::tracer
