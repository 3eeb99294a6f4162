// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Flame graphs of the stacks, by events and by what time they took.
import {makeFlame} from "../common/flame.js";
import {count, duration as human, element, plural} from "../common/page.js";
import {cells, isShown, page, shown, uses, whenShownChanges} from "./data.js";

const {names, parent, name, leaf, cell, others, sums} = page.stacks;
const [events, calls, onCpu, offCpu] = sums;
const any = (list) => list.some((number) => number > 0);
const recorded = {onCpu: any(onCpu), offCpu: any(offCpu)};

const ways = [
  recorded.onCpu && recorded.offCpu
      ? {id: "all", title: "All time", of: (i) => onCpu[i] + offCpu[i], what: "on the CPU (by samples) and off it: all that threads lived through"} : null,
  {id: "calls", title: "Time in calls", of: (i) => calls[i], what: "inside system calls, working and waiting"},
  recorded.onCpu ? {id: "on", title: "On the CPU", of: (i) => onCpu[i], what: "running, by samples"} : null,
  recorded.offCpu ? {id: "off", title: "Off the CPU", of: (i) => offCpu[i], what: "off the CPU: asleep, blocked, or waiting for a turn"} : null,
  {id: "events", title: "Events", of: (i) => events[i], what: "by number", counts: true},
].filter(Boolean);

// What stands below the innermost function: the call, or what the thread did there.
function endOf({kind, call}) {
  if (kind.source === "sample") return "on the CPU";
  return kind.use >= 0 ? `off the CPU: ${uses[kind.use].title}` : call;
}

// The tree of what is shown, by a weight: {name, value, children}. The innermost frame is the call, or what the thread did.
function tree(way) {
  const values = new Float64Array(parent.length);
  const ends = new Map();  // by node: the calls there
  for (let i = 0; i < leaf.length; i++) {
    const weight = way.of(i);
    if (!weight || !isShown(cell[i])) continue;
    values[leaf[i]] += weight;
    let list = ends.get(leaf[i]);
    if (!list) ends.set(leaf[i], list = new Map());
    const label = others[i] ? `${endOf(cells[cell[i]])} (${plural(others[i], "stack")})` : endOf(cells[cell[i]]);
    const end = list.get(label);
    if (end) end.value += weight;
    else list.set(label, {name: label, value: weight, isCall: true, counts: way.counts});
  }
  // Parents have smaller numbers than their children.
  for (let i = parent.length - 1; i > 0; i--) values[parent[i]] += values[i];
  const made = new Array(parent.length);
  for (let i = 0; i < parent.length; i++) {
    if (!values[i]) continue;
    made[i] = {name: i === 0 ? "everything" : names[name[i]], value: values[i], children: [...(ends.get(i)?.values() ?? [])], counts: way.counts};
    if (i > 0) made[parent[i]].children.push(made[i]);
  }
  return made[0];
}

const hues = ["#f2b36b", "#f6cf8e", "#eda05c", "#f0bd84", "#f5c27a", "#e9ab70"];
function colour(data) {
  if (data.isCall) return "#8cc6ee";
  if (data.name.startsWith("[")) return "#c9ced4";
  if (data.name.endsWith("_[k]")) return "#9bd6c3";
  let sum = 0;
  for (let i = 0; i < data.name.length; i++) sum = (sum * 31 + data.name.charCodeAt(i)) >>> 0;
  return hues[sum % hues.length];
}

export function makeFlames() {
  let way = ways[0];
  const what = element("span", {class: "faint"});
  const flame = makeFlame({
    label: "Flame graph. Arrow keys go from function to function, Enter looks inside, Home shows the whole picture.",
    colour, describe: (data) => [data.counts ? ["events", count(data.value)] : ["time", human(data.value)]],
    empty: () => (shown === null ? "Nothing of this was recorded." : "None of what is chosen is counted here: Events, above, has all of it."),
  });
  const buttons = ways.map((one) => element("button", {type: "button", "data-way": one.id, onclick: () => choose(one)}, one.title));
  function choose(one) {
    way = one;
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.way === way.id));
    what.textContent = way.what;
    flame.show(tree(way));
  }
  const key = element("div", {class: "legend"}, ...[["#f2b36b", "functions of the program"], ["#9bd6c3", "functions of the kernel, _[k]"],
      ["#8cc6ee", "the call, or what the thread did"], ["#c9ced4", "[not known, or put together]"]].map(([tone, text]) => {
    const box = element("i");
    box.style.background = tone;
    return element("span", {}, box, text);
  }));
  whenShownChanges(() => choose(way));
  queueMicrotask(() => choose(way));
  return element("div", {}, element("div", {class: "bar"}, ...buttons, what), key, flame.place);
}
