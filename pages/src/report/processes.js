// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The tree of processes: programs, life, end.
import {count, duration as human, element} from "../common/page.js";
import {eventsByThread, page, shown, threads, whenShownChanges} from "./data.js";

const kFirst = 60, kDeepest = 12;

export function makeProcesses() {
  const body = element("tbody"), processes = page.processes;
  let all = processes.length <= kFirst, words = [], chosen = null;  // events of what is chosen, by pid
  const more = element("button", {type: "button", onclick: () => {
    all = true;
    draw();
  }}, `Show all ${count(processes.length)}`);
  const search = element("input", {type: "search", placeholder: "Search processes", "aria-label": "Search processes", oninput: () => {
    words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    draw();
  }});
  function draw() {
    const found = words.length === 0 && !chosen ? processes : processes.filter((process) => {
      if (chosen && !chosen.get(process.pid)) return false;
      const text = `${process.pid} ${process.programs} ${process.ended} ${process.images.map((image) => image.command).join(" ")}`.toLowerCase();
      return words.every((word) => text.includes(word));
    });
    body.replaceChildren(...(all ? found : found.slice(0, kFirst)).map(line));
    more.hidden = all || found.length <= kFirst;
  }
  function line(process) {
    const name = element("td", {class: "process"}, element("strong", {}, process.pid), " ", process.programs);
    const depth = words.length || chosen ? 0 : Math.min(process.depth, kDeepest);
    name.style.paddingLeft = `${10 + 18 * depth}px`;
    const last = process.images.at(-1);
    const command = process.images.length > 1
        ? element("details", {}, element("summary", {}, last.command), ...process.images.map((image) =>
            element("div", {class: "code"}, `${image.ts === null ? "" : `${(image.ts / 1e9).toFixed(6)} s `}${image.command || image.path}`)))
        : last?.command ?? "";
    return element("tr", {"aria-level": process.depth + 1}, name,
        element("td", {class: "number"}, process.start === null ? "" : `${(process.start / 1e9).toFixed(6)} s`),
        element("td", {class: "number"}, process.start !== null && process.end !== null ? human(process.end - process.start) : ""),
        element("td", {class: process.failed ? "bad" : null}, process.ended), element("td", {class: "number"}, count(process.threads)),
        element("td", {class: "number"}, chosen ? `${count(chosen.get(process.pid))} of ${count(process.events)}` : count(process.events)),
        element("td", {}, process.notes),
        element("td", {class: "code"}, command));
  }
  whenShownChanges(() => {
    chosen = shown === null ? null : new Map();
    if (chosen) eventsByThread().forEach((events, number) => {
      const {pid} = threads[number];
      chosen.set(pid, (chosen.get(pid) ?? 0) + events);
    });
    draw();
  });
  draw();
  const head = [["process"], ["started", true], ["lived", true], ["ended"], ["threads", true], ["events", true], ["notes"], ["command"]];
  return element("div", {}, processes.length > 8 ? element("div", {class: "bar no-print"}, search) : null,
      element("div", {class: "scroll", tabindex: 0, role: "region", "aria-label": "tree of processes"},
              element("table", {role: "treegrid"}, element("thead", {}, element("tr", {}, ...head.map(([title, number]) =>
                  element("th", {scope: "col", class: number ? "number" : null}, title)))), body)),
      element("div", {class: "bar no-print"}, more));
}
