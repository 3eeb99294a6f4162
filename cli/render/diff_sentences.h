// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The sentences that tell the findings of a comparison, in text and on pages. They are printable, and one line each.
#pragma once

#include <string>
#include <string_view>

#include "analyzer/diff/diff.h"

namespace uscope::cli {

// "in open_page (server)".
[[nodiscard]] std::string caller(const analyzer::CellKey& key);

// A function without the types of its parameters, which fill lines in C++: "open_tables()" for "open_tables(THD*)".
// Parentheses that are followed by more of the name are part of it: "(anonymous namespace)::f", "operator()". As raw as
// `name` is.
[[nodiscard]] std::string short_function(const std::string& name);

// The innermost functions of a folded stack, outermost first: "main > serve > open_page". As raw as `folded` is.
[[nodiscard]] std::string short_stack(const std::string& folded);

// "openat fails with EACCES in open_page (server): 15 times, never in the normal runs". `abnormal`: of the entry's
// side.
[[nodiscard]] std::string only_sentence(const analyzer::Diff& diff, const analyzer::OnlyEntry& entry, bool abnormal);

// "none before" or "none now" in the place of a ratio to or from zero; empty if neither side has zero.
[[nodiscard]] std::string_view effect_word(double before, double after);

// "fsync in save (server): median 983 µs -> 31.5 ms, 32×".
[[nodiscard]] std::string changed_sentence(const analyzer::Diff& diff, const analyzer::ChangedCell& cell);

// "+ 870 ms inside of fsync in save (server): 30 ms -> 900 ms, 30 -> 30 calls".
[[nodiscard]] std::string time_sentence(const analyzer::Diff& diff, const analyzer::PlaceShift& shift);

// "a run took 10.0 s -> 20.0 s, 2×".
[[nodiscard]] std::string length_sentence(const analyzer::Diff& diff);

// "no notable change: a run took …", or that the runs are too few and too short to tell. Of a comparison in which the
// time is not notable.
[[nodiscard]] std::string no_change_sentence(const analyzer::Diff& diff);

// "all threads together: inside of calls 30.2 ms -> 20.9 s, outside of calls 0 ns -> 0 ns".
[[nodiscard]] std::string threads_sentence(const analyzer::Diff& diff);

// "the rest: - 25 µs", beside the places that the comparison names.
[[nodiscard]] std::string rest_sentence(const analyzer::Diff& diff);

// "openat in open_log (server): O_SYNC of argument 3 in 0 of 100 -> 100 of 100 calls, /var/log/x", "listen in main
// (server): argument 2 is 128 -> 5".
[[nodiscard]] std::string argument_sentence(const analyzer::ChangedArgument& change);

// "limit NOFILE: 1024 of 4096 -> 20", "environment: only in abnormal runs LC_ALL".
[[nodiscard]] std::string setting_sentence(const analyzer::ChangedSetting& change);

// "server SIGSEGV: 0 of 1 -> 1 of 1 processes".
[[nodiscard]] std::string ending_sentence(const analyzer::Diff& diff, const analyzer::ChangedEnding& change);

// "read from /srv/data: 250,000 -> 2,500 bytes a run, 1/100".
[[nodiscard]] std::string object_sentence(const analyzer::Diff& diff, const analyzer::ChangedObject& change);

}  // namespace uscope::cli
