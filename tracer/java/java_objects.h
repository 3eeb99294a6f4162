// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Objects in the heap of a HotSpot VM: their class, and their fields by name.
//
// Limits: with ZGC a reference carries colours, and with class pointers of full width the parts of arrays lie
// elsewhere; then class, or text, is not known, which is what the functions return.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "tracer/java/target_memory.h"
#include "tracer/java/vm_structs.h"

namespace uscope::tracer {

class JavaObjects {
 public:
  // Both must outlive this object. Reads the VM's flags and the bases of its compressed pointers.
  JavaObjects(MemoryReader& memory, const VmStructs& vm);

  // Whether references in the heap are plain addresses.
  [[nodiscard]] bool are_readable() const { return !coloured_; }

  // 0, nullopt or "" where it is not known. An object is its address, a class the address of its Klass.
  std::uint64_t class_of(std::uint64_t object);
  std::string class_name(std::uint64_t klass);  // as in Java: "java.lang.Object"
  std::optional<std::uint32_t> field_offset(std::uint64_t klass, const std::string& name);
  std::uint64_t reference(std::uint64_t object, const std::string& field);
  std::optional<std::int64_t> number(std::uint64_t object, const std::string& field);
  std::string text(std::uint64_t string);  // of a java.lang.String, as UTF-8

 private:
  bool flag(const std::string& name) { return flags_[name]; }
  void read_flags();
  std::string symbol(std::uint64_t at);
  std::string constant_name(std::uint64_t pool, std::uint32_t index);
  std::optional<std::uint32_t> own_field(std::uint64_t klass, const std::string& name);
  std::optional<std::uint32_t> field_of_words(std::uint64_t klass, std::uint64_t pool, const std::string& name);
  std::optional<std::uint32_t> field_of_stream(std::uint64_t klass, std::uint64_t pool, const std::string& name);

  MemoryReader& memory_;
  const VmStructs& vm_;
  std::map<std::string, bool> flags_;
  std::map<std::pair<std::uint64_t, std::string>, std::optional<std::uint32_t>> offsets_;
  bool coloured_ = false;
  std::uint64_t oop_base_ = 0;
  std::uint32_t oop_shift_ = 0;
  std::uint64_t class_base_ = 0;
  std::uint32_t class_shift_ = 0;
};

}  // namespace uscope::tracer
