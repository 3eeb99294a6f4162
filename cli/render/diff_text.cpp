// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <string>

#include "cli/render/diff_sentences.h"
#include "cli/render/text_table.h"
#include "cli/render/units.h"
#include "support/text.h"

#include "cli/render/diff_render.h"

namespace uscope::cli {
namespace {

using analyzer::Diff;

std::string side_head(const std::string& head, const std::vector<analyzer::RunFacts>& runs, Paint paint) {
  std::string out;
  for (const auto& run : runs) {
    out += fmt::format("{}{}  {} in {}{}\n", out.empty() ? paint(Ink::kHeading, head) : std::string(head.size(), ' '),
                       escape_terminal(run.file), plural(run.events, "event"),
                       human_duration(static_cast<double>(run.duration_ns)),
                       run.complete && run.lost == 0 ? "" : "  " + paint(Ink::kBad, "NOT COMPLETE"));
  }
  return out;
}

std::string warnings(const Diff& diff, TextWidth width) {
  std::string out;
  for (const std::string& warning : diff.warnings)
    out += paragraph(width.paint(Ink::kDoubt, "  ! "), printable(warning), width.columns);
  return out;
}

// The details of single events, below an entry.
std::string example(const analyzer::CellExample& example, TextWidth width) {
  std::string out;
  const std::string indent = "      ";
  if (!example.strings.empty()) {
    std::string text;
    for (const auto& string : example.strings)
      text += fmt::format("{}{} ({} of {})", text.empty() ? "" : "  ", printable(string.value),
                          group_digits(string.events), group_digits(example.looked_at));
    out += paragraph(indent + "arguments  ", text, width.columns);
  }
  if (!example.flags.empty())
    out += paragraph(indent + "flags      ", fmt::format("{}", fmt::join(example.flags, ", ")), width.columns);
  std::string first;
  if (example.first_ns)
    first = fmt::format("first at {} s of {}", seconds(*example.first_ns), escape_terminal(example.file));
  if (!example.threads.empty()) {
    first += first.empty() ? "threads " : ", threads ";
    for (std::size_t i = 0; i < example.threads.size(); i++) first += (i ? ", " : "") + printable(example.threads[i]);
  }
  if (!first.empty()) out += paragraph(indent + "seen       ", first, width.columns);
  if (!example.stack.empty())
    out += paragraph(indent + "stack      ", printable(short_stack(example.stack)), width.columns);
  return out;
}

std::string time_section(const Diff& diff, TextWidth width) {
  if (!diff.time.notable)
    return "\n" +
           paragraph(width.paint(Ink::kHeading, "WHERE THE TIME WENT  "), no_change_sentence(diff), width.columns);
  std::string out = "\n" + width.paint(Ink::kHeading, "WHERE THE TIME WENT, normal -> abnormal") +
                    (diff.tested ? "  (q: false discovery rate)\n" : ", not tested\n");
  out += paragraph("      ", length_sentence(diff), width.columns) +
         paragraph("      ", threads_sentence(diff), width.columns);
  for (std::size_t i = 0; i < diff.places.entries.size(); i++) {
    const analyzer::TimeEntry& entry = diff.places.entries[i];
    out += paragraph(fmt::format("{:>6}", fmt::format("{}. ", i + 1)), time_sentence(diff, entry.shift), width.columns);
    if (!entry.stack.empty()) out += paragraph("      stack      ", printable(short_stack(entry.stack)), width.columns);
  }
  return out + "      " + rest_sentence(diff) + "\n";
}

template <typename Entry, typename Line>
std::string ranked_section(const std::string& title, const analyzer::RankedList<Entry>& list, TextWidth width,
                           const Line& line) {
  std::string out = "\n" + width.paint(Ink::kHeading, title) + "  ";
  if (list.total == 0) return out + "nothing\n";
  out += group_digits(list.total);
  if (list.entries.size() < list.total) out += fmt::format(", the first {}", list.entries.size());
  out += "\n";
  for (std::size_t i = 0; i < list.entries.size(); i++) {
    const std::string number = fmt::format("{:>6}", fmt::format("{}. ", i + 1));
    out += paragraph(number, line(list.entries[i]), width.columns) + example(list.entries[i].example, width);
  }
  return out;
}

// Empty if the runs took place in the same settings.
std::string settings(const Diff& diff, TextWidth width) {
  if (diff.settings.empty()) return "";
  std::string out;
  for (const analyzer::ChangedSetting& change : diff.settings)
    out += paragraph("      ", setting_sentence(change), width.columns);
  return fmt::format("\n{}  {}\n", width.paint(Ink::kHeading, "STARTED DIFFERENTLY, normal -> abnormal"),
                     diff.settings.size()) +
         out;
}

// Empty if all programs ended alike.
std::string endings(const Diff& diff, TextWidth width) {
  std::string out;
  for (const analyzer::ChangedEnding& change : diff.endings)
    out += paragraph("      ", ending_sentence(diff, change), width.columns);
  if (out.empty()) return "";
  const std::string title = width.paint(Ink::kHeading, "ENDED DIFFERENTLY, normal -> abnormal");
  return fmt::format("\n{}  {}\n", title, diff.endings.size()) + out;
}

// Empty if the calls of both sides asked for the same.
std::string arguments(const Diff& diff, TextWidth width) {
  if (diff.arguments.total == 0) return "";
  std::string out = "\n" + width.paint(Ink::kHeading, "ARGUMENTS CHANGED, normal -> abnormal") + "  " +
                    group_digits(diff.arguments.total);
  if (diff.arguments.entries.size() < diff.arguments.total)
    out += fmt::format(", the first {}", diff.arguments.entries.size());
  out += "\n";
  for (const analyzer::ChangedArgument& change : diff.arguments.entries)
    out += paragraph("      ", argument_sentence(change), width.columns);
  return out;
}

// Empty if runs moved as many bytes.
std::string objects(const Diff& diff, TextWidth width) {
  if (diff.objects.total == 0) return "";
  std::string out =
      "\n" + width.paint(Ink::kHeading, "BYTES MOVED, normal -> abnormal") + "  " + group_digits(diff.objects.total);
  if (diff.objects.entries.size() < diff.objects.total)
    out += fmt::format(", the first {}", diff.objects.entries.size());
  out += "\n";
  for (const analyzer::ChangedObject& change : diff.objects.entries)
    out += paragraph("      ", object_sentence(diff, change), width.columns);
  return out;
}

}  // namespace

std::string diff_text(const Diff& diff, TextWidth width) {
  return side_head("NORMAL    ", diff.normal, width.paint) + side_head("ABNORMAL  ", diff.abnormal, width.paint) +
         warnings(diff, width) + time_section(diff, width) + settings(diff, width) + endings(diff, width) +
         ranked_section("ONLY IN ABNORMAL RUNS", diff.abnormal_only, width,
                        [&](const analyzer::OnlyEntry& entry) { return only_sentence(diff, entry, true); }) +
         ranked_section("CHANGED, normal -> abnormal", diff.changed, width,
                        [&](const analyzer::ChangedEntry& entry) { return changed_sentence(diff, entry.cell); }) +
         arguments(diff, width) +
         ranked_section("ONLY IN NORMAL RUNS", diff.normal_only, width,
                        [&](const analyzer::OnlyEntry& entry) { return only_sentence(diff, entry, false); }) +
         objects(diff, width);
}

}  // namespace uscope::cli
