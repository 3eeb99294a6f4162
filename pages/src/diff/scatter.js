// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The matrix of a comparison: calls from left to right, functions from top to bottom, a mark for each cell. The pointer,
// or the arrow keys, go from mark to mark; a click, or Enter, chooses one.
import {ScatterChart} from "echarts/charts";
import {DataZoomComponent, GridComponent} from "echarts/components";
import * as echarts from "echarts/core";
import {CanvasRenderer} from "echarts/renderers";
import {element, isDark, style} from "../common/page.js";
import {keepForPaper} from "../common/paper.js";
import {hideTip, showTip} from "../common/tip.js";
import {kClasses, ordered, perRun} from "./model.js";

echarts.use([ScatterChart, GridComponent, DataZoomComponent, CanvasRenderer]);

const kRow = 24, kColumn = 32, kTop = 118, kMostRows = 26;
const measure = document.createElement("canvas").getContext("2d");

// The end of a name, which says more than its beginning, as far as it fits.
function fitted(text, width) {
  measure.font = "12px sans-serif";
  if (measure.measureText(text).width <= width) return text;
  const letters = [...text];
  let first = 1;
  while (first < letters.length && measure.measureText(`…${letters.slice(first).join("")}`).width > width) first++;
  return `…${letters.slice(first).join("")}`;
}

const kSymbols = {abnormal: ["triangle", 0], normal: ["triangle", 180], changed: ["diamond", 0], alike: ["circle", 0]};

function sizeOf(cell) {
  return Math.min(26, 7 + 4 * Math.log10(1 + cell.perRun) + (cell.what === "changed" ? 2 : 0));
}

// choose(cell): called for a click. Returns {place, show(cells), select(cell)}.
export function makeScatter(choose) {
  const place = element("div", {class: "chart scatter", tabindex: 0, role: "application",
                                "aria-label": "Calls by function: the arrow keys go from mark to mark, Enter chooses one"});
  let chart = null, cells = [], columns = [], rows = [], selected = null, at = null;
  const columnOf = new Map(), rowOf = new Map();

  function windows() {
    const labels = Math.min(420, Math.max(180, place.clientWidth * 0.34));
    return {labels, columns: Math.max(6, Math.floor((place.clientWidth - labels - 50) / kColumn)),
            rows: Math.min(kMostRows, Math.max(rows.length, 3))};
  }

  // The part of an axis that is shown: `size` places, `at` among them.
  function part(length, size, start) {
    const first = Math.max(0, Math.min(start, length - size));
    return {startValue: first, endValue: Math.min(length, first + size) - 1};
  }

  const isShown = (cell) => columnOf.has(cell.kindIndex) && rowOf.has(cell.whereIndex);
  const selection = () => (selected && isShown(selected) ? [[columnOf.get(selected.kindIndex), rowOf.get(selected.whereIndex)]] : []);

  function series() {
    const points = {};
    for (const what of ["alike", "normal", "abnormal", "changed"]) points[what] = [];
    for (const cell of cells) {
      const strong = cell.findings.length > 0 || cell.what === "alike";
      const color = style(kClasses[cell.what].color);
      points[cell.what].push({
        value: [columnOf.get(cell.kindIndex), rowOf.get(cell.whereIndex), cell.index], symbolSize: sizeOf(cell),
        itemStyle: {color: strong ? color : "transparent", borderColor: color, borderWidth: strong ? 0 : 1.5},
      });
    }
    const list = Object.entries(points).map(([what, data]) => ({
      id: what, type: "scatter", data, symbol: kSymbols[what][0], symbolRotate: kSymbols[what][1], cursor: "pointer",
      emphasis: {scale: 1.25, itemStyle: {borderColor: style("--text"), borderWidth: 2}}, animation: false, z: what === "alike" ? 2 : 3,
    }));
    list.push({id: "selected", type: "scatter", silent: true, z: 4, animation: false, symbol: "rect", data: selection(), symbolSize: 32,
               itemStyle: {color: "transparent", borderColor: style("--accent"), borderWidth: 2.5}});
    return list;
  }

  function draw() {
    if (!chart) return;
    const view = windows(), text = style("--text"), line = style("--line");
    const wide = columns.length > view.columns, long = rows.length > view.rows;
    place.style.height = `${kTop + view.rows * kRow + (wide ? 34 : 8)}px`;
    chart.resize();
    const slider = {brushSelect: false, borderColor: line, handleSize: 0, showDetail: false, showDataShadow: false, zoomLock: true,
                    fillerColor: style("--accent") + "30", backgroundColor: style("--panel"), moveHandleSize: 0};
    chart.setOption({
      animation: false,
      grid: {left: view.labels + 12, right: long ? 40 : 14, top: kTop, bottom: wide ? 34 : 8, containLabel: false},
      xAxis: {type: "category", position: "top", data: columns.map((id) => names.kinds[id]), axisTick: {show: false},
              axisLine: {lineStyle: {color: line}}, splitLine: {show: true, lineStyle: {color: line, opacity: 0.6}},
              axisLabel: {color: text, interval: 0, rotate: 50, width: 128, overflow: "truncate", fontSize: 12}},
      yAxis: {type: "category", inverse: true, data: rows.map((id) => fitted(names.functions[id], view.labels - 12)), axisTick: {show: false},
              axisLine: {lineStyle: {color: line}}, splitLine: {show: true, lineStyle: {color: line, opacity: 0.6}},
              axisLabel: {color: text, interval: 0, fontSize: 12}},
      dataZoom: [
        {id: "columns", type: wide ? "slider" : "inside", xAxisIndex: 0, bottom: 8, height: 14, ...slider, disabled: !wide,
         zoomOnMouseWheel: false, moveOnMouseMove: false, moveOnMouseWheel: false, ...part(columns.length, view.columns, 0)},
        {id: "rows", type: long ? "slider" : "inside", yAxisIndex: 0, right: 8, width: 14, ...slider, disabled: !long,
         zoomOnMouseWheel: false, moveOnMouseMove: false, moveOnMouseWheel: false, ...part(rows.length, view.rows, 0)},
      ],
      series: series(),
    }, {replaceMerge: ["series", "dataZoom"]});
  }

  const names = {kinds: [], functions: []};

  // Where a cell is in the window of the browser; null if it is not shown.
  function placeOf(cell) {
    const point = chart.convertToPixel({xAxisIndex: 0, yAxisIndex: 0},
                                       [columnOf.get(cell.kindIndex), rowOf.get(cell.whereIndex)]);
    const box = place.getBoundingClientRect();
    return {x: box.left + point[0], y: box.top + point[1]};
  }

  function tell(cell, x, y) {
    const lines = [["normal", `${perRun(cell.normal.perRun)} events a run`],
                   ["abnormal", `${perRun(cell.abnormal.perRun)} events a run`], `${kClasses[cell.what].mark} ${kClasses[cell.what].title}`];
    for (const finding of cell.findings.slice(0, 3)) lines.push(finding.text);
    if (cell.findings.length > 3) lines.push(`and ${cell.findings.length - 3} more`);
    showTip(x, y, `${cell.kind} in ${cell.where.name}`.replace("in from", "from"), lines);
  }

  // Brings a cell into the part of the axes that is shown.
  function reveal(cell) {
    if (!isShown(cell)) return;
    const view = windows(), [x, y] = chart.getOption().dataZoom, batch = [];
    const move = (zoom, length, size, want) => {
      if (want >= zoom.startValue && want <= zoom.endValue) return;
      batch.push({dataZoomId: zoom.id, ...part(length, size, want < zoom.startValue ? want : want - size + 1)});
    };
    move(x, columns.length, view.columns, columnOf.get(cell.kindIndex));
    move(y, rows.length, view.rows, rowOf.get(cell.whereIndex));
    if (batch.length) chart.dispatchAction({type: "dataZoom", batch});
  }

  // The nearest mark in a direction.
  function next(from, dx, dy) {
    const x = columnOf.get(from.kindIndex), y = rowOf.get(from.whereIndex);
    let best = null, least = Infinity;
    for (const cell of cells) {
      const along = dx * (columnOf.get(cell.kindIndex) - x) + dy * (rowOf.get(cell.whereIndex) - y);
      const aside = Math.abs(dy * (columnOf.get(cell.kindIndex) - x) + dx * (rowOf.get(cell.whereIndex) - y));
      if (along <= 0 || (dx !== 0 && aside > 0)) continue;
      const far = along * 1000 + aside;
      if (far < least) [best, least] = [cell, far];
    }
    return best;
  }

  place.addEventListener("keydown", (event) => {
    const ways = {ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1]};
    if (event.key === "Enter" && at) choose(at);
    if (!ways[event.key] || cells.length === 0) return;
    event.preventDefault();
    const from = at ?? (selected && isShown(selected) ? selected : null);
    at = from ? next(from, ...ways[event.key]) ?? from : cells.reduce((a, b) => (b.rank < a.rank ? b : a));
    reveal(at);
    const {x, y} = placeOf(at);
    tell(at, x, y);
  });
  place.addEventListener("blur", () => {
    at = null;
    hideTip();
  });

  function start() {
    chart = echarts.init(place, null, {renderer: "canvas"});
    keepForPaper(chart, place);
    chart.on("mouseover", ({value, event}) => tell(byIndex.get(value[2]), event.event.clientX, event.event.clientY));
    chart.on("mousemove", ({value, event}) => tell(byIndex.get(value[2]), event.event.clientX, event.event.clientY));
    chart.on("mouseout", hideTip);
    chart.on("globalout", hideTip);
    chart.on("click", ({value}) => choose(byIndex.get(value[2])));
    let width = place.clientWidth;
    new ResizeObserver(() => {
      if (place.clientWidth === width) return;
      width = place.clientWidth;
      draw();
    }).observe(place);
    isDark(() => draw());
    draw();
  }

  let byIndex = new Map();
  // Where a test, or a script of the reader's, finds the mark of a cell.
  place.placeOf = (index) => placeOf(byIndex.get(index));
  return {
    place, start,
    show(model, shown) {
      names.kinds = model.data.kinds;
      names.functions = model.functions.map((one) => one.name);
      cells = shown;
      byIndex = new Map(cells.map((cell) => [cell.index, cell]));
      columns = ordered(cells, "kindIndex");
      rows = ordered(cells, "whereIndex");
      columnOf.clear();
      rowOf.clear();
      columns.forEach((id, i) => columnOf.set(id, i));
      rows.forEach((id, i) => rowOf.set(id, i));
      at = null;
      draw();
    },
    select(cell) {
      selected = cell;
      if (!chart) return;
      chart.setOption({series: [{id: "selected", data: selection()}]});
      if (cell) reveal(cell);
    },
  };
}
