// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What every page has: its data, elements made from text, and figures as people read them. Names come from traced
// programs: they reach the page by textContent only (element()), never as markup.
import "./page.css";

// The data that the page carries.
export function data() {
  return JSON.parse(document.getElementById("data").textContent);
}

// An element. `attributes` are set as such, those that begin with "on" as listeners; children are elements or text.
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (key === "class") made.className = value;
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...children.filter((child) => child !== null && child !== undefined).map((child) =>
      typeof child === "object" ? child : String(child)));
  return made;
}

const digits = new Intl.NumberFormat("en");

// 1234567: "1,234,567".
export function count(number) {
  return digits.format(number);
}

// "1 call", "1,234 calls".
export function plural(number, noun) {
  return `${count(number)} ${noun}${number === 1 ? "" : /(s|x|sh|ch)$/.test(noun) ? "es" : "s"}`;
}

// Nanoseconds: "870 ns", "12.3 µs", "4.56 ms", "7.89 s", as uscope's text has them.
export function duration(ns) {
  if (ns === null || ns === undefined) return "";
  const units = ["ns", "µs", "ms", "s"];
  let value = ns, unit = 0;
  while (unit < 3 && Math.abs(value) >= 999.5) {
    value /= 1000;
    unit++;
  }
  const size = Math.abs(value);
  if (unit === 0) return `${Math.round(value)} ns`;
  return `${size >= 9999.5 ? count(Math.round(value)) : value.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0)} ${units[unit]}`;
}

// The same of round numbers: "1 µs", "500 ms".
export function roundDuration(ns) {
  const unit = ns >= 1e9 ? [1e9, "s"] : ns >= 1e6 ? [1e6, "ms"] : ns >= 1e3 ? [1e3, "µs"] : [1, "ns"];
  return `${Number((ns / unit[0]).toPrecision(3))} ${unit[1]}`;
}

// A moment on an axis from `begin` to `end`, in ns: "120 ms", "1.5 s", "1.500250 s". One axis has one unit, and as many
// digits as tell neighbours apart.
export function clock(ns, begin, end) {
  const [unit, size] = end < 2e6 ? ["µs", 1e3] : end < 2e9 ? ["ms", 1e6] : ["s", 1e9];
  const digits = Math.min(Math.log10(size), Math.max(0, Math.ceil(-Math.log10((end - begin) / 8 / size))));
  return `${(ns / size).toFixed(ns === 0 ? 0 : digits)} ${unit}`;
}

// "12.3 %"; "< 0.1 %" for what is not nothing.
export function percent(part, whole) {
  if (!whole) return "";
  const share = 100 * part / whole;
  if (share > 0 && share < 0.1) return "< 0.1 %";
  return `${share.toFixed(share >= 99.95 || share === 0 ? 0 : 1)} %`;
}

// Whether the page is in dark colours: the reader's system asks for them, and the page is not being printed. `changed` is
// called when that changes.
export function isDark(changed) {
  if (changed) whenColoursChange.push(changed);
  return dark.matches && !document.documentElement.classList.contains("printed");
}
const dark = window.matchMedia("(prefers-color-scheme: dark)"), whenColoursChange = [];
function coloursChanged() {
  for (const changed of whenColoursChange) changed(isDark());
}
dark.addEventListener("change", coloursChanged);
for (const [event, printed] of [["beforeprint", true], ["afterprint", false]])
  window.addEventListener(event, () => {
    document.documentElement.classList.toggle("printed", printed);
    coloursChanged();
  });

// A custom property of the page's styles, as the colour scheme has it now.
export function style(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

// A word of a command line as a shell takes it.
export function shellQuoted(word) {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
