// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// What a thread's line shows of a span of time, in pixels: calls one by one where they are wide enough, else how much of
// each pixel's time was spent in which group. Works on what is in sight only, so that it costs the same however long
// the recording is.
import {cells, duration, groups, isShown, page, shown, uses} from "./data.js";

const kNarrow = 3;  // pixels of a column
const kOther = groups.length;  // events that do not last: signals, tracepoints
export const kKinds = groups.length + uses.length + 1;
const kFirstUse = groups.length + 1;

// The place of a cell's colour among groups, "other events", and uses.
export function paintOf(cell) {
  const {kind} = cells[cell];
  if (kind.place >= 0) return kind.place;
  return kind.use >= 0 ? kFirstUse + kind.use : kOther;
}
export {kFirstUse, kOther};

// The first place in a rising list whose number is at least `wanted`.
export function lowerBound(list, wanted) {
  let from = 0, to = list.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if (list[middle] < wanted) from = middle + 1;
    else to = middle;
  }
  return from;
}

// The longest of a thread's marks, so that those that begin before the span are found.
function longest(thread) {
  if (thread.longest === undefined) thread.longest = thread.dur.reduce((most, ns) => Math.max(most, ns), 0);
  return thread.longest;
}

// Calls `use(place)` for the marks that touch a span.
export function marksWithin(thread, begin, end, use) {
  const last = lowerBound(thread.ts, end);
  // Long marks are few: those from before the span are looked for among the longest ones only.
  let i = lowerBound(thread.ts, begin - longest(thread));
  for (; i < last; i++)
    if (thread.ts[i] + thread.dur[i] >= begin && isShown(thread.cell[i])) use(i);
}

// The parts of a thread's life that are shown: {begin, ns, events, errors, sums by group or use}. If only some cells are
// shown, they come from the counts by cell.
export function partsOf(thread, cube) {
  if (shown === null) {
    if (!thread.made) {
      // Where every call is among the marks, only samples are told by parts.
      const told = (ns, i) => (thread.all && i !== kFirstUse && i !== kFirstUse + 1 ? 0 : ns);
      thread.made = thread.parts.map((numbers) => ({
        begin: thread.begin + numbers[0] * thread.part, ns: thread.part, events: numbers[1], errors: numbers[2],
        sums: [...numbers.slice(3, 3 + groups.length), ...Array(Math.max(0, 3 + groups.length - numbers.length)).fill(0), 0,
               ...numbers.slice(3 + groups.length)].map(told),
      })).filter((part) => !thread.all || part.sums.some((sum) => sum > 0));
    }
    return thread.made;
  }
  const ns = duration / page.timeSteps, parts = new Map();
  // Of a thread whose events are all among the marks, these say more.
  for (const count of cube ?? []) {
    const paint = paintOf(count.cell);
    if (thread.all && cells[count.cell].kind.source !== "sample") continue;
    let part = parts.get(count.time);
    if (!part) parts.set(count.time, part = {begin: count.time * ns, ns, events: 0, errors: 0, sums: Array(kKinds).fill(0)});
    part.events += count.events;
    part.sums[paint] += Math.min(count.total, ns);
  }
  return [...parts.values()].sort((a, b) => a.begin - b.begin);
}

// Rectangles by paint: [x, y, width, height, …] each, and texts.
export function rectangles(thread, cube, area) {
  const {x0, perNs, left, right, top, height, hasUses} = area;
  const begin = (left - x0) / perNs, end = (right - x0) / perNs;
  const rects = Array.from({length: kKinds}, () => []), texts = [];
  const callHeight = hasUses ? Math.round(height * 0.62) : height;
  const useTop = top + callHeight + 1, useHeight = height - callHeight - 1;
  const columns = new Map();  // of kNarrow pixels each: sums by paint, and whether events are there

  const column = (x) => {
    const number = Math.floor((x - left) / kNarrow);
    let found = columns.get(number);
    if (!found) columns.set(number, found = {sums: new Float64Array(kKinds), seen: new Uint8Array(kKinds)});
    return found;
  };
  const stack = (sums, seen, ns, x, width) => {
    let y = top + callHeight;
    for (let paint = 0; paint < kKinds; paint++) {
      if (paint === kFirstUse) y = useTop + useHeight;
      if (!sums[paint] && !(seen && seen[paint])) continue;
      const room = paint < kFirstUse ? y - top : y - useTop;
      const size = Math.min(room, Math.max(seen && seen[paint] ? 2 : 1, (sums[paint] / ns) * (paint < kFirstUse ? callHeight : useHeight)));
      if (size <= 0) continue;
      y -= size;
      rects[paint].push(x, y, width, size);
    }
  };

  const parts = partsOf(thread, cube);
  for (const part of parts) {
    const x = x0 + part.begin * perNs, width = part.ns * perNs;
    if (x + width < left || x > right) continue;
    if (width >= kNarrow) {
      const from = Math.max(left, x), until = Math.min(right, x + width);
      stack(part.sums, null, part.ns, from, until - from);
      if (part.events > 0 && part.sums.every((sum) => sum === 0)) rects[kOther].push(from, top + callHeight - 2, until - from, 2);
      continue;
    }
    const place = column(Math.max(left, x));
    for (let paint = 0; paint < kKinds; paint++) place.sums[paint] += part.sums[paint] ?? 0;
    if (part.events > 0 && !thread.all) place.seen[kOther] |= part.sums.every((sum) => sum === 0) ? 1 : 0;
  }
  const counted = parts.length > 0 && !thread.all;
  marksWithin(thread, begin, end, (i) => {
    const paint = paintOf(thread.cell[i]);
    const x = x0 + thread.ts[i] * perNs, width = thread.dur[i] * perNs;
    const isUse = paint >= kFirstUse;
    if (width >= kNarrow) {
      const from = Math.max(left, x), until = Math.min(right, x + width);
      if (until - from < 1) return;
      rects[paint].push(from, isUse ? useTop : top, Math.max(1, until - from), isUse ? useHeight : callHeight);
      if (!isUse && until - from > 46) texts.push({x: from + 4, width: until - from - 8, text: cells[thread.cell[i]].call});
    } else if (!counted || perNs * 200 > 1) {
      if (x < left || x > right) return;
      const place = column(x);
      if (!counted) place.sums[paint] += thread.dur[i];
      place.seen[paint] = 1;
    }
  });
  const ns = kNarrow / perNs;
  for (const [number, {sums, seen}] of columns) stack(sums, seen, ns, left + number * kNarrow, kNarrow);
  return {rects, texts, callHeight};
}

// What is at a moment of a thread: {mark} or {part}; a mark is looked for within `reach` ns.
export function at(thread, cube, moment, reach, wantsUse) {
  let best = -1, distance = Infinity;
  marksWithin(thread, moment - reach, moment + reach, (i) => {
    if ((paintOf(thread.cell[i]) >= kFirstUse) !== wantsUse) return;
    const away = moment < thread.ts[i] ? thread.ts[i] - moment : Math.max(0, moment - thread.ts[i] - thread.dur[i]);
    // The shortest one that is there is on top.
    if (away < distance || (away === distance && thread.dur[i] < thread.dur[best])) {
      best = i;
      distance = away;
    }
  });
  const parts = partsOf(thread, cube);
  const part = parts.find((one) => one.begin <= moment && moment < one.begin + one.ns);
  if (best >= 0 && (!part || thread.dur[best] >= reach || thread.all)) return {mark: best};
  return part ? {part} : best >= 0 ? {mark: best} : null;
}
