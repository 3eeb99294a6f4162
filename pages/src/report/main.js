// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The page of `uscope report --html`.
import {count, duration as time, element, plural, shellQuoted} from "../common/page.js";
import "./report.css";
import {cells, file, functionOf, page, report, show, shown, shownTitle, whenShownChanges} from "./data.js";
import {makeFlames} from "./flames.js";
import {makeHeat} from "./heat.js";
import {makeLists} from "./lists.js";
import {makeProcesses} from "./processes.js";
import {makeTimeLine} from "./time_line.js";
import {makeTriggers} from "./triggers.js";

// What is missing comes first, whatever else is shown.
function losses() {
  const missing = report.losses.some((loss) => loss.events_missing);
  const place = element("section", {id: "losses", class: missing ? "missing" : null});
  if (report.losses.length === 0) {
    place.append(element("p", {}, element("strong", {}, "Nothing is missing: "),
                         `no loss was counted in ${plural(report.trace.processes, "process")}.`));
    return place;
  }
  place.append(element("p", {}, element("strong", {class: "bad"}, missing ? "This trace is not complete:" : "No event is missing, but:")));
  const body = element("tbody");
  for (const loss of report.losses) {
    const owners = loss.processes.slice(0, 5).map((process) => `pid ${process.pid ?? "?"}: ${count(process.count)}`).join(", ");
    body.append(element("tr", {}, element("td", {class: "number"}, count(loss.count)), element("td", {}, loss.cause),
                        element("td", {}, loss.meaning), element("td", {}, owners + (loss.processes.length > 5 ? ", …" : ""))));
  }
  place.append(element("table", {}, element("thead", {}, element("tr", {}, element("th", {class: "number"}, "count"),
      element("th", {}, "cause"), element("th", {}, "what it means"), element("th", {}, "where"))), body));
  return place;
}

// The command that was traced, or what was attached to.
function target() {
  const {command, target: traced} = report.trace.meta;
  try {
    const words = JSON.parse(command);
    if (words.length) return words.map(shellQuoted).join(" ");
  } catch {
    // No list of words.
  }
  return command || traced || file;
}

function figures() {
  const trace = report.trace;
  const list = element("dl", {class: "figures"});
  const add = (name, value) => list.append(element("div", {}, element("dt", {}, name), element("dd", {}, value)));
  add("events", count(trace.events));
  add("in", time(trace.duration_ns));
  add("processes", count(trace.processes));
  add("threads", count(trace.threads));
  add("programs started", count(trace.images));
  add("calls that failed", count(trace.errors));
  add("never returned", count(trace.open));
  if (trace.began) add("began", trace.began.replace("T", " ").replace(/\.\d+Z$/, " UTC"));
  return list;
}

function section(id, title, hint, ...content) {
  return element("section", {id}, element("h2", {}, title), hint ? element("p", {class: "faint"}, hint) : null, ...content);
}

// What the pictures are limited to, always in sight.
function limit() {
  const text = element("span"), all = element("button", {type: "button", onclick: () => show(null)}, "Show everything");
  const place = element("div", {class: "limit", role: "status", hidden: true}, text, all);
  whenShownChanges(() => {
    place.hidden = shown === null;
    text.textContent = `Pictures and lists show only ${shownTitle}.`;
  });
  return place;
}

const triggers = makeTriggers();
document.body.append(
    element("header", {}, element("h1", {}, target()),
            element("p", {class: "faint"}, `uscope report of ${file}`)),
    losses(), figures(), limit(),
    element("details", {}, element("summary", {}, "Recording details and stack quality"),
            element("pre", {class: "code"}, page.head.join("\n"))),
    section("time-line", "Time line",
            "Each line is a thread. Drag to move; double-click, + and − to zoom; click an item for the command that shows it.",
            makeTimeLine()),
    section("flame", "Where the time goes",
            "Callers above, callees below; the wider, the more. Click a function to look inside.", makeFlames()),
    section("heat", "Latency", "How long calls took, over the time of the recording; the scale below it says how many there were.", makeHeat()),
    section("triggers", "Calls, and the functions that make them",
            "Search or choose a line to limit all pictures to it." +
                (cells.some((cell) => functionOf(cell).endsWith("*"))
                     ? " *: no frame of the application's own binaries is in the stack; this is the innermost other function." : ""),
            triggers),
    section("processes", "Processes", null, makeProcesses()),
    ...makeLists());
