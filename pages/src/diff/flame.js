// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The differential flame graph: all stacks of both sides. The width of a frame is what went through it on both sides, by
// run; its colour and the words behind its name say which side had more.
import {makeFlame} from "../common/flame.js";
import {count, duration, element, percent} from "../common/page.js";
import {perRun} from "./model.js";

// By the abnormal side's share of a frame, from 0 to 1.
const kShares = [
  {to: 0, name: "gone", title: "only in normal runs"},
  {to: 0.4, name: "less", title: "less in abnormal runs"},
  {to: 0.6, name: "alike", title: "similar (within 1.5×)"},
  {to: 0.9999999, name: "more", title: "more in abnormal runs"},
  {to: 1, name: "new", title: "only in abnormal runs"},
];

function shareOf([normal, abnormal]) {
  const share = normal + abnormal > 0 ? abnormal / (normal + abnormal) : 0.5;
  return kShares.find(({to}) => share <= to);
}

function factor([normal, abnormal]) {
  const times = abnormal >= normal ? abnormal / normal : normal / abnormal;
  return `${abnormal >= normal ? "×" : "÷"} ${times >= 100 ? count(Math.round(times)) : times.toPrecision(times < 10 ? 2 : 3)}`;
}

const kMeasures = {
  events: {title: "By events", of: ([, , normal, abnormal]) => [normal, abnormal], text: perRun, unit: " events"},
  time: {title: "By time inside calls", of: ([, , , , normal, abnormal]) => [normal, abnormal], text: duration, unit: ""},
};

// The tree, with what went through each node by run.
function treeOf(data, measure) {
  const {names, nodes} = data.stacks, runs = [data.normal.length, data.abnormal.length];
  const made = nodes.map((node) => {
    const sides = measure.of(node).map((sum, side) => sum / runs[side]), [name, module] = names[node[1]];
    const change = {new: "only abnormal", gone: "only normal", alike: ""}[shareOf(sides).name] ?? factor(sides);
    return {name: change ? `${name}  [${change}]` : name, module, sides, value: sides[0] + sides[1], children: []};
  });
  nodes.forEach(([parent], i) => {
    if (i > 0) made[parent].children.push(made[i]);
  });
  made[0].name = "all programs";
  return made[0];
}

// Returns {place, find(name)}.
export function makeDiffFlame(data) {
  const trees = Object.fromEntries(Object.entries(kMeasures).map(([id, measure]) => [id, treeOf(data, measure)]));
  const unit = data.normal.length > 1 || data.abnormal.length > 1 ? " a run" : "";
  let measure = "events";
  const flame = makeFlame({
    label: "Stacks of both sides: the arrow keys go from frame to frame, Enter widens one, Home shows all",
    colour: ({sides}) => `var(--flame-${shareOf(sides).name})`,
    describe: ({module, sides}) => {
      const {text, unit: what} = kMeasures[measure], whole = trees[measure].sides;
      const side = (i) => `${text(sides[i])}${what}${unit}, ${percent(sides[i], whole[i]) || "0 %"}`;
      return [...(module ? [["in", module]] : []), ["normal", side(0)], ["abnormal", side(1)], shareOf(sides).title];
    },
  });
  const buttons = Object.entries(kMeasures).map(([id, {title}]) => element(
      "button", {type: "button", "data-measure": id, "aria-pressed": String(id === measure), disabled: trees[id].value === 0, onclick: () => {
        measure = id;
        for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.measure === id));
        flame.show(trees[id]);
      }}, title));
  const legend = element("div", {class: "legend"}, ...kShares.map(({name, title}) => element("span", {}, element("i", {class: `flame-${name}`}), title)));
  const left = data.stacks.left_out;
  const place = element("div", {}, element("div", {class: "bar no-print"}, ...buttons), legend, flame.place,
                        left ? element("p", {class: "faint"}, `${count(left)} narrower frames are not in this page: what they count is ` +
                                                              "in the frames above them.") : null);
  flame.show(trees.events);
  return {
    place,
    find(name) {
      const search = flame.place.querySelector("input[type=search]");
      search.value = name;
      search.dispatchEvent(new Event("input"));
      place.scrollIntoView({block: "nearest"});
    },
  };
}
