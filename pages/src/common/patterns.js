// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Fills that differ by more than their hue: a colour, with lines or dots in it.
import {element, isDark, style} from "./page.js";

const made = new Map();

// `pattern`: "/", "\\", "-", "." or none. Returns what a canvas of ECharts takes as a fill.
export function fill({colour, pattern}) {
  const ground = style(colour);
  if (!pattern) return ground;
  const key = ground + pattern;
  if (!made.has(key)) made.set(key, {image: tile(ground, pattern), repeat: "repeat"});
  return made.get(key);
}

function tile(ground, pattern) {
  const size = 8;
  const canvas = element("canvas", {width: size, height: size});
  const pen = canvas.getContext("2d");
  pen.fillStyle = ground;
  pen.fillRect(0, 0, size, size);
  pen.strokeStyle = pen.fillStyle = "rgba(0,0,0,.55)";
  pen.lineWidth = 1.3;
  pen.beginPath();
  if (pattern === "/") for (const x of [-size, 0, size]) line(pen, x, size, x + size, 0);
  if (pattern === "\\") for (const x of [-size, 0, size]) line(pen, x, 0, x + size, size);
  if (pattern === "-") line(pen, 0, size / 2, size, size / 2);
  pen.stroke();
  if (pattern === ".") pen.fillRect(2, 2, 2, 2), pen.fillRect(6, 6, 2, 2);
  return canvas;
}

function line(pen, x0, y0, x1, y1) {
  pen.moveTo(x0, y0);
  pen.lineTo(x1, y1);
}

// A line that names what fills mean.
export function legend(entries, title) {
  const place = element("div", {class: "legend"}, title ? element("strong", {}, title) : null);
  for (const entry of entries) {
    const box = element("canvas", {width: 26, height: 14});
    place.append(element("span", {}, box, entry.title));
    const paint = () => {
      const pen = box.getContext("2d"), look = fill(entry);
      pen.fillStyle = typeof look === "string" ? look : pen.createPattern(look.image, "repeat");
      pen.fillRect(0, 0, 26, 14);
    };
    paint();
    isDark(paint);
  }
  return place;
}
