// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "symbolizer/elf/elf_facts.h"

#include <fmt/core.h>
#include <gelf.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "symbolizer/elf/machine.h"
#include "uscope/arch/arch.h"

namespace uscope::symbolizer {
namespace {

// Bounds on what a file can make this process read: far above anything a linker writes.
constexpr std::uint64_t kMaxDynamicBytes = 1u << 20;
constexpr std::uint64_t kMaxStringTableBytes = 64u << 20;
constexpr std::size_t kMaxNameBytes = 1u << 20;  // of needed libraries and search paths, found or searched
constexpr std::size_t kMaxNoteBytes = 1u << 20;  // of one section or segment of notes
constexpr std::size_t kMostNotes = 64;           // such sections or segments
constexpr std::size_t kMostHeaders = 1u << 16;   // section headers that are searched for notes
constexpr std::uint64_t kMaxInterpreterBytes = 4096;
constexpr std::size_t kMaxProgramHeaders = 4096;
constexpr std::uint64_t kPage = USC_PAGE_BYTES;

Error elf_error(const std::string& name, const std::string& what) {
  const char* reason = elf_errmsg(-1);
  return {name + ": " + what + (reason ? std::string(": ") + reason : ""), ""};
}

Result<ElfHandle> check_kind(ElfHandle elf, std::uint64_t size, const std::string& name) {
  if (!elf) return elf_error(name, "truncated or damaged ELF file");
  std::size_t ident_size = 0;
  const char* ident = elf_getident(elf.get(), &ident_size);
  if (!ident || ident_size < SELFMAG || std::memcmp(ident, ELFMAG, SELFMAG) != 0)
    return Error{name + ": not an ELF file", ""};
  if (ident_size > EI_CLASS && ident[EI_CLASS] == ELFCLASS32)
    return Error{name + ": a 32-bit ELF file", "its stacks are not walked"};
  if (elf_kind(elf.get()) != ELF_K_ELF || ident_size < EI_NIDENT || size < sizeof(Elf64_Ehdr))
    return Error{name + ": truncated ELF file: no complete header", ""};
  if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB)
    return Error{name + ": ELF file of unknown class or byte order", ""};
  GElf_Ehdr header;
  if (!gelf_getehdr(elf.get(), &header)) return elf_error(name, "truncated ELF file: no header");
  if (header.e_machine != kElfMachine)
    return Error{fmt::format("{}: ELF file of another machine (e_machine {})", name, header.e_machine), ""};
  if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
    return Error{fmt::format("{}: ELF file, but neither program nor shared library (e_type {})", name, header.e_type),
                 ""};
  return elf;
}

// The C string at `at` of a bounded table; empty if it does not end within the table, or within the `left` bytes that
// may still be searched. The searched bytes are deducted whether a string is found or not.
std::string string_at(const Elf_Data* table, std::uint64_t at, std::size_t& left) {
  if (at >= table->d_size) return "";
  const char* begin = static_cast<const char*>(table->d_buf) + at;
  const std::size_t room = std::min<std::size_t>(table->d_size - at, left);
  const std::size_t length = strnlen(begin, room);
  left -= std::min(length + 1, room);
  return length < room ? std::string(begin, length) : "";
}

// The build-id in some notes.
std::optional<std::string> build_id_in(Elf_Data* notes) {
  std::size_t at = 0;
  GElf_Nhdr header;
  std::size_t name = 0;
  std::size_t descriptor = 0;
  while (notes != nullptr) {
    at = gelf_getnote(notes, at, &header, &name, &descriptor);
    if (at == 0) break;
    const auto* bytes = static_cast<const char*>(notes->d_buf);
    if (header.n_type == NT_GNU_BUILD_ID && header.n_namesz == sizeof(ELF_NOTE_GNU) &&
        std::memcmp(bytes + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) == 0)
      return std::string(bytes + descriptor, header.n_descsz);
  }
  return std::nullopt;
}

void split_path(const std::string& text, std::vector<std::string>& out) {
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(':', begin), text.size());
    if (end > begin) out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

// Reads DT_NEEDED and the search paths. Damage here only loses names: the kernel does not read this table either.
void read_dynamic(Elf* elf, const GElf_Phdr& dynamic, ElfFacts& facts) {
  if (dynamic.p_filesz > kMaxDynamicBytes) return;
  Elf_Data* data = elf_getdata_rawchunk(elf, static_cast<std::int64_t>(dynamic.p_offset), dynamic.p_filesz, ELF_T_DYN);
  if (!data) return;
  std::uint64_t table_address = 0;
  std::uint64_t table_size = 0;
  std::vector<GElf_Dyn> names;
  for (int i = 0; static_cast<std::size_t>(i) < dynamic.p_filesz / sizeof(Elf64_Dyn); i++) {
    GElf_Dyn entry;
    if (!gelf_getdyn(data, i, &entry) || entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_STRTAB) table_address = entry.d_un.d_ptr;
    if (entry.d_tag == DT_STRSZ) table_size = entry.d_un.d_val;
    if (entry.d_tag == DT_NEEDED || entry.d_tag == DT_RUNPATH || entry.d_tag == DT_RPATH) names.push_back(entry);
  }
  const auto offset = offset_of_address(facts.segments, table_address);
  if (names.empty() || !offset || table_size == 0 || table_size > kMaxStringTableBytes) return;
  Elf_Data* table = elf_getdata_rawchunk(elf, static_cast<std::int64_t>(*offset), table_size, ELF_T_BYTE);
  if (!table) return;
  std::size_t left = kMaxNameBytes;
  for (const GElf_Dyn& entry : names) {
    if (left == 0) return;
    const std::string text = string_at(table, entry.d_un.d_val, left);
    if (text.empty()) continue;
    if (entry.d_tag == DT_NEEDED)
      facts.needed.push_back(text);
    else
      split_path(text, facts.runpath);
  }
}

void read_interpreter(Elf* elf, const GElf_Phdr& header, ElfFacts& facts) {
  if (header.p_filesz == 0 || header.p_filesz > kMaxInterpreterBytes) return;
  Elf_Data* data = elf_getdata_rawchunk(elf, static_cast<std::int64_t>(header.p_offset), header.p_filesz, ELF_T_BYTE);
  if (!data || !data->d_buf) return;
  const char* text = static_cast<const char*>(data->d_buf);
  facts.interpreter.assign(text, strnlen(text, data->d_size));
}

Result<void> add_load(const GElf_Phdr& header, std::size_t number, const std::string& name, ElfFacts& facts) {
  const auto where = [&] {
    return fmt::format("program header {} (file offset {}, {} bytes)", number, header.p_offset, header.p_filesz);
  };
  if (header.p_offset > facts.file_size || header.p_filesz > facts.file_size - header.p_offset)
    return Error{
        fmt::format("{}: truncated ELF file: {} ends behind the file's {} bytes", name, where(), facts.file_size), ""};
  if (header.p_vaddr > UINT64_MAX - kPage - std::max(header.p_memsz, header.p_filesz))
    return Error{name + ": damaged ELF file: " + where() + " wraps around the address space", ""};
  const std::uint64_t start = header.p_vaddr & ~(kPage - 1);
  const std::uint64_t end = (header.p_vaddr + header.p_memsz + kPage - 1) & ~(kPage - 1);
  facts.load_start = facts.load_end == 0 ? start : std::min(facts.load_start, start);
  facts.load_end = std::max(facts.load_end, end);
  if (header.p_filesz == 0) return {};
  const Segment segment{header.p_offset, header.p_filesz, header.p_vaddr};
  facts.segments.push_back(segment);
  if (header.p_flags & PF_X) facts.exec_segments.push_back(segment);
  return {};
}

// By the sections that compilers of such languages make: for Go's own tables, and for what unwinds exceptions and
// panics. A file without sections may be any.
bool has_run_time(Elf* elf) {
  std::size_t names = 0;
  Elf_Scn* section = elf_nextscn(elf, nullptr);
  if (section == nullptr || elf_getshdrstrndx(elf, &names) != 0) return true;
  for (std::size_t headers = 0; section != nullptr && headers < kMostHeaders;
       section = elf_nextscn(elf, section), headers++) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) continue;
    const char* name = elf_strptr(elf, names, header.sh_name);
    if (name != nullptr &&
        (std::strcmp(name, ".gcc_except_table") == 0 || std::strcmp(name, ".gopclntab") == 0 ||
         std::strcmp(name, ".data.rel.ro.gopclntab") == 0 || std::strcmp(name, ".go.buildinfo") == 0))
      return true;
  }
  return false;
}

std::uint64_t size_of_file(int fd) {
  struct stat status {};
  return fstat(fd, &status) == 0 && status.st_size > 0 ? static_cast<std::uint64_t>(status.st_size) : 0;
}

}  // namespace

Result<ElfHandle> open_elf(int fd, const std::string& name) {
  struct stat status {};
  if (fstat(fd, &status) != 0) return errno_error("cannot stat " + name, errno);
  if (!S_ISREG(status.st_mode)) return Error{name + ": not a regular file", ""};
  elf_version(EV_CURRENT);
  return check_kind(ElfHandle(elf_begin(fd, ELF_C_READ, nullptr)), static_cast<std::uint64_t>(status.st_size), name);
}

Result<ElfHandle> open_elf_in_memory(std::span<const std::byte> image, const std::string& name) {
  elf_version(EV_CURRENT);
  // libelf takes a char* and does not write through it unless asked to update.
  char* bytes = const_cast<char*>(reinterpret_cast<const char*>(image.data()));
  return check_kind(ElfHandle(elf_memory(bytes, image.size())), image.size(), name);
}

Result<ElfFacts> elf_facts_of(Elf* elf, std::uint64_t file_size, const std::string& name) {
  ElfFacts facts;
  facts.file_size = file_size;
  GElf_Ehdr header;
  if (!gelf_getehdr(elf, &header)) return elf_error(name, "truncated ELF file: no header");
  facts.entry = header.e_entry;
  facts.position_independent = header.e_type == ET_DYN;
  std::size_t count = 0;
  if (elf_getphdrnum(elf, &count) != 0) return elf_error(name, "truncated ELF file: no program headers");
  if (count > kMaxProgramHeaders)
    return Error{fmt::format("{}: damaged ELF file: {} program headers", name, count), ""};
  std::optional<GElf_Phdr> dynamic;
  for (std::size_t i = 0; i < count; i++) {
    GElf_Phdr program;
    if (!gelf_getphdr(elf, static_cast<int>(i), &program))
      return elf_error(name, fmt::format("truncated ELF file: no program header {}", i));
    if (program.p_type == PT_LOAD) {
      if (auto added = add_load(program, i, name, facts); !added) return added.error();
    } else if (program.p_type == PT_DYNAMIC && program.p_filesz > 0) {
      dynamic = program;
    } else if (program.p_type == PT_INTERP) {
      read_interpreter(elf, program, facts);
    }
  }
  const auto by_offset = [](const Segment& a, const Segment& b) { return a.offset < b.offset; };
  std::stable_sort(facts.exec_segments.begin(), facts.exec_segments.end(), by_offset);
  std::stable_sort(facts.segments.begin(), facts.segments.end(), by_offset);
  facts.dynamic = dynamic.has_value();
  if (dynamic) read_dynamic(elf, *dynamic, facts);
  facts.build_id = read_build_id(elf);
  const bool is_static = facts.entry != 0 && facts.interpreter.empty() && facts.needed.empty();
  facts.mixed = is_static || has_run_time(elf);
  return facts;
}

// Searches as libdwelf does, by sections and, if there are none, by program headers; but bounded: a file may have any
// number of headers for the same bytes.
std::string read_build_id(Elf* elf) {
  std::size_t notes = 0;
  std::size_t headers = 0;
  Elf_Scn* section = elf_nextscn(elf, nullptr);
  if (section == nullptr) {
    std::size_t count = 0;
    if (elf_getphdrnum(elf, &count) != 0) return "";
    for (std::size_t i = 0; i < std::min(count, kMaxProgramHeaders) && notes < kMostNotes; i++) {
      GElf_Phdr header;
      if (gelf_getphdr(elf, static_cast<int>(i), &header) == nullptr || header.p_type != PT_NOTE) continue;
      if (header.p_filesz == 0 || header.p_filesz > kMaxNoteBytes) continue;
      notes++;
      const Elf_Type type = header.p_align == sizeof(std::uint64_t) ? ELF_T_NHDR8 : ELF_T_NHDR;
      const auto offset = static_cast<std::int64_t>(header.p_offset);
      if (auto found = build_id_in(elf_getdata_rawchunk(elf, offset, header.p_filesz, type))) return *found;
    }
    return "";
  }
  for (; section != nullptr && notes < kMostNotes && headers < kMostHeaders; section = elf_nextscn(elf, section)) {
    headers++;
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr || header.sh_type != SHT_NOTE) continue;
    if ((header.sh_flags & SHF_COMPRESSED) != 0 || header.sh_size > kMaxNoteBytes) continue;
    notes++;
    if (auto found = build_id_in(elf_getdata(section, nullptr))) return *found;
  }
  return "";
}

Result<ElfFacts> read_elf_facts(int fd, const std::string& name) {
  auto elf = open_elf(fd, name);
  if (!elf) return elf.error();
  return elf_facts_of(elf->get(), size_of_file(fd), name);
}

Result<ElfFacts> read_elf_facts_from_memory(std::span<const std::byte> image, const std::string& name) {
  auto elf = open_elf_in_memory(image, name);
  if (!elf) return elf.error();
  return elf_facts_of(elf->get(), image.size(), name);
}

std::optional<std::uint64_t> address_of_offset(std::span<const Segment> segments, std::uint64_t offset) {
  for (const Segment& segment : segments)
    if (offset >= segment.offset && offset - segment.offset < segment.size)
      return segment.address + (offset - segment.offset);
  return std::nullopt;
}

std::optional<std::uint64_t> offset_of_address(std::span<const Segment> segments, std::uint64_t address) {
  for (const Segment& segment : segments)
    if (address >= segment.address && address - segment.address < segment.size)
      return segment.offset + (address - segment.address);
  return std::nullopt;
}

}  // namespace uscope::symbolizer
