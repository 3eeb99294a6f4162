// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "exporters/timelines/ctf_metadata.h"

#include <fmt/core.h>

#include "exporters/missing.h"
#include "support/text.h"
#include "trace/names.h"

namespace uscope::exporters {
namespace {

// In the order in which ctf.cpp writes them. Fields of the calls begin with `_` where TSDL has such a word.
constexpr const char* kBeginFields =
    "u64 id; text how; text arguments; i64 a0; i64 a1; i64 a2; i64 a3; i64 a4; i64 a5; text trigger; u64 stack;";
constexpr const char* kEndFields = "u64 id; i64 ret; text result; u64 dur_ns;";
constexpr const char* kProcessFields = "u64 process; u64 parent; text exit; text uses_io_uring;";
constexpr const char* kProgramFields = "u64 process; u64 ts_ns; text path; text argv;";
constexpr const char* kThreadFields = "u64 thread; u64 process; u64 start_ns; u64 end_ns;";
constexpr const char* kStackFields =
    "u64 stack; text ended; u32 _depth; "
    "struct { text function; text module; u64 address; text file; u32 line; u32 inlined; } frames[_depth];";
constexpr const char* kLossFields = "text cause; text meaning; u64 count; u64 until_ns;";

constexpr const char* kHead = R"(/* CTF 1.8 */

typealias integer { size = 32; align = 8; signed = false; byte_order = le; } := u32;
typealias integer { size = 64; align = 8; signed = false; byte_order = le; } := u64;
typealias integer { size = 64; align = 8; signed = true; byte_order = le; } := i64;
typealias string { encoding = UTF8; } := text;

trace {
  major = 1;
  minor = 8;
  byte_order = le;
  packet.header := struct { u32 magic; u32 stream_id; };
};
)";

constexpr const char* kStream = R"(
typealias integer { size = 64; align = 8; signed = false; byte_order = le; map = clock.monotonic.value; } := moment;

stream {
  id = 0;
  packet.context := struct {
    moment timestamp_begin; moment timestamp_end; u64 content_size; u64 packet_size; u64 events_discarded;
  };
  event.header := struct { u32 id; moment timestamp; };
  event.context := struct { i64 pid; i64 tid; text procname; text thread; };
};
)";

std::string meta(const analyzer::Catalog& catalog, const char* key) {
  const auto at = catalog.meta.find(key);
  return at == catalog.meta.end() ? "" : at->second;
}

std::string clock_text(const analyzer::Catalog& catalog) {
  std::string out = "\nclock {\n  name = monotonic;\n  description = \"CLOCK_MONOTONIC\";\n  freq = 1000000000;\n";
  const auto offset = catalog.meta_number("utc_offset_ns");
  constexpr std::int64_t kSecond = 1'000'000'000;
  if (offset && *offset >= 0)
    out += fmt::format("  offset_s = {};\n  offset = {};\n", *offset / kSecond, *offset % kSecond);
  return out + "};\n";
}

void write_class(const Bytes& out, std::uint32_t number, const std::string& name, const char* fields) {
  out(fmt::format("\nevent {{ name = {}; id = {}; stream_id = 0; fields := struct {{ {} }}; }};\n", tsdl_quoted(name),
                  number, fields));
}

// System calls as LTTng names them, so that analyses that know those find them.
void write_kind(const Bytes& out, std::size_t index, const analyzer::Kind& kind) {
  const std::string compat = trace::is_native_abi(kind.abi) ? "" : "compat_";
  const bool call = kind.is_call();
  write_class(out, ctf_begin(index), call ? compat + "syscall_entry_" + kind.name : kind.label(), kBeginFields);
  write_class(out, ctf_end(index), call ? compat + "syscall_exit_" + kind.name : kind.label() + " end", kEndFields);
}

}  // namespace

std::string tsdl_quoted(const std::string& raw) {
  std::string out = "\"";
  for (const char c : printable(raw)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + "\"";
}

void write_ctf_metadata(const analyzer::Catalog& catalog, const Bytes& out) {
  out(kHead);
  std::string environment = "\nenv {\n  tracer_name = \"uscope\";\n";
  for (const char* key : {"uscope_version", "host", "kernel", "command", "backend"})
    if (const std::string value = meta(catalog, key); !value.empty())
      environment += fmt::format("  {} = {};\n", key == std::string("host") ? "hostname" : key, tsdl_quoted(value));
  out(environment + "};\n" + clock_text(catalog) + kStream);
  const auto own = [&](CtfEvent event, const char* name, const char* fields) {
    write_class(out, static_cast<std::uint32_t>(event), name, fields);
  };
  own(CtfEvent::kProcess, "uscope:process", kProcessFields);
  own(CtfEvent::kProgram, "uscope:program", kProgramFields);
  own(CtfEvent::kThread, "uscope:thread", kThreadFields);
  own(CtfEvent::kStack, "uscope:stack", kStackFields);
  own(CtfEvent::kLoss, "uscope:loss", kLossFields);
  for (const analyzer::Kind& kind : catalog.kinds) write_kind(out, catalog.kinds.index_of(kind), kind);
}

}  // namespace uscope::exporters
