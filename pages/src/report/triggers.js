// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The triggers: a call and the function that makes it. What is searched or chosen here limits all other parts.
import {duration as human, element} from "../common/page.js";
import {makeTable} from "../common/table.js";
import {cells, functionOf, moduleOf, show, shown, waits, whenShownChanges} from "./data.js";

export function makeTriggers() {
  let own = false, chosen = null, found = null, searched = "", timer = 0;
  function tell() {
    own = true;
    if (chosen) show(new Set([chosen.number]), `${chosen.call} from ${functionOf(chosen)}`);
    else if (found) show(new Set(found.map((cell) => cell.number)), `what matches “${searched}”`);
    else show(null);
    own = false;
  }
  const time = (ns) => (ns ? human(ns) : "");
  const table = makeTable([
    {id: "events", title: "events", number: true, of: (cell) => cell.events},
    {id: "errors", title: "failed", number: true, of: (cell) => cell.errors},
    {id: "open", title: "never returned", number: true, of: (cell) => cell.open},
    {id: "total", title: "total time", number: true, of: (cell) => cell.total, show: time},
    {id: "longest", title: "longest", number: true, of: (cell) => cell.longest, show: time},
    {id: "call", title: "call", of: (cell) => cell.call},
    {id: "function", title: "from function", of: functionOf},
    {id: "module", title: "in", of: moduleOf},
  ].filter((column) => !column.number || cells.some((cell) => column.of(cell) > 0)), cells, {
    sort: {id: "events", desc: true}, noun: "line", label: "calls and the functions that make them",
    picked: (cell) => {
      chosen = cell;
      tell();
    },
    found: (rows, text) => {
      found = rows;
      searched = text.trim();
      clearTimeout(timer);
      timer = setTimeout(tell, 200);
    },
  });
  // An event loop waits most of its life: without its waits, the pictures show its work.
  const working = cells.filter((cell) => !waits(cell));
  const button = element("button", {type: "button", "aria-pressed": "false", onclick: () => {
    if (button.getAttribute("aria-pressed") === "true") {
      show(null);
      return;
    }
    chosen = found = null;
    table.clear();
    own = true;
    show(new Set(working.map((cell) => cell.number)), "what does not wait");
    own = false;
    button.setAttribute("aria-pressed", "true");
  }}, "Leave out what waits");
  whenShownChanges(() => {
    button.setAttribute("aria-pressed", "false");
    if (own || shown !== null) return;
    chosen = found = null;
    table.clear();
  });
  if (working.length === cells.length || working.length === 0) return table.place;
  return element("div", {}, element("div", {class: "bar no-print"}, button), table.place);
}
