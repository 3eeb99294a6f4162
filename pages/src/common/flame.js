// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A flame graph by d3-flame-graph, roots on top: with search, keys, and the page's own box of facts.
import flamegraph from "d3-flame-graph";
import {select} from "d3-selection";
import {element, percent} from "./page.js";
import {hideTip, showTip} from "./tip.js";
import "./flame.css";

const kRow = 20;  // pixels

// options: label, of the whole; describe(data): lines of the box; colour(data): of the frame, as CSS has it;
// empty(): what to say when there is nothing. A node is {name, value, children}.
export function makeFlame(options) {
  const place = element("div", {class: "flame", tabindex: 0, role: "application", "aria-label": options.label});
  const search = element("input", {type: "search", placeholder: "Search functions", "aria-label": "Search functions"});
  const reset = element("button", {type: "button"}, "Reset zoom");
  const said = element("span", {class: "faint", role: "status"});
  const frame = element("div", {}, element("div", {class: "bar no-print"}, search, reset, said), place);
  let chart = null, root = null, at = null;

  const nodes = () => select(place).select("svg").selectAll("g.frame");
  const whole = () => select(place).datum();

  function tip(node, x, y) {
    const total = whole().value || 1;
    showTip(x, y, node.data.name, [...options.describe(node.data), ["of all shown", percent(node.value, total)]]);
  }
  // Marks the frame that keys have reached, and shows what it is.
  function go(node) {
    if (!node) return;
    at = node;
    nodes().classed("at", (other) => other === node);
    const found = nodes().filter((other) => other === node).node();
    if (!found) return;
    const {left, bottom} = found.getBoundingClientRect();
    tip(node, Math.max(left, 0), bottom);
  }
  function zoom(node) {
    chart.zoomTo(node);
    at = node;
  }

  function draw() {
    place.replaceChildren();
    said.textContent = "";
    at = null;
    hideTip();
    if (!root || !root.value) {
      place.append(element("p", {class: "faint"}, options.empty()));
      return;
    }
    chart = flamegraph().width(Math.max(300, place.clientWidth - 2)).cellHeight(kRow).minFrameSize(1.5).inverted(true).transitionDuration(0)
        .tooltip(false).sort((a, b) => b.value - a.value).resetHeightOnZoom(true).selfValue(false)
        .setColorMapper((node) => node.highlight ? "var(--found)" : options.colour(node.data))
        .setSearchMatch((node, term) => node.data.name.toLowerCase().includes(term.toLowerCase()))
        .setSearchHandler((results, sum, total) => {
          said.textContent = results.length === 0 ? "No function of that name"
                                                  : `${percent(sum, total)} is in functions of that name`;
        })
        .setLabelHandler((node) => `${node.data.name}, ${percent(node.value, root.value)}`);
    select(place).datum(structuredClone(root)).call(chart);
    select(place).select("svg > text.title").remove();
  }

  place.addEventListener("mousemove", (event) => {
    const found = event.target.closest?.("g.frame");
    if (found) tip(select(found).datum(), event.clientX, event.clientY);
    else hideTip();
  });
  place.addEventListener("mouseleave", hideTip);
  place.addEventListener("blur", hideTip);
  place.addEventListener("click", (event) => {
    const found = event.target.closest?.("g.frame");
    if (found) at = select(found).datum();
  });
  place.addEventListener("keydown", (event) => {
    if (!root || !root.value) return;
    const now = at ?? whole();
    const beside = (step) => {
      const all = nodes().data().filter((node) => node.depth === now.depth).sort((a, b) => a.x0 - b.x0);
      return all[all.indexOf(now) + step];
    };
    const shown = (list) => (list ?? []).filter((node) => nodes().data().includes(node));
    const keys = {ArrowUp: () => now.parent, ArrowLeft: () => beside(-1), ArrowRight: () => beside(1),
                  ArrowDown: () => shown(now.children).sort((a, b) => b.value - a.value)[0]};
    if (keys[event.key]) {
      event.preventDefault();
      go(at ? keys[event.key]() : now);
    } else if (event.key === "Enter") {
      zoom(now);
      go(now);
    } else if (event.key === "Home") {
      event.preventDefault();
      chart.resetZoom();
      go(whole());
    }
  });
  search.addEventListener("input", () => {
    if (!chart || !root?.value) return;
    if (search.value) chart.search(search.value);
    else {
      chart.clear();
      said.textContent = "";
    }
  });
  reset.addEventListener("click", () => {
    if (chart && root?.value) chart.resetZoom();
  });
  // On paper the picture is as wide as that.
  window.addEventListener("beforeprint", () => {
    const svg = place.querySelector("svg");
    svg?.setAttribute("viewBox", `0 0 ${svg.width.baseVal.value} ${svg.height.baseVal.value}`);
  });
  window.addEventListener("afterprint", () => place.querySelector("svg")?.removeAttribute("viewBox"));
  let width = 0;
  new ResizeObserver(() => {
    if (place.clientWidth === width) return;
    width = place.clientWidth;
    draw();
  }).observe(place);

  return {
    place: frame,
    show: (tree) => {
      root = tree;
      draw();
      if (search.value && root?.value) chart.search(search.value);
    },
  };
}
