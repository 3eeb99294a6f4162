// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How the schema changed from version to version: one line for each change, in the order in which they were made. From
// the present texts and these lines follow the texts that older versions of uscope wrote, so that their databases are
// recognised and read (store/db/older_schema.h). Who changes a text of schema.cpp adds a line with the new version.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "store/files/trace_file.h"

namespace uscope::store {

struct SchemaChange {
  std::int32_t version;      // the first that has it
  std::string_view object;   // the table, view or index
  std::string_view column;   // that is new; empty: none, or the object itself is new
  std::string_view now;      // the part of its text that is new or another; empty: the object itself is new
  std::string_view before;   // what stood in its place
  std::string_view lacking;  // what an older database does not tell: "sizes of …"; empty: nothing

  // "waited_descriptor.parts", "event_buffers".
  [[nodiscard]] std::string name() const {
    return std::string(object) + (column.empty() ? "" : "." + std::string(column));
  }
};

inline constexpr std::array kSchemaHistory{
    SchemaChange{16, "event_descriptor", "", "", "",
                 "which descriptors each call of poll, select or epoll_wait waits for"},
    SchemaChange{17, "waited_descriptor", "bytes", ",\n  bytes INTEGER", "", "how many bytes a waiting call asks for"},
    SchemaChange{17, "kind_result", "", "", "", "types of the results of functions, which are shown as numbers"},
    SchemaChange{18, "event_buffers", "", "", "", "how much calls with a list of buffers ask for"},
    SchemaChange{18, "waited_descriptor", "parts", ", parts INTEGER", "", "into how many buffers they ask for it"},
    SchemaChange{19, "thread_look", "by_timer", ", by_timer INTEGER", "", "whether a timer may wake a waiting thread"},
    SchemaChange{
        19, "frame", "origin",
        ",\n  origin TEXT NOT NULL DEFAULT 'own' CHECK (origin IN ('own', 'package', 'runtime', 'part'))", "",
        "which functions are of a language's run-time system: triggers are those that the older version chose"},
    SchemaChange{19, "stack", "managed", ", managed INTEGER NOT NULL DEFAULT 0", "",
                 "which stacks are of managed code"},
    SchemaChange{20, "held_descriptor", "", "", "", "which process had which file or socket open"},
    SchemaChange{20, "frame_lock", "", "", "", "which locks functions of libc's take, where these have no names"},
    SchemaChange{20, "thread_name", "", "", "", "which names threads had before their last ones"},
    SchemaChange{20, "thread_user", "", "", "", ""},
    SchemaChange{20, "event_descriptor", "wants", ", 'other', 'passed', 'pidfd'))", ", 'other'))",
                 "which descriptors messages carry"},
    SchemaChange{20, "program_total", "", "", "", ""},  // counted: older_schema.cpp
    SchemaChange{20, "object_total", "space", ", space INTEGER", "",
                 "which files of one path are different ones, of other mount namespaces"},
    SchemaChange{20, "object_total", "runtime_frame_id", ", runtime_frame_id INTEGER REFERENCES frame(id)", "", ""},
    SchemaChange{20, "event", "object_id", ",\n  object_id INTEGER REFERENCES object(id)", "", ""},
    SchemaChange{20, "object", "", "", "", ""},
    SchemaChange{20, "thread_look", "parent_pid", ", parent_pid INTEGER", "", "whose child each process is at the end"},
    SchemaChange{20, "monitor_wait", "what", ", 'park', 'lock')),", ", 'park')),", ""},
    SchemaChange{20, "waited_process", "what", ", 'pidfd', 'owner')))", ", 'pidfd')))", ""},
    SchemaChange{20, "v_event", "object", "object.name AS object, object.kind AS object_kind, ", "",
                 "what each call is about, and of which kind that is"},
    SchemaChange{
        20, "v_event", "",
        "CAST(coalesce(\n    (SELECT thread_name.name FROM thread_name WHERE thread_name.thread_id = event.thread_id\n"
        "      AND thread_name.ts_ns <= event.ts_ns ORDER BY thread_name.ts_ns DESC LIMIT 1), thread.name) AS TEXT) AS "
        "thread,\n  kind.name AS kind,",
        "thread.name AS thread, kind.name AS kind,", ""},
    SchemaChange{
        20, "v_event", "uid",
        "CAST((SELECT thread_user.uid FROM thread_user WHERE thread_user.thread_id = event.thread_id\n"
        "      AND thread_user.ts_ns <= event.ts_ns ORDER BY thread_user.ts_ns DESC LIMIT 1) AS INTEGER) AS uid,\n"
        "  image.name AS process,",
        "image.name AS process,", "as which user each call was made"},
    SchemaChange{20, "v_event", "", "\n  LEFT JOIN object ON object.id = event.object_id", "", ""},
    SchemaChange{21, "process", "cgroup_id", ",\n  cgroup_id INTEGER", "", ""},
    SchemaChange{21, "process", "cgroup", ", cgroup TEXT", "", ""},
    SchemaChange{21, "process", "container", ", container TEXT", "", ""},
    SchemaChange{21, "v_event", "cgroup", ",\n  process.cgroup AS cgroup", "",
                 "in which control group each process was"},
    SchemaChange{21, "v_event", "container", ", process.container AS container", "",
                 "in which container each process was"},
};

static_assert(kSchemaHistory.front().version == kOldestSchema + 1 && kSchemaHistory.back().version <= kSchemaVersion);

}  // namespace uscope::store
