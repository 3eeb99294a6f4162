// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The reader of raw traces, on any file: bounded memory, every byte accounted for, the same records twice.
#include <vector>

#include "cli/render/raw_render.h"
#include "fuzz.h"
#include "support/text.h"
#include "trace/raw_reader.h"
#include "trace/record_fields.h"
#include "trace/sequence_check.h"

namespace {

using uscope::fuzz::require;
namespace trace = uscope::trace;

struct Seen {
  std::uint64_t offset = 0;
  std::uint32_t size = 0;
  std::uint16_t type = 0;
  bool operator==(const Seen&) const = default;
};

struct Pass {
  std::vector<Seen> records;
  std::uint64_t bytes = 0;
  std::uint64_t missing = 0;
};

// Reads every field that any reader of the record would.
void touch(const trace::RawRecord& record) {
  std::vector<std::uint64_t> frames;
  std::string_view key;
  std::string_view value;
  switch (record.head.type) {
    case USC_RECORD_STACK:
      trace::frames_of(record, frames);
      require(frames.size() <= USC_MAX_FRAMES, "a stack's depth is bounded");
      break;
    case USC_RECORD_META:
      require(trace::meta_of(record, key, value), "a meta record has its key and value");
      break;
    case USC_RECORD_FILE:
      require(trace::file_path_of(record).size() <= record.bytes.size() + 4, "a path is of its record");
      break;
    default:
      break;
  }
  for (const trace::RecordField& field : trace::fields_of(record))
    require(field.list || field.values.size() == 1, "a field that is no list has one value");
  require(uscope::to_utf8(uscope::cli::raw_record_text(record)) == uscope::cli::raw_record_text(record),
          "`uscope raw` prints valid UTF-8");
  require(uscope::cli::raw_record_json(record).find('<') == std::string::npos, "JSON is safe in a page");
}

Pass read_all(trace::RawReader& reader) {
  Pass pass;
  trace::SequenceCheck sequence(reader.header().cpus);
  std::vector<std::byte> storage;
  trace::RawRecord record;
  std::uint64_t end = 0;
  for (;;) {
    auto more = reader.next(record);
    require(static_cast<bool>(more), "reading does not fail");
    if (!*more) break;
    require(record.bytes.size() == record.head.size && record.head.size <= trace::kMaxRecordBytes, "a record's bytes");
    require(record.offset >= end && record.offset % 8 == 0, "records follow one another");
    end = record.offset + record.head.size;
    touch(record);
    sequence.observe(record);
    pass.records.push_back({record.offset, record.head.size, record.head.type});
    pass.bytes += record.head.size;
    if (pass.records.size() <= 64) {
      const std::vector<std::byte> first(record.bytes.begin(), record.bytes.end());
      auto again = reader.at(record.offset, storage);
      require(again && std::equal(first.begin(), first.end(), again->bytes.begin(), again->bytes.end()),
              "a record is read again as it was");
    }
  }
  pass.missing = sequence.unexplained();
  return pass;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const uscope::UniqueFd file = uscope::fuzz::as_file({data, size});
  auto reader = trace::RawReader::open("/proc/self/fd/" + std::to_string(file.get()));
  if (!reader) {
    require(!reader.error().what.empty() && !reader.error().remedy.empty(),
            "an error says what it is, and the way out");
    return 0;
  }
  std::uint64_t damaged = 0;
  std::uint64_t unknown = 0;
  reader->on_gap([&](const trace::RawGap& gap) {
    require(!gap.reason.empty() && gap.bytes != 0, "a gap has a length and a reason");
    (gap.damaged ? damaged : unknown) += gap.bytes;
  });
  const Pass first = read_all(*reader);
  const trace::RawDamage damage = reader->damage();
  require(damaged == damage.skipped_bytes, "damage is reported in full");
  require((unknown == 0) == (damage.unknown == 0), "records of unknown types are reported");
  reader->on_gap({});
  require((damage.regions == 0) == (damage.skipped_bytes == 0), "what is skipped is counted as a damaged place");
  require(damage.tail_bytes <= damage.skipped_bytes, "the tail is part of what is skipped");
  // Records of unknown types are neither read nor damaged; all else is.
  const std::uint64_t whole = size - std::min<std::uint64_t>(size, reader->header().header_size);
  require(first.bytes + damage.skipped_bytes <= whole, "no byte is counted twice");
  require(damage.unknown != 0 || first.bytes + damage.skipped_bytes == whole, "no byte is forgotten");
  reader->rewind();
  const Pass second = read_all(*reader);
  require(first.records == second.records && first.missing == second.missing, "both passes see the same");
  return 0;
}
