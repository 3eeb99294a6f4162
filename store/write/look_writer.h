// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Writes the last look of a trace: the tables `thread_look`, `waited_descriptor`, `waited_process`, `resource`,
// `held_lock`, `monitor_wait` and `look_trouble`.
#pragma once

#include <functional>

#include "store/db/database.h"
#include "store/db/row_ids.h"
#include "store/model/definitions.h"

namespace uscope::store {

class LookWriter {
 public:
  // The row of `kind` for a system call: its ABI and number.
  using KindOfCall = std::function<Result<KindRowId>(std::uint8_t abi, std::uint32_t nr)>;

  // Both must outlive this object.
  LookWriter(DatabaseWriter& database, const Definitions& definitions)
      : database_(database), definitions_(definitions) {}

  Result<void> prepare();  // to be called first
  Result<void> write(const KindOfCall& kind_of_call);

 private:
  Result<void> write_threads(const KindOfCall& kind_of_call);
  Result<void> write_waits();
  Result<void> write_resources(const LookFacts& look);
  Result<void> write_locks();
  Result<void> write_monitors();
  [[nodiscard]] bool has_thread(std::uint32_t task) const;
  [[nodiscard]] std::optional<std::int64_t> process_row(std::uint32_t process) const;

  DatabaseWriter& database_;
  const Definitions& definitions_;
  std::unique_ptr<TableRows> threads_;
  std::unique_ptr<TableRows> descriptors_;
  std::unique_ptr<TableRows> processes_;
  std::unique_ptr<TableRows> resources_;
  std::unique_ptr<TableRows> locks_;
  std::unique_ptr<TableRows> monitors_;
  std::unique_ptr<TableRows> troubles_;
};

}  // namespace uscope::store
