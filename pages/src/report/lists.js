// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The lists of `uscope report`, as tables. Those whose lines have a call and a function show only what is chosen.
import {count, duration as human, element, plural} from "../common/page.js";
import {makeTable} from "../common/table.js";
import {cells, functionOf as from, report, shown, whenShownChanges} from "./data.js";

const time = (ns) => (ns ? human(ns) : "");
const seconds = (ns) => (ns === null ? "" : `${(ns / 1e9).toFixed(6)} s`);
const base = (path) => path.slice(path.lastIndexOf("/") + 1);
const n = (id, title, of = (line) => line[id]) => ({id, title, number: true, of});
const t = (id, title, of = (line) => line[id]) => ({id, title, number: true, of, show: time});
const w = (id, title, of = (line) => line[id] ?? "") => ({id, title, of});
const place = [w("function", "from function", from), w("module", "in", (line) => base(line.module ?? ""))];
const who = [w("process", "process", (line) => `${line.process} ${line.pid}`), w("thread", "thread", (line) => `${line.thread} ${line.tid}`)];
const latencies = [w("call", "call"), n("events", "calls"), n("errors", "failed"), t("total_ns", "total time"), t("mean_ns", "mean"),
                   t("p50_ns", "median"), t("p95_ns", "95 %"), t("p99_ns", "99 %"), t("max_ns", "longest"), n("bytes", "bytes")];
const single = [{id: "ts_ns", title: "at", number: true, of: (line) => line.ts_ns, show: seconds}, t("dur_ns", "took"), w("call", "call"),
                ...place, ...who, n("event_id", "event")];
const edge = (end, kind) => (end ? `${end.call} from ${from(end)}` : `(${kind})`);
const gap = [w("before", "after", (line) => edge(line.before, line.since)), w("after", "until", (line) => edge(line.after, line.until)),
             w("within", "within", (line) => (line.within ? from(line.within) : ""))];

const lists = [
  {id: "errors", title: "Errors", noun: "line", columns: [n("events", "events"), w("call", "call"), w("name", "error"), ...place],
   sort: {id: "events", desc: true}},
  {id: "errors_by_file", title: "Errors by file", noun: "line", sort: {id: "events", desc: true},
   columns: [n("events", "events"), w("call", "call"), w("name", "error"),
             w("object", "what it failed at", (line) => line.object ?? line.objects.map((object) => object.name ?? "?").slice(0, 5).join(", "))]},
  {id: "calls", title: "Calls", noun: "call", columns: latencies, sort: {id: "total_ns", desc: true}},
  {id: "waits", title: "Calls that wait", noun: "call", columns: latencies, sort: {id: "total_ns", desc: true}},
  {id: "files", title: "Files and sockets", noun: "file", sort: {id: "total_ns", desc: true},
   columns: [w("name", "name", (line) => line.name ?? line.path ?? "?"), n("calls", "calls", (line) => line.calls ?? line.events), n("errors", "failed"),
             t("total_ns", "time"), n("read_bytes", "read"), n("written_bytes", "written")]},
  {id: "slowest", title: "Slowest calls", noun: "call", columns: single, sort: {id: "dur_ns", desc: true}},
  {id: "longest_waits", title: "Longest waits", noun: "wait", columns: single, sort: {id: "dur_ns", desc: true}},
  {id: "open", title: "Calls that never returned", noun: "call", columns: single, sort: {id: "dur_ns", desc: true}},
  {id: "gaps", title: "Longest times between calls", noun: "gap", sort: {id: "dur_ns", desc: true},
   columns: [{id: "ts_ns", title: "at", number: true, of: (line) => line.ts_ns, show: seconds}, t("dur_ns", "lasted"), ...gap, ...who]},
  {id: "gap_pairs", title: "Time between calls, by pair", noun: "pair", sort: {id: "total_ns", desc: true},
   columns: [n("gaps", "times"), t("total_ns", "total time"), t("longest", "longest", (line) => line.longest.dur_ns),
             ...gap.map((column) => ({...column, of: (line) => column.of(line.longest)}))]},
  {id: "threads", title: "Threads", noun: "thread", sort: {id: "events", desc: true},
   columns: [...who, n("events", "events"), n("errors", "failed"), t("total_ns", "in calls"), t("wait_ns", "of it waiting"), t("between_ns", "between calls")]},
  {id: "signals", title: "Signals", noun: "signal", sort: {id: "sent", desc: true},
   columns: [w("name", "signal"), n("sent", "sent"), n("ignored", "ignored"), n("delivered", "delivered"),
             w("senders", "by", (line) => line.senders.map((sender) => `${sender.name || "the kernel"}${sender.pid ? ` ${sender.pid}` : ""}`).join(", "))]},
];

// Whether a line belongs to what is chosen.
function chosen() {
  const keys = new Set([...shown].map((number) => `${cells[number].kind.call}\n${cells[number].function}\n${cells[number].module}`));
  return (line) => keys.has(`${line.call}\n${line.function}\n${line.module}`);
}

// Where the time of all threads went, if that was recorded.
function timeShares() {
  const all = report.time?.all;
  if (!all) return null;
  const body = element("tbody");
  const add = (title, ns) => {
    if (ns) body.append(element("tr", {}, element("td", {}, title), element("td", {class: "number"}, human(ns)),
                                element("td", {class: "number"}, `${(100 * ns / all.total_ns).toFixed(1)} %`)));
  };
  add("running", all.running_ns);
  for (const [id, title] of [["sleeping_ns", "waiting: asleep"], ["blocked_ns", "waiting: blocked"], ["stopped_ns", "stopped"], ["for_cpu_ns", "ready to run, waiting for a CPU"]])
    add(title, all[id]);
  add("all threads lived", all.total_ns);
  return element("section", {id: "time"}, element("h2", {}, "What threads did"), element("div", {class: "narrow"}, element("table", {}, body)));
}

export function makeLists() {
  const sections = [];
  for (const list of lists) {
    const source = report[list.id];
    if (!source || source.lines.length === 0) continue;
    const columns = list.columns.filter((column) => source.lines.some((line) => {
      const value = column.of(line);
      return value !== undefined && value !== null && value !== "" && value !== 0;
    }));
    const table = makeTable(columns, source.lines, {sort: list.sort, noun: list.noun, label: list.title});
    const note = source.total > source.lines.length
        ? element("p", {class: "faint"}, `The first ${count(source.lines.length)} of ${plural(source.total, list.noun)}.`) : null;
    const limited = "function" in source.lines[0] && "call" in source.lines[0];
    const part = element("section", {id: list.id}, element("h2", {}, list.title), note, table.place);
    if (limited) whenShownChanges(() => table.setRows(shown === null ? source.lines : source.lines.filter(chosen())));
    sections.push(part);
  }
  return [timeShares(), ...sections].filter(Boolean);
}
