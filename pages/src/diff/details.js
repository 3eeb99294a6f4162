// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// All that the page has of one cell: its counts on both sides, and its findings with stacks and arguments.
import {count, duration, element, plural} from "../common/page.js";
import {kClasses, perRun} from "./model.js";

// The counts of both sides, side by side; of several runs their mean.
function counts(model, cell) {
  const {normal, abnormal} = model.data, many = normal.length > 1 || abnormal.length > 1;
  const rows = [];
  const row = (title, of) => {
    const values = [of(cell.normal, normal.length), of(cell.abnormal, abnormal.length)];
    if (values.some((value) => value !== "" && value !== "0")) rows.push([title, ...values]);
  };
  row(many ? "events a run" : "events", (side, runs) => perRun(side.events / runs));
  const errors = new Set([...Object.keys(cell.normal.errors), ...Object.keys(cell.abnormal.errors)]);
  for (const name of errors) row(`failed with ${name}`, (side, runs) => perRun((side.errors[name] ?? 0) / runs));
  row("never returned", (side, runs) => perRun(side.open / runs));
  row(many ? "time inside a run" : "time inside", (side, runs) => (side.timed ? duration(side.ns / runs) : ""));
  row("mean time of a call", (side) => (side.timed ? duration(side.ns / side.timed) : ""));
  if (many) row("runs that have it", (side, runs) => `${side.runs} of ${runs}`);
  return element("table", {class: "counts"},
                 element("thead", {}, element("tr", {}, element("th", {}), element("th", {scope: "col", class: "number"}, "normal"),
                                              element("th", {scope: "col", class: "number"}, "abnormal"))),
                 element("tbody", {}, ...rows.map(([title, before, after]) => element(
                     "tr", {}, element("th", {scope: "row"}, title), element("td", {class: "number"}, before),
                     element("td", {class: "number"}, after)))));
}

function stack([frames, events], open) {
  const title = events === null ? `${plural(frames.length, "function")} deep` : plural(events, "event");
  return element("details", {class: "stack", open},
                 element("summary", {}, `${title}: `, element("code", {}, frames[0])),
                 element("ol", {class: "frames"}, ...frames.map((frame) => element("li", {}, element("code", {}, frame)))));
}

function findingDetails(finding) {
  const parts = [element("p", {class: "said"}, finding.text)];
  if (finding.arguments.length)
    parts.push(element("h4", {}, "Arguments"),
               element("ul", {class: "plain"}, ...finding.arguments.map(([value, events]) => element(
                   "li", {}, element("code", {}, value), element("span", {class: "faint"}, ` ${count(events)}`)))));
  const seen = [];
  if (finding.first_ns !== null) seen.push(`first at ${(finding.first_ns / 1e9).toFixed(6)} s of ${finding.file}`);
  if (finding.threads.length) seen.push(`threads ${finding.threads.join(", ")}`);
  if (seen.length) parts.push(element("h4", {}, "Seen"), element("p", {}, seen.join(", ")));
  if (finding.stacks.length)
    parts.push(element("h4", {}, finding.stacks.length === 1 ? "Stack, innermost function first" : "Stacks, innermost function first"),
               ...finding.stacks.map((one, i) => stack(one, i === 0)));
  return element("section", {class: `finding ${finding.list}`}, ...parts);
}

// A cell's function as the flame graph has it: of a chain of callers (--by depth), the innermost one.
export function functionOf(cell) {
  return cell.where.short.split(" < ")[0];
}

// showStacks(cell): called for the button that leads to the flame graph.
export function makeDetails(model, showStacks) {
  const drawn = new Set(model.data.stacks.names.map(([name]) => name));
  const place = element("aside", {class: "panel", id: "details", tabindex: 0, "aria-live": "polite", "aria-label": "The chosen cell"});
  return {
    place,
    show(cell, finding) {
      if (!cell && !finding) {
        place.replaceChildren(element("p", {class: "faint"}, "Choose a mark or a finding: this place then shows its counts, its " +
                                                             "arguments and its stacks."));
        return;
      }
      const parts = [];
      if (cell) {
        const {mark, title, color} = kClasses[cell.what];
        const sign = element("span", {"aria-hidden": "true"}, mark);
        sign.style.color = `var(${color})`;
        parts.push(element("h3", {}, element("code", {}, cell.kind), cell.where.whole ? " in " : " ", element("code", {}, cell.where.name)),
                   element("p", {}, sign, ` ${title}`), counts(model, cell));
        if (cell.where.short !== cell.where.whole && cell.where.whole !== "[no name]")
          parts.push(element("p", {class: "faint"}, cell.where.whole));
      }
      for (const one of cell ? cell.findings : [finding]) parts.push(findingDetails(one));
      if (cell && cell.findings.length === 0)
        parts.push(element("p", {class: "faint"}, cell.what === "alike"
            ? "Its calls do not differ notably between the sides."
            : "It is not significant: with so few events, or so few runs that have it, it may be chance; or the lists are " +
              "cut (see the notes above)."));
      if (cell && drawn.has(functionOf(cell)))
        parts.push(element("button", {type: "button", class: "no-print", onclick: () => showStacks(cell)}, "Mark in the flame graph"));
      place.replaceChildren(...parts);
      place.scrollTop = 0;
    },
  };
}
