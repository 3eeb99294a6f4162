// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The differential flame graph: all stacks of both sides. The width of a frame is what went through it on both sides, by
// run; its colour, its pattern of edges and the words behind its name say which side had more.
import flamegraph from "d3-flame-graph";
import {select} from "d3-selection";
import {count, duration, element, percent} from "../common/page.js";
import {hideTip, showTip} from "../common/tip.js";

// From how much of a frame belongs to the abnormal side, 0 to 1.
const kShares = [
  {to: 0, name: "gone", title: "only in normal runs"},
  {to: 0.4, name: "less", title: "less in abnormal runs"},
  {to: 0.6, name: "alike", title: "alike (to half as much again)"},
  {to: 0.9999999, name: "more", title: "more in abnormal runs"},
  {to: 1, name: "new", title: "only in abnormal runs"},
];

function shareOf(node, measure) {
  const [normal, abnormal] = node[measure];
  const share = normal + abnormal > 0 ? abnormal / (normal + abnormal) : 0.5;
  return kShares.find(({to}) => share <= to);
}

function factor(normal, abnormal) {
  const times = abnormal >= normal ? abnormal / normal : normal / abnormal;
  return `${abnormal >= normal ? "×" : "÷"} ${times >= 100 ? count(Math.round(times)) : times.toPrecision(times < 10 ? 2 : 3)}`;
}

// The tree of the data, with what went through each node by run.
function treeOf({names, nodes}, runs) {
  const made = nodes.map(([parent, name, ne, ae, nt, at]) => ({
    name: names[name][0], module: names[name][1], parent, children: [],
    events: [ne / runs.normal, ae / runs.abnormal], ns: [nt / runs.normal, at / runs.abnormal],
  }));
  made.forEach((node, i) => {
    if (i > 0) made[node.parent].children.push(node);
  });
  for (const node of made) node.parent = made[node.parent];
  made[0].name = "all programs";
  return made[0];
}

export function makeFlame(data) {
  const root = treeOf(data.stacks, {normal: data.normal.length, abnormal: data.abnormal.length});
  let measure = "events", focus = null, chart = null;
  const drawing = element("div", {class: "chart flame", tabindex: 0, role: "application",
                                  "aria-label": "Flame graph: the arrow keys go from frame to frame, Enter widens one, Escape shows all"});
  const said = element("span", {class: "faint", role: "status"});
  const search = element("input", {type: "search", placeholder: "Search functions", "aria-label": "Search the flame graph",
                                   oninput: () => mark(search.value)});
  const measures = [["events", "By events"], ["ns", "By time inside calls"]].map(([id, title]) => element(
      "button", {type: "button", "aria-pressed": String(id === measure), disabled: id === "ns" && root.ns[0] + root.ns[1] === 0,
                 onclick: () => {
                   measure = id;
                   measures.forEach((button, i) => button.setAttribute("aria-pressed", String((i === 0) === (id === "events"))));
                   rebuild();
                 }}, title));
  const all = element("button", {type: "button", onclick: () => chart.resetZoom()}, "Show all");
  const legend = element("div", {class: "legend"}, ...kShares.map(({name, title}) => element(
      "span", {}, element("i", {class: `flame-${name}`}), title)));

  function value(node) {
    return node[measure][0] + node[measure][1];
  }
  function amount(number) {
    return measure === "ns" ? duration(number) : number >= 100 || Number.isInteger(number) ? count(Math.round(number)) : number.toFixed(1);
  }
  function label({data: node}) {
    const [normal, abnormal] = node[measure], {name} = shareOf(node, measure);
    const change = name === "new" ? "only abnormal" : name === "gone" ? "only normal" : name === "alike" ? "" : factor(normal, abnormal);
    return change ? `${node.name}  [${change}]` : node.name;
  }
  function tell(node, x, y) {
    const {data: frame} = node, whole = root[measure];
    const many = data.normal.length > 1 || data.abnormal.length > 1;
    const unit = (measure === "events" ? " events" : "") + (many ? " a run" : "");
    showTip(x, y, frame.name, [
      ...(frame.module ? [["in", frame.module]] : []),
      ["normal", `${amount(frame[measure][0])}${unit}, ${percent(frame[measure][0], whole[0]) || "0 %"}`],
      ["abnormal", `${amount(frame[measure][1])}${unit}, ${percent(frame[measure][1], whole[1]) || "0 %"}`],
      frame[measure][0] > 0 && frame[measure][1] > 0 ? `${factor(...frame[measure])}, ${shareOf(frame, measure).title}` : shareOf(frame, measure).title,
    ]);
  }
  function groupOf(node) {
    return [...drawing.querySelectorAll("g.frame")].find((group) => group.__data__ === node);
  }
  function go(node) {
    drawing.querySelector("g.at")?.classList.remove("at");
    focus = node;
    const group = groupOf(node);
    if (!group) return;
    group.classList.add("at");
    const box = group.getBoundingClientRect();
    tell(node, Math.max(box.left, 0) + Math.min(box.width, 200) / 2, box.bottom);
  }
  // The frames that are wide enough to be seen.
  const seen = (list) => (list ?? []).filter((node) => node.x1 > node.x0 && groupOf(node));
  drawing.addEventListener("keydown", (event) => {
    const now = focus && groupOf(focus) ? focus : null;
    const beside = () => seen(now.parent?.children).sort((a, b) => a.x0 - b.x0);
    const ways = {
      ArrowDown: () => (now ? seen(now.children).sort((a, b) => b.value - a.value)[0] : select(drawing).datum()),
      ArrowUp: () => (now ? now.parent : select(drawing).datum()),
      ArrowLeft: () => now && beside()[beside().indexOf(now) - 1],
      ArrowRight: () => now && beside()[beside().indexOf(now) + 1],
    };
    if (ways[event.key]) {
      event.preventDefault();
      const to = ways[event.key]();
      if (to) go(to);
    } else if (event.key === "Enter" && now) {
      chart.zoomTo(now);
    } else if (event.key === "Escape") {
      chart.resetZoom();
    }
  });
  drawing.addEventListener("blur", () => {
    drawing.querySelector("g.at")?.classList.remove("at");
    hideTip();
  });

  function mark(words) {
    const wanted = words.trim().toLowerCase();
    if (!wanted) {
      chart.clear();
      said.textContent = "";
      return;
    }
    chart.search(wanted);
  }
  function rebuild() {
    drawing.replaceChildren();
    focus = null;
    chart = flamegraph().width(drawing.clientWidth - 2).cellHeight(19).inverted(true).minFrameSize(1.5).transitionDuration(0)
        .sort((a, b) => value(b.data) - value(a.data)).getName(label).getValue(value)
        .setSearchMatch((node, term) => node.data.name.toLowerCase().includes(term))
        .setSearchHandler((found, sum, total) => {
          said.textContent = found.length ? `${count(found.length)} frames, ${percent(sum, total)} of all` : "nothing is called so";
        })
        .tooltip(Object.assign(() => {}, {
          show: (event, node) => tell(node, event.clientX, event.clientY), hide: hideTip, destroy: hideTip,
        }));
    select(drawing).datum(root).call(chart);
    paint();
    mark(search.value);
  }
  // Classes, which the styles give colours in dark and in light.
  function paint() {
    for (const group of drawing.querySelectorAll("g.frame")) {
      const kind = `flame-${shareOf(group.__data__.data, measure).name}`;
      if (!group.classList.contains(kind)) group.classList.add(kind);
      group.classList.toggle("found", Boolean(group.__data__.highlight));
    }
  }
  new MutationObserver(paint).observe(drawing, {subtree: true, childList: true, attributes: true, attributeFilter: ["class", "width"]});

  const left = data.stacks.left_out;
  const place = element("div", {},
                        element("div", {class: "bar no-print"}, ...measures, all, search, said), legend, drawing,
                        left ? element("p", {class: "faint"}, `${count(left)} narrower frames are not in this page: what they count is ` +
                                                              "in the frames above them.") : null);
  return {
    place,
    start() {
      rebuild();
      let width = drawing.clientWidth;
      new ResizeObserver(() => {
        if (drawing.clientWidth === width) return;
        width = drawing.clientWidth;
        rebuild();
      }).observe(drawing);
    },
    find(text) {
      search.value = text;
      mark(text);
      place.scrollIntoView({block: "nearest"});
    },
  };
}
