// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// An event with its names, as EventReader and for_each_event() give it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/read/row_ids.h"
#include "trace/hit.h"
#include "trace/signal_info.h"

namespace uscope::analyzer {

struct EventString {
  enum class Source { kProgram, kKernel, kDescriptor };  // kDescriptor: the object that it stands for
  int arg = 0;                                           // the argument that points to the data
  std::string value;
  bool late = false;  // read after the call's entry: as event_string.late in docs/schema.md
  Source source = Source::kProgram;
};

// What a call carried, or a structure that it was given.
struct EventContent {
  enum class Holds { kData, kStructure };
  int arg = 0;  // the argument that points to it
  Holds holds = Holds::kData;
  EventString::Source source = EventString::Source::kProgram;
  std::optional<std::string> bytes;  // nullopt: redacted
  bool late = false;                 // as in EventString
  bool cut = false;                  // there was more
};

// A descriptor in the set of a call that waits (poll, select, epoll_wait), as a look found it.
struct EventDescriptor {
  int arg = 0;  // which points to the set, or is the epoll descriptor
  int fd = 0;
  std::string wants;  // event_descriptor.wants in docs/schema.md
  std::optional<std::string> name;
  bool late = false;  // another thread could have replaced it since the call began
};

// How much a call with a list of buffers asks for (readv, sendmsg), as a look found it.
struct EventBuffers {
  int arg = 0;  // which points to the list
  std::int64_t parts = 0;
  std::int64_t bytes = 0;
};

// What is known of a signal that was sent or delivered.
struct EventSignal {
  int number = 0;
  int code = 0;  // si_code
  trace::SignalInfo info;
  bool delivered = false;  // else it was sent
  // Of a signal that was sent.
  std::string result;  // "queued", … (include/uscope/lists/signal_result.def)
  bool blocked = false;
  std::optional<std::int64_t> sender_pid;  // nullopt: the kernel sent it
  std::int64_t sender_tid = 0;
  std::string sender;  // name of the thread
  std::int64_t receiver_pid = 0;
  std::optional<std::int64_t> receiver_tid;  // nullopt: to the whole process
  std::string receiver;
  // Of one that was delivered.
  std::int64_t handler = 0;      // its address; 0: the default action, 1: ignored
  std::string handler_function;  // empty: not known
};

struct EventRow {
  EventRowId id;
  std::int64_t ts_ns = 0;  // since the trace's start
  std::optional<std::int64_t> dur_ns;
  std::string how;
  ThreadRowId thread_id;
  KindRowId kind_id;
  std::int64_t pid = 0;
  std::int64_t tid = 0;
  std::string process;  // name of the image
  std::string thread;
  std::string call;
  std::string source;  // kind.class: "syscall", …; empty if unknown
  std::string abi;
  std::int64_t nr = 0;
  std::optional<std::int64_t> result;
  std::string error;  // "ENOENT"; empty if the result is not an error
  std::array<std::optional<std::int64_t>, 6> args;
  std::vector<trace::KindArgument> arguments;  // of a probe: names and types of the first of them
  std::string result_type;                     // of functions with their returns; empty: not known
  std::vector<EventString> strings;            // by argument
  std::vector<EventContent> contents;          // by argument
  std::vector<EventDescriptor> descriptors;    // by argument
  std::optional<EventBuffers> buffers;
  std::optional<EventSignal> signal;
  std::optional<StackRowId> stack_id;
  std::int64_t depth = 0;
  std::string ended;
  std::string trigger;
  std::string trigger_module;
  bool trigger_fallback = false;
  bool guessed = false;  // the walk continued from code without unwind data: callers may be missing
};

}  // namespace uscope::analyzer
