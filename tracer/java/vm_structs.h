// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a HotSpot Java VM says of its own structures, for debuggers: where each field lies, how large each type is, and
// its constants (vmStructs.hpp of OpenJDK; `jhsdb` reads the same tables).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "support/result.h"
#include "tracer/java/image_symbols.h"
#include "tracer/java/target_memory.h"

namespace uscope::tracer {

class VmStructs {
 public:
  struct Field {
    std::string type;  // as declared: "OopHandle"; empty if the VM does not tell
    bool is_static = false;
    std::uint64_t at = 0;  // a static field's address; another one's offset in its object
  };

  // An error if the image is no HotSpot VM, or has not filled its tables yet.
  static Result<VmStructs> read(MemoryReader& memory, const ImageSymbols& symbols);
  VmStructs() = default;

  // By "Type::field". nullptr if there is none.
  [[nodiscard]] const Field* field(const std::string& name) const;
  [[nodiscard]] std::optional<std::uint64_t> offset(const std::string& name) const;
  [[nodiscard]] std::optional<std::uint64_t> address(const std::string& name) const;
  [[nodiscard]] std::optional<std::uint64_t> size_of(const std::string& type) const;
  [[nodiscard]] std::optional<std::int64_t> constant(const std::string& name) const;

  // For tests.
  void add_field(const std::string& name, Field field) { fields_[name] = std::move(field); }
  void add_size(const std::string& type, std::uint64_t bytes) { sizes_[type] = bytes; }
  void add_constant(const std::string& name, std::int64_t value) { constants_[name] = value; }

 private:
  std::map<std::string, Field> fields_;
  std::map<std::string, std::uint64_t> sizes_;
  std::map<std::string, std::int64_t> constants_;
};

}  // namespace uscope::tracer
