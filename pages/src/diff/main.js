// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The page of `uscope diff --html`: what makes the comparison doubtful, the matrix of both sides, the findings as the
// text ranks them, where the time went, and the stacks of both sides.
import {count, data, duration, element, plural} from "../common/page.js";
import {functionOf, makeDetails} from "./details.js";
import "../common/panel.css";
import "./diff.css";
import {makeDiffFlame} from "./flame.js";
import {kClasses, modelOf, withArrows} from "./model.js";
import {makeScatter} from "./scatter.js";

const diff = data(), model = modelOf(diff);

function runsTable() {
  const rows = ["normal", "abnormal"].flatMap((side) => diff[side].map((run) => {
    const losses = run.losses.map(([cause, number]) => `${cause} ${count(number)}`).join(", ");
    return element("tr", {}, element("td", {}, side), element("td", {}, element("code", {}, run.file)),
                   element("td", {class: "number"}, count(run.events)), element("td", {class: "number"}, duration(run.duration_ns)),
                   element("td", {class: run.complete ? null : "bad"},
                           (run.complete ? "complete" : "NOT COMPLETE") + (losses ? `: ${losses}` : "")));
  }));
  const head = ["side", "trace", "events", "took", "what is missing"].map((title, i) => element(
      "th", {scope: "col", class: i === 2 || i === 3 ? "number" : null}, title));
  return element("div", {class: "scroll runs"}, element("table", {}, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows)));
}

function warnings() {
  if (diff.warnings.length === 0) return null;
  return element("ul", {class: "warnings"}, ...diff.warnings.map((text) => element("li", {}, text)));
}

const flame = makeDiffFlame(diff);
const details = makeDetails(model, (cell) => flame.find(functionOf(cell)));
const scatter = makeScatter((cell) => choose(cell, cell.findings[0]));
const lines = new Map();  // of findings

function choose(cell, finding) {
  for (const [one, line] of lines)
    line.setAttribute("aria-pressed", String(one === finding || (cell !== null && cell !== undefined && one.cell === cell)));
  scatter.select(cell ?? null);
  details.show(cell ?? null, finding);
}

// The classes of cells, as a legend whose buttons show or hide them.
function filters() {
  const shown = new Set(Object.keys(kClasses));
  const search = element("input", {type: "search", size: 30, placeholder: "Search calls and functions", "aria-label": "Search calls and functions",
                                   oninput: apply});
  const said = element("span", {class: "faint", role: "status"});
  const buttons = Object.entries(kClasses).map(([what, {title, mark, color}]) => {
    const number = model.cells.filter((cell) => cell.what === what).length;
    const sign = element("span", {"aria-hidden": "true"}, mark);
    sign.style.color = `var(${color})`;
    const button = element("button", {type: "button", "aria-pressed": "true", "data-class": what, onclick: () => {
      if (!shown.delete(what)) shown.add(what);
      button.setAttribute("aria-pressed", String(shown.has(what)));
      apply();
    }}, sign, ` ${title} (${count(number)})`);
    return button;
  });
  function apply() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const cells = model.cells.filter((cell) => shown.has(cell.what) && words.every((word) => (
        `${cell.kind} ${cell.where.name} ${cell.where.whole}`.toLowerCase().includes(word))));
    said.textContent = cells.length === model.cells.length ? plural(cells.length, "mark") : `${count(cells.length)} of ${plural(model.cells.length, "mark")}`;
    scatter.show(model, cells);
  }
  return {place: element("div", {class: "bar"}, ...buttons, search, said), apply};
}

function findingsOf(list, title) {
  const found = model.findings.filter((finding) => finding.list === list), total = diff.totals[list];
  const head = total === 0 ? "nothing" : found.length < total ? `${count(total)}, the first ${count(found.length)}` : count(total);
  return [
    element("h3", {}, `${title}  `, element("span", {class: "faint"}, head)),
    element("ol", {class: "findings"}, ...found.map((finding) => {
      const line = element("button", {type: "button", "aria-pressed": "false", onclick: () => choose(finding.cell, finding)}, finding.text);
      lines.set(finding, line);
      return element("li", {}, line);
    })),
  ];
}

function timeLines() {
  const {time} = diff;
  if (!time.notable) return [element("p", {}, withArrows(`${time.length[0].toUpperCase()}${time.length.slice(1)}.`))];
  return [
    element("p", {}, withArrows(time.length)), element("p", {}, withArrows(time.threads)),
    element("ol", {class: "findings"}, ...time.lines.map((line) => {
      const cell = model.cells[line.cell];
      return element("li", {}, cell ? element("button", {type: "button", onclick: () => {
        choose(cell, cell.findings[0]);
        details.place.scrollIntoView({block: "nearest"});
      }}, withArrows(line.text)) : element("span", {class: "line"}, withArrows(line.text)),
                     line.stack.length ? element("details", {class: "stack"}, element("summary", {}, "stack"),
                                          element("ol", {class: "frames"}, ...line.stack.map((frame) => (
                                              element("li", {}, element("code", {}, frame)))))) : null);
    })),
    element("p", {class: "faint"}, time.rest + (time.lines.length < time.total ? `; ${count(time.total - time.lines.length)} more places` : "")),
  ];
}

function list(title, texts, total) {
  if (texts.length === 0) return [];
  return [element("h2", {}, `${title}, normal → abnormal  `, element("span", {class: "faint"}, count(total))),
          element("ul", {class: "plain"}, ...texts.map((text) => element("li", {}, withArrows(text))))];
}

const filter = filters();
const named = (side) => (diff[side].length === 1 ? diff[side][0].file : plural(diff[side].length, `${side} run`));
document.body.append(
    element("h1", {}, `${named("abnormal")} compared with ${named("normal")}`),
    runsTable(), ...[warnings()].filter(Boolean),
    element("h2", {}, "Where the time went, normal → abnormal"), ...timeLines(),
    ...list("Started differently", diff.settings, diff.settings.length),
    element("h2", {}, "Calls by the functions that make them"),
    element("p", {class: "faint"}, "Each mark is a call (column) made by a function of the application (row). Larger marks have more events; a hollow " +
            "mark is on one side only, but not significant. Rows and columns with the first findings come first."),
    filter.place,
    element("div", {class: "beside"},
            element("div", {}, scatter.place,
                    element("h2", {}, diff.tested ? "Findings" : "Findings, not tested"),
                    ...findingsOf("abnormal", "Only in abnormal runs"), ...findingsOf("changed", "Changed, normal → abnormal"),
                    ...findingsOf("normal", "Only in normal runs")),
            details.place),
    ...list("Arguments changed", diff.asked.lines, diff.asked.total),
    ...list("Ended differently", diff.endings, diff.endings.length), ...list("Bytes moved", diff.moved.lines, diff.moved.total),
    element("h2", {}, "Stacks of both sides"),
    element("p", {class: "faint"}, "A frame is as wide as what went through it on both sides, by run. Below a function are those that it called, " +
            "last the system call. Click a frame to widen it."),
    flame.place);
if (diff.cells_left_out)
  filter.place.after(element("p", {class: "faint"}, `${plural(diff.cells_left_out, "cell")} with fewer events are not in this page.`));
scatter.start();
filter.apply();
choose(model.findings[0]?.cell, model.findings[0]);
