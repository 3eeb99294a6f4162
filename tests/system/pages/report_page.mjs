// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The page of a report, as a reader uses it: hovers, zooms, filters, searches, and reads what is then shown.
// usage: report_page.mjs PAGE.html
// The recording is the one that report.py makes: a shell that runs cat on a file with a hostile name.
import assert from "node:assert/strict";
import {openPage} from "./browser.mjs";

const {page, done} = await openPage(process.argv[2]);
const data = JSON.parse(await page.locator("#data").textContent());
const text = (selector) => page.locator(selector).innerText();
const tip = async () => {
  await page.locator(".tip:visible").waitFor();
  return page.locator(".tip").innerText();
};

// What is missing stands first.
assert.match(await text("#losses"), data.report.losses.length ? /./ : /^Nothing is missing: no loss was counted in \d+ processes\.$/);
assert.ok((await text(".figures")).includes(data.report.trace.events.toLocaleString("en")));

// The time line: a call of the shell, by the pointer and by keys, from the whole run to that call alone.
const line = page.locator("#time-line-chart");
await line.scrollIntoViewIfNeeded();
await line.focus();
await page.keyboard.press("n");
const first = await text(".picked");
assert.match(first, /at [\d.]+ s · (took|not over after) /);
const command = (await text(".picked .command")).match(/^uscope events --id (\d+) /);
assert.ok(command, first);
for (let i = 0; i < 25; i++) await page.keyboard.press("n");
assert.notEqual(await text(".picked"), first);
const box = await line.boundingBox();
await page.mouse.dblclick(box.x + 240 + (box.width - 260) / 2, box.y + 22);
await page.waitForFunction(() => Number(document.getElementById("time-line-chart").dataset.end) > 0);
const span = () => line.evaluate((place) => Number(place.dataset.end) - Number(place.dataset.begin));
const wide = await span();
assert.ok(wide < data.duration / 3, "a double click zooms");
await page.getByRole("button", {name: "Zoom in"}).click();
assert.ok(Math.abs(await span() - wide / 2) < wide / 50, "the button zooms");
await page.getByRole("button", {name: "Show the whole run"}).click();
assert.equal(Math.round(await span()), data.duration);
// The longest call of the first thread: zoomed to it alone, the pointer in the middle meets it.
const thread = data.threads[0];
const longest = thread.dur.indexOf(Math.max(...thread.dur));
await page.mouse.move(box.x + 232 + (box.width - 252) * (thread.ts[longest] + thread.dur[longest] / 2) / data.duration, box.y + 22);
const hovered = await tip();
assert.ok(hovered.startsWith(data.kinds[data.cells.kind[thread.cell[longest]]].name), hovered);
assert.match(hovered, /took/);

// The flame graph: a function's frame says its share; a search finds it; a click looks inside.
await page.locator("#flame").scrollIntoViewIfNeeded();
await page.getByRole("button", {name: "Events", exact: true}).click();
const frames = page.locator("#flame g.frame");
await frames.nth(1).hover();
assert.match(await tip(), /events\s+[\d,]+\s+of all shown\s+[\d.]+ %/);
await page.getByLabel("Search functions").fill("main");
assert.match(await page.locator("#flame .bar [role=status]").innerText(), /% is in functions of that name/);
await page.getByLabel("Search functions").fill("");
await page.locator("#flame .flame").focus();
for (const key of ["ArrowDown", "ArrowDown", "Enter"]) await page.keyboard.press(key);
assert.match(await tip(), /of all shown/);
await page.getByRole("button", {name: "Reset zoom"}).click();
const summed = data.stacks.sums[0].reduce((sum, number) => sum + number, 0);
assert.equal(summed, data.report.trace.events);

// The heat map answers the pointer and keys.
await page.locator("#heat").scrollIntoViewIfNeeded();
const heat = page.locator("#heat-chart");
await heat.focus();
await page.keyboard.press("ArrowRight");
assert.match(await tip(), /^[\d,]+ calls?\s+took\s+.+ to .+\s+entered/);

// Triggers: sorted, searched, chosen; all others follow.
const table = page.locator("#triggers table");
await table.scrollIntoViewIfNeeded();
await table.getByRole("button", {name: "call", exact: true}).click();
assert.equal(await table.locator("th[data-column=call]").getAttribute("aria-sort"), "ascending");
const calls = await table.locator("td[data-column=call]").allInnerTexts();
assert.ok(calls.every((call, i) => i === 0 || calls[i - 1].toLowerCase() <= call.toLowerCase()), calls.join());
await page.getByLabel("Search lines").first().fill("openat");
await page.locator(".limit:visible").waitFor();
assert.match(await text(".limit"), /only what matches “openat”/);
const opened = data.cells.events.reduce((sum, events, cell) => sum + (data.kinds[data.cells.kind[cell]].name === "openat" ? events : 0), 0);
assert.ok((await page.locator("#flame .flame").innerText()).includes("openat"));
assert.ok(!(await page.locator("#flame .flame").innerText()).includes("execve"));
await frames.first().hover();
assert.match(await tip(), new RegExp(`events\\s+${opened.toLocaleString("en")}\\b`));
const inCat = await page.locator("#processes tbody tr", {hasText: "cat"}).first().innerText();
assert.match(inCat, /\b\d+ of \d+\b/, "processes count what is chosen");
const row = table.locator("tbody tr").first();
await row.focus();
for (const key of ["ArrowDown", "ArrowUp"]) {
  await page.keyboard.press(key);
  assert.equal(await table.locator("tbody tr[tabindex='0']").count(), 1, "Tab stops at one row");
}
await page.keyboard.press("Enter");
assert.match(await text(".limit"), /only openat from /);
const shown = (await page.locator("#errors td[data-column=call]").allInnerTexts());
assert.ok(shown.every((call) => call === "openat"), shown.join());
await page.getByRole("button", {name: "Show everything"}).click();
assert.equal(await page.locator(".limit:visible").count(), 0);

// What is searched limits every picture, with many, one and no thread left; no picture keeps what was shown before.
const kinds = data.cells.kind.map((kind) => data.kinds[kind].name);
const threadsWith = (wanted) => data.threads.filter((one, number) => one.cell.some((cell) => wanted(kinds[cell])) ||
    data.cube.cell.some((cell, i) => data.cube.thread[i] === number && wanted(kinds[cell]))).length;
const drawn = async (lines) => {
  await page.waitForFunction((wanted) => document.getElementById("time-line-chart").dataset.lines === String(wanted), lines);
  return lines;
};
const searched = async (word) => {
  await page.getByLabel("Search lines").first().fill(word);
  await page.locator(".limit", {hasText: `“${word}”`}).waitFor();
};
const perCall = new Map([...new Set(kinds)].map((name) => [name, threadsWith((kind) => kind.includes(name))]));
const all = data.threads.length;
for (const wanted of [(threads) => threads > 1 && threads < all, (threads) => threads === 1]) {
  const [name, threads] = [...perCall].find(([name, threads]) => wanted(threads) && /^\w+$/.test(name)) ?? [];
  assert.ok(name, `a call of some threads: ${JSON.stringify([...perCall])}`);
  await searched(name);
  // A function may have the word, too.
  assert.ok(await page.locator("#time-line [role=status]").first().innerText().then((said) => Number(said.split(" ")[0])) >= threads);
  await drawn(await page.locator("#time-line [role=status]").first().innerText().then((said) => Number(said.split(" ")[0])));
}
await searched("zzzz-nothing");
await drawn(0);
assert.match(await text("#flame .flame"), /None of what is chosen/);
assert.match(await text("#heat [role=status]"), /^0 calls/);
await line.focus();
for (const key of ["ArrowDown", "n", "p", "+", "Home"]) await page.keyboard.press(key);
await page.mouse.move(box.x + 400, box.y + 22);
await page.getByRole("button", {name: "Show everything"}).click();
await drawn(all);
// The search for threads is the time line's own.
const threadSearch = page.locator("#time-line").getByLabel("Search threads");
for (const [word, lines] of [["cat", data.threads.filter((one) => one.process === "cat").length], [String(data.threads[0].tid), 1], ["zzzz", 0]]) {
  await threadSearch.fill(word);
  await drawn(lines);
  await line.focus();
  for (const key of ["ArrowDown", "n", "ArrowUp"]) await page.keyboard.press(key);
}
await threadSearch.fill("");
await drawn(all);

// What waits can be left out: the same as choosing all other cells.
await page.getByRole("button", {name: "Leave out what waits"}).click();
assert.match(await text(".limit"), /only what does not wait/);
assert.ok(!(await text("#flame .flame")).includes("wait4"));
await page.getByRole("button", {name: "Leave out what waits"}).click();
assert.equal(await page.locator(".limit:visible").count(), 0);

// Names of traced programs are text, whatever they hold, and what turns the direction of writing is shown as its bytes.
const processes = await text("#processes");
assert.ok(processes.includes("</script><img src=x onerror=alert(1)>"), processes);
assert.ok(processes.includes("\\xe2\\x80\\xae"), processes);
assert.match(processes, /exit 1/);
assert.equal(await page.locator("img").count(), 0);
assert.match(await text("#errors"), /ENOENT/);

await done();
console.log("the page of report");
