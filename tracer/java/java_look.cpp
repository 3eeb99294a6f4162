// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "tracer/java/java_look.h"

#include <string>

#include "uscope/record.h"

namespace uscope::tracer {
namespace {

static_assert(static_cast<int>(MonitorWait::What::kEnter) == USC_MONITOR_ENTER &&
              static_cast<int>(MonitorWait::What::kWait) == USC_MONITOR_WAIT &&
              static_cast<int>(MonitorWait::What::kPark) == USC_MONITOR_PARK);

void look_at_java(ScoutDesk& desk) {
  const auto pid = ScoutReader(desk.request().bytes).get<std::uint32_t>();
  desk.goes_to(pid);
  desk.answer(bytes_of(java_monitors_of(pid)));
}

}  // namespace

std::vector<std::byte> bytes_of(const std::optional<JavaMonitors>& monitors) {
  ScoutWriter out;
  out.put(std::uint8_t{monitors.has_value()});
  if (monitors) {
    out.put(std::uint64_t{monitors->waits.size()});
    for (const MonitorWait& wait : monitors->waits)
      out.put(wait.tid)
          .put(wait.what)
          .put(wait.monitor)
          .put(wait.object)
          .put(wait.owner)
          .put(wait.owner_tid)
          .put_text(wait.class_name)
          .put_text(wait.java_thread);
    for (const std::string& trouble : monitors->troubles) out.put_text(trouble);
  }
  return {out.bytes().begin(), out.bytes().end()};
}

std::optional<JavaMonitors> monitors_in(std::span<const std::byte> bytes) {
  ScoutReader in(bytes);
  if (in.get<std::uint8_t>() == 0) return std::nullopt;
  JavaMonitors monitors;
  const auto count = in.get<std::uint64_t>();
  for (std::uint64_t i = 0; i < count && !in.empty(); i++) {
    MonitorWait& wait = monitors.waits.emplace_back();
    wait.tid = in.get<std::uint32_t>();
    wait.what = in.get<MonitorWait::What>();
    wait.monitor = in.get<std::uint64_t>();
    wait.object = in.get<std::uint64_t>();
    wait.owner = in.get<MonitorWait::Owner>();
    wait.owner_tid = in.get<std::uint32_t>();
    wait.class_name = in.get_text();
    wait.java_thread = in.get_text();
  }
  while (!in.empty()) monitors.troubles.push_back(in.get_text());
  return monitors;
}

std::optional<JavaMonitors> ask_java_monitors(Scouts* scouts, std::uint32_t pid) {
  const auto answer = ask(scouts, pid, look_at_java, ScoutWriter().put(pid).bytes());
  if (!answer)
    return JavaMonitors{{}, {"the process's memory does not answer: whether it waits for Java monitors is not known"}};
  return monitors_in(answer->bytes);
}

Result<std::uint64_t> append_monitors(trace::RecordSink& sink, std::uint32_t look, std::uint64_t time,
                                      std::uint32_t process, const JavaMonitors& monitors,
                                      const std::function<std::uint32_t(std::uint32_t tid)>& task_of) {
  constexpr std::size_t kMostText = 4096;
  std::uint64_t count = 0;
  for (const MonitorWait& wait : monitors.waits) {
    const std::uint32_t task = task_of(wait.tid);
    if (task == 0) continue;
    const std::string of_class = wait.class_name.substr(0, kMostText);
    const std::string thread = wait.java_thread.substr(0, kMostText);
    usc_monitor record{};
    record.head.task = task;
    record.head.time = time;
    record.look = look;
    record.owner_tid = wait.owner == MonitorWait::Owner::kThread ? wait.owner_tid : 0;
    record.object = wait.object;
    record.what = static_cast<__u8>(wait.what);
    record.class_bytes = static_cast<__u16>(of_class.size());
    record.thread_bytes = static_cast<__u16>(thread.size());
    const std::string text = of_class + thread;
    if (auto done = sink.append_own(record, text); !done) return done.error();
    count++;
  }
  for (const std::string& trouble : monitors.troubles) {
    usc_look_trouble record{};
    record.head.time = time;
    record.look = look;
    record.process = process;
    record.text_bytes = static_cast<__u32>(trouble.size());
    if (auto done = sink.append_own(record, trouble); !done) return done.error();
    count++;
  }
  return count;
}

}  // namespace uscope::tracer
