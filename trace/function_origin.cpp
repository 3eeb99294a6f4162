// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "trace/function_origin.h"

#include <algorithm>
#include <array>
#include <optional>

#include "support/text.h"
#include "trace/function_name.h"

namespace uscope::trace {
namespace {

template <std::size_t N>
bool is_listed(std::string_view text, const std::array<std::string_view, N>& list) {
  return std::find(list.begin(), list.end(), text) != list.end();
}

template <std::size_t N>
bool starts_with_one_of(std::string_view text, const std::array<std::string_view, N>& list) {
  return std::any_of(list.begin(), list.end(), [&](std::string_view start) { return text.starts_with(start); });
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// ---- C

// crt1.o, crti.o, crtbegin.o, and what they call: they ask for nothing of their own.
bool is_startup(std::string_view name) {
  constexpr std::array<std::string_view, 13> kNames{
      "_start",    "_start_c",    "_init",     "_fini",     "__libc_csu_init",         "__libc_csu_fini",
      "call_init", "frame_dummy", "__do_init", "__do_fini", "_dl_relocate_static_pie", "__do_global_dtors_aux",
      "_rt0_amd64"};
  return is_listed(name, kNames) || name.starts_with("__libc_start_") || name.ends_with("register_tm_clones") ||
         name.starts_with("_rt0_amd64_");
}

// Inline functions of libc's headers, such as the read() of bits/unistd.h.
bool is_libc_header(std::string_view file) {
  const std::size_t include = file.find("/usr/include/");
  return include == 0 && (has(file, "/bits/") || file.find('/', 13) == std::string_view::npos);
}

FunctionOrigin origin_of_c(const FunctionFacts& function) {
  if (is_startup(function.name) || is_libc_header(function.file)) return FunctionOrigin::kRuntime;
  return FunctionOrigin::kOwn;
}

// ---- C++

bool is_cxx_runtime(std::string_view name) {
  constexpr std::array<std::string_view, 10> kStarts{"std::",           "__gnu_cxx::",   "__cxxabiv1::", "operator new",
                                                     "operator delete", "__cxa_",        "__gxx_",       "_Unwind_",
                                                     "__gnu_debug::",   "__dynamic_cast"};
  return starts_with_one_of(name, kStarts);
}

bool is_system_header(std::string_view file) {
  constexpr std::array<std::string_view, 3> kFolders{"/usr/include/", "/usr/local/include/", "/usr/lib/gcc/"};
  return starts_with_one_of(file, kFolders);
}

FunctionOrigin origin_of_cxx(const FunctionFacts& function) {
  if (is_cxx_runtime(qualified_name(function.name)) || function.file.starts_with("/usr/include/c++/"))
    return FunctionOrigin::kRuntime;
  return is_system_header(function.file) ? FunctionOrigin::kPackage : FunctionOrigin::kOwn;
}

// ---- Rust

bool is_rust_runtime_crate(std::string_view crate) {
  constexpr std::array<std::string_view, 10> kCrates{
      "std",          "core",        "alloc",  "proc_macro",        "test",
      "panic_unwind", "panic_abort", "unwind", "compiler_builtins", "std_detect"};
  return is_listed(crate, kCrates);
}

// Crates that the standard library is built with.
bool is_rust_bundled_crate(std::string_view crate) {
  constexpr std::array<std::string_view, 8> kCrates{"hashbrown",      "gimli", "addr2line", "miniz_oxide",
                                                    "rustc_demangle", "adler", "object",    "memchr"};
  return is_listed(crate, kCrates);
}

// "/rustc/HASH/library/std/src/fs.rs", "/usr/src/rustc-1.63.0/library/core/src/…", "library/alloc/src/…".
bool is_rust_runtime_file(std::string_view file) {
  const std::size_t library = file.find("library/");
  if (library == std::string_view::npos) return false;
  if (library != 0 && !has(file.substr(0, library), "/rustc") && !has(file.substr(0, library), "/rust/")) return false;
  const std::string_view rest = file.substr(library + 8);
  return is_rust_runtime_crate(rest.substr(0, rest.find('/'))) || rest.starts_with("backtrace") ||
         rest.starts_with("stdarch");
}

bool is_rust_package_file(std::string_view file) {
  return has(file, "/registry/src/") || has(file, "/cargo/registry/") || has(file, "/git/checkouts/") ||
         has(file, "/cargo/vendor/");
}

FunctionOrigin origin_of_rust(const FunctionFacts& function) {
  const auto crates = rust_crates(function.name);
  const auto all = [&](auto&& is) { return !crates.empty() && std::all_of(crates.begin(), crates.end(), is); };
  if (all(is_rust_runtime_crate)) return FunctionOrigin::kRuntime;
  if (all([](std::string_view crate) { return is_rust_runtime_crate(crate) || is_rust_bundled_crate(crate); }))
    return FunctionOrigin::kPackage;
  const bool is_package = function.file.empty() ? function.in_package : is_rust_package_file(function.file);
  return is_package ? FunctionOrigin::kPackage : FunctionOrigin::kOwn;
}

bool is_rust_c_name(std::string_view name) {
  constexpr std::array<std::string_view, 6> kStarts{"__rust_",           "__rdl_",     "__rg_",
                                                    "rust_begin_unwind", "rust_panic", "rust_eh_personality"};
  return starts_with_one_of(name, kStarts);
}

// ---- Go

// The first parts of the paths of Go's own packages (`go list std`). Any other path without a dot in its first part is
// of a module that was not published.
bool is_go_standard(std::string_view path) {
  constexpr std::array<std::string_view, 51> kFirst{
      "archive",  "arena", "bufio",   "bytes",    "cmp",      "compress", "container", "context", "crypto",
      "database", "debug", "embed",   "encoding", "errors",   "expvar",   "flag",      "fmt",     "go",
      "hash",     "html",  "image",   "index",    "internal", "io",       "iter",      "log",     "maps",
      "math",     "mime",  "net",     "os",       "path",     "plugin",   "reflect",   "regexp",  "runtime",
      "slices",   "sort",  "strconv", "strings",  "structs",  "sync",     "syscall",   "testing", "text",
      "time",     "type",  "unicode", "unique",   "unsafe",   "weak"};
  const std::string_view first = path.substr(0, path.find_first_of("/:"));
  return is_listed(first, kFirst) || first == "vendor" || first == "cmd";
}

bool is_within(std::string_view path, std::string_view folder) {
  return path.starts_with(folder) && (path.size() == folder.size() || path[folder.size()] == '/');
}

// The repository that a package without a module is part of: "github.com/cli/cli" for github.com/cli/cli/cmd/gh.
std::string go_repository(std::string_view package) {
  package = package.substr(0, package.find("/cmd/"));
  const std::size_t parts = has(package.substr(0, package.find('/')), ".") ? 3 : 1;
  std::size_t end = package.find('/');
  for (std::size_t part = 1; part < parts && end != std::string_view::npos; part++) end = package.find('/', end + 1);
  return std::string(package.substr(0, end));
}

// C and assembly in a Go program: runtime/cgo's, unless it has a name of its own.
FunctionOrigin origin_of_go_c(const FunctionFacts& function) {
  constexpr std::array<std::string_view, 4> kStarts{"x_cgo_", "_cgo_", "crosscall", "fatalf"};
  const bool nameless = has(function.name, "+0x");
  return nameless || starts_with_one_of(function.name, kStarts) ? FunctionOrigin::kRuntime : origin_of_c(function);
}

FunctionOrigin origin_of_go(const FunctionFacts& function) {
  const std::string package = go_package(function.name);
  if (package.empty()) return origin_of_go_c(function);
  if (package == "main" || package.starts_with("main_")) return FunctionOrigin::kOwn;
  const bool vendored = has(package, "/vendor/");
  const auto& own = function.go->own;
  const auto holds = [&](const std::string& folder) { return is_within(package, folder); };
  if (!vendored && std::any_of(own.begin(), own.end(), holds)) return FunctionOrigin::kOwn;
  if (is_go_standard(package)) return FunctionOrigin::kRuntime;
  const std::string_view first = std::string_view(package).substr(0, package.find('/'));
  return vendored || has(first, ".") ? FunctionOrigin::kPackage : FunctionOrigin::kOwn;
}

// ---- Generated code

std::optional<std::string_view> rest_after(std::string_view text, std::string_view start) {
  if (!text.starts_with(start)) return std::nullopt;
  return text.substr(start.size());
}

// Of "py::FUNCTION:FILE".
FunctionOrigin origin_of_python(std::string_view rest) {
  const std::size_t colon = rest.rfind(':');
  const std::string_view file = colon == std::string_view::npos ? "" : rest.substr(colon + 1);
  if (has(file, "/site-packages/") || has(file, "/dist-packages/")) return FunctionOrigin::kPackage;
  if (file.starts_with("<frozen ")) return FunctionOrigin::kRuntime;
  for (std::size_t at = file.find("/lib"); at != std::string_view::npos; at = file.find("/lib", at + 1)) {
    std::string_view folder = file.substr(at + 4);
    if (folder.starts_with("64")) folder.remove_prefix(2);
    for (const std::string_view name : {"/python3", "/pypy3", "/python2"})
      if (folder.starts_with(name)) return FunctionOrigin::kRuntime;
  }
  return FunctionOrigin::kOwn;
}

// Of V8's "LazyCompile:*FUNCTION FILE:LINE:COLUMN".
std::optional<GeneratedFunction> javascript(std::string_view name) {
  constexpr std::array<std::string_view, 8> kCode{
      "Builtin:", "BytecodeHandler:", "Stub:", "Handler:", "RegExp:", "LoadIC:", "StoreIC:", "Bytecode:"};
  if (starts_with_one_of(name, kCode)) return GeneratedFunction{FunctionOrigin::kRuntime, true};
  constexpr std::array<std::string_view, 6> kFunctions{
      "LazyCompile:", "Function:", "Script:", "Eval:", "JS:", "interpreted:"};
  if (!starts_with_one_of(name, kFunctions)) return std::nullopt;
  const std::size_t space = name.rfind(' ');
  const std::string_view file = space == std::string_view::npos ? "" : name.substr(space + 1);
  if (has(file, "/node_modules/")) return GeneratedFunction{FunctionOrigin::kPackage, true};
  // Without a file it is V8's own, or a function that was made of a text.
  const bool internal = file.starts_with("node:") || file.starts_with("internal/") || file.starts_with("native ") ||
                        (!has(file, "/") && has(file, ".js"));
  return GeneratedFunction{internal ? FunctionOrigin::kRuntime : FunctionOrigin::kOwn, true};
}

FunctionOrigin origin_of_class(std::string_view name) {
  constexpr std::array<std::string_view, 17> kStarts{
      "java.",    "javax.",  "jdk.",   "sun.",    "com.sun.",   "java/",     "javax/",   "jdk/", "sun/",
      "com/sun/", "kotlin.", "scala.", "System.", "Microsoft.", "Internal.", "Interop.", "Mono."};
  return starts_with_one_of(name, kStarts) ? FunctionOrigin::kRuntime : FunctionOrigin::kOwn;
}

bool is_word_of_class(std::string_view text) {
  return !text.empty() && text.find_first_of(" \t:;()") == std::string_view::npos;
}

// HotSpot: "int pkg.Class.method(int, long)"; agents: "Lpkg/Class;::method", "pkg.Class::method(…)".
std::optional<GeneratedFunction> java(std::string_view name) {
  if (name == "Interpreter") return GeneratedFunction{FunctionOrigin::kRuntime, true};
  if (name.starts_with('L') && has(name, ";::") && has(name.substr(0, name.find(';')), "/"))
    return GeneratedFunction{origin_of_class(name.substr(1)), true};
  if (name.starts_with('L') && has(name, ";::")) return GeneratedFunction{FunctionOrigin::kOwn, true};
  const std::size_t open = name.find('(');
  if (open == std::string_view::npos) return std::nullopt;
  std::string_view head = name.substr(0, open);
  const std::size_t space = head.rfind(' ');
  if (space == std::string_view::npos || !name.ends_with(')')) return std::nullopt;
  const std::string_view method = head.substr(space + 1);
  if (!has(method, ".") || !is_word_of_class(method) || !is_word_of_class(head.substr(0, space))) return std::nullopt;
  return GeneratedFunction{origin_of_class(method), true};
}

// mono: "Name.Space.Class:Method (int)"; .NET: "int32 [Module] Name.Space.Class::Method(int32)[Tier0]".
std::optional<GeneratedFunction> dotnet(std::string_view name) {
  if (name.starts_with("(wrapper ")) return GeneratedFunction{FunctionOrigin::kRuntime, true};
  if (const std::size_t module = name.find("] ");
      has(name, "::") && name.find('[') < module && module != std::string_view::npos && has(name.substr(module), "("))
    return GeneratedFunction{origin_of_class(name.substr(module + 2)), true};
  const std::size_t open = name.find(" (");
  if (open == std::string_view::npos || !name.ends_with(')')) return std::nullopt;
  const std::string_view head = name.substr(0, open);
  const std::size_t colon = head.find(':');
  if (colon == std::string_view::npos || colon == 0 || !is_word_of_class(head.substr(0, colon))) return std::nullopt;
  return GeneratedFunction{origin_of_class(head), true};
}

}  // namespace

const char* origin_name(FunctionOrigin origin) {
  if (origin == FunctionOrigin::kPackage) return "package";
  if (origin == FunctionOrigin::kPart) return "part";
  return origin == FunctionOrigin::kRuntime ? "runtime" : "own";
}

FunctionOrigin origin_of_name(std::string_view name) {
  if (name == "package") return FunctionOrigin::kPackage;
  if (name == "part") return FunctionOrigin::kPart;
  return name == "runtime" ? FunctionOrigin::kRuntime : FunctionOrigin::kOwn;
}

FunctionLanguage language_of_symbol(std::string_view mangled) {
  if (mangled.starts_with("_R")) return FunctionLanguage::kRust;
  if (!mangled.starts_with("_Z")) return FunctionLanguage::kUnknown;
  // Rust's old mangling is C++'s with a hash as the last part: "17h" and 16 hexadecimal digits. LLVM may add ".llvm.N".
  std::string_view name =
      mangled.substr(0, mangled.find('.', 2) == std::string_view::npos ? mangled.size() : mangled.rfind("E.") + 1);
  if (name.size() < 21 || !name.ends_with('E')) return FunctionLanguage::kCxx;
  name = name.substr(name.size() - 20, 19);
  const bool hash =
      name.starts_with("17h") && name.substr(3).find_first_not_of("0123456789abcdef") == std::string_view::npos;
  return hash ? FunctionLanguage::kRust : FunctionLanguage::kCxx;
}

GoProgram go_program(std::string_view build_info) {
  GoProgram program;
  std::string main_package;
  std::string last;  // the module of the line before
  bool module = false;
  while (!build_info.empty()) {
    const std::string_view line = build_info.substr(0, build_info.find('\n'));
    build_info.remove_prefix(std::min(build_info.size(), line.size() + 1));
    std::array<std::string_view, 3> words;
    std::string_view rest = line;
    for (std::string_view& word : words) {
      word = rest.substr(0, rest.find('\t'));
      rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    }
    const auto& [key, path, version] = words;
    if (key == "path") main_package = path;
    const bool local = version == "(devel)" || version.empty();
    if (key == "mod" || (key == "dep" && local)) program.own.emplace_back(path);
    if (key == "=>" && (path.starts_with('.') || path.starts_with('/')) && !last.empty()) program.own.push_back(last);
    module = module || key == "mod";
    last = path;
  }
  const bool named =
      !main_package.empty() && main_package != "command-line-arguments" && !main_package.starts_with('_');
  if (!module && named) program.own.push_back(go_repository(main_package));
  return program;
}

FunctionOrigin origin_of(const FunctionFacts& function) {
  if (function.file.ends_with(".rs") && is_rust_runtime_file(function.file)) return FunctionOrigin::kRuntime;
  if (function.language == FunctionLanguage::kRust || (function.file.ends_with(".rs") && has(function.name, "::")))
    return origin_of_rust(function);
  if (is_rust_c_name(function.name)) return FunctionOrigin::kRuntime;
  if (function.go != nullptr && function.language != FunctionLanguage::kCxx) return origin_of_go(function);
  if (const FunctionOrigin origin = origin_of_c(function); origin != FunctionOrigin::kOwn) return origin;
  if (const FunctionOrigin origin = origin_of_cxx(function); origin != FunctionOrigin::kOwn) return origin;
  const bool is_cxx = function.language == FunctionLanguage::kCxx;
  if (function.in_libc && !is_cxx) return FunctionOrigin::kRuntime;
  return function.in_package ? FunctionOrigin::kPackage : FunctionOrigin::kOwn;
}

bool is_closure(std::string_view name) {
  return name.ends_with("}}") || name.find("{closure#") != std::string_view::npos ||
         name.find("{lambda(") != std::string_view::npos;
}

GeneratedFunction generated_function(std::string_view name) {
  if (const auto rest = rest_after(name, "py::")) return {origin_of_python(*rest), true};
  for (const auto language : {javascript, java, dotnet})
    if (const auto function = language(name)) return *function;
  return {};
}

}  // namespace uscope::trace
