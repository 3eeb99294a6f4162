// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Each table is an array without a length, of which the VM exports the address, the distance of two entries, and where
// in an entry each of its values lies. It ends with an entry without a name.
#include "tracer/java/vm_structs.h"

#include <fmt/core.h>

#include <functional>
#include <utility>

namespace uscope::tracer {
namespace {

constexpr std::uint32_t kMostEntries = 32768;
constexpr std::uint64_t kMostStride = 4096;
constexpr std::size_t kLongestName = 512;

class Tables {
 public:
  Tables(MemoryReader& memory, const ImageSymbols& symbols) : memory_(memory), symbols_(symbols) {}

  // A word that the VM exports: "gHotSpotVM" + name.
  std::uint64_t word(const std::string& name) {
    const auto at = symbols_.find("gHotSpotVM" + name);
    const auto value = at ? memory_.get<std::uint64_t>(*at) : std::nullopt;
    if (!value && missing_.empty()) missing_ = "gHotSpotVM" + name;
    return value.value_or(0);
  }
  std::string text(std::uint64_t at) { return memory_.c_string(memory_.pointer(at), kLongestName).value_or(""); }

  void each(const std::string& table, const std::string& entry, const std::string& name,
            const std::function<void(std::uint64_t at, const std::string& name)>& take) {
    const std::uint64_t stride = word(entry + "ArrayStride");
    const std::uint64_t name_at = word(entry + name);
    std::uint64_t at = word(table);
    if (at == 0 || stride == 0 || stride > kMostStride) return;
    for (std::uint32_t i = 0; i < kMostEntries; i++, at += stride) {
      if (memory_.pointer(at + name_at) == 0) return;
      take(at, text(at + name_at));
    }
  }
  [[nodiscard]] const std::string& missing() const { return missing_; }

 private:
  MemoryReader& memory_;
  const ImageSymbols& symbols_;
  std::string missing_;
};

template <typename Map>
auto found(const Map& map, const std::string& name) {
  const auto at = map.find(name);
  return at == map.end() ? std::nullopt : std::optional(at->second);
}

}  // namespace

Result<VmStructs> VmStructs::read(MemoryReader& memory, const ImageSymbols& symbols) {
  VmStructs all;
  Tables tables(memory, symbols);
  const std::uint64_t field_name = tables.word("StructEntryFieldNameOffset");
  const std::uint64_t field_type = tables.word("StructEntryTypeStringOffset");
  const std::uint64_t is_static = tables.word("StructEntryIsStaticOffset");
  const std::uint64_t offset = tables.word("StructEntryOffsetOffset");
  const std::uint64_t address = tables.word("StructEntryAddressOffset");
  tables.each("Structs", "StructEntry", "TypeNameOffset", [&](std::uint64_t at, const std::string& type) {
    const bool fixed = memory.get<std::uint32_t>(at + is_static).value_or(0) != 0;
    all.fields_[type + "::" + tables.text(at + field_name)] = {tables.text(at + field_type), fixed,
                                                               memory.pointer(at + (fixed ? address : offset))};
  });
  const std::uint64_t size = tables.word("TypeEntrySizeOffset");
  tables.each("Types", "TypeEntry", "TypeNameOffset",
              [&](std::uint64_t at, const std::string& type) { all.sizes_[type] = memory.pointer(at + size); });
  const std::uint64_t int_value = tables.word("IntConstantEntryValueOffset");
  tables.each("IntConstants", "IntConstantEntry", "NameOffset", [&](std::uint64_t at, const std::string& name) {
    all.constants_[name] = memory.get<std::int32_t>(at + int_value).value_or(0);
  });
  const std::uint64_t long_value = tables.word("LongConstantEntryValueOffset");
  tables.each("LongConstants", "LongConstantEntry", "NameOffset", [&](std::uint64_t at, const std::string& name) {
    all.constants_[name] = memory.get<std::int64_t>(at + long_value).value_or(0);
  });
  if (!tables.missing().empty())
    return Error{fmt::format("the Java VM does not export {}: it is not HotSpot", tables.missing()), ""};
  if (all.fields_.empty()) return Error{"the Java VM's tables of its structures are empty", ""};
  return all;
}

const VmStructs::Field* VmStructs::field(const std::string& name) const {
  const auto at = fields_.find(name);
  return at == fields_.end() ? nullptr : &at->second;
}

std::optional<std::uint64_t> VmStructs::offset(const std::string& name) const {
  const Field* const known = field(name);
  return known == nullptr || known->is_static ? std::nullopt : std::optional(known->at);
}

std::optional<std::uint64_t> VmStructs::address(const std::string& name) const {
  const Field* const known = field(name);
  return known == nullptr || !known->is_static ? std::nullopt : std::optional(known->at);
}

std::optional<std::uint64_t> VmStructs::size_of(const std::string& type) const {
  return found(sizes_, type);
}

std::optional<std::int64_t> VmStructs::constant(const std::string& name) const {
  return found(constants_, name);
}

}  // namespace uscope::tracer
