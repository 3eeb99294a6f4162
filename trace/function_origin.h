// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Whose a function is, by its name and source file: the half of the rule of triggers (trigger.h) that tells the
// application's own functions from the run-time system that was linked into the same file, or that generated code
// has beside it.
//
// - C: functions of crt1.o, of libc where the caller knows that it is inside a static program, and inline functions of
//   the system's headers.
// - C++: std, __gnu_cxx, __cxxabiv1, operator new and delete; what is inlined from /usr/include is a package.
// - Rust: the crates std, core, alloc and those that come with them; crates whose source is cargo's copy are packages.
// An
//   implementation (`<T as Trait>::f`) is the standard library's only if both the type and the trait are.
// - Closures and lambdas that were inlined into a function count as that function.
// - Go: the packages of the program's own modules (go_program()) are the application's; of the others, those whose path
//   is a package of the standard library are its, and the rest are packages.
// - Generated code (a perf map): Python by the file of the function, Java and .NET by the class, JavaScript by the
// file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace uscope::trace {

enum class FunctionOrigin : std::uint8_t {
  kOwn,      // of the file's own code: also where nothing else is known
  kPackage,  // of a library of others that is part of the same file, or of the same program of a virtual machine
  kRuntime,  // of the language's run-time system and standard library
  kPart,     // a closure that was inlined into a function of the file's own code, which stands for it
};

// What a function is to its program.
enum class FunctionRole : std::uint8_t {
  kNone,
  kEntry,      // where the file begins to run (_start)
  kHandsOver,  // main() of a launcher: it passes its arguments to a library
};

// "own", "package", "runtime", "part"; and back: any other text is kOwn.
[[nodiscard]] const char* origin_name(FunctionOrigin origin);
[[nodiscard]] FunctionOrigin origin_of_name(std::string_view name);

// What its symbol or the table that names it says.
enum class FunctionLanguage : std::uint8_t { kUnknown, kCxx, kRust, kGo };

// By a linker's name: C++ and Rust have their own.
[[nodiscard]] FunctionLanguage language_of_symbol(std::string_view mangled);

// Packages of a Go program that are its author's.
struct GoProgram {
  std::vector<std::string> own;  // paths of modules, and of the main package if its module is not known
};

// By the text of a Go program's build info (runtime/debug.BuildInfo.String): the main module, modules that were
// replaced by a folder, and modules of a workspace. Without a module (GOPATH), the repository of the main package.
[[nodiscard]] GoProgram go_program(std::string_view build_info);

struct FunctionFacts {
  std::string_view name;       // demangled
  std::string_view file = {};  // of its source; "": unknown
  FunctionLanguage language = FunctionLanguage::kUnknown;
  const GoProgram* go = nullptr;  // of a Go program's file
  bool in_libc = false;           // its code lies where a static program has libc's
  bool in_package = false;        // its code lies where the file has that of packages
};

[[nodiscard]] FunctionOrigin origin_of(const FunctionFacts& function);

// Whether the function is a closure or a lambda, by its demangled name.
[[nodiscard]] bool is_closure(std::string_view name);

// A function of generated code.
struct GeneratedFunction {
  FunctionOrigin origin = FunctionOrigin::kOwn;
  // Its name has the form of a language whose programs are run by a virtual machine: Python, Java, JavaScript, .NET.
  bool managed = false;
};

[[nodiscard]] GeneratedFunction generated_function(std::string_view name);

}  // namespace uscope::trace
