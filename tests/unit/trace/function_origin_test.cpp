// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/function_origin.h"

#include <gtest/gtest.h>

#include <string>

#include "trace/function_name.h"

namespace uscope::trace {
namespace {

constexpr auto kOwn = FunctionOrigin::kOwn;
constexpr auto kPackage = FunctionOrigin::kPackage;
constexpr auto kRuntime = FunctionOrigin::kRuntime;

struct Named {
  const char* name;
  FunctionOrigin origin;
  const char* file = "";
};

TEST(FunctionOrigin, OfC) {
  for (const auto& [name, origin, file] : std::initializer_list<Named>{
           {"read_config", kOwn},
           {"main", kOwn},
           {"_start", kRuntime},
           {"__libc_csu_init", kRuntime},
           {"__libc_start_call_main", kRuntime},
           {"deregister_tm_clones", kRuntime},
           {"svc+0x1139", kOwn},
           {"read", kRuntime, "/usr/include/x86_64-linux-gnu/bits/unistd.h"},
           {"printf", kRuntime, "/usr/include/stdio.h"},
           {"read", kOwn, "src/bits/unistd.h"},
           {"fmt_print", kPackage, "/usr/include/fmt/core.h"},
           {"std", kOwn},
       })
    EXPECT_EQ(origin_of({.name = name, .file = file}), origin) << name;
}

TEST(FunctionOrigin, OfWhatLiesWhereLibcDoes) {
  EXPECT_EQ(origin_of({.name = "open", .in_libc = true}), kRuntime);
  EXPECT_EQ(origin_of({.name = "svc+0x401139", .in_libc = true}), kRuntime);
  EXPECT_EQ(origin_of({.name = "app::run()", .language = FunctionLanguage::kCxx, .in_libc = true}), kOwn);
  EXPECT_EQ(origin_of({.name = "app::run", .language = FunctionLanguage::kRust, .in_libc = true}), kOwn);
  EXPECT_EQ(origin_of({.name = "fd+0x166ad0", .in_package = true}), kPackage);
  EXPECT_EQ(origin_of({.name = "walkdir::walk", .language = FunctionLanguage::kRust, .in_package = true}), kPackage);
  EXPECT_EQ(
      origin_of({.name = "app::run", .file = "src/main.rs", .language = FunctionLanguage::kRust, .in_package = true}),
      kOwn);  // debug information tells more
  EXPECT_EQ(origin_of({.name = "std::fs::read", .language = FunctionLanguage::kRust, .in_package = true}), kRuntime);
  EXPECT_EQ(origin_of({.name = "fd+0x1f8ab0", .in_libc = true, .in_package = true}), kRuntime);
}

TEST(FunctionOrigin, OfCxx) {
  for (const auto& [name, origin, file] : std::initializer_list<Named>{
           {"app::load(std::string const&)", kOwn},
           {"std::vector<app::Item, std::allocator<app::Item> >::push_back(app::Item const&)", kRuntime},
           {"void std::__invoke_impl<void, main::{lambda()#1}>(std::__invoke_other, main::{lambda()#1}&&)", kRuntime},
           {"std::_Function_handler<void (), main::{lambda()#1}>::_M_invoke(std::_Any_data const&)", kRuntime},
           {"main::{lambda()#1}::operator()() const", kOwn},
           {"std::vector<int> app::made<int>(std::vector<int>)", kOwn},
           {"std::string (anonymous namespace)::name(int)", kOwn},
           {"app::Path::operator std::string() const", kOwn},
           {"std::ostream& app::operator<< <int>(std::ostream&, app::Box<int> const&)", kOwn},
           {"std::basic_ostream<char>& std::operator<< <char>(std::basic_ostream<char>&, char const*)", kRuntime},
           {"operator new(unsigned long)", kRuntime},
           {"operator delete[](void*, unsigned long)", kRuntime},
           {"app::Pool::operator new(unsigned long)", kOwn},
           {"__gnu_cxx::new_allocator<app::Item>::allocate(unsigned long, void const*)", kRuntime},
           {"non-virtual thunk to app::File::close()", kOwn},
           {"non-virtual thunk to std::basic_iostream<char>::~basic_iostream()", kRuntime},
           {"stdx::run()", kOwn},
           {"core::Config::load()", kOwn},
           {"alloc::arena(int)", kOwn},
           {"push_back", kRuntime, "/usr/include/c++/12/bits/stl_vector.h"},
           {"boost::asio::detail::scheduler::run(boost::system::error_code&)", kPackage,
            "/usr/include/boost/asio/detail/impl/scheduler.ipp"},
       })
    EXPECT_EQ(origin_of({.name = name, .file = file, .language = FunctionLanguage::kCxx}), origin) << name;
}

TEST(FunctionOrigin, OfRust) {
  constexpr const char* kStd = "/rustc/2c8cc343237b8f7d5a3c3703e3a87f2eb2c54a74/library/std/src/fs.rs";
  constexpr const char* kRegistry =
      "/root/.cargo/registry/src/index.crates.io-6f17d22bba15001f/walkdir-2.4.0/src/lib.rs";
  for (const auto& [name, origin, file] : std::initializer_list<Named>{
           {"r::lies", kOwn},
           {"r::main::{{closure}}", kOwn},
           {"std::fs::metadata", kRuntime},
           {"std::sys::unix::fs::try_statx::statx", kRuntime},
           {"core::ptr::drop_in_place<r::Box>", kRuntime},
           {"alloc::vec::Vec<T,A>::push", kRuntime},
           {"core::ops::function::FnOnce::call_once{{vtable.shim}}", kRuntime},
           {"<std::fs::File as std::io::Read>::read", kRuntime},
           {"<alloc::vec::Vec<T> as alloc::vec::spec_from_iter::SpecFromIter<T,I>>::from_iter", kRuntime},
           {"<T as core::convert::Into<U>>::into", kRuntime},
           {"<&T as core::fmt::Debug>::fmt", kRuntime},
           {"<alloc::boxed::Box<F,A> as core::ops::function::FnOnce<Args>>::call_once", kRuntime},
           {"<r::Größe<T> as r::Messbar>::miss", kOwn},
           {"<r::Settings as core::fmt::Display>::fmt", kOwn},
           {"<std::fs::File as r::Lesbar>::lies", kOwn},
           {"<r::Größe<alloc::string::String>>::neu", kOwn},
           {"<core::iter::adapters::map::Map<std::fs::ReadDir, r::main::{closure#0}> as "
            "core::iter::traits::iterator::Iterator>::next",
            kRuntime},
           {"core::fmt::num::<impl core::fmt::Display for i32>::fmt", kRuntime},
           {"r::ext::<impl r::Ext for std::fs::File>::size", kOwn},
           {"hashbrown::raw::RawTable<T,A>::reserve_rehash", kPackage},
           {"walkdir::IntoIter::push", kPackage, kRegistry},
           {"walkdir::IntoIter::push", kOwn, "walkdir/src/lib.rs"},
           {"metadata<&str>", kRuntime, kStd},
           {"__rust_alloc", kRuntime},
           {"std_like::run", kOwn},
           {"main", kOwn},
       }) {
    const bool mangled = std::string(name).find("::") != std::string::npos;
    EXPECT_EQ(
        origin_of(
            {.name = name, .file = file, .language = mangled ? FunctionLanguage::kRust : FunctionLanguage::kUnknown}),
        origin)
        << name;
  }
}

TEST(FunctionOrigin, OfGo) {
  const GoProgram program = go_program(
      "path\texample.com/shop/cmd/shop\nmod\texample.com/shop\t(devel)\t\n"
      "dep\tgithub.com/lib/pq\tv1.10.9\th1:abc=\ndep\texample.com/parts\tv0.0.0\n=>\t../parts\t(devel)\t\n"
      "build\t-compiler=gc\n");
  for (const auto& [name, origin, file] : std::initializer_list<Named>{
           {"main.loadSettings", kOwn},
           {"main.(*Store).Load.func1", kOwn},
           {"example.com/shop/db.Open", kOwn},
           {"example.com/shop/db.Map[...]", kOwn},
           {"example.com/shop/db.Map[go.shape.*github.com/lib/pq.Conn]", kOwn},
           {"example.com/shopping.Open", kPackage},
           {"example.com/parts.Get", kOwn},
           {"github.com/lib/pq.(*conn).Query", kPackage},
           {"gopkg.in/yaml%2ev3.Unmarshal", kPackage},
           {"example.com/shop/vendor/github.com/x/y.F", kPackage},
           {"tools/local.Run", kOwn},
           {"os.ReadFile", kRuntime},
           {"os.(*File).Read", kRuntime},
           {"internal/poll.(*FD).Read", kRuntime},
           {"runtime/internal/syscall.Syscall6", kRuntime},
           {"syscall.Syscall", kRuntime},
           {"net/http.(*Server).Serve", kRuntime},
           {"vendor/golang.org/x/net/http2.F", kRuntime},
           {"runtime.goexit", kRuntime},
           {"type:.eq.main.T", kRuntime},
           {"_rt0_amd64_linux", kRuntime},
           {"my_c_function", kOwn},
           {"x_cgo_sigaction", kRuntime},
           {"_cgo_try_pthread_create", kRuntime},
           {"shop+0x4016bc", kRuntime},
       })
    EXPECT_EQ(origin_of({.name = name, .file = file, .go = &program}), origin) << name;
}

TEST(GoProgram, WithoutAModuleIsTheRepositoryOfItsMainPackage) {
  const auto own = [](const char* info) {
    const auto found = go_program(info).own;
    return found.empty() ? "" : found.front();
  };
  EXPECT_EQ(own("path\tgithub.com/cli/cli/cmd/gh\nbuild\t-compiler=gc\n"), "github.com/cli/cli");
  EXPECT_EQ(own("path\tgithub.com/gohugoio/hugo\n"), "github.com/gohugoio/hugo");
  EXPECT_EQ(own("path\tk8s.io/kubectl/cmd/kubectl\n"), "k8s.io/kubectl");
  EXPECT_EQ(own("path\tcmd/go\n"), "cmd");
  EXPECT_EQ(own("path\tcommand-line-arguments\n"), "");
  EXPECT_EQ(own(""), "");
  const GoProgram go = go_program("path\tcmd/go\n");
  EXPECT_EQ(origin_of({.name = "cmd/go/internal/load.PackagesAndErrors", .go = &go}), kOwn);
  EXPECT_EQ(origin_of({.name = "os.Open", .go = &go}), kRuntime);
}

TEST(FunctionOrigin, OfGeneratedCode) {
  struct Generated {
    const char* name;
    FunctionOrigin origin;
    bool managed = true;
  };
  for (const auto& [name, origin, managed] : std::initializer_list<Generated>{
           {"py::load_settings:/srv/shop/app.py", kOwn},
           {"py::load:/srv/shop/lib/python/app.py", kOwn},
           {"py::open:/usr/lib/python3.12/pathlib.py", kRuntime},
           {"py::open:/root/.pyenv/versions/3.12.1/lib/python3.12/pathlib.py", kRuntime},
           {"py::get:/srv/venv/lib/python3.12/site-packages/requests/api.py", kPackage},
           {"py::get:/usr/lib/python3/dist-packages/apt/cache.py", kPackage},
           {"py::_find_and_load:<frozen importlib._bootstrap>", kRuntime},
           {"py::<module>:<string>", kOwn},
           {"int App.handleRequest(int)", kOwn},
           {"void com.shop.Bank.transfer(int, int)", kOwn},
           {"int java.io.FileInputStream.read(byte[], int, int)", kRuntime},
           {"void sun.nio.ch.NioSocketImpl.park(java.io.FileDescriptor, int)", kRuntime},
           {"Interpreter", kRuntime},
           {"Lcom/shop/Bank;::transfer", kOwn},
           {"Ljava/io/RandomAccessFile;::read", kRuntime},
           {"LazyCompile:*load /srv/app.js:12:3", kOwn},
           {"LazyCompile:~load file:///srv/app.mjs:12:3", kOwn},
           {"LazyCompile:*openSync node:fs:577:18", kRuntime},
           {"Function:~get /srv/node_modules/express/lib/router.js:4:1", kPackage},
           {"Builtin:InterpreterEntryTrampoline", kRuntime},
           {"App:HandleRequest (int)", kOwn},
           {"System.IO.FileStream:Read (byte[],int,int)", kRuntime},
           {"(wrapper managed-to-native) Mono.Posix.Syscall:getpid ()", kRuntime},
           {"int32 [App] App.Program::Main(string[])[Tier0]", kOwn},
           {"int32 [System.Private.CoreLib] System.IO.Stream::Read(int32)[PreJIT]", kRuntime},
           {"evalexpr_0_1", kOwn, false},
           {"TRACE_1::app.lua:12", kOwn, false},
           {"read", kOwn, false},
       }) {
    const GeneratedFunction found = generated_function(name);
    EXPECT_EQ(found.origin, origin) << name;
    EXPECT_EQ(found.managed, managed) << name;
  }
}

TEST(FunctionLanguage, OfSymbols) {
  EXPECT_EQ(language_of_symbol("main"), FunctionLanguage::kUnknown);
  EXPECT_EQ(language_of_symbol("_ZN3app4loadEv"), FunctionLanguage::kCxx);
  EXPECT_EQ(language_of_symbol("_ZN1r4lies17h0123456789abcdefE"), FunctionLanguage::kRust);
  EXPECT_EQ(language_of_symbol("_ZN1r4lies17h0123456789abcdefE.llvm.1234"), FunctionLanguage::kRust);
  EXPECT_EQ(language_of_symbol("_ZN1r4lies17h0123456789abcdegE"), FunctionLanguage::kCxx);
  EXPECT_EQ(language_of_symbol("_RNvCs1234_1r4lies"), FunctionLanguage::kRust);
}

// Names of traced programs may be anything.
TEST(FunctionName, OfAnyText) {
  for (const std::string text : {"",     "<",    ">",         "(",     ")",       "operator", "operator(",
                                 "<<<",  "::",   "a(b(c(",    "<a as", "<a as b", "->->",     "operator<",
                                 "py::", "L;::", "(wrapper ", ":",     " (",      "] ",       "[] ::(",
                                 ".",    "/.",   "%2e",       "a/%2",  "~"}) {
    (void)qualified_name(text);
    (void)rust_crates(text);
    (void)go_package(text);
    (void)generated_function(text);
    (void)language_of_symbol(text);
    (void)go_program(text);
    for (const auto language : {FunctionLanguage::kUnknown, FunctionLanguage::kCxx, FunctionLanguage::kRust})
      (void)origin_of({.name = text, .language = language});
  }
}

}  // namespace
}  // namespace uscope::trace
