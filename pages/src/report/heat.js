// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The latency heat map: how long calls took, over the time of the recording, of one call or of all.
import {axisStyle, makeChart} from "../common/echarts.js";
import {clock, count, duration as human, element, isDark, plural, roundDuration, style} from "../common/page.js";
import {hideTip, showTip} from "../common/tip.js";
import {cells, duration, eventsLeftOut, groups, kinds, page, shown, stepBegin, whenShownChanges} from "./data.js";

// Dark to bright, even for eyes and printers: cividis.
const ramps = {light: ["#dfe6ee", "#9fb2c8", "#6c7f9c", "#3c4f75", "#00224e"], dark: ["#26344d", "#44567a", "#7c7b78", "#bcae6a", "#fee838"]};

// The axis of durations is logarithmic and has no zero: the first step, of calls that took no time, begins here, in ns.
const kLeast = 0.5;
function lowOf(step) {
  return Math.max(kLeast, stepBegin(step));
}
function stepOf(ns) {
  let step = 0;
  while (lowOf(step + 1) <= ns) step++;
  return step;
}

export function makeHeat() {
  const place = element("div", {class: "chart", id: "heat-chart", tabindex: 0, role: "application",
                                "aria-label": "Latency heat map. Arrow keys go from field to field."});
  place.style.height = "376px";
  const said = element("span", {class: "faint", role: "status"});
  const select = element("select", {"aria-label": "Call", onchange: () => refresh()});
  let fields = new Map(), steps = [], chart = null, most = 1, at = null;

  // By call: all events, whatever is shown.
  const totals = new Map();
  page.heat.kind.forEach((kind, i) => totals.set(kind, (totals.get(kind) ?? 0) + page.heat.events[i]));
  const all = element("option", {value: "all"}, "all calls that do not wait");
  select.append(all, ...[...totals].sort((a, b) => b[1] - a[1])
      .map(([kind, sum]) => element("option", {value: kind}, `${kinds[kind].name} (${count(sum)})`)));

  function counts(use) {
    const chosen = select.value === "all" ? null : Number(select.value);
    const wanted = (kind) => (chosen === null ? kinds[kind].source === "syscall" && !groups[kinds[kind].place]?.waits : kind === chosen);
    if (shown === null) {
      const {kind, time, step, events} = page.heat;
      for (let i = 0; i < kind.length; i++) if (wanted(kind[i])) use(time[i], step[i], events[i]);
      return;
    }
    const {cell, time, step, events} = page.cube;
    const kindOf = page.cells.kind;
    for (let i = 0; i < cell.length; i++)
      if (shown.has(cell[i]) && step[i] >= 0 && (chosen === null || wanted(kindOf[cell[i]]))) use(time[i], step[i], events[i]);
  }
  function option() {
    const axis = axisStyle(), columns = page.timeSteps, width = duration / columns, ramp = ramps[isDark() ? "dark" : "light"];
    const data = [...fields].map(([key, events]) => {
      const step = Math.floor(key / columns);
      return [(key % columns) * width, lowOf(step), Math.log10(events), lowOf(step + 1)];
    });
    // Whole decades.
    const low = 10 ** Math.floor(Math.log10(steps.length ? lowOf(steps[0]) : 1)), high = 10 ** Math.ceil(Math.log10(steps.length ? lowOf(steps.at(-1) + 1) : 10));
    const field = (params, api) => {
      const [x0, y0] = api.coord([api.value(0), api.value(1)]), [x1, y1] = api.coord([api.value(0) + width, api.value(3)]);
      return {type: "rect", shape: {x: x0, y: y1, width: Math.max(1, x1 - x0), height: Math.max(1, y0 - y1)}, style: {fill: api.visual("color")}};
    };
    return {
      animation: false, backgroundColor: style("--ground"), grid: {left: 90, right: 20, top: 30, bottom: 84},
      xAxis: {type: "value", min: 0, max: duration, ...axis, splitLine: {show: false},
              axisLabel: {...axis.axisLabel, showMaxLabel: false, hideOverlap: true, formatter: (ns) => clock(ns, 0, duration)}},
      yAxis: {type: "log", logBase: 10, min: low, max: high, ...axis, splitLine: {show: false}, name: "took", nameLocation: "end", nameGap: 10,
              axisLabel: {...axis.axisLabel, formatter: roundDuration, hideOverlap: true}},
      visualMap: {type: "continuous", min: 0, max: Math.max(0.1, Math.log10(most)), orient: "horizontal", left: "center", bottom: 6, itemHeight: 260, itemWidth: 14,
                  text: [`${count(most)} calls`, "1"], textStyle: {color: style("--text")}, inRange: {color: ramp}, calculable: false,
                  hoverLink: false, dimension: 2, seriesIndex: 0},
      series: [{type: "custom", renderItem: field, data, encode: {x: 0, y: [1, 3]}, progressive: 0, silent: true, clip: true}],
    };
  }
  function refresh() {
    fields = new Map();
    most = 0;
    let low = Infinity, high = -1, sum = 0;
    counts((time, step, events) => {
      const key = step * page.timeSteps + time, now = (fields.get(key) ?? 0) + events;
      fields.set(key, now);
      most = Math.max(most, now);
      low = Math.min(low, step);
      high = Math.max(high, step);
      sum += events;
    });
    steps = high < 0 ? [] : Array.from({length: high - low + 1}, (unused, i) => low + i);
    at = null;
    const out = shown === null ? (select.value === "all" ? page.heat.leftOut : 0) : eventsLeftOut();
    said.textContent = plural(sum, "call") + (out ? `; ${plural(out, "event")} more are not in this picture: it has room for the most frequent calls only, and was filled as the recording was read` : "");
    select.disabled = shown !== null;
    chart?.draw();
  }
  function tip(time, step, x, y) {
    const events = fields.get(step * page.timeSteps + time);
    const width = duration / page.timeSteps;
    showTip(x, y, events ? plural(events, "call") : "no call", [["took", `${human(stepBegin(step))} to ${human(stepBegin(step + 1))}`],
        ["entered", `${(time * width / 1e9).toFixed(6)} s to ${((time + 1) * width / 1e9).toFixed(6)} s`]]);
  }
  queueMicrotask(() => {
    refresh();
    chart = makeChart(place, option);
    const pen = chart.chart.getZr();
    pen.on("mousemove", (event) => {
      if (!steps.length || !chart.chart.containPixel({gridIndex: 0}, [event.offsetX, event.offsetY])) return hideTip();
      const [ns, took] = chart.chart.convertFromPixel({gridIndex: 0}, [event.offsetX, event.offsetY]);
      const time = Math.min(page.timeSteps - 1, Math.floor(ns * page.timeSteps / duration));
      tip(time, stepOf(took), event.event.clientX, event.event.clientY);
    });
    pen.on("globalout", hideTip);
  });
  place.addEventListener("keydown", (event) => {
    const ways = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1]};
    if (!ways[event.key] || !fields.size) return;
    event.preventDefault();
    const [dx, dy] = ways[event.key];
    const columns = page.timeSteps;
    const all = [...fields.keys()].map((key) => [key % columns, Math.floor(key / columns)]);
    if (!at) at = all.sort((a, b) => a[0] - b[0])[0];
    else {
      // The nearest field with calls in that direction.
      const ahead = all.filter(([x, y]) => (x - at[0]) * dx > 0 || (y - at[1]) * dy > 0)
          .sort((a, b) => Math.hypot(a[0] - at[0], a[1] - at[1]) - Math.hypot(b[0] - at[0], b[1] - at[1]));
      at = ahead[0] ?? at;
    }
    const [x, y] = chart.chart.convertToPixel({gridIndex: 0}, [(at[0] + 0.5) * duration / columns, lowOf(at[1])]);
    const box = place.getBoundingClientRect();
    tip(at[0], at[1], box.left + x, box.top + y);
  });
  place.addEventListener("blur", hideTip);
  whenShownChanges(refresh);
  return element("div", {}, element("div", {class: "bar"}, element("label", {}, "Call: ", select), said), place);
}
