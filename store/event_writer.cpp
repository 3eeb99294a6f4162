#include "store/event_writer.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "store/errno_names.h"
#include "store/syscall_table.h"

namespace uscope::store {
namespace {

constexpr std::array<std::string_view, USC_HOW_COUNT> kHowNames{
#define USC_X(constant, name, meaning) name,
#include "uscope/how.def"
#undef USC_X
};

constexpr std::array<std::string_view, 3> kAbiNames{"x86_64", "i386", "x32"};

bool is_unfinished(const usc_event& event) {
  return event.how == USC_HOW_OPEN || event.how == USC_HOW_ATTACHED;
}

// -4095 … -1 are error numbers; 512 … 516 (ERESTART*) tell the kernel to restart the call, and no program sees them.
bool is_error(std::int64_t result) {
  return result < 0 && result >= -4095 && !(result <= -512 && result >= -516);
}

std::int64_t as_signed(std::uint64_t value) {
  return static_cast<std::int64_t>(value);
}

}  // namespace

EventWriter::EventWriter(DatabaseWriter& database, const Definitions& definitions, const FrameWriter& frames)
    : database_(database), definitions_(definitions), frames_(frames) {}

Result<void> EventWriter::prepare() {
  auto event =
      database_.prepare("INSERT INTO event VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)");
  if (!event) return event.error();
  insert_event_.emplace(std::move(*event));
  auto kind = database_.prepare("INSERT INTO kind VALUES(?1, ?2, 'syscall', ?3, ?4)");
  if (!kind) return kind.error();
  insert_kind_.emplace(std::move(*kind));
  auto verify = database_.prepare("INSERT INTO verify VALUES(?1, ?2, ?3, ?4, ?5)");
  if (!verify) return verify.error();
  insert_verify_.emplace(std::move(*verify));
  for (const auto& [serial, image] : definitions_.images) images_.insert(serial, 1);
  return {};
}

Result<void> EventWriter::write(const OrderedCall& call) {
  std::int64_t id = 0;
  bool attached = false;
  const usc_event* unfinished = nullptr;
  bool finished = false;
  for (const usc_event& event : call.events) {
    attached = attached || (event.flags & USC_EVENT_ATTACHED) != 0;
    if (!is_unfinished(event)) {
      finished = true;
      continue;
    }
    attached = attached || event.how == USC_HOW_ATTACHED;
    // Of two that are both unfinished the later one says more; an open one never hides that the call was attached to.
    if (!unfinished || event.head.time >= unfinished->head.time) unfinished = &event;
  }
  for (const usc_event& event : call.events) {
    if (is_unfinished(event) && (finished || &event != unfinished)) continue;
    usc_event whole = event;
    // One that was killed in a call that it was attached in has a stack from the attachment only.
    if (whole.stack == 0 && unfinished) whole.stack = unfinished->stack;
    auto written = write_event(whole, attached);
    if (!written) return written.error();
    id = *written;
  }
  for (const usc_verify& verify : call.verifies)
    if (auto done = write_verify(verify, id); !done) return done;
  return {};
}

Result<std::int64_t> EventWriter::write_event(const usc_event& event, bool attached) {
  auto kind = kind_of(event);
  if (!kind) return kind.error();
  const Task& task = task_of(event.head.task);
  if (!task.defined) lose(USC_LOSS_TASK_UNDEFINED, task.process, event.entry_ns);
  const std::uint32_t stack = event.stack ? definitions_.stacks.find(event.stack) : 0;
  if (event.stack != 0 && stack == 0) lose(USC_LOSS_STACK_UNDEFINED, task.process, event.entry_ns);
  const bool returned = event.how == USC_HOW_RETURNED;
  const bool has_result = (returned || event.how == USC_HOW_NO_ENTRY) && !(event.flags & USC_EVENT_NO_RESULT);
  const std::uint64_t duration = event.head.time > event.entry_ns ? event.head.time - event.entry_ns : 0;
  // A call that was attached to and returned stays `attached`: its duration is known from the attachment on only.
  const std::uint8_t how = attached && (returned || is_unfinished(event)) ? std::uint8_t{USC_HOW_ATTACHED} : event.how;
  const std::uint32_t image = image_of(event, task);
  last_ns_ = std::max<std::uint64_t>({last_ns_, event.entry_ns, event.head.time});

  sqlite3_stmt* row = insert_event_->handle();
  const auto id = static_cast<std::int64_t>(++events_);
  sqlite3_bind_int64(row, 1, id);
  sqlite3_bind_int64(row, 2, as_signed(event.entry_ns));
  returned ? sqlite3_bind_int64(row, 3, as_signed(duration)) : sqlite3_bind_null(row, 3);
  sqlite3_bind_text(row, 4, kHowNames[how].data(), static_cast<int>(kHowNames[how].size()), SQLITE_STATIC);
  sqlite3_bind_int64(row, 5, event.head.task);
  image ? sqlite3_bind_int64(row, 6, image) : sqlite3_bind_null(row, 6);
  sqlite3_bind_int64(row, 7, *kind);
  has_result ? sqlite3_bind_int64(row, 8, event.result) : sqlite3_bind_null(row, 8);
  stack ? sqlite3_bind_int64(row, 9, stack) : sqlite3_bind_null(row, 9);
  for (int i = 0; i < 6; i++) sqlite3_bind_int64(row, 10 + i, as_signed(event.args[i]));
  if (sqlite3_step(row) != SQLITE_DONE) return insert_event_->failure();
  sqlite3_reset(row);

  Cell& cell = cells_[std::uint64_t{*kind} << 32 | (stack ? frames_.trigger(stack) : 0)];
  cell.events++;
  cell.errors += has_result && is_error(event.result);
  cell.total_ns += returned ? duration : 0;
  cell.open += is_unfinished(event);
  return id;
}

Result<std::uint32_t> EventWriter::kind_of(const usc_event& event) {
  std::uint32_t& id = kinds_[std::uint64_t{event.abi} << 32 | event.nr];
  if (id != 0) return id;
  const bool known = event.abi < kAbiNames.size();
  const std::string name =
      known ? syscall_name(static_cast<usc_abi>(event.abi), event.nr) : "syscall_" + std::to_string(event.nr);
  const std::string abi = known ? std::string(kAbiNames[event.abi]) : "abi_" + std::to_string(event.abi);
  const auto next = static_cast<std::uint32_t>(kinds_.size());
  if (auto done = insert_kind_->run(next, std::string_view(name), std::string_view(abi), event.nr); !done)
    return done.error();
  id = next;
  return id;
}

const EventWriter::Task& EventWriter::task_of(std::uint32_t serial) {
  std::uint32_t place = task_places_.find(serial);
  if (place == 0) {
    Task task{
        .serial = serial, .process = definitions_.process_of_task(serial), .inherited_image = 0, .defined = false};
    const auto thread = definitions_.threads.find(serial);
    task.defined = thread != definitions_.threads.end() && thread->second.defined;
    const auto process = definitions_.processes.find(task.process);
    if (process != definitions_.processes.end()) task.inherited_image = process->second.image;
    if (thread == definitions_.threads.end()) undefined_tasks_.insert(serial);
    tasks_.push_back(task);
    place = task_places_.insert(serial, static_cast<std::uint32_t>(tasks_.size()));
  }
  return tasks_[place - 1];
}

// 0 where the trace does not tell of the image.
std::uint32_t EventWriter::image_of(const usc_event& event, const Task& task) const {
  const std::uint32_t image = event.image ? event.image : task.inherited_image;
  return images_.find(image) ? image : 0;
}

void EventWriter::lose(std::uint32_t cause, std::uint32_t process, std::uint64_t time) {
  LossFacts& loss = losses_[{cause, process}];
  if (loss.count == 0) loss = {time, time, 0, cause, process};
  loss.from_ns = std::min(loss.from_ns, time);
  loss.until_ns = std::max(loss.until_ns, time);
  loss.count++;
}

Result<void> EventWriter::write_verify(const usc_verify& verify, std::int64_t event_id) {
  const bool equal = verify.first_difference < 0;
  return insert_verify_->run(event_id ? std::optional(event_id) : std::nullopt, equal, verify.uscope_depth,
                             verify.oracle_depth,
                             equal ? std::nullopt : std::optional(std::int64_t{verify.first_difference}));
}

Result<void> EventWriter::finish() {
  auto insert = database_.prepare("INSERT INTO cell VALUES(?1, ?2, ?3, ?4, ?5, ?6)");
  if (!insert) return insert.error();
  std::vector<std::uint64_t> keys;
  for (const auto& [key, cell] : cells_) keys.push_back(key);
  std::sort(keys.begin(), keys.end());
  for (const std::uint64_t key : keys) {
    const Cell& cell = cells_[key];
    const auto trigger = static_cast<std::int64_t>(key & 0xffffffffU);
    if (auto done = insert->run(key >> 32, trigger ? std::optional(trigger) : std::nullopt, cell.events, cell.errors,
                                cell.total_ns, cell.open);
        !done)
      return done;
  }
  auto thread = database_.prepare("INSERT INTO thread(id) VALUES(?1)");
  if (!thread) return thread.error();
  for (const std::uint32_t serial : undefined_tasks_)
    if (auto done = thread->run(serial); !done) return done;
  return {};
}

}  // namespace uscope::store
