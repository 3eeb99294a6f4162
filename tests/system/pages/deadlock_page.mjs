// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The page of a deadlock, as a reader uses it. usage: deadlock_page.mjs PAGE.html
// The page is that of tests/deadlock/mutexes.c, `abba`: ant and bee wait for each other, cat waits behind them.
import assert from "node:assert/strict";
import {openPage} from "./browser.mjs";

const {page, done} = await openPage(process.argv[2]);
const details = () => page.locator("#details").innerText();

assert.match(await page.locator("h1").innerText(), /Deadlock in .*hung\.db$/);
assert.match(await page.locator(".verdict").first().innerText(), /^Deadlock: 2 threads wait for each other in a cycle/);

const circle = page.locator(".node.circle");
assert.equal(await circle.count(), 2);
assert.equal(await page.locator(".edge.circle").count(), 2);
const seen = new Set();
for (let i = 0; i < 2; i++) {
  await circle.nth(i).click();
  const shown = await details();
  assert.match(shown, /It is in the cycle/);
  assert.match(shown, /does\s+waits for a mutex/);
  assert.match(shown, /lock\s+0x[0-9a-f]+/);
  assert.match(shown, /pthread_mutex_lock/);
  assert.match(shown, /^takes deadlock_mutexes ← waits here$/m);
  for (const name of ["ant", "bee"]) if (new RegExp(`^${name} deadlock_mutexes$`, "m").test(shown)) seen.add(name);
  assert.equal(await circle.nth(i).getAttribute("aria-pressed"), "true");
}
assert.deepEqual([...seen].sort(), ["ant", "bee"]);

// By keys: along an edge, to whom this one waits for, and Enter.
await circle.nth(0).focus();
await page.keyboard.press("ArrowRight");
await page.keyboard.press("Enter");
assert.equal(await circle.nth(1).getAttribute("aria-pressed"), "true");
const behind = page.locator(".node:not(.circle)", {hasText: " cat"});
assert.equal(await behind.count(), 1);
await behind.focus();
await page.keyboard.press("Enter");
assert.doesNotMatch(await details(), /in the cycle/);
await page.locator("#details button.link").first().click();
assert.match(await details(), /in the cycle/);

await done();
console.log("the page of deadlock");
