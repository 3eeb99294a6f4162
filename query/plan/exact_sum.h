// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A sum of integers and REALs without rounding: it does not depend on the order in which they come. So rows that the
// kernel side has added up give, to the last digit, what the events give one by one.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

namespace uscope::query {

class ExactSum {
 public:
  // `times` times this number; a negative `times` takes it away again. The sum of all |times| is below 2^63.
  void add(std::int64_t number, std::int64_t times);
  void add(double number, std::int64_t times);  // not NaN
  void add_integers(__int128 sum) { integers_ += sum; }

  [[nodiscard]] __int128 integers() const { return integers_; }
  // The nearest double; NaN where both infinities have been added.
  [[nodiscard]] double real() const;

 private:
  // A fixed-point number in two's complement. Its lowest bit is the lowest one of a double, 2^-1074; its highest is
  // beyond 2^63 times the greatest double.
  static constexpr std::size_t kLimbs = 35;
  using Limbs = std::array<std::uint64_t, kLimbs>;

  static void add_shifted(Limbs& limbs, unsigned __int128 size, unsigned shift, bool negative);
  static double rounded(Limbs limbs);

  __int128 integers_ = 0;
  std::array<std::int64_t, 2> infinities_{};  // positive, negative
  std::unique_ptr<Limbs> reals_;              // the finite ones, where there are any
};

}  // namespace uscope::query
