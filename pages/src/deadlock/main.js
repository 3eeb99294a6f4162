// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The page of `uscope deadlock --html`: the verdict, the findings in sentences, the wait-for graph, and what else waits.
import {count, data, duration, element, plural} from "../common/page.js";
import "../common/panel.css";
import "./deadlock.css";
import {makeDetails} from "./details.js";
import {makeGraph} from "./graph.js";

const {target, diagnosis, picture} = data();
const verdicts = {deadlock: ["Deadlock", "✖"], stall: ["Stall", "▲"], undecided: ["Undecided", "?"], none: ["No deadlock found", "✓"]};

function finding(one) {
  const index = diagnosis.findings.indexOf(one), first = picture.nodes.findIndex((node) => node.finding === index);
  const openings = one.openings.map((opening) => element("div", {class: "opening"}, element(
      "p", {}, `descriptor ${opening.descriptor}<${opening.object}> of ${opening.process ?? "process"} (pid ${opening.pid}) comes from:`),
      element("ol", {class: "plain"}, ...opening.steps.map((step) => element(
          "li", {}, `${step.call}${step.descriptor === null ? "" : ` (as descriptor ${step.descriptor})`}: thread ${step.tid} of process ${step.pid}`,
          element("ol", {class: "frames"}, ...step.stack.map((name) => element("li", {}, element("code", {}, name)))))))));
  return element("section", {class: `verdict ${one.verdict}`},
                 element("p", {}, element("strong", {}, `${one.verdict === "deadlock" ? "Deadlock" : "Stall"}: `), one.explanation),
                 first < 0 ? null : element("button", {type: "button", class: "no-print", onclick: () => graph.pick(first)}, "Show in the graph"),
                 openings.length ? element("details", {}, element("summary", {}, `Where ${plural(openings.length, "descriptor")} came from`), ...openings) : null);
}

function table(title, heads, rows) {
  if (rows.length === 0) return [];
  return [element("h2", {}, title), element("div", {class: "scroll"}, element("table", {}, element(
      "thead", {}, element("tr", {}, ...heads.map((head) => element("th", {scope: "col", class: head.endsWith(" for") ? "number" : null}, head)))),
      element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((cell, i) => element(
          "td", {class: heads[i].endsWith(" for") ? "number" : heads[i] === "address" ? "code whole" : null}, cell)))))))];
}

const since = (wait) => `${wait.at_least ? "at least " : ""}${duration(wait.waited_ns)}`;
const ofProcess = (thread) => `${thread.process ?? "process"} (pid ${thread.pid})`;
const thread = (one) => `${one.tid} ${one.name}`;
const someOf = (threads, all) => threads.slice(0, 4).map(thread).join(", ") + (all > 4 ? ` and ${count(all - 4)} more` : "");

function blocked() {
  const accused = new Set(diagnosis.findings.flatMap((one) => one.threads.map(({tid}) => tid)));
  const alike = new Map(), waiting = diagnosis.blocked.filter(({tid}) => !accused.has(tid));
  for (const one of waiting) {
    const key = JSON.stringify([one.pid, one.primitive, one.address, one.function, one.held_by]);
    alike.set(key, [...alike.get(key) ?? [], one]);
  }
  const rows = [...alike.values()].map((some) => {
    const one = some.reduce((a, b) => (b.waited_ns > a.waited_ns ? b : a));
    return [someOf(some, some.length), ofProcess(one), one.primitive.replaceAll("_", " "), one.address, one.function ?? "", one.held_by.join(", "), since(one)];
  });
  return table(`${accused.size ? "Other threads" : "Threads"} that wait for a futex (${count(waiting.length)})`,
               ["threads", "process", "what it is", "address", "function", "held by", "waited for"], rows);
}

function others() {
  const waits = diagnosis.other_waits, total = waits.reduce((sum, wait) => sum + wait.count, 0);
  return table(`Threads that wait in other calls (${count(total)})`, ["call", "function", "threads", "process", "waited for"], waits.map((wait) => [
    (wait.wait ?? wait.call + (wait.object ? ` of ${wait.object}${wait.object_doubtful ? " (probably)" : ""}`
                                           : wait.descriptor !== null ? ` of descriptor ${wait.descriptor}` : "")) + (wait.halted ? `, ${wait.halted}` : ""),
    wait.function ?? "", someOf(wait.threads, wait.count),
    ofProcess(wait.threads[0]), since(wait.threads[0])]));
}

function computing() {
  return table(`Threads that make no call (${count(diagnosis.computing.length)})`, ["thread", "process", "waited for by", "no call for"],
               diagnosis.computing.map((one) => [thread(one), ofProcess(one), one.waited_by.join(", "), duration(one.idle_ns)]));
}

const [verdict, sign] = verdicts[diagnosis.verdict];
const details = makeDetails(picture, (index) => graph.pick(index));
const graph = picture.nodes.length ? makeGraph(picture, (index) => details.show(index)) : null;
const circles = picture.nodes.some((node) => node.circle), groups = picture.nodes.some((node) => node.tids.length > 1);
const accused = picture.nodes.some((node) => node.finding !== null && !node.circle);
const has = (...whats) => picture.nodes.some((node) => whats.includes(node.what) && !node.circle && node.finding === null);
const legend = element("div", {class: "legend"},
                       circles ? element("span", {}, element("i", {class: "sign-circle"}), "in a cycle: each waits for the next one") : null,
                       accused ? element("span", {}, element("i", {class: "sign-accused"}), "of a finding: waits for good") : null,
                       has("waits") ? element("span", {}, element("i", {class: "sign-waits"}), "waits") : null,
                       has("computes", "ended", "unknown") ? element("span", {}, element("i", {class: "sign-runs"}), "runs, or is not known") : null,
                       groups ? element("span", {}, element("i", {class: "sign-many"}), "several threads that wait alike") : null,
                       element("span", {}, "→ waits for"));
document.body.append(
    element("h1", {class: `headline ${diagnosis.verdict}`}, element("span", {"aria-hidden": "true"}, `${sign} `), `${verdict} in ${target}`),
    ...(diagnosis.warnings.length ? [element("ul", {class: "warnings"}, ...diagnosis.warnings.map((text) => element("li", {}, text)))] : []),
    ...diagnosis.findings.map(finding), ...(diagnosis.reason ? [element("p", {}, diagnosis.reason)] : []),
    element("h2", {}, "Who waits for whom"));
if (graph) {
  document.body.append(legend, element("div", {class: "beside"}, graph.place, details.place));
  if (picture.left_out)
    document.body.append(element("p", {class: "faint"}, `${plural(picture.left_out, "more thread")} would not fit: --format json has all.`));
  graph.start();
  graph.pick(0);
} else {
  document.body.append(element("p", {class: "faint"}, "No thread is known to wait for another one."));
}
document.body.append(...blocked(), ...others(), ...computing());
