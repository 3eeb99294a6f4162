// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A chart of ECharts on paper. It is several canvases, one above the other, as wide as the window; on paper each would
// hide those below it. So while the page is printed, one canvas that has all of it takes their place (page.css).
import "./page.js";  // whose listener comes first: what is printed is in light colours

export function keepForPaper(chart, place) {
  let paper = null;
  window.addEventListener("beforeprint", () => {
    paper = chart.renderToCanvas({pixelRatio: 2});
    paper.className = "paper";
    place.append(paper);
  });
  window.addEventListener("afterprint", () => paper?.remove());
}
