// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The lists of `uscope report`, as tables. If some calls and functions are chosen, they show what belongs to these; only
// files and signals are always those of the whole recording.
import {count, duration as human, element, plural} from "../common/page.js";
import {makeTable} from "../common/table.js";
import {cells, eventsByThread, functionOf as from, report, shown, threads, whenShownChanges} from "./data.js";

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
                ...place, ...who, {...n("event_id", "event"), show: String}];
const begins = {tracing: "(tracing began)", thread: "(the thread began)"};
const ends = {tracing: "(tracing ended)", thread: "(the thread ended)", left: "(the thread left the trace)"};
const edge = (end, otherwise) => (end ? `${end.call} from ${from(end)}` : otherwise ?? "?");
const gap = [w("before", "after", (line) => edge(line.before, begins[line.since])), w("after", "until", (line) => edge(line.after, ends[line.until])),
             w("within", "within", (line) => (line.within ? from(line.within) : ""))];

const lists = [
  {id: "errors", by: "trigger", title: "Errors", noun: "line", columns: [n("events", "events"), w("call", "call"), w("name", "error"), ...place],
   sort: {id: "events", desc: true}},
  {id: "errors_by_file", by: "call", title: "Errors by file", noun: "line", sort: {id: "events", desc: true},
   columns: [n("events", "events"), w("call", "call"), w("name", "error"),
             w("object", "what it failed at", (line) => line.object ?? line.objects.map((object) => object.name ?? "?").slice(0, 5).join(", "))]},
  {id: "calls", by: "call", title: "Calls", noun: "call", columns: latencies, sort: {id: "total_ns", desc: true}},
  {id: "waits", by: "call", title: "Calls that wait", noun: "call", columns: latencies, sort: {id: "total_ns", desc: true}},
  {id: "files", title: "Files and sockets", noun: "file", sort: {id: "total_ns", desc: true},
   columns: [w("name", "name", (line) => line.name ?? "(not known)"), n("calls", "calls"), n("failures", "failed"), n("opens", "opens"), n("reads", "reads"),
             n("writes", "writes"), n("changes", "changes"), n("bytes_read", "bytes read"), n("bytes_written", "bytes written"), t("total_ns", "time"),
             t("wait_ns", "waiting")]},
  {id: "slowest", by: "trigger", title: "Slowest calls", noun: "call", columns: single, sort: {id: "dur_ns", desc: true}},
  {id: "longest_waits", by: "trigger", title: "Longest waits", noun: "wait", columns: single, sort: {id: "dur_ns", desc: true}},
  {id: "open", by: "trigger", title: "Calls that never returned", noun: "call", columns: single, sort: {id: "dur_ns", desc: true}},
  {id: "gaps", by: "gap", title: "Longest times between calls", noun: "gap", sort: {id: "dur_ns", desc: true},
   columns: [{id: "ts_ns", title: "at", number: true, of: (line) => line.ts_ns, show: seconds}, t("dur_ns", "lasted"), ...gap, ...who]},
  {id: "gap_pairs", by: "pair", title: "Time between calls, by pair", noun: "pair", sort: {id: "total_ns", desc: true},
   columns: [n("gaps", "times"), t("total_ns", "total time"), t("longest", "longest", (line) => line.longest.dur_ns),
             ...gap.map((column) => ({...column, of: (line) => column.of(line.longest)}))]},
  {id: "threads", by: "thread", title: "Threads", noun: "thread", sort: {id: "events", desc: true},
   columns: [...who, n("events", "events"), n("errors", "failed"), t("total_ns", "in calls"), t("wait_ns", "waiting"), t("between_ns", "between calls")]},
  {id: "signals", title: "Signals", noun: "signal", sort: {id: "sent", desc: true},
   columns: [w("name", "signal"), n("sent", "sent"), n("ignored", "ignored"), n("delivered", "delivered"),
             w("senders", "by", (line) => line.senders.map((sender) => `${sender.name || "the kernel"}${sender.pid ? ` ${sender.pid}` : ""}`).join(", "))]},
];

// Whether lines belong to what is chosen: by call and function, by the calls on both sides, by call, or by thread.
let last = {};
function choice() {
  if (last.of === shown) return last;
  const key = (call, line) => `${call}\n${line.function}\n${line.module}`;
  const pairs = new Set(), calls = new Set(), tasks = new Set();
  for (const number of shown) {
    pairs.add(key(cells[number].kind.call, cells[number]));
    calls.add(cells[number].kind.call);
  }
  eventsByThread().forEach((events, number) => {
    if (events > 0) tasks.add(`${threads[number].pid} ${threads[number].tid}`);
  });
  const isEnd = (end) => Boolean(end) && pairs.has(key(end.call, end));
  return last = {
    of: shown,
    trigger: (line) => pairs.has(key(line.call, line)),
    call: (line) => calls.has(line.call),
    gap: (line) => isEnd(line.before) || isEnd(line.after),
    pair: ({longest}) => isEnd(longest.before) || isEnd(longest.after),
    thread: (line) => tasks.has(`${line.pid} ${line.tid}`),
  };
}

// Where the time of all threads went, if that was recorded.
function timeShares() {
  const all = report.time?.all;
  if (!all) return null;
  const body = element("tbody");
  const share = (ns) => `${(100 * ns / all.total_ns).toFixed(1)} %`;
  const add = (title, ns, margin) => {
    if (ns) body.append(element("tr", {}, element("td", {}, title), element("td", {class: "number"}, human(ns)),
                                element("td", {class: "number"}, share(ns)), element("td", {class: "number"}, margin ? `± ${share(margin)}` : "")));
  };
  add("running", all.running_ns, all.error_ns);
  for (const [id, title] of [["sleeping_ns", "waiting: asleep"], ["blocked_ns", "waiting: blocked"], ["stopped_ns", "stopped"], ["for_cpu_ns", "ready to run, waiting for a CPU"]])
    add(title, all[id]);
  if (all.error_ns && all.running_ns) add("sum; running is by samples", all.running_ns + all.not_running_ns, all.error_ns);
  add("lifetime of all threads", all.total_ns);
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
    const part = element("section", {id: list.id}, element("h2", {}, list.title), note, table.place);
    if (list.by) whenShownChanges(() => table.setRows(shown === null ? source.lines : source.lines.filter(choice()[list.by])));
    sections.push(part);
  }
  return [timeShares(), ...sections].filter(Boolean);
}
