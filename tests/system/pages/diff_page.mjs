// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The page of a comparison, as a reader uses it. usage: diff_page.mjs PAGE.html
// The abnormal run of what is compared opened files that are not there, one of them named as diff_deadlock.py says.
import assert from "node:assert/strict";
import {openPage} from "./browser.mjs";

const {page, done} = await openPage(process.argv[2]);
const details = () => page.locator("#details").innerText();
const data = JSON.parse(await page.locator("#data").textContent());

// What is chosen first is the first finding.
const failing = data.findings.findIndex((finding) => / fails with ENOENT /.test(finding.text) && finding.list === "abnormal");
assert.ok(failing >= 0, "a finding about files that are not there");
for (const one of data.findings) one.text = one.text.replaceAll(" -> ", " → ");
const finding = data.findings[failing];
assert.ok((await details()).includes(data.findings[0].text));

// The cell that only the abnormal run has, or in which only that one has errors: by the pointer.
const scatter = page.locator(".scatter");
await scatter.scrollIntoViewIfNeeded();
const at = (cell) => scatter.evaluate((place, index) => place.placeOf(index), cell);
const other = data.cells.findIndex((cell, index) => index !== finding.cell && cell[2][0] > 0 && cell[3][0] > 0);
await page.locator("button[data-class=alike]").waitFor();
let spot = await at(other);
await page.mouse.click(spot.x, spot.y);
assert.ok(!(await details()).includes("ENOENT"), "another cell shows something else");
spot = await at(finding.cell);
const began = performance.now();
await page.mouse.move(spot.x, spot.y);
await page.locator(".tip:visible").waitFor();
const hover = performance.now() - began;
assert.ok((await page.locator(".tip").innerText()).includes(data.kinds[data.cells[finding.cell][0]]));
await page.mouse.click(spot.x, spot.y);
const shown = await details();
assert.ok(shown.includes(finding.text), shown);
assert.match(shown, /failed with ENOENT\s+\d+\s+\d+/);
// Names of files are text, and what turns the direction of writing is shown as its bytes.
assert.ok(shown.includes("</script><img src=x onerror=alert(1)>"), shown);
assert.ok(shown.includes("\\xe2\\x80\\xae"), shown);
assert.equal(await page.locator("img").count(), 0);
assert.equal(await page.locator("#details .frames").first().locator("li").count(), finding.stacks[0][0].length);

// By keys: to another mark, and back by the list of findings.
await scatter.focus();
for (const key of ["ArrowRight", "ArrowLeft", "ArrowDown"]) await page.keyboard.press(key);
await page.locator(".tip:visible").waitFor();
const told = (await page.locator(".tip strong").innerText()).split(" ")[0];
await page.keyboard.press("Enter");
assert.ok((await page.locator("#details h3").innerText()).startsWith(told));
await page.locator(".findings button", {hasText: finding.text}).first().click();
assert.equal(await details(), shown);

// Filters and search.
const marks = page.locator("[role=status]", {hasText: /mark/});
assert.equal(await marks.innerText(), `${data.cells.length} marks`);
await page.locator("button[data-class=alike]").click();
assert.match(await marks.innerText(), new RegExp(`^\\d+ of ${data.cells.length} marks$`));
await page.locator("button[data-class=alike]").click();
await page.getByLabel("Search calls and functions").fill("openat");
assert.match(await marks.innerText(), new RegExp(`^\\d+ of ${data.cells.length} marks$`));
await page.getByLabel("Search calls and functions").fill("");

// The flame graph: its frames have what the data has, it widens, and it finds.
const flame = page.locator(".flame");
await flame.scrollIntoViewIfNeeded();
const frames = flame.locator("g.frame");
const root = frames.first();
await frames.nth(1).hover();
await page.locator(".tip:visible").waitFor();
assert.match(await page.locator(".tip").innerText(), /normal\s+[\d,]+ events/);
await page.getByLabel("Search functions").fill("openat");
assert.match(await page.locator("[role=status]", {hasText: /functions of that name/}).innerText(), /^[\d.]+ % is in/);
await page.getByLabel("Search functions").fill("");
await flame.focus();
for (const key of ["ArrowDown", "ArrowDown", "ArrowDown", "Enter"]) await page.keyboard.press(key);
const fades = await flame.locator("g.fade").count();
assert.ok(fades >= 1, "what is below a widened frame fades");
await page.keyboard.press("Home");
assert.equal(await flame.locator("g.fade").count(), 0);
await page.getByRole("button", {name: "By time inside calls"}).click();
assert.ok((await root.count()) === 1);

await done();
console.log(`the page of diff: hover answered after ${hover.toFixed(0)} ms`);
