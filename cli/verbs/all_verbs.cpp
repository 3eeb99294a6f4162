// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "cli/verbs/all_verbs.h"

#include "cli/verbs/completion.h"
#include "cli/verbs/deadlock.h"
#include "cli/verbs/diff.h"
#include "cli/verbs/doctor.h"
#include "cli/verbs/events.h"
#include "cli/verbs/export.h"
#include "cli/verbs/files.h"
#include "cli/verbs/list.h"
#include "cli/verbs/load.h"
#include "cli/verbs/query.h"
#include "cli/verbs/raw.h"
#include "cli/verbs/record.h"
#include "cli/verbs/report.h"
#include "cli/verbs/sql.h"
#include "cli/verbs/time.h"
#include "cli/verbs/top.h"
#include "cli/verbs/tree.h"

namespace uscope::cli {

void add_verbs(CommandLine& line) {
  add_record(line);
  add_list(line);
  add_top(line);
  add_load(line);
  add_raw(line);
  add_report(line);
  add_events(line);
  add_time(line);
  add_files(line);
  add_tree(line);
  add_sql(line);
  add_query(line);
  add_diff(line);
  add_deadlock(line);
  add_export(line);
  add_doctor(line);
  add_completion(line);
}

}  // namespace uscope::cli
