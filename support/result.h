// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The result of a function that can fail: a value, or an Error that says what failed, on which object, and what to do
// next. Exceptions do not cross a folder; only cli/ prints errors and picks exit codes.
#pragma once

#include <cstring>
#include <string>
#include <utility>
#include <variant>

namespace uscope {

struct Error {
  std::string what;    // what failed and on which file, section, offset or pid: "cannot open /x/y: Permission denied"
  std::string remedy;  // what to do next; empty if unknown: "run as root, or give CAP_BPF"

  // Puts a prefix before `what`; for callers that know more of the context.
  [[nodiscard]] Error in(const std::string& context) const { return {context + ": " + what, remedy}; }
};

// Makes an Error from errno (or any error number): "<what>: <strerror>".
[[nodiscard]] inline Error errno_error(const std::string& what, int number, std::string remedy = "") {
  return {what + ": " + std::strerror(number), std::move(remedy)};
}

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state_.index() == 0; }
  T& operator*() { return std::get<0>(state_); }
  const T& operator*() const { return std::get<0>(state_); }
  T* operator->() { return &std::get<0>(state_); }
  const T* operator->() const { return &std::get<0>(state_); }
  [[nodiscard]] const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)), ok_(false) {}

  explicit operator bool() const { return ok_; }
  [[nodiscard]] const Error& error() const { return error_; }

 private:
  Error error_;
  bool ok_ = true;
};

}  // namespace uscope
