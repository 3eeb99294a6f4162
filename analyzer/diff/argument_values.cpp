// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include "analyzer/diff/argument_values.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "analyzer/diff/call_traits.h"
#include "analyzer/diff/diff_cells.h"
#include "analyzer/diff/stack_identity.h"
#include "analyzer/read/query.h"
#include "syscalls/argument_reading.h"
#include "trace/names.h"

namespace uscope::analyzer {
namespace {

using Arguments = std::array<std::int64_t, 6>;

// "O_WRONLY", "O_CREAT" of "O_WRONLY|O_CREAT|0x800": what has no name is no flag.
std::vector<std::string> flags_in(const std::string& text) {
  std::vector<std::string> flags;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('|', at), text.size());
    const std::string flag = text.substr(at, end - at);
    if (!flag.empty() && std::isalpha(static_cast<unsigned char>(flag[0])) != 0) flags.push_back(flag);
    at = end + 1;
  }
  return flags;
}

// How the calls of one kind are read.
class KindReader {
 public:
  KindReader(usc_abi abi, std::uint32_t nr, std::string name) : name_(std::move(name)) {
    numbers_ = {abi, nr, name_, {}};
    const auto reading = syscalls::argument_reading(numbers_);
    if (!reading) return;
    by_values_ = syscalls::reads_by_values(reading->call);
    learn(*reading);
  }
  KindReader(const KindReader&) = delete;
  KindReader& operator=(const KindReader&) = delete;

  [[nodiscard]] bool reads_any() const {
    return by_values_ || plain_.find_first_of("iu") != std::string::npos ||
           std::any_of(sets_.begin(), sets_.end(), [](const auto* set) { return set != nullptr; });
  }

  // Calls `flag(argument, name)` and `number(argument, value)` for what the call has.
  template <typename Flag, typename Number>
  void read(const Arguments& args, const Flag& flag, const Number& number) {
    if (by_values_) {
      numbers_.args = args;
      const auto reading = syscalls::argument_reading(numbers_);
      if (!reading) return;
      learn(*reading);
    }
    for (std::size_t arg = 0; arg < plain_.size(); arg++) {
      const std::uint64_t bits = syscalls::kernel_bits(plain_[arg], args.at(arg));
      if (const syscalls::FlagSet* set = sets_.at(arg)) {
        for (const std::string& name : named(*set, bits)) flag(arg, name);
      } else if (plain_[arg] == 'i' || plain_[arg] == 'u') {
        const auto word = static_cast<std::uint32_t>(bits);
        number(arg, plain_[arg] == 'i' ? std::int64_t{static_cast<std::int32_t>(word)} : std::int64_t{word});
      }
    }
  }

 private:
  void learn(const syscalls::ArgumentReading& reading) {
    plain_ = reading.letters.substr(0, std::min(reading.letters.size(), sets_.size()));
    for (std::size_t arg = 0; arg < plain_.size(); arg++)
      sets_.at(arg) = syscalls::names_of_argument(reading, numbers_.args, arg);
  }

  const std::vector<std::string>& named(const syscalls::FlagSet& set, std::uint64_t bits) {
    const auto [at, is_new] = known_.try_emplace({&set, bits});
    if (is_new) at->second = flags_in(syscalls::flags_text(set, bits));
    return at->second;
  }

  std::string name_;
  syscalls::CallNumbers numbers_;
  bool by_values_ = false;
  std::string plain_;  // letters of the arguments
  std::array<const syscalls::FlagSet*, 6> sets_{};
  std::map<std::pair<const syscalls::FlagSet*, std::uint64_t>, std::vector<std::string>> known_;
};

class ArgumentReader {
 public:
  ArgumentReader(const store::Database& database, const RunFacts& facts, StackIdentity& identity)
      : database_(database), facts_(facts), identity_(identity) {}

  Result<RunArguments> run(const MatrixBy& by) {
    auto names = read_kinds(database_);
    if (!names) return names.error();
    names_ = std::move(*names);
    auto stacks = identity_.stacks(by);
    if (!stacks) return stacks.error();
    stacks_ = std::move(*stacks);
    if (auto done = find_kinds(); !done) return done.error();
    if (readers_.empty()) return std::move(run_);
    std::uint64_t examined = 0;
    auto done = each_row(database_,
                         "SELECT id, kind_id, stack_id, a0, a1, a2, a3, a4, a5 FROM event WHERE +kind_id IN (" + list_ +
                             ") LIMIT " + std::to_string(kMostExamined + 1),
                         [&](const SqlRow& row) {
                           if (++examined > kMostExamined)
                             run_.is_cut = true;
                           else
                             add(row);
                         });
    if (!done) return done.error();
    return std::move(run_);
  }

 private:
  Result<void> find_kinds() {
    return each_row(database_, "SELECT id, nr, abi, name FROM kind WHERE class = 'syscall'", [&](const SqlRow& row) {
      const KindRowId kind(row.integer(0));
      const auto abi = trace::abi_of_name(row.text(2));
      if (!abi || waits(names_[kind])) return;
      auto reader = std::make_unique<KindReader>(*abi, static_cast<std::uint32_t>(row.integer(1)), text(row, 3));
      if (!reader->reads_any()) return;
      list_ += (list_.empty() ? "" : ",") + to_string(kind);
      readers_.emplace(kind, std::move(reader));
    });
  }

  void add(const SqlRow& row) {
    const KindRowId kind(row.integer(1));
    const auto stack = stacks_.find(StackRowId(row.integer(2)));
    CellArguments*& cell = cells_[{kind, stack == stacks_.end() ? 0 : stack->second}];
    if (!cell) {
      const Caller& caller = identity_.callers()[stack == stacks_.end() ? 0 : stack->second];
      cell = &run_.cells[{names_[kind], caller.function, caller.module}];
    }
    cell->calls++;
    Arguments args{};
    for (std::size_t i = 0; i < args.size(); i++) args.at(i) = row.integer(static_cast<int>(i) + 3);
    readers_.at(kind)->read(
        args,
        [&](std::size_t arg, const std::string& name) {
          NamedValue& value = cell->names[{arg, name}];
          if (value.calls++ == 0) value.first_event_id = EventRowId(row.integer(0));
        },
        [&](std::size_t arg, std::int64_t number) {
          if (facts_.tasks.count(number) != 0) cell->varied.insert(arg);
          if (cell->varied.count(arg) != 0) return;
          std::set<std::int64_t>& numbers = cell->numbers[arg];
          numbers.insert(number);
          if (numbers.size() > kMostNumbers) cell->varied.insert(arg);
        });
  }

  const store::Database& database_;
  const RunFacts& facts_;
  StackIdentity& identity_;
  KindNames names_;
  std::unordered_map<StackRowId, std::uint32_t> stacks_;
  std::string list_;
  std::map<KindRowId, std::unique_ptr<KindReader>> readers_;
  std::map<std::pair<KindRowId, std::uint32_t>, CellArguments*> cells_;
  RunArguments run_;
};

using CellsOfRuns = std::vector<const CellArguments*>;  // of the runs that have it

CellsOfRuns cells_of(const std::vector<RunArguments>& runs, const CellKey& key) {
  CellsOfRuns cells;
  for (const RunArguments& run : runs)
    if (const auto found = run.cells.find(key); found != run.cells.end()) cells.push_back(&found->second);
  return cells;
}

ArgumentCalls counted(const CellsOfRuns& cells, const std::pair<std::size_t, std::string>& name) {
  ArgumentCalls sum;
  for (const CellArguments* cell : cells) {
    sum.examined += cell->calls;
    if (const auto found = cell->names.find(name); found != cell->names.end()) sum.calls += found->second.calls;
  }
  return sum;
}

std::size_t runs_with(const CellsOfRuns& cells, const std::pair<std::size_t, std::string>& name) {
  return static_cast<std::size_t>(std::count_if(
      cells.begin(), cells.end(), [&](const CellArguments* cell) { return cell->names.count(name) != 0; }));
}

// All numbers of an argument; nothing if a run has too many, or none.
std::optional<std::set<std::int64_t>> numbers_of(const CellsOfRuns& cells, std::size_t arg, std::size_t runs) {
  std::set<std::int64_t> all;
  if (cells.size() != runs) return std::nullopt;
  for (const CellArguments* cell : cells) {
    const auto found = cell->numbers.find(arg);
    if (found == cell->numbers.end() || cell->varied.count(arg) != 0) return std::nullopt;
    all.insert(found->second.begin(), found->second.end());
  }
  return all.size() > kMostNumbers ? std::nullopt : std::optional(std::move(all));
}

bool are_far(std::int64_t a, std::int64_t b) {
  if ((a < 0) != (b < 0) || (a == 0) != (b == 0)) return true;
  const double ratio = std::abs(static_cast<double>(a) / static_cast<double>(b == 0 ? 1 : b));
  return a != b && is_large_ratio(ratio);
}

class ArgumentComparison {
 public:
  ArgumentComparison(const std::vector<RunArguments>& normal, const std::vector<RunArguments>& abnormal)
      : normal_(normal), abnormal_(abnormal) {}

  std::vector<ChangedArgument> run() {
    std::set<CellKey> keys;
    for (const RunArguments& run : abnormal_)
      for (const auto& [key, cell] : run.cells) keys.insert(key);
    for (const CellKey& key : keys) {
      before_ = cells_of(normal_, key);
      after_ = cells_of(abnormal_, key);
      if (before_.empty() || after_.empty()) continue;
      flags(key);
      numbers(key);
    }
    std::stable_sort(changes_.begin(), changes_.end(),
                     [](const ChangedArgument& a, const ChangedArgument& b) { return rank(a) > rank(b); });
    return std::move(changes_);
  }

 private:
  // Flags of abnormal runs, flags of normal ones, numbers; each by share.
  static double rank(const ChangedArgument& change) {
    if (change.name.empty()) return 0;
    const ArgumentCalls& calls = change.abnormal.calls != 0 ? change.abnormal : change.normal;
    return (change.abnormal.calls != 0 ? 2 : 1) +
           static_cast<double>(calls.calls) / static_cast<double>(calls.examined);
  }

  void flags(const CellKey& key) {
    std::set<std::pair<std::size_t, std::string>> names;
    for (const CellsOfRuns* side : {&before_, &after_})
      for (const CellArguments* cell : *side)
        for (const auto& [name, value] : cell->names) names.insert(name);
    for (const auto& name : names) {
      const std::size_t before = runs_with(before_, name);
      const std::size_t after = runs_with(after_, name);
      const bool is_new = before == 0 && after == abnormal_.size();
      if (!is_new && !(after == 0 && before == normal_.size())) continue;
      ChangedArgument change{.key = key, .arg = name.first, .name = name.second};
      change.normal = counted(before_, name);
      change.abnormal = counted(after_, name);
      change.event_id = (is_new ? after_ : before_).front()->names.at(name).first_event_id;
      changes_.push_back(std::move(change));
    }
  }

  void numbers(const CellKey& key) {
    std::set<std::size_t> args;
    for (const auto& [arg, values] : after_.front()->numbers) args.insert(arg);
    for (const std::size_t arg : args) {
      const auto before = numbers_of(before_, arg, normal_.size());
      const auto after = numbers_of(after_, arg, abnormal_.size());
      if (!before || !after) continue;
      const bool far = std::all_of(before->begin(), before->end(), [&](std::int64_t a) {
        return std::all_of(after->begin(), after->end(), [&](std::int64_t b) { return are_far(a, b); });
      });
      if (!far) continue;
      ChangedArgument change{.key = key, .arg = arg};
      change.normal.examined = counted(before_, {}).examined;
      change.abnormal.examined = counted(after_, {}).examined;
      change.numbers_before.assign(before->begin(), before->end());
      change.numbers_after.assign(after->begin(), after->end());
      changes_.push_back(std::move(change));
    }
  }

  const std::vector<RunArguments>& normal_;
  const std::vector<RunArguments>& abnormal_;
  CellsOfRuns before_;
  CellsOfRuns after_;
  std::vector<ChangedArgument> changes_;
};

}  // namespace

Result<RunArguments> read_arguments(const store::Database& database, const RunFacts& facts, const MatrixBy& by,
                                    const ModuleNames& names, const OffsetTrust& trust) {
  StackIdentity identity(database, names, trust);
  if (auto done = identity.read_modules(); !done) return done.error();
  return ArgumentReader(database, facts, identity).run(by);
}

std::vector<ChangedArgument> compare_arguments(const std::vector<RunArguments>& normal,
                                               const std::vector<RunArguments>& abnormal) {
  return ArgumentComparison(normal, abnormal).run();
}

std::vector<std::pair<std::string, std::uint64_t>> flags_of_cell(const std::vector<RunArguments>& runs,
                                                                 const CellKey& key) {
  std::map<std::string, std::uint64_t> calls;
  for (const CellArguments* cell : cells_of(runs, key))
    for (const auto& [name, value] : cell->names) calls[name.second] += value.calls;
  std::vector<std::pair<std::string, std::uint64_t>> flags(calls.begin(), calls.end());
  std::stable_sort(flags.begin(), flags.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  return flags;
}

}  // namespace uscope::analyzer
