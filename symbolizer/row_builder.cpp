// From call frame information to a sorted table of rows. FDEs are put in the order of their file offsets, each one's program is run,
// and its stretches become rows; equal neighbours are merged, holes between FDEs get a row of their own. Where FDEs overlap, the
// one that begins later holds from its start on; of two that begin together the longer one is kept. Limits: code above 4 GiB of a
// file has no rows; a program whose .eh_frame is malformed in places loses those FDEs and nothing else.
#include "symbolizer/row_builder.h"

#include <elf.h>
#include <gelf.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>

#include "symbolizer/row_builder_cfi.h"
#include "symbolizer/row_builder_rules.h"

namespace uscope::symbolizer {
namespace {

constexpr std::uint64_t kHighestOffset = 0xffffff00;
constexpr std::uint64_t kMostSectionBytes = std::uint64_t{512} << 20;
// How far an entry point without an FDE is taken to reach: ld.so's _start and _dl_start_user take some 80 bytes.
constexpr std::uint64_t kEntryBytes = 128;

// A stretch of code in file offsets, and the FDE that holds there.
struct Stretch {
  std::uint64_t start = 0;
  std::uint64_t end = 0;
  Fde fde;
};

// The section of that name with its bytes, decompressed; nothing where there is none.
std::optional<CfiSource> find_section(Elf* elf, const char* name) {
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return std::nullopt;
  Elf_Scn* section = nullptr;
  while ((section = elf_nextscn(elf, section)) != nullptr) {
    GElf_Shdr header{};
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type == SHT_NOBITS) continue;
    const char* found = elf_strptr(elf, names, header.sh_name);
    if (found == nullptr || std::strcmp(found, name) != 0) continue;
    if ((header.sh_flags & SHF_COMPRESSED) != 0) {
      GElf_Chdr compressed{};
      if (gelf_getchdr(section, &compressed) == nullptr || compressed.ch_size > kMostSectionBytes) return std::nullopt;
      if (elf_compress(section, 0, 0) < 0) return std::nullopt;
    } else if (header.sh_size > kMostSectionBytes) {
      return std::nullopt;
    }
    const Elf_Data* data = elf_rawdata(section, nullptr);
    if (data == nullptr || data->d_buf == nullptr) return std::nullopt;
    const auto* bytes = static_cast<const std::uint8_t*>(data->d_buf);
    CfiSource source;
    source.bytes.assign(bytes, bytes + data->d_size);
    source.address = header.sh_addr;
    source.eh_frame = std::strcmp(name, ".eh_frame") == 0;
    return source;
  }
  return std::nullopt;
}

std::uint64_t offset_where(std::span<const Segment> segments, std::uint64_t address, std::uint64_t* room) {
  for (const Segment& segment : segments) {
    if (address < segment.address || address - segment.address >= segment.size) continue;
    *room = segment.size - (address - segment.address);
    return segment.offset + (address - segment.address);
  }
  *room = 0;
  return 0;
}

// The FDEs as stretches of the file, sorted and without overlaps.
std::vector<Stretch> place_fdes(std::vector<Fde> fdes, std::span<const Segment> segments, RowStats& stats) {
  std::vector<Stretch> all;
  for (Fde& fde : fdes) {
    std::uint64_t room = 0;
    const std::uint64_t start = offset_where(segments, fde.address, &room);
    if (fde.size == 0 || fde.size > room || start + fde.size > kHighestOffset) {
      stats.fdes_outside++;
      continue;
    }
    all.push_back({start, start + fde.size, fde});
  }
  std::stable_sort(all.begin(), all.end(), [](const Stretch& left, const Stretch& right) {
    return left.start != right.start ? left.start < right.start : left.end > right.end;
  });
  std::vector<Stretch> kept;
  for (Stretch& stretch : all) {
    if (!kept.empty() && stretch.start < kept.back().end) {
      stats.fdes_overlapping++;
      if (stretch.start == kept.back().start) continue;
      kept.back().end = stretch.start;
    }
    kept.push_back(stretch);
  }
  return kept;
}

class TableMaker {
 public:
  explicit TableMaker(RowTable& table) : table_(table), rules_(table.stats) {}

  void add(CfiSection& section, const Stretch& stretch) {
    hole(stretch.start);
    const std::size_t before = table_.rows.size();
    const bool signal_frame = stretch.fde.cie != nullptr && stretch.fde.cie->signal_frame;
    const bool whole = section.run(stretch.fde, [&](std::uint64_t address, const CfiState& state) {
      const std::uint64_t offset = stretch.start + (address - stretch.fde.address);
      if (offset >= stretch.end) return;
      table_.stats.rows_before_merging++;
      put(offset, rules_.rule_for(state, signal_frame));
    });
    if (whole) {
      table_.stats.fdes++;
    } else {
      // What a malformed program gave before it failed is not trusted either.
      table_.stats.fdes_refused++;
      table_.rows.resize(before);
      put(stretch.start, USC_RULE_NONE);
    }
    end_ = stretch.end;
  }

  void add_root(std::uint64_t start, std::uint64_t end) {
    hole(start);
    put(start, USC_RULE_ROOT);
    table_.stats.entry_roots++;
    end_ = end;
  }

  void finish(std::uint64_t text_start, std::uint64_t text_end);

 private:
  void hole(std::uint64_t next) {
    if (end_ != 0 && end_ < next) put(end_, USC_RULE_NONE);
  }
  void put(std::uint64_t offset, std::uint32_t rule) {
    if (!table_.rows.empty() && table_.rows.back().rule == rule) return;
    if (!table_.rows.empty() && table_.rows.back().offset == offset)
      table_.rows.back().rule = rule;
    else
      table_.rows.push_back({static_cast<__u32>(offset), rule});
  }

  RowTable& table_;
  RuleTable rules_;
  std::uint64_t end_ = 0;
};

void TableMaker::finish(std::uint64_t text_start, std::uint64_t text_end) {
  const auto start = static_cast<__u32>(text_start & ~std::uint64_t{USC_INDEX_BYTES - 1});
  const auto end = static_cast<__u32>(text_end);
  table_.text_start = start;
  table_.text_end = end;
  if (table_.rows.empty() || table_.rows.front().offset > start) table_.rows.insert(table_.rows.begin(), {start, USC_RULE_NONE});
  if (table_.rows.back().offset < end || table_.rows.size() == 1) table_.rows.push_back({end, USC_RULE_NONE});
  table_.rules = rules_.take();
  table_.index.resize((end - start) / USC_INDEX_BYTES + 2);
  std::size_t row = 0;
  for (std::size_t i = 0; i < table_.index.size(); i++) {
    const std::uint64_t offset = start + std::uint64_t{i} * USC_INDEX_BYTES;
    while (row + 1 < table_.rows.size() && table_.rows[row + 1].offset <= offset) row++;
    table_.index[i] = static_cast<__u32>(row);
  }
}

// An entry point that no FDE covers is the end of every stack that passes it.
std::optional<Stretch> entry_stretch(std::uint64_t entry, std::span<const Segment> segments, const std::vector<Stretch>& known) {
  std::uint64_t room = 0;
  const std::uint64_t start = offset_where(segments, entry, &room);
  if (entry == 0 || room == 0 || start + room > kHighestOffset) return std::nullopt;
  std::uint64_t end = start + std::min(room, kEntryBytes);
  for (const Stretch& stretch : known) {
    if (start >= stretch.start && start < stretch.end) return std::nullopt;
    if (stretch.start > start) end = std::min(end, stretch.start);
  }
  return Stretch{start, end, {}};
}

RowTable make_table(const std::optional<CfiSource>& source, std::span<const Segment> segments, std::uint64_t entry) {
  RowTable table;
  TableMaker maker(table);
  std::vector<Stretch> stretches;
  std::optional<CfiSection> section;
  if (source) {
    section.emplace(*source);
    std::vector<Fde> fdes = section->fdes();
    table.stats.fdes_refused = section->refused();
    stretches = place_fdes(std::move(fdes), segments, table.stats);
  }
  if (const auto root = entry_stretch(entry, segments, stretches)) {
    const auto at = std::find_if(stretches.begin(), stretches.end(), [&](const Stretch& s) { return s.start > root->start; });
    stretches.insert(at, *root);
  }
  for (const Stretch& stretch : stretches) {
    if (stretch.fde.cie == nullptr)
      maker.add_root(stretch.start, stretch.end);
    else
      maker.add(*section, stretch);
  }
  maker.finish(stretches.empty() ? 0 : stretches.front().start, stretches.empty() ? 0 : stretches.back().end);
  return table;
}

std::optional<CfiSource> find_source(Elf* elf) {
  if (auto source = find_section(elf, ".eh_frame"); source && source->bytes.size() > sizeof(std::uint32_t)) return source;
  return find_section(elf, ".debug_frame");
}

}  // namespace

Result<RowTable> build_rows(int fd, const std::string& name) {
  const auto facts = read_elf_facts(fd, name);
  if (!facts) return facts.error();
  const auto elf = open_elf(fd, name);
  if (!elf) return elf.error();
  return make_table(find_source(elf->get()), facts->exec_segments, facts->entry);
}

Result<RowTable> build_rows_from_memory(std::span<const std::byte> image, const std::string& name) {
  const auto facts = read_elf_facts_from_memory(image, name);
  if (!facts) return facts.error();
  const auto elf = open_elf_in_memory(image, name);
  if (!elf) return elf.error();
  return make_table(find_source(elf->get()), facts->exec_segments, 0);
}

Result<void> check_rows(const RowTable& table) {
  const auto bad = [](const char* what) { return Error{std::string("unwind rows: ") + what, ""}; };
  if (table.rows.empty()) return bad("there are none");
  if (table.text_start % USC_INDEX_BYTES != 0 || table.text_end < table.text_start) return bad("the bounds of the text are wrong");
  if (table.rows.front().offset != table.text_start) return bad("the first row is not at the text's start");
  if (table.rows.back().offset != table.text_end || table.rows.back().rule != USC_RULE_NONE)
    return bad("the last row does not end the text");
  if (table.index.size() != std::size_t{(table.text_end - table.text_start) / USC_INDEX_BYTES} + 2) return bad("the index has the wrong size");
  for (std::size_t i = 1; i < table.rows.size(); i++)
    if (table.rows[i].offset < table.rows[i - 1].offset || (table.rows[i].offset == table.rows[i - 1].offset && i + 1 != table.rows.size()))
      return bad("the rows are not in order");
  for (const usc_row& row : table.rows) {
    if (USC_RULE_KIND(row.rule) > USC_RULE_ROOT) return bad("a rule of an unknown kind");
    if (USC_RULE_KIND(row.rule) == USC_RULE_SHARED && USC_RULE_NUMBER(row.rule) >= table.rules.size())
      return bad("a rule that does not exist");
  }
  for (std::size_t i = 0; i < table.index.size(); i++) {
    const std::uint64_t offset = table.text_start + std::uint64_t{i} * USC_INDEX_BYTES;
    const std::size_t row = table.index[i];
    if (row >= table.rows.size() || table.rows[row].offset > offset) return bad("an index entry is wrong");
    if (row + 1 < table.rows.size() && table.rows[row + 1].offset <= offset) return bad("an index entry is wrong");
  }
  return {};
}

}  // namespace uscope::symbolizer
