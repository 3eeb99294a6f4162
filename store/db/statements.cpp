// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "store/db/statements.h"

#include <utility>

namespace uscope::store {

Result<Statement> Statements::prepare(std::string_view sql) {
  if (!keeps_) return Statement::prepare(database_, sql);
  SpareStatements& spare = spare_[std::string(sql)];
  return spare.empty() ? Statement::prepare(database_, sql, &spare) : Statement::take(spare);
}

}  // namespace uscope::store
