// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/render/raw_render.h"

#include <nlohmann/json.hpp>
#include <variant>

#include "cli/render/json.h"
#include "support/text.h"
#include "trace/raw_header.h"
#include "trace/record_fields.h"

namespace uscope::cli {
namespace {

using Json = nlohmann::ordered_json;

struct AsText {
  std::string operator()(std::uint64_t number) const { return std::to_string(number); }
  std::string operator()(std::int64_t number) const { return std::to_string(number); }
  std::string operator()(const trace::HexNumber& hex) const { return hex_number(hex.number); }
  std::string operator()(const std::string& bytes) const { return in_quotes(bytes); }
};

struct AsJson {
  Json operator()(std::uint64_t number) const { return number; }
  Json operator()(std::int64_t number) const { return number; }
  Json operator()(const trace::HexNumber& hex) const { return hex_number(hex.number); }
  Json operator()(const std::string& bytes) const { return trace_text(bytes); }
};

std::string field_text(const trace::RecordField& field) {
  std::string text;
  for (const trace::RecordValue& value : field.values) text += (text.empty() ? "" : " ") + std::visit(AsText(), value);
  return field.name + "=" + (field.list ? "[" + text + "]" : text);
}

Json field_json(const trace::RecordField& field) {
  if (!field.list) return std::visit(AsJson(), field.values.front());
  Json list = Json::array();
  for (const trace::RecordValue& value : field.values) list.push_back(std::visit(AsJson(), value));
  return list;
}

std::string json_text_line(const Json& json) {
  return dump(json, false) + "\n";
}

}  // namespace

std::string raw_header_text(const usc_raw_header& header) {
  return "0 header record_abi=" + std::to_string(header.record_abi) + " start_ns=" + std::to_string(header.start_ns) +
         " utc_offset_ns=" + std::to_string(header.utc_offset_ns) + " cpus=" + std::to_string(header.cpus) +
         " isa=" + std::string(trace::isa_name(header.isa)) + " page_bytes=" + std::to_string(header.page_bytes) +
         " boot_id=" + trace::boot_id_text(header.boot_id) +
         " kernel=" + in_quotes(trace::fixed_text(header.kernel, sizeof(header.kernel))) + "\n";
}

std::string raw_header_json(const usc_raw_header& header) {
  return json_text_line({{"kind", "header"},
                         {"record_abi", header.record_abi},
                         {"start_ns", header.start_ns},
                         {"utc_offset_ns", header.utc_offset_ns},
                         {"cpus", header.cpus},
                         {"isa", std::string(trace::isa_name(header.isa))},
                         {"page_bytes", header.page_bytes},
                         {"boot_id", trace::boot_id_text(header.boot_id)},
                         {"kernel", trace_text(trace::fixed_text(header.kernel, sizeof(header.kernel)))}});
}

std::string raw_record_text(const trace::RawRecord& record) {
  const usc_record& head = record.head;
  std::string text = std::to_string(record.offset) + " " + std::string(trace::record_type_name(head.type)) +
                     " cpu=" + (head.cpu == USC_CPU_USER ? "user" : std::to_string(head.cpu)) +
                     " seq=" + std::to_string(head.seq) + " task=" + std::to_string(head.task) +
                     " time=" + std::to_string(head.time) + " size=" + std::to_string(head.size) + " |";
  for (const trace::RecordField& field : trace::fields_of(record)) text += " " + field_text(field);
  return text + "\n";
}

std::string raw_record_json(const trace::RawRecord& record) {
  const usc_record& head = record.head;
  Json fields = Json::object();
  for (const trace::RecordField& field : trace::fields_of(record)) fields[field.name] = field_json(field);
  return json_text_line({{"kind", "record"},
                         {"offset", record.offset},
                         {"type", trace::record_type_name(head.type)},
                         {"cpu", head.cpu == USC_CPU_USER ? Json("user") : Json(head.cpu)},
                         {"seq", head.seq},
                         {"task", head.task},
                         {"time", head.time},
                         {"size", head.size},
                         {"fields", std::move(fields)}});
}

std::string raw_gap_text(const trace::RawGap& gap) {
  return std::to_string(gap.offset) + (gap.damaged ? " DAMAGED " : " UNKNOWN ") + plural(gap.bytes, "byte") + ": " +
         gap.reason + "\n";
}

std::string raw_gap_json(const trace::RawGap& gap) {
  return json_text_line({{"kind", gap.damaged ? "damaged" : "unknown"},
                         {"offset", gap.offset},
                         {"bytes", gap.bytes},
                         {"reason", gap.reason}});
}

std::string raw_totals_text(std::uint64_t records, std::uint64_t shown, const trace::RawDamage& damage) {
  std::string text =
      plural(records, "record") + (records == 1 ? " was" : " were") + " read, " + group_digits(shown) + " shown";
  if (damage.unknown) text += "; " + plural(damage.unknown, "record") + " of unknown types";
  if (damage.regions)
    text +=
        "; " + plural(damage.regions, "damaged place") + ", " + plural(damage.skipped_bytes, "byte") + " passed over";
  return text + "\n";
}

}  // namespace uscope::cli
