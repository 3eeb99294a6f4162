// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The recording as the page has it (cli/pages/report_page.cpp writes it), and which part of it is shown: all, or some
// cells. A cell is a kind of event and the application function that it comes from.
import {data} from "../common/page.js";

export const page = data();
export const report = page.report;
export const file = page.file;
export const duration = Math.max(1, page.duration);
export const threads = page.threads;
export const kinds = page.kinds;

// How groups are named, coloured and patterned, in the order of analyzer/picture/call_group.h.
export const groups = [
  {id: "lock", title: "waits for other threads (futex)", colour: "--red", pattern: "/", waits: true},
  {id: "timer", title: "waits for a time", colour: "--pink", pattern: ".", waits: true},
  {id: "process", title: "waits for processes", colour: "--yellow", pattern: "-", waits: true},
  {id: "peer", title: "waits for data or peers", colour: "--sky", pattern: "\\", waits: true},
  {id: "file", title: "files and devices", colour: "--blue"},
  {id: "network", title: "network", colour: "--green"},
  {id: "memory", title: "memory", colour: "--orange"},
  {id: "other", title: "other calls", colour: "--grey"},
];
// The same of what threads did on the CPU and off it: analyzer/time/time_sweep.h.
export const uses = [
  {id: "user", title: "runs its own code", colour: "--yellow"},
  {id: "kernel", title: "runs in the kernel", colour: "--pink"},
  {id: "ready", title: "ready, waits for a CPU", colour: "--red", pattern: "-"},
  {id: "sleeping", title: "sleeps", colour: "--grey", pattern: "."},
  {id: "blocked", title: "blocked", colour: "--grey", pattern: "/"},
  {id: "stopped", title: "stopped", colour: "--grey", pattern: "-"},
];
const groupPlaces = new Map(groups.map((group, place) => [group.id, place]));
for (const kind of kinds) kind.place = groupPlaces.get(kind.group) ?? -1;
const usePlaces = {"offcpu:preempted": 2, "offcpu:sleeping": 3, "offcpu:blocked": 4, "offcpu:stopped": 5};
for (const kind of kinds) kind.use = kind.source === "offcpu" ? usePlaces[kind.name] ?? -1 : -1;

// Whether a cell is of calls that wait, or of time off the CPU.
export function waits({kind}) {
  return (kind.place >= 0 && groups[kind.place].waits) || kind.use > 1;
}

const columns = page.cells;
export const cells = columns.kind.map((kind, number) => ({
  number, kind: kinds[kind],
  call: kinds[kind].name,
  function: columns.names[columns.function[number]],
  module: columns.names[columns.module[number]],
  fallback: columns.fallback[number] === 1,
  events: columns.events[number],
  errors: columns.errors[number],
  open: columns.open[number],
  total: columns.total[number],
  longest: columns.longest[number],
  inCube: columns.inCube[number] === 1,
}));

// The trigger of a cell, or of any line that has one, as text has it: cli/render/trigger_cell.h.
export function functionOf(line) {
  if (!line.function) return "(no application frame)";
  return line.function + (line.fallback && line.function !== "(cut)" ? " *" : "");
}
export function moduleOf(cell) {
  return cell.module.slice(cell.module.lastIndexOf("/") + 1);
}

// What is shown: null, or a set of cell numbers.
export let shown = null;
export let shownTitle = "";
const listeners = [];
export function whenShownChanges(listener) {
  listeners.push(listener);
}
export function show(set, title) {
  shown = set;
  shownTitle = title ?? "";
  // One picture that fails does not keep the others from what is chosen.
  for (const listener of listeners) {
    try {
      listener();
    } catch (error) {
      reportError(error);
    }
  }
}
export function isShown(cell) {
  return shown === null || shown.has(cell);
}

// The counts of the cells that are shown, by thread: [{time, events, total, cell}]; and how many events have none.
export function cubeByThread() {
  const {cell, thread, time, step, events, total} = page.cube;
  const byThread = new Map();
  for (let i = 0; i < cell.length; i++) {
    if (!shown.has(cell[i])) continue;
    let list = byThread.get(thread[i]);
    if (!list) byThread.set(thread[i], list = []);
    list.push({time: time[i], step: step[i], events: events[i], total: total[i], cell: cell[i]});
  }
  return byThread;
}
export function eventsLeftOut() {
  let sum = 0;
  if (shown) for (const number of shown) if (!cells[number].inCube) sum += cells[number].events;
  return sum;
}

// By thread, how many events of the cells that are shown the page knows of.
let counted = {};
export function eventsByThread() {
  if (counted.of === shown) return counted.sums;
  const sums = threads.map(() => 0), {cell, thread, events} = page.cube;
  for (let i = 0; i < cell.length; i++) if (shown.has(cell[i])) sums[thread[i]] += events[i];
  threads.forEach((one, number) => {
    for (const of of one.cell) if (shown.has(of) && !cells[of].inCube) sums[number]++;
  });
  counted = {of: shown, sums};
  return sums;
}

// Where a step of durations begins, in ns: event_cube.h.
export function stepBegin(step) {
  if (step < 2) return step;
  const power = 2 ** (step >> 1);
  return step & 1 ? power * 1.5 : power;
}
