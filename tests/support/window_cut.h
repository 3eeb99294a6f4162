// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Compares a trace with what live::Window makes of its beginning: the records up to a cut go to a Window; what that
// writes, with the records behind the cut, is loaded. The events behind the cut must be as in the store of the whole.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "live/window/window.h"
#include "store/db/statement.h"
#include "store/reused_store.h"
#include "support/private_file.h"
#include "trace/names.h"
#include "trace/raw_reader.h"
#include "trace/raw_record.h"
#include "trace/record_type.h"

namespace uscope::test {

class WindowCuts {
 public:
  // By which an event is known: its task, entry and class.
  using Key = std::tuple<std::uint32_t, std::uint64_t, std::string>;
  using Rows = std::map<Key, std::multiset<std::string>>;

  // `records`: of a whole trace, in their order.
  static Result<WindowCuts> of(std::vector<live::KeptRecord> records) {
    auto folder = open_temporary_folder();
    if (!folder) return folder.error();
    auto store = store::ReusedStore::create(folder->get());
    if (!store) return store.error();
    WindowCuts cuts(std::move(records), std::move(*folder), std::move(*store));
    auto whole = cuts.rows([&cuts](live::WindowTrace& to) { return cuts.append_from(0, to); });
    if (!whole) return whole.error();
    cuts.whole_ = std::move(*whole);
    return cuts;
  }

  [[nodiscard]] const Rows& whole() const { return whole_; }
  [[nodiscard]] std::size_t compared() const { return compared_; }

  // "" if the events behind this record are as in the whole; otherwise what is different. `forget_every`: so often, in
  // records, the Window forgets what ended before the last time; 0: never.
  Result<std::string> differences(std::size_t cut, std::size_t forget_every) {
    live::Window window({});
    std::uint64_t before_ns = 0;
    for (std::size_t i = 0; i < cut; i++) {
      window.take(live::head_of(records_[i]));
      if (forget_every == 0 || i % forget_every != 0 || i == 0) continue;
      window.forget(before_ns);
      before_ns = live::head_of(records_[i]).time;
    }
    auto part = rows([&](live::WindowTrace& to) -> Result<void> {
      if (auto done = window.write(to); !done) return done;
      return append_from(cut, to);
    });
    if (!part) return part.error();
    std::set<Key> open;
    window.open().each_event(
        [&open](const usc_event& event) { open.insert(key_of(event.head, event.entry_ns, event.source)); });
    std::set<Key> behind;
    for (std::size_t i = cut; i < records_.size(); i++)
      if (const Key key = event_of(live::head_of(records_[i])); std::get<0>(key) != 0) behind.insert(key);
    std::string text;
    for (const Key& key : behind) {
      const auto expected = whole_.find(key);
      const auto found = part->find(key);
      compared_ += expected != whole_.end() ? expected->second.size() : 0;
      if (expected == whole_.end() ? found == part->end() : found != part->end() && found->second == expected->second)
        continue;
      for (const auto& [sign, rows, at] : {std::tuple("-", &whole_, expected), {"+", &*part, found}})
        for (const std::string& row : at == rows->end() ? std::multiset<std::string>() : at->second)
          text += std::string(sign) + row + "\n";
    }
    // Nothing else is there but what was under way.
    for (const auto& [key, rows] : *part)
      if (behind.count(key) == 0 && open.count(key) == 0)
        for (const std::string& row : rows) text += "too much: " + row + "\n";
    for (const Key& key : open)
      if (whole_.count(key) != 0 && part->count(key) == 0) text += "not there: " + *whole_.at(key).begin() + "\n";
    return text;
  }

 private:
  WindowCuts(std::vector<live::KeptRecord>&& records, UniqueFd&& folder, store::ReusedStore&& store)
      : records_(std::move(records)), folder_(std::move(folder)), store_(std::move(store)) {}

  static Key key_of(const usc_record& record, std::uint64_t entry_ns, std::uint8_t source) {
    return {record.task, entry_ns, std::string(trace::source_name(source))};
  }
  static Key event_of(const usc_record& record) {
    switch (record.type) {
      case USC_RECORD_EVENT:
        return key_of(record, trace::record_as<usc_event>(record).entry_ns, USC_SOURCE_SYSCALL);
      case USC_RECORD_HIT:
        return key_of(record, trace::record_as<usc_hit>(record).entry_ns, trace::record_as<usc_hit>(record).source);
      case USC_RECORD_SIGNAL:
        return key_of(record, record.time, USC_SOURCE_SIGNAL);
      case USC_RECORD_LOGGED:
        return key_of(record, record.time, trace::record_as<usc_logged>(record).source);
      default:
        return {};
    }
  }

  Result<void> append_from(std::size_t first, live::WindowTrace& to) const {
    for (std::size_t i = first; i < records_.size(); i++)
      if (live::head_of(records_[i]).type != USC_RECORD_CPU_TOTAL)
        if (auto done = live::write_kept(to, records_[i]); !done) return done;
    return {};
  }

  // The events of a trace, with all that is known of them: names, strings, descriptors, the frames of the stack.
  template <typename Write>
  Result<Rows> rows(const Write& write) {
    auto trace = live::WindowTrace::begin(folder_.get(), 1, 0);
    if (!trace) return trace.error();
    if (auto done = write(*trace); !done) return done.error();
    auto file = trace->end();
    if (!file) return file.error();
    auto raw = trace::RawReader::open(std::move(*file), "a part of a trace");
    if (!raw) return raw.error();
    if (auto loaded = store_.load(std::move(*raw), {}); !loaded) return loaded.error();
    Rows rows;
    {
      auto all = store::Statement::prepare(
          store_.handle(),
          "SELECT event.thread_id, event.ts_ns, v.class, json_array(v.kind, v.ts_ns, v.dur_ns, v.how, v.pid, v.tid,"
          " v.uid, v.process, v.thread, v.result, v.a0, v.a1, v.a2, v.a3, v.a4, v.a5, v.object, v.object_kind,"
          " v.ended, v.\"trigger\", v.folded,"
          " (SELECT group_concat(arg || '=' || value || late || source) FROM (SELECT * FROM event_string"
          "   JOIN string ON string.id = string_id WHERE event_id = v.id ORDER BY arg)),"
          " (SELECT group_concat(arg || '/' || place || '=' || fd || wants || ifnull(value, '?')) FROM"
          "   (SELECT * FROM event_descriptor LEFT JOIN string ON string.id = string_id WHERE event_id = v.id"
          "    ORDER BY arg, place)))"
          " FROM v_event AS v JOIN event ON event.id = v.id");
      if (!all) return all.error();
      for (;;) {
        const auto more = all->step();
        if (!more) return more.error();
        if (!*more) break;
        rows[{static_cast<std::uint32_t>(all->integer(0)), static_cast<std::uint64_t>(all->integer(1)),
              std::string(all->text(2))}]
            .emplace(all->text(3));
      }
    }
    if (auto done = store_.empty(); !done) return done.error();
    return rows;
  }

  std::vector<live::KeptRecord> records_;
  UniqueFd folder_;
  store::ReusedStore store_;
  Rows whole_;
  std::size_t compared_ = 0;
};

}  // namespace uscope::test
