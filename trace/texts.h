// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Texts and contents of calls by number. Whoever orders events or follows descriptors keeps numbers, and asks here for
// the texts. The loader's implementations put each text and each content into the database (store/db/string_table.h,
// content_table.h); those of this file need no database.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "support/result.h"
#include "trace/ids.h"

namespace uscope::trace {

class Texts {
 public:
  virtual ~Texts() = default;

  // Returns the id of a text. Equal texts have equal ids.
  virtual Result<TextId> intern(std::string_view text) = 0;
  // Returns the text of an id; nullopt if there is no such id.
  virtual Result<std::optional<std::string>> text(TextId id) = 0;
};

class Contents {
 public:
  virtual ~Contents() = default;

  // Returns an id of these bytes. Equal bytes may have several ids.
  virtual Result<ContentId> intern(std::string_view bytes) = 0;
};

// Byte strings by number, from 1, each kept once. Memory: all of them, and some 100 bytes for each.
template <typename Id>
class Interner {
 public:
  Id intern(std::string_view bytes) {
    if (const auto known = ids_.find(bytes); known != ids_.end()) return known->second;
    const Id id(kept_.size() + 1);
    ids_.emplace(kept_.emplace_back(bytes), id);
    return id;
  }

  // Returns null if there is no such id.
  [[nodiscard]] const std::string* find(Id id) const {
    return id && id.value() <= kept_.size() ? &kept_[id.value() - 1] : nullptr;
  }

  [[nodiscard]] std::size_t size() const { return kept_.size(); }

 private:
  std::deque<std::string> kept_;  // by id - 1; what is in it stays where it is
  std::unordered_map<std::string_view, Id> ids_;
};

class KeptTexts final : public Texts {
 public:
  Result<TextId> intern(std::string_view text) override { return texts_.intern(text); }
  Result<std::optional<std::string>> text(TextId id) override {
    const std::string* found = texts_.find(id);
    return found != nullptr ? std::optional(*found) : std::nullopt;
  }

 private:
  Interner<TextId> texts_;
};

class KeptContents final : public Contents {
 public:
  Result<ContentId> intern(std::string_view bytes) override { return contents_.intern(bytes); }
  // Returns null if there is no such id.
  [[nodiscard]] const std::string* find(ContentId id) const { return contents_.find(id); }

 private:
  Interner<ContentId> contents_;
};

}  // namespace uscope::trace
