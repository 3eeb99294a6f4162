// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Random questions over v_event, all of them right SQL whose result does not depend on the order of rows.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace uscope::test {

class RandomQuestion {
 public:
  explicit RandomQuestion(std::mt19937_64& random) : random_(random) {}

  std::string make() {
    std::vector<std::string> groups;
    for (std::size_t i = below(4); i > 0; i--) groups.push_back(group());
    std::vector<std::string> columns;
    std::string group_by;
    for (std::size_t i = 0; i < groups.size(); i++) {
      std::string shown = groups[i];
      std::string grouped = groups[i];
      if (chance(3)) {
        const std::string name = "g" + std::to_string(i);
        shown += " AS " + name;
        grouped = name;
      } else if (chance(4)) {
        grouped = std::to_string(columns.size() + 1);
      }
      group_by += (group_by.empty() ? " GROUP BY " : ", ") + grouped;
      columns.push_back(shown);
    }
    std::string order;
    for (std::size_t i = 1 + below(3); i > 0; i--) {
      std::string text = aggregate();
      if (chance(5)) text = fmt::format("({}) / ({})", text, aggregate());
      if (chance(3)) {
        const std::string name = pick({"n", "k0", "c0", "s1", "total", "\"a b\""});
        text += " AS " + name;
        if (chance(2)) order = name;
      }
      columns.push_back(text);
    }
    std::string text = "SELECT ";
    for (std::size_t i = 0; i < columns.size(); i++) text += (i ? ", " : "") + columns[i];
    text += " FROM v_event" + (chance(5) ? std::string(" AS e") : "");
    const std::size_t conditions = below(4);
    for (std::size_t i = 0; i < conditions; i++) text += (i == 0 ? " WHERE (" : " AND (") + condition() + ")";
    text += group_by;
    if (!group_by.empty() && chance(3))
      text += " HAVING " + (order.empty() || chance(3) ? aggregate() : order) + " " + comparison() + " " + literal();
    return text + end(columns.size(), order);
  }

 private:
  std::size_t below(std::size_t end) { return random_() % end; }
  bool chance(std::size_t one_of) { return below(one_of) == 0; }
  std::string pick(const std::vector<std::string>& of) { return of[below(of.size())]; }

  std::string end(std::size_t columns, const std::string& order) {
    if (chance(3)) return "";
    std::string text = " ORDER BY ";
    if (!order.empty()) text += order + pick({"", " DESC", " IS NULL", " + 1", " COLLATE NOCASE"}) + ", ";
    for (std::size_t i = 1; i <= columns; i++) text += (i > 1 ? ", " : "") + std::to_string(i);
    return order.empty() && chance(2) ? text + " LIMIT " + std::to_string(1 + below(6)) : text;
  }

  std::string literal() {
    return pick({"0", "1", "2", "3", "-1", "5", "7", "-2", "10", "63", "64", "100", "1000", "4096", "0xff", "1000000"});
  }
  std::string wild_literal() {
    return pick(
        {"9223372036854775807", "-9223372036854775808", "0xfffffffffffffff0", "4294967296", "-64", "-63", "65"});
  }
  std::string comparison() { return pick({"=", "==", "<>", "!=", "<", "<=", ">", ">=", "IS", "IS NOT"}); }
  std::string number_column() {
    return pick({"ts_ns", "dur_ns", "dur_ns", "result", "result", "a0", "a1", "A2", "a5"});
  }
  std::string dimension() {
    if (chance(32)) return pick({"object", "object_kind"});
    return pick({"kind", "kind", "class", "how", "pid", "tid", "uid", "process", "thread", "errno", "stack_id", "depth",
                 "ended", "\"trigger\"", "trigger_module", "folded", "cgroup", "container", "Process"});
  }

  std::string number(int depth) {
    if (depth == 0 || chance(3)) return chance(4) ? literal() : number_column();
    switch (below(10)) {
      case 0:
        return "- " + number(depth - 1);
      case 1:
        return "~" + number_column();
      case 2:
        return "bucket(" + number(depth - 1) + ")";
      case 3:
        return "(" + number(depth - 1) + ")";
      case 4:
        return "(" + number_condition(depth - 1) + ")";
      case 5:
        return chance(3) ? wild_literal() : "CAST(" + number(depth - 1) + " AS INTEGER)";
      default: {
        const std::string op = pick({" + ", " - ", " * ", " / ", " / ", " % ", "&", "|", " << ", " >> "});
        return "(" + number(depth - 1) + op + number(depth - 1) + ")";
      }
    }
  }

  std::string number_condition(int depth) {
    if (depth > 0 && chance(3)) {
      const std::string left = number_condition(depth - 1);
      if (chance(3)) return "NOT (" + left + ")";
      return "(" + left + pick({" AND ", " OR "}) + number_condition(depth - 1) + ")";
    }
    const std::string x = number(depth);
    switch (below(9)) {
      case 0:
        return x + pick({" IS NULL", " IS NOT NULL", " ISNULL", " NOTNULL", " NOT NULL"});
      case 1:
        return x + pick({" BETWEEN ", " NOT BETWEEN "}) + number(0) + " AND " + number(0);
      case 2:
        return x + pick({" IN (", " NOT IN ("}) + literal() + ", " + number(0) + (chance(3) ? ", NULL)" : ")");
      case 3:
        return x + " " + pick({"<", "<=", ">", ">=", "=", "<>"}) + " " +
               pick({"1e3", "2.5", "-0.5", "1e19", "-1e19", "63.0"});
      case 4:
        return x +
               pick({" IS TRUE", " IS NOT TRUE", " IS FALSE", " IS NOT FALSE", " IS NOT DISTINCT FROM 3", " IN ()"});
      default:
        return x + " " + comparison() + " " + number(depth);
    }
  }

  std::string dimension_condition() {
    switch (below(11)) {
      case 10:
        return chance(2) ? std::string("object_kind = 'file'")
                         : "object " + pick({"GLOB '*e*'", "IS NOT NULL", "<> ''"});
      case 0:
        return "kind " +
               pick({"LIKE 'R%'", "GLOB '*a*'", "IN ('read', 'futex')", "= 'write'", "<> 'read'", "NOT LIKE '%e_'"});
      case 1:
        return "process " +
               pick({"= 'nginx'", "IS NULL", "GLOB 'n*'", "COLLATE NOCASE = 'NGINX'", "IN ('nginx', NULL)"});
      case 2:
        return "class " + pick({"= 'syscall'", "<> 'signal'", "IN ('stap', 'signal')"});
      case 3:
        return "errno " + pick({"IS NULL", "= 'ENOENT'", "IN ('EINTR', 'EAGAIN')", "IS NOT 'EPERM'"});
      case 4:
        return pick({"pid", "tid", "depth", "stack_id"}) + " " + comparison() + " " + literal();
      case 5:
        return "length(" + dimension() + ") > " + literal();
      case 6:
        return "(kind = 'read' OR lower(kind) GLOB 'o*')";
      case 7:
        return "how IN ('returned', 'open')";
      case 8:
        return "\"trigger\" " + pick({"IS NOT NULL", "LIKE '%a%'", "= process"});
      default:
        return dimension() + " " + comparison() + " " + dimension();
    }
  }

  std::string condition() {
    switch (below(9)) {
      case 0:
      case 1:
        return dimension_condition();
      case 8:
        return pick({"a0", "+a0", "result", "a0 / 2", "(a1)"}) +
               pick(
                   {" IN ('5', '1', 'x')", " BETWEEN '1' AND '500'", " IS '0'", " COLLATE NOCASE = '3'", " LIKE '1%'"});
      case 2:
        return number_condition(1) + pick({" OR ", " AND "}) + dimension_condition();
      case 3:
        return "CASE WHEN " + dimension_condition() + " THEN " + number_condition(0) + " ELSE " + number_condition(0) +
               " END";
      case 4:
        return number(1) + " " + comparison() + " " +
               pick({"'5'", "'abc'", "errno", "pid", "'1e3'", "x'00'", "length(kind)"});
      case 5:
        return "abs(result % 1000) > " + literal();
      default:
        return number_condition(2);
    }
  }

  std::string group() {
    switch (below(7)) {
      case 0:
        return number_column() + pick({" % 4", " / 1000", " & 3", " >> 8", " > 0", " IS NULL"});
      case 1:
        return pick({"upper(kind)", "kind || ':' || how", "substr(thread, 1, 2)", "coalesce(errno, result >= 0)",
                     "CASE WHEN dur_ns > 1000 THEN 'slow' WHEN dur_ns IS NULL THEN kind END",
                     "result BETWEEN 0 AND 10"});
      case 2:
        return chance(2) ? number_column() + " | (" + number_condition(1) + ")" : number_column() + " - " + number(1);
      default:
        return dimension();
    }
  }

  std::string aggregate() {
    std::string text = call();
    if (chance(4)) text += " FILTER (WHERE " + condition() + ")";
    return text;
  }

  std::string call() {
    switch (below(12)) {
      case 0:
      case 1:
        return "count(*)";
      case 2:
        return pick({"count", "min", "max"}) + "(" + dimension() + ")";
      case 3:
        return pick({"count", "sum", "total", "avg"}) + "(DISTINCT " + number_column() + " % 8)";
      case 4:
        return "count(DISTINCT " + (chance(2) ? dimension() : number(1)) + ")";
      case 5:
        return "quantile(" + number(1) + ", " + pick({"0.5", "0", "1", ".99"}) + ")";
      case 6:
        return "hist(" + number(1) + ")";
      case 7:
        return pick({"sum", "avg", "total", "count", "max"}) + "(" +
               pick({"CASE WHEN kind = 'read' THEN result % 100 ELSE 0 END", "iif(process IS NULL, dur_ns, 3)",
                     "CASE kind WHEN 'read' THEN a1 % 9 WHEN 'write' THEN result / 0 END",
                     "CASE WHEN a0 > 5 THEN a1 & 7 END", "depth", "abs(result % 64)", "a0 % 16 + pid", "1",
                     "length(process)", "NULL", "dur_ns / 8.0"}) +
               ")";
      default:
        return pick({"count", "sum", "total", "avg", "min", "max", "sum", "max"}) + "(" + number(2) + ")";
    }
  }

  std::mt19937_64& random_;
};

}  // namespace uscope::test
