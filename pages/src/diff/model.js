// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The data of a comparison as objects: cells, each with its class and its findings.

import {count} from "../common/page.js";

export const kClasses = {
  abnormal: {title: "only in abnormal runs", mark: "▲", color: "--red"},
  normal: {title: "only in normal runs", mark: "▼", color: "--blue"},
  changed: {title: "in both, and changed", mark: "◆", color: "--pink"},
  alike: {title: "in both, no notable change", mark: "●", color: "--grey"},
};

function sideOf([events, open, timed, ns, runs, errors], allRuns) {
  return {events, open, timed, ns, runs, errors, perRun: events / allRuns};
}

// "in open_page (server)" is what a finding's sentence has; this is for headings and labels.
function functionName([short, module, whole]) {
  if (!whole) return "from no application function";
  const name = short === "[no name]" ? "functions without a name" : short;
  return module ? `${name} (${module})` : name;
}

// A mean of several runs.
export function perRun(number) {
  return number >= 100 || Number.isInteger(number) ? count(Math.round(number)) : number.toFixed(1);
}

// "->" of the text, which lines could break, as one letter.
export function withArrows(text) {
  return text.replaceAll(" -> ", " → ");
}

export function modelOf(data) {
  const functions = data.functions.map((one) => ({name: functionName(one), whole: one[2], module: one[1], short: one[0]}));
  const cells = data.cells.map(([kind, where, normal, abnormal], index) => ({
    index, kind: data.kinds[kind], kindIndex: kind, where: functions[where], whereIndex: where,
    normal: sideOf(normal, data.normal.length), abnormal: sideOf(abnormal, data.abnormal.length), findings: [],
  }));
  const findings = data.findings.map((finding, index) => ({...finding, text: withArrows(finding.text), index, cell: cells[finding.cell] ?? null}));
  for (const finding of findings) finding.cell?.findings.push(finding);
  for (const cell of cells) {
    cell.what = !cell.normal.events ? "abnormal" : !cell.abnormal.events ? "normal" : cell.findings.length ? "changed" : "alike";
    cell.rank = cell.findings.length ? cell.findings[0].index : Infinity;
    cell.perRun = Math.max(cell.normal.perRun, cell.abnormal.perRun);
  }
  return {data, functions, cells, findings};
}

// The numbers that `key` gives for the cells, those with the best findings first, then those with most events.
export function ordered(cells, key) {
  const places = new Map();
  for (const cell of cells) {
    const place = places.get(cell[key]) ?? {rank: Infinity, events: 0};
    place.rank = Math.min(place.rank, cell.rank);
    place.events = Math.max(place.events, cell.perRun);
    places.set(cell[key], place);
  }
  return [...places].sort(([, a], [, b]) => (a.rank === b.rank ? b.events - a.events : a.rank - b.rank)).map(([id]) => id);
}
