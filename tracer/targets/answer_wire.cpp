// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/targets/answer_wire.h"

#include <cstdint>
#include <type_traits>
#include <utility>

#include "support/byte_reader.h"
#include "uscope/arch/arch.h"
#include "uscope/probes.h"

namespace uscope::tracer {
namespace {

constexpr std::uint32_t kEnd = 0x0e0d0a55;  // a child that died has not written it

class Packer {
 public:
  template <typename T>
  void number(T value) {
    static_assert(std::is_integral_v<T> || std::is_enum_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void text(const std::string& value) {
    number(static_cast<std::uint32_t>(value.size()));
    bytes_ += value;
  }
  void structure(const usc_jump& value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof(value)); }
  std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

void put(Packer& out, const ProbeArgument& argument) {
  out.text(argument.name);
  out.text(argument.type);
  out.number(argument.from);
  out.number(argument.reg);
  out.number(argument.bytes);
  out.number(argument.is_signed);
  out.number(argument.is_string);
  out.number(argument.offset);
}

void put(Packer& out, const Probe& probe) {
  out.number(probe.source);
  out.text(probe.name);
  out.number(static_cast<std::uint32_t>(probe.arguments.size()));
  for (const ProbeArgument& argument : probe.arguments) put(out, argument);
  out.text(probe.path);
  out.number(probe.file.device);
  out.number(probe.file.inode);
  out.number(static_cast<std::uint32_t>(probe.places.size()));
  for (const std::uint64_t place : probe.places) out.number(place);
  out.number(probe.semaphore);
  out.number(probe.with_return);
  out.number(static_cast<std::uint32_t>(probe.returns.size()));
  for (const std::uint64_t place : probe.returns) out.number(place);
  out.number(static_cast<std::uint32_t>(probe.jumps.size()));
  for (const ProbeJump& jump : probe.jumps) {
    out.number(jump.place);
    out.number(jump.condition);
    out.number(jump.again);
    out.number(jump.may_return);
    out.number(jump.indirect.has_value());
    if (jump.indirect) out.structure(*jump.indirect);
  }
  out.text(probe.result_type);
  out.number(probe.result_bytes);
  out.number(probe.result_is_signed);
  out.text(probe.not_kept);
}

std::string take_text(ByteReader& in) {
  return std::string(in.text(in.fixed<std::uint32_t>()));
}

ProbeArgument take_argument(ByteReader& in) {
  ProbeArgument out;
  out.name = take_text(in);
  out.type = take_text(in);
  const auto from = in.fixed<std::uint8_t>();
  out.reg = in.fixed<std::uint8_t>();
  out.bytes = in.fixed<std::uint8_t>();
  out.is_signed = in.fixed<std::uint8_t>() != 0;
  out.is_string = in.fixed<std::uint8_t>() != 0;
  out.offset = in.fixed<std::int64_t>();
  constexpr std::uint8_t kLastRegister = USC_REG_PC;
  if (from > static_cast<std::uint8_t>(ProbeArgument::From::kConstant)) in.fail("a way to read an argument");
  if (out.reg > kLastRegister) in.fail("a register's number");
  if (out.bytes != 1 && out.bytes != 2 && out.bytes != 4 && out.bytes != 8) in.fail("1, 2, 4 or 8 bytes");
  if (in.ok()) out.from = static_cast<ProbeArgument::From>(from);
  return out;
}

ProbeJump take_jump(ByteReader& in) {
  ProbeJump out;
  out.place = in.fixed<std::uint64_t>();
  out.condition = in.fixed<std::uint8_t>();
  if (out.condition > USC_PLACE_CONDITIONS) in.fail("a jump's condition");
  out.again = in.fixed<std::uint8_t>() != 0;
  out.may_return = in.fixed<std::uint8_t>() != 0;
  if (in.fixed<std::uint8_t>() == 0) return out;
  out.indirect = in.fixed<usc_jump>();
  if (usc_jump_is_sound(&*out.indirect) == 0) in.fail("an indirect jump that can be followed");
  return out;
}

void take_return(ByteReader& in, Probe& out) {
  out.with_return = in.fixed<std::uint8_t>() != 0;
  const auto returns = in.fixed<std::uint32_t>();
  for (std::uint32_t i = 0; i < returns && in.ok(); i++) out.returns.push_back(in.fixed<std::uint64_t>());
  const auto jumps = in.fixed<std::uint32_t>();
  for (std::uint32_t i = 0; i < jumps && in.ok(); i++) {
    out.jumps.push_back(take_jump(in));
  }
  out.result_type = take_text(in);
  out.result_bytes = in.fixed<std::uint8_t>();
  out.result_is_signed = in.fixed<std::uint8_t>() != 0;
  if (out.result_bytes != 0 && usc_is_word_size(out.result_bytes) == 0) in.fail("a result's bytes");
}

Probe take_probe(ByteReader& in) {
  Probe out;
  out.source = in.fixed<std::uint8_t>();
  out.name = take_text(in);
  const auto arguments = in.fixed<std::uint32_t>();
  if (arguments > USC_LOGGED_VALUES) in.fail("at most six arguments");
  for (std::uint32_t i = 0; i < arguments && in.ok(); i++) out.arguments.push_back(take_argument(in));
  out.path = take_text(in);
  out.file.device = in.fixed<std::uint64_t>();
  out.file.inode = in.fixed<std::uint64_t>();
  const auto places = in.fixed<std::uint32_t>();
  for (std::uint32_t i = 0; i < places && in.ok(); i++) out.places.push_back(in.fixed<std::uint64_t>());
  out.semaphore = in.fixed<std::uint64_t>();
  take_return(in, out);
  out.not_kept = take_text(in);
  if (out.source != USC_SOURCE_USDT && out.source != USC_SOURCE_UFUNCTION)
    in.fail("a source whose probes are in files");
  return out;
}

}  // namespace

std::string encode_answers(std::span<const TargetAnswer> answers) {
  Packer out;
  out.number(static_cast<std::uint32_t>(answers.size()));
  for (const TargetAnswer& answer : answers) {
    out.text(answer.problem.what);
    out.text(answer.problem.remedy);
    out.number(static_cast<std::uint32_t>(answer.matches.size()));
    for (const TargetMatch& match : answer.matches) {
      out.text(match.target);
      out.text(match.why_not);
      out.number(match.can_be_forced);
      put(out, match.probe);
    }
  }
  out.number(kEnd);
  return out.take();
}

Result<std::vector<TargetAnswer>> decode_answers(std::string_view bytes) {
  ByteReader in(std::as_bytes(std::span(bytes)), "what was found in programs and libraries");
  std::vector<TargetAnswer> answers;
  const auto count = in.fixed<std::uint32_t>();
  for (std::uint32_t i = 0; i < count && in.ok(); i++) {
    TargetAnswer& answer = answers.emplace_back();
    answer.problem.what = take_text(in);
    answer.problem.remedy = take_text(in);
    const auto matches = in.fixed<std::uint32_t>();
    for (std::uint32_t at = 0; at < matches && in.ok(); at++) {
      TargetMatch& match = answer.matches.emplace_back();
      match.target = take_text(in);
      match.why_not = take_text(in);
      match.can_be_forced = in.fixed<std::uint8_t>() != 0;
      match.probe = take_probe(in);
      match.note = match.probe.not_kept;
    }
  }
  if (in.fixed<std::uint32_t>() != kEnd || in.left() != 0) in.fail("the end of the answers");
  if (!in.ok()) return in.error();
  return answers;
}

}  // namespace uscope::tracer
