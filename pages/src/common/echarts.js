// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The parts of ECharts that the pages use, drawn on a canvas: names in it are never markup. Its own boxes of facts are
// not used, since they are made of markup (tip.js has ours).
import {graphic, init, use} from "echarts/core";
import {CustomChart} from "echarts/charts";
import {DataZoomComponent, GridComponent, VisualMapComponent} from "echarts/components";
import {CanvasRenderer} from "echarts/renderers";
import {isDark, style} from "./page.js";
import {keepForPaper} from "./paper.js";

use([CustomChart, DataZoomComponent, GridComponent, VisualMapComponent, CanvasRenderer]);

export {graphic};

// A chart in `place` that keeps to its size and to the colour scheme; `option()` gives the whole picture. A chart draws
// its last option again whenever it likes (when its size changes, when it is zoomed): what an option draws with is
// therefore what it was made from, not what has changed since.
export function makeChart(place, option) {
  const chart = init(place, null, {renderer: "canvas"});
  const draw = () => {
    chart.setOption(option(), {notMerge: true});
    if (place.clientWidth !== chart.getWidth() || place.clientHeight !== chart.getHeight()) chart.resize();
  };
  new ResizeObserver(() => {
    if (place.clientWidth > 0) chart.resize();
  }).observe(place);
  isDark(draw);
  keepForPaper(chart, place);
  draw();
  return {chart, draw};
}

// What axes and texts look like.
export function axisStyle() {
  const text = style("--text"), line = style("--line");
  return {axisLabel: {color: text, fontSize: 12}, axisLine: {lineStyle: {color: line}}, axisTick: {lineStyle: {color: line}},
          splitLine: {lineStyle: {color: line}}, nameTextStyle: {color: text, fontSize: 12}};
}
