// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Takes demangled names of functions apart. Names are of traced programs: any text is answered, in time that grows with
// its length alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace uscope::trace {

// Of a C++ function as c++filt prints it, without the type that it returns, its parameters, and the words in front of a
// thunk: "std::vector<int>::push_back" of "void std::vector<int>::push_back(int&&)".
[[nodiscard]] std::string_view qualified_name(std::string_view function);

// The crates that a Rust function belongs to: that of its path, or, of an implementation, those of the type and of the
// trait. Types that name no crate (`T`, `u8`, `&str`, tuples) have none.
[[nodiscard]] std::vector<std::string_view> rust_crates(std::string_view function);

// The path of a Go function's package: "github.com/x/y" of "github.com/x/y.(*T).Method[...]". "" if it is in none: C
// and assembly.
[[nodiscard]] std::string go_package(std::string_view function);

}  // namespace uscope::trace
