// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A class lists its fields in one of two forms: until JDK 20 as six 16-bit words each (FieldInfo), since JDK 21 as a
// stream of numbers in UNSIGNED5 (FieldInfoStream). Every list and chain is followed for a bounded length only, since
// the memory is the traced program's.
#include "tracer/java/java_objects.h"

#include <algorithm>
#include <initializer_list>
#include <vector>

namespace uscope::tracer {
namespace {

constexpr std::uint64_t kMostFlags = 8192;
constexpr std::size_t kLongestSymbol = 1024;
constexpr std::uint32_t kMostSupers = 64;
constexpr std::uint32_t kMostFields = 4096;
constexpr std::uint32_t kLongestText = 1024;
constexpr std::uint64_t kArrayData = 4;  // in an Array<u1> or Array<u2>, behind its length

void append_utf8(std::string& text, std::uint32_t code) {
  if (code < 0x80) {
    text.push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    text.push_back(static_cast<char>(0xc0 | code >> 6U));
    text.push_back(static_cast<char>(0x80 | (code & 0x3fU)));
  } else if (code < 0x10000) {
    text.push_back(static_cast<char>(0xe0 | code >> 12U));
    text.push_back(static_cast<char>(0x80 | (code >> 6U & 0x3fU)));
    text.push_back(static_cast<char>(0x80 | (code & 0x3fU)));
  } else {
    text.push_back(static_cast<char>(0xf0 | code >> 18U));
    text.push_back(static_cast<char>(0x80 | (code >> 12U & 0x3fU)));
    text.push_back(static_cast<char>(0x80 | (code >> 6U & 0x3fU)));
    text.push_back(static_cast<char>(0x80 | (code & 0x3fU)));
  }
}

// Numbers of one to five bytes without zero bytes (unsigned5.hpp of OpenJDK).
class Unsigned5 {
 public:
  Unsigned5(MemoryReader& memory, std::uint64_t at, std::uint64_t bytes) : memory_(memory), at_(at), end_(at + bytes) {}
  std::optional<std::uint32_t> next() {
    constexpr std::uint32_t kLow = 191;
    std::uint32_t sum = 0;
    for (std::uint32_t i = 0; i < 5; i++) {
      const auto byte = at_ < end_ ? memory_.get<std::uint8_t>(at_++) : std::nullopt;
      if (!byte || *byte == 0) return std::nullopt;
      sum += (*byte - 1U) << (6 * i);
      if (*byte - 1U < kLow) break;
    }
    return sum;
  }

 private:
  MemoryReader& memory_;
  std::uint64_t at_;
  std::uint64_t end_;
};

}  // namespace

JavaObjects::JavaObjects(MemoryReader& memory, const VmStructs& vm) : memory_(memory), vm_(vm) {
  read_flags();
  coloured_ = flag("UseZGC");
  const auto value = [&]<typename T>(T unknown, std::initializer_list<const char*> names) {
    for (const char* const name : names)
      if (const auto at = vm_.address(name)) return memory_.get<T>(*at).value_or(unknown);
    return unknown;
  };
  oop_base_ = value(std::uint64_t{0},
                    {"CompressedOops::_base", "CompressedOops::_narrow_oop._base", "Universe::_narrow_oop._base"});
  oop_shift_ = value(std::uint32_t{0},
                     {"CompressedOops::_shift", "CompressedOops::_narrow_oop._shift", "Universe::_narrow_oop._shift"}) &
               31U;
  class_base_ =
      value(std::uint64_t{0}, {"CompressedKlassPointers::_base", "CompressedKlassPointers::_narrow_klass._base",
                               "Universe::_narrow_klass._base"});
  class_shift_ =
      value(std::uint32_t{0}, {"CompressedKlassPointers::_shift", "CompressedKlassPointers::_narrow_klass._shift",
                               "Universe::_narrow_klass._shift"}) &
      31U;
}

void JavaObjects::read_flags() {
  for (const char* const name :
       {"UseZGC", "UseCompressedOops", "UseCompressedClassPointers", "UseCompactObjectHeaders"})
    flags_[name] = false;
  const auto table = vm_.address("JVMFlag::flags");
  const auto count = vm_.address("JVMFlag::numFlags");
  const auto size = vm_.size_of("JVMFlag");
  const auto name_at = vm_.offset("JVMFlag::_name");
  const auto value_at = vm_.offset("JVMFlag::_addr");
  if (!table || !count || !size || !name_at || !value_at) return;
  const std::uint64_t flags = std::min(memory_.pointer(*count), kMostFlags);
  std::uint64_t at = memory_.pointer(*table);
  for (std::uint64_t i = 0; i < flags; i++, at += *size) {
    const auto name = memory_.c_string(memory_.pointer(at + *name_at), kLongestSymbol);
    const auto known = name ? flags_.find(*name) : flags_.end();
    if (known != flags_.end())
      known->second = memory_.get<std::uint8_t>(memory_.pointer(at + *value_at)).value_or(0) != 0;
  }
}

std::uint64_t JavaObjects::class_of(std::uint64_t object) {
  if (object == 0 || coloured_) return 0;
  if (flag("UseCompactObjectHeaders")) {
    const auto shift = vm_.constant("markWord::klass_shift");
    if (!shift) return 0;
    return class_base_ + ((memory_.pointer(object) >> (static_cast<std::uint64_t>(*shift) & 63U)) << class_shift_);
  }
  if (!flag("UseCompressedClassPointers")) {
    const auto at = vm_.offset("oopDesc::_metadata._klass");
    return at ? memory_.pointer(object + *at) : 0;
  }
  const auto at = vm_.offset("oopDesc::_metadata._compressed_klass");
  const auto narrow = at ? memory_.get<std::uint32_t>(object + *at) : std::nullopt;
  return narrow.value_or(0) == 0 ? 0 : class_base_ + (std::uint64_t{*narrow} << class_shift_);
}

std::string JavaObjects::symbol(std::uint64_t at) {
  const auto length_at = vm_.offset("Symbol::_length");
  const auto body_at = vm_.offset("Symbol::_body");
  if (at == 0 || !length_at || !body_at) return "";
  const auto length = memory_.get<std::uint16_t>(at + *length_at);
  if (!length || *length > kLongestSymbol) return "";
  std::string text(*length, '\0');
  return memory_.read(at + *body_at, std::as_writable_bytes(std::span(text))) ? text : "";
}

std::string JavaObjects::class_name(std::uint64_t klass) {
  const auto at = vm_.offset("Klass::_name");
  if (klass == 0 || !at) return "";
  std::string name = symbol(memory_.pointer(klass + *at));
  std::replace(name.begin(), name.end(), '/', '.');
  return name;
}

std::string JavaObjects::constant_name(std::uint64_t pool, std::uint32_t index) {
  const auto head = vm_.size_of("ConstantPool");
  const auto length_at = vm_.offset("ConstantPool::_length");
  if (pool == 0 || !head || !length_at || index >= memory_.get<std::uint32_t>(pool + *length_at).value_or(0)) return "";
  return symbol(memory_.pointer(pool + *head + std::uint64_t{index} * sizeof(std::uint64_t)));
}

std::optional<std::uint32_t> JavaObjects::field_of_words(std::uint64_t klass, std::uint64_t pool,
                                                         const std::string& name) {
  struct Info {
    std::uint16_t access, name, signature, initial, low, high;
  };
  constexpr std::uint32_t kTagBits = 2;
  const auto fields_at = vm_.offset("InstanceKlass::_fields");
  const auto count_at = vm_.offset("InstanceKlass::_java_fields_count");
  if (!fields_at || !count_at) return std::nullopt;
  const std::uint64_t fields = memory_.pointer(klass + *fields_at) + kArrayData;
  const std::uint32_t count = memory_.get<std::uint16_t>(klass + *count_at).value_or(0);
  for (std::uint32_t i = 0; i < std::min(count, kMostFields); i++) {
    const auto info = memory_.get<Info>(fields + i * sizeof(Info));
    if (!info) break;
    if (constant_name(pool, info->name) == name) return (info->low | std::uint32_t{info->high} << 16U) >> kTagBits;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> JavaObjects::field_of_stream(std::uint64_t klass, std::uint64_t pool,
                                                          const std::string& name) {
  enum : std::uint32_t { kInitialized = 1, kGeneric = 4, kContended = 16 };  // FieldInfo::FieldFlags
  const auto at = vm_.offset("InstanceKlass::_fieldinfo_stream");
  const std::uint64_t array = at ? memory_.pointer(klass + *at) : 0;
  if (array == 0) return std::nullopt;
  Unsigned5 stream(memory_, array + kArrayData, memory_.get<std::uint32_t>(array).value_or(0));
  const auto fields = stream.next();
  const auto injected = stream.next();
  if (!fields || !injected) return std::nullopt;
  for (std::uint32_t i = 0; i < std::min(*fields, kMostFields); i++) {
    const auto name_index = stream.next();
    stream.next();  // the signature
    const auto offset = stream.next();
    stream.next();  // its access
    const auto flags = stream.next();
    if (!flags) break;
    for (const std::uint32_t optional : {kInitialized, kGeneric, kContended})
      if ((*flags & optional) != 0) stream.next();
    if (constant_name(pool, *name_index) == name) return offset;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> JavaObjects::own_field(std::uint64_t klass, const std::string& name) {
  const auto pool_at = vm_.offset("InstanceKlass::_constants");
  if (!pool_at) return std::nullopt;
  const std::uint64_t pool = memory_.pointer(klass + *pool_at);
  return vm_.offset("InstanceKlass::_fieldinfo_stream") ? field_of_stream(klass, pool, name)
                                                        : field_of_words(klass, pool, name);
}

std::optional<std::uint32_t> JavaObjects::field_offset(std::uint64_t klass, const std::string& name) {
  const auto known = offsets_.find({klass, name});
  if (known != offsets_.end()) return known->second;
  const auto super_at = vm_.offset("Klass::_super");
  std::optional<std::uint32_t> offset;
  std::uint64_t at = klass;
  for (std::uint32_t i = 0; i < kMostSupers && at != 0 && !offset; i++) {
    offset = own_field(at, name);
    at = super_at ? memory_.pointer(at + *super_at) : 0;
  }
  return offsets_[{klass, name}] = offset;
}

std::uint64_t JavaObjects::reference(std::uint64_t object, const std::string& field) {
  const auto offset = field_offset(class_of(object), field);
  if (!offset) return 0;
  if (!flag("UseCompressedOops")) return memory_.pointer(object + *offset);
  const std::uint32_t narrow = memory_.get<std::uint32_t>(object + *offset).value_or(0);
  return narrow == 0 ? 0 : oop_base_ + (std::uint64_t{narrow} << oop_shift_);
}

std::optional<std::int64_t> JavaObjects::number(std::uint64_t object, const std::string& field) {
  const auto offset = field_offset(class_of(object), field);
  return offset ? memory_.get<std::int64_t>(object + *offset) : std::nullopt;
}

// Its bytes are Latin-1, or UTF-16 if its coder says so. Surrogates that are not a pair stay what they are.
std::string JavaObjects::text(std::uint64_t string) {
  const bool compact = flag("UseCompactObjectHeaders");
  const auto coder_at = field_offset(class_of(string), "coder");
  const std::uint64_t array = reference(string, "value");
  if (array == 0 || !coder_at || (!compact && !flag("UseCompressedClassPointers"))) return "";
  const std::uint64_t length_at = array + (compact ? 8 : 12);
  const auto length = memory_.get<std::uint32_t>(length_at);
  const bool wide = memory_.get<std::uint8_t>(string + *coder_at).value_or(0) != 0;
  if (!length || *length > kLongestText) return "";
  std::vector<std::uint8_t> bytes(*length);
  if (!memory_.read(length_at + sizeof(*length), std::as_writable_bytes(std::span(bytes)))) return "";
  std::string text;
  for (std::size_t i = 0; i + (wide ? 1 : 0) < bytes.size(); i += wide ? 2 : 1) {
    std::uint32_t code = bytes[i];
    if (wide) code |= std::uint32_t{bytes[i + 1]} << 8U;
    if (wide && (code & 0xfc00U) == 0xd800 && i + 3 < bytes.size()) {
      const std::uint32_t low = bytes[i + 2] | std::uint32_t{bytes[i + 3]} << 8U;
      if ((low & 0xfc00U) == 0xdc00) {
        code = 0x10000 + ((code & 0x3ffU) << 10U) + (low & 0x3ffU);
        i += 2;
      }
    }
    append_utf8(text, code);
  }
  return text;
}

}  // namespace uscope::tracer
