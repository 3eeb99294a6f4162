// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Integers are added in 128 bits. A finite double is an integer of 53 bits, shifted by its exponent, and so it is added
// to a number that is wide enough for all exponents. The result is rounded once, to nearest, ties to even.
#include "query/plan/exact_sum.h"

#include <bit>
#include <cmath>
#include <cstddef>
#include <limits>

namespace uscope::query {
namespace {

constexpr unsigned kLimbBits = 64;
constexpr int kLowestExponent = 1074;  // the lowest bit of a double is 2^-1074
constexpr unsigned kFractionBits = 52;

std::uint64_t size_of(std::int64_t number) {
  return number < 0 ? -static_cast<std::uint64_t>(number) : static_cast<std::uint64_t>(number);
}

}  // namespace

void ExactSum::add(std::int64_t number, std::int64_t times) {
  integers_ += static_cast<__int128>(number) * times;
}

void ExactSum::add(double number, std::int64_t times) {
  if (std::isinf(number)) {
    infinities_[number < 0 ? 1 : 0] += times;
    return;
  }
  const auto bits = std::bit_cast<std::uint64_t>(number);
  const auto exponent = static_cast<unsigned>(bits >> kFractionBits & 0x7ff);
  std::uint64_t fraction = bits & ((std::uint64_t{1} << kFractionBits) - 1);
  if (exponent != 0) fraction |= std::uint64_t{1} << kFractionBits;
  if (!reals_) reals_ = std::make_unique<Limbs>();
  add_shifted(*reals_, static_cast<unsigned __int128>(fraction) * size_of(times), exponent == 0 ? 0 : exponent - 1,
              (number < 0) != (times < 0));
}

// Adds, or takes away, size * 2^shift.
void ExactSum::add_shifted(Limbs& limbs, unsigned __int128 size, unsigned shift, bool negative) {
  const unsigned inside = shift % kLimbBits;
  const std::array<std::uint64_t, 3> parts{
      static_cast<std::uint64_t>(size << inside), static_cast<std::uint64_t>(size >> (kLimbBits - inside)),
      inside == 0 ? 0 : static_cast<std::uint64_t>(size >> (2 * kLimbBits - inside))};
  std::uint64_t carry = 0;
  for (std::size_t i = shift / kLimbBits, part = 0; i < kLimbs && (part < parts.size() || carry != 0); i++, part++) {
    const std::uint64_t more = part < parts.size() ? parts[part] : 0;
    const std::uint64_t before = limbs[i];
    if (negative) {
      limbs[i] = before - more - carry;
      carry = before < more || (before == more && carry != 0) ? 1 : 0;
    } else {
      limbs[i] = before + more + carry;
      carry = limbs[i] < before || (limbs[i] == before && carry != 0) ? 1 : 0;
    }
  }
}

double ExactSum::rounded(Limbs limbs) {
  const bool negative = limbs.back() >> (kLimbBits - 1) != 0;
  if (negative) {
    Limbs size{};
    for (std::size_t i = 0; i < kLimbs; i++) add_shifted(size, limbs[i], static_cast<unsigned>(i) * kLimbBits, true);
    limbs = size;
  }
  std::size_t top = kLimbs - 1;
  while (top > 0 && limbs[top] == 0) top--;
  const auto empty = static_cast<unsigned>(std::countl_zero(limbs[top]));  // bits above the highest one that is set
  std::uint64_t highest = limbs[top];
  int exponent = static_cast<int>(top * kLimbBits) - kLowestExponent;
  if (top > 0) {
    // The 64 highest bits, of which the lowest one says whether there is any below. Cutting them to 53 rounds once.
    std::uint64_t below = limbs[top - 1];
    if (empty != 0) {
      highest = highest << empty | below >> (kLimbBits - empty);
      below <<= empty;
      exponent -= static_cast<int>(empty);
    }
    for (std::size_t i = 0; i + 1 < top; i++) below |= limbs[i];
    highest |= below != 0 ? 1 : 0;
  }
  const double size = std::ldexp(static_cast<double>(highest), exponent);
  return negative ? -size : size;
}

double ExactSum::real() const {
  if (infinities_[0] != 0 || infinities_[1] != 0) {
    if (infinities_[0] != 0 && infinities_[1] != 0) return std::numeric_limits<double>::quiet_NaN();
    const double infinity = std::numeric_limits<double>::infinity();
    return infinities_[0] != 0 ? infinity : -infinity;
  }
  if (!reals_) return static_cast<double>(integers_);
  Limbs all = *reals_;
  const auto size =
      integers_ < 0 ? -static_cast<unsigned __int128>(integers_) : static_cast<unsigned __int128>(integers_);
  // In two parts, each of which is less than what add_shifted() takes.
  for (unsigned part = 0; part < 2; part++)
    add_shifted(all, static_cast<std::uint64_t>(size >> part * kLimbBits), kLowestExponent + part * kLimbBits,
                integers_ < 0);
  return rounded(all);
}

}  // namespace uscope::query
