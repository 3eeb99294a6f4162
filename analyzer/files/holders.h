// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Which traced process had a file, a socket or another object open, until when, and where it was opened.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/files/files.h"
#include "analyzer/read/catalog.h"
#include "analyzer/read/part.h"
#include "analyzer/read/top_list.h"
#include "store/db/database.h"
#include "support/result.h"

namespace uscope::analyzer {

// One descriptor of a process.
struct Holder {
  std::optional<std::int64_t> pid;
  std::string process;  // base name of the image; empty: not known
  std::int64_t fd = 0;
  std::optional<std::string> name;          // of the object
  std::string until;                        // `close`, `exec`, `exit`, `left`, `tracing`: as held_descriptor.until
  std::optional<std::int64_t> until_ns{};   // since the trace's start; nullopt: it was open when tracing ended
  std::optional<std::int64_t> opened_ns{};  // the same; nullopt: it was open before, or the call is no event
  std::string call{};                       // that opened it; empty: as above
  std::string opener{};                     // the process whose call that was, if it was inherited: "server[4711]"
  std::string function{};                   // of the application; empty: none
  std::string module{};
  bool fallback = false;
  std::string stack{};  // folded

  // Whether it was never closed.
  [[nodiscard]] bool is_left_open() const { return until == "exit" || until == "tracing" || until == "left"; }
};

// Descriptors of one program's processes that the same call at the same place in the code opened, or of one object.
struct HolderGroup {
  std::vector<Holder> holders;  // never empty; by time of opening
  std::size_t processes = 1;
  std::size_t most_of_one = 1;  // of them, how many descriptors one of the processes has
};

struct HolderQuery {
  std::vector<std::string> paths{};      // as FileQuery
  std::vector<std::string> processes{};  // on any name of an image of the process
  // By the name of an object: only descriptors that were opened before this event (0: any). nullopt: any object.
  std::optional<std::map<std::string, std::int64_t>> objects{};
  bool left_open_only = false;
  const Part* part = nullptr;  // only what was opened in it; nullptr: at any time
  std::size_t lines = 0;       // groups; 0 = all
};

struct HolderList {
  TopList<HolderGroup> groups;       // those in which one process has most descriptors first
  std::uint64_t descriptors = 0;     // of all groups
  std::vector<std::string> unknown;  // processes that may have had more: "server[4711]"
};

[[nodiscard]] Result<HolderList> read_holders(const store::Database& database, const Catalog& catalog,
                                              const HolderQuery& query);

// Objects of which it matters who has them open: sockets with an address, locked files, and removed ones: for those,
// who has had them open since before.
[[nodiscard]] Result<HolderList> read_holders_of(const store::Database& database, const Catalog& catalog,
                                                 const std::vector<FileLine>& files, HolderQuery query);

}  // namespace uscope::analyzer
