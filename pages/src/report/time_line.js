// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The time line: a line for each thread, from the whole run down to single calls. ECharts has the axes and the zoom; what
// stands in a line is one shape for each colour (rows.js).
import {graphic, makeChart, axisStyle} from "../common/echarts.js";
import {clock, count, duration as human, element, plural, shellQuoted, style} from "../common/page.js";
import {fill, legend} from "../common/patterns.js";
import {hideTip, showTip} from "../common/tip.js";
import {cells, cubeByThread, duration, eventsLeftOut, file, functionOf, groups, moduleOf, shown, threads, uses,
        whenShownChanges} from "./data.js";
import {at, kFirstUse, kKinds, lowerBound, paintOf, rectangles} from "./rows.js";

const kRow = 24, kMostRows = 20, kLabels = 210;
const other = {title: "other events", colour: "--text"};
const paints = [...groups, other, ...uses];

graphic.registerShape("rectangles", graphic.extendShape({
  shape: {list: []},
  buildPath(pen, {list}) {
    for (let i = 0; i < list.length; i += 4) pen.rect(list[i], list[i + 1], list[i + 2], list[i + 3]);
  },
}));

function nameOf(thread) {
  const process = thread.process ?? "?";
  const own = thread.name && thread.name !== process ? ` ${thread.name}` : "";
  return thread.pid === thread.tid ? `${process} ${thread.pid}` : `${process}${own} ${thread.tid}`;
}

// Seconds, with as many digits as tell neighbours apart.
function moment(ns, span) {
  const digits = Math.min(9, Math.max(0, Math.ceil(-Math.log10(span / 8e9))));
  return `${(ns / 1e9).toFixed(digits)} s`;
}

export function makeTimeLine() {
  const place = element("div", {class: "chart", tabindex: 0, role: "application", id: "time-line-chart",
                                "aria-label": "Time line. Arrow keys left and right move, plus and minus zoom, Home shows " +
                                    "the whole run, up and down choose a thread, N and P go from call to call."});
  const search = element("input", {type: "search", placeholder: "Search threads", "aria-label": "Search threads"});
  const said = element("span", {class: "faint", role: "status"});
  const picked = element("div", {class: "picked faint", role: "status"}, "Click an item, or press N, to see what it is.");
  const used = new Set();
  for (const thread of threads) {
    for (const part of thread.parts)
      for (let i = 3; i < part.length; i++) if (part[i] > 0) used.add(i - 3 < groups.length ? i - 3 : i - 2);
    for (const cell of thread.cell) used.add(paintOf(cell));
  }
  const hasUses = [...used].some((paint) => paint >= kFirstUse);
  const button = (text, label, act) => element("button", {type: "button", "aria-label": label, title: label, onclick: act}, text);
  const frame = element("div", {},
      element("div", {class: "bar no-print"}, button("+", "Zoom in", () => zoom(0.5)), button("−", "Zoom out", () => zoom(2)),
              button("←", "Move back", () => move(-0.5)), button("→", "Move on", () => move(0.5)),
              button("Reset zoom", "Show the whole run", () => span(0, duration)), threads.length > 8 ? search : null, said),
      legend(paints.filter((paint, i) => used.has(i) && i < kFirstUse), hasUses ? "Upper stripe, calls:" : ""),
      hasUses ? legend(paints.filter((paint, i) => used.has(i) && i >= kFirstUse), "Lower stripe, the CPU:") : null, place, picked);

  let rows = threads.map((thread, number) => number), cube = null, begin = 0, end = duration, row = 0, mark = -1, top = 0;
  let chart = null;

  function renderItem(lines, params, api) {
    const number = lines[params.dataIndex], thread = threads[number];
    const [x0, y] = api.coord([0, params.dataIndex]), [x1] = api.coord([duration, params.dataIndex]);
    const {x: left, width, y: above, height: room} = params.coordSys, right = left + width;
    if (y < above || y > above + room) return null;  // not among the lines in sight
    const perNs = (x1 - x0) / duration, height = Math.min(18, api.size([0, 1])[1] * 0.8), rowTop = y - height / 2;
    const lifeBegin = Math.max(left, x0 + thread.begin * perNs), lifeEnd = Math.min(right, x0 + thread.end * perNs);
    const children = [];
    if (lifeEnd >= lifeBegin)
      children.push({type: "rect", shape: {x: lifeBegin, y: rowTop, width: Math.max(1, lifeEnd - lifeBegin), height},
                     style: {fill: style("--life")}, silent: true});
    const {rects, texts, callHeight} = rectangles(thread, cube?.get(number), {x0, perNs, left, right, top: rowTop, height, hasUses});
    for (let paint = 0; paint < kKinds; paint++)
      if (rects[paint].length)
        children.push({type: "rectangles", shape: {list: rects[paint]}, style: {fill: fill(paints[paint])}, silent: true});
    for (const text of texts.slice(0, 60)) {
      children.push({type: "text", silent: true, x: text.x, y: rowTop + callHeight / 2,
                     style: {text: text.text, fill: "#111", stroke: "rgba(255,255,255,.85)", lineWidth: 3, fontSize: 11,
                             verticalAlign: "middle", overflow: "truncate", width: text.width}});
    }
    if (mark >= 0 && number === rows[row]) {
      const x = x0 + thread.ts[mark] * perNs;
      children.push({type: "rect", silent: true, shape: {x: x - 2, y: rowTop - 2, width: Math.max(4, thread.dur[mark] * perNs + 4), height: height + 4},
                     style: {fill: "none", stroke: style("--text"), lineWidth: 2}});
    }
    return {type: "group", children};
  }

  function option() {
    const axis = axisStyle(), visible = Math.min(rows.length, kMostRows), lines = rows;
    return {
      animation: false, backgroundColor: style("--ground"),
      grid: {left: kLabels + 12, right: rows.length > kMostRows ? 44 : 20, top: 10, bottom: 74},
      xAxis: {type: "value", min: 0, max: duration, ...axis, axisLabel: {...axis.axisLabel, hideOverlap: true, showMaxLabel: false,
              // Where the part in sight begins is not a round number.
              formatter: (ns) => (begin > 0 && ns - begin < (end - begin) / 1e4 ? "" : clock(ns, begin, end))}},
      yAxis: {type: "category", inverse: true, data: lines.map((number) => nameOf(threads[number])), ...axis,
              axisTick: {show: false}, axisLabel: {...axis.axisLabel, interval: 0, width: kLabels, overflow: "truncate"}},
      dataZoom: [
        {id: "x", type: "inside", xAxisIndex: 0, filterMode: "none", startValue: begin, endValue: end, minValueSpan: 500,
         zoomOnMouseWheel: "ctrl", moveOnMouseMove: true, moveOnMouseWheel: false},
        {id: "slider", type: "slider", xAxisIndex: 0, filterMode: "none", startValue: begin, endValue: end, minValueSpan: 500, bottom: 10,
         height: 26, labelFormatter: (ns) => clock(ns, 0, duration), textStyle: {color: style("--text")}, borderColor: style("--line"),
         showDataShadow: false, brushSelect: true},
        ...(rows.length > kMostRows ? [{id: "y", type: "slider", yAxisIndex: 0, filterMode: "none", startValue: top, endValue: top + visible - 1,
          zoomLock: true, width: 18, right: 10, brushSelect: false, showDetail: false, borderColor: style("--line")}] : []),
      ],
      series: [{type: "custom", renderItem: (params, api) => renderItem(lines, params, api), clip: true, data: lines.map((number, i) => [0, i]),
                encode: {x: 0, y: 1}, progressive: 0, silent: true}],
    };
  }

  function setHeight() {
    place.style.height = `${Math.max(1, Math.min(rows.length, kMostRows)) * kRow + 84}px`;
  }
  function draw() {
    setHeight();
    chart?.draw();
  }
  function span(from, until) {
    const size = Math.min(duration, Math.max(500, until - from));
    begin = Math.min(Math.max(0, from), duration - size);
    end = begin + size;
    chart.chart.dispatchAction({type: "dataZoom", batch: ["x", "slider"].map((dataZoomId) => ({dataZoomId, startValue: begin, endValue: end}))});
  }
  function zoom(factor, around = (begin + end) / 2) {
    span(around - (around - begin) * factor, around + (end - around) * factor);
  }
  function move(part) {
    span(begin + (end - begin) * part, end + (end - begin) * part);
  }

  function describe(number, found) {
    const thread = threads[number], who = `${nameOf(thread)}, pid ${thread.pid ?? "?"}, tid ${thread.tid}`;
    if (!found) return {title: nameOf(thread), lines: [["lived", `${human(thread.end - thread.begin)}`], ["events", count(thread.events)], "no call here"]};
    if (found.mark !== undefined) {
      const i = found.mark, cell = cells[thread.cell[i]];
      const lines = [["at", moment(thread.ts[i], 1000)], [thread.open[i] ? "not over after" : "took", human(thread.dur[i])],
                     ["from", functionOf(cell) + (cell.module ? ` in ${moduleOf(cell)}` : "")], ["thread", who]];
      if (thread.error[i]) lines.push(["failed", errorName(thread.error[i])]);
      return {title: cell.call, lines, command: `uscope events --id ${thread.id[i]} ${shellQuoted(file)}`};
    }
    const {part} = found, lines = [["from", moment(part.begin, part.ns)], ["lasts", human(part.ns)]];
    if (part.errors) lines.push(["failed", count(part.errors)]);
    part.sums.map((ns, paint) => [ns, paint]).filter(([ns]) => ns > 0).sort((a, b) => b[0] - a[0]).slice(0, 6)
        .forEach(([ns, paint]) => lines.push([paints[paint].title, human(ns)]));
    lines.push(["thread", who]);
    return {title: `${plural(part.events, "event")}, counted together`, lines,
            command: `uscope events --tid ${thread.tid} --since ${seconds(part.begin)} --until ${seconds(part.begin + part.ns)} ${shellQuoted(file)}`};
  }
  function errorName(number) {
    return errorNames.get(number) ?? `error ${number}`;
  }
  function seconds(ns) {
    return `${(ns / 1e9).toFixed(9)}s`;
  }

  function find(x, y) {
    if (!chart.chart.containPixel({gridIndex: 0}, [x, y])) return null;
    const [ns, place] = chart.chart.convertFromPixel({gridIndex: 0}, [x, y]);
    const index = Math.round(place), number = rows[index];
    if (number === undefined) return null;
    const perNs = 1 / ((chart.chart.getWidth() - kLabels - 32) / (end - begin));
    const [, middle] = chart.chart.convertToPixel({gridIndex: 0}, [0, index]);
    return {index, number, ns, found: at(threads[number], cube?.get(number), ns, 2 * perNs, hasUses && y > middle + 3)};
  }
  function pick(number, found) {
    const {title, lines, command} = describe(number, found);
    picked.classList.remove("faint");
    picked.replaceChildren(element("strong", {}, title), " ",
        element("span", {}, lines.map((line) => (Array.isArray(line) ? `${line[0]} ${line[1]}` : line)).join(" · ")),
        command ? element("code", {class: "command"}, command) : "");
  }
  // Goes to another call of the chosen thread.
  function step(direction) {
    const thread = threads[rows[row]];
    if (!thread?.ts.length) return;
    let next = mark >= 0 ? mark + direction : direction > 0 ? lowerBound(thread.ts, begin) : lowerBound(thread.ts, end) - 1;
    while (next >= 0 && next < thread.ts.length && shown !== null && !shown.has(thread.cell[next])) next += direction;
    if (next < 0 || next >= thread.ts.length) return;
    mark = next;
    const from = thread.ts[mark], until = from + thread.dur[mark];
    if (until < begin || from > end) span(from - (end - begin) / 2, from + (end - begin) / 2);
    choose(row);
    pick(rows[row], {mark});
  }
  function choose(index) {
    if (rows.length === 0) return;
    row = Math.min(Math.max(0, index), rows.length - 1);
    if (row < top || row >= top + kMostRows) top = Math.min(Math.max(0, row - 5), Math.max(0, rows.length - kMostRows));
    chart.draw();
  }

  function rechoose() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    cube = shown === null ? null : cubeByThread();
    rows = threads.map((thread, number) => number).filter((number) => {
      const thread = threads[number];
      if (!words.every((word) => `${nameOf(thread)} ${thread.pid} ${thread.tid}`.toLowerCase().includes(word))) return false;
      return shown === null || cube.has(number) || thread.cell.some((cell) => shown.has(cell));
    });
    row = top = 0;
    mark = -1;
    const out = eventsLeftOut();
    said.textContent = (rows.length === threads.length ? plural(threads.length, "thread") : `${count(rows.length)} of ${plural(threads.length, "thread")}`) +
        (rows.length > kMostRows ? "; scroll at the right for more" : "") +
        (out ? `; ${plural(out, "event")} of this choice may be missing here, since the page does not hold them one by one` : "");
    draw();
  }

  // The chart is made when it stands in the page and has a width.
  queueMicrotask(() => {
    setHeight();
    chart = makeChart(place, option);
    chart.chart.on("datazoom", () => {
      const zooms = chart.chart.getOption().dataZoom;
      begin = zooms[0].startValue;
      end = zooms[0].endValue;
      if (zooms[2]) top = zooms[2].startValue;
      place.dataset.begin = begin;
      place.dataset.end = end;
    });
    // How many lines the picture has, for tests.
    chart.chart.on("finished", () => {
      place.dataset.lines = chart.chart.getOption().yAxis[0].data.length;
    });
    const pen = chart.chart.getZr();
    pen.on("mousemove", (event) => {
      const hit = find(event.offsetX, event.offsetY);
      if (!hit) return hideTip();
      const {title, lines, command} = describe(hit.number, hit.found);
      showTip(event.event.clientX, event.event.clientY, title, command ? [...lines, "Click for the command that shows it."] : lines);
    });
    pen.on("globalout", hideTip);
    pen.on("click", (event) => {
      const hit = find(event.offsetX, event.offsetY);
      if (!hit) return;
      row = hit.index;
      mark = hit.found?.mark ?? -1;
      chart.draw();
      pick(hit.number, hit.found);
    });
    pen.on("dblclick", (event) => {
      const hit = find(event.offsetX, event.offsetY);
      if (hit) zoom(0.25, hit.ns);
    });
    rechoose();
  });
  place.addEventListener("keydown", (event) => {
    const keys = {"+": () => zoom(0.5), "=": () => zoom(0.5), "-": () => zoom(2), ArrowLeft: () => move(-0.25), ArrowRight: () => move(0.25),
                  Home: () => span(0, duration), n: () => step(1), p: () => step(-1),
                  ArrowUp: () => go(row - 1), ArrowDown: () => go(row + 1)};
    const go = (index) => {
      mark = -1;
      choose(index);
      if (rows.length > 0) pick(rows[row], null);
    };
    const act = keys[event.key] ?? keys[event.key.toLowerCase()];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  });
  search.addEventListener("input", rechoose);
  whenShownChanges(rechoose);
  return frame;
}

import {report} from "./data.js";
const errorNames = new Map(report.errors.lines.map((line) => [line.errno, line.name]));
