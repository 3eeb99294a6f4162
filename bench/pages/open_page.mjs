// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How long a page of `uscope report --html` takes to open, and to answer the pointer. Prints one JSON object.
// usage: open_page.mjs PAGE.html
import {openPage} from "../../tests/system/pages/browser.mjs";

const began = performance.now();
const {page, done} = await openPage(process.argv[2]);
// The page is open when its pictures are drawn: two frames after its script has run.
const drawn = await page.evaluate(() => new Promise((resolve) =>
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now())))));
const opened = performance.now() - began;

// From a movement of the pointer to the box of facts in the picture that is drawn next, in the page itself.
async function hover(selector, count) {
  await page.locator(selector).scrollIntoViewIfNeeded();
  const box = await page.locator(selector).boundingBox();
  await page.evaluate(() => {
    window.took = [];
    addEventListener("mousemove", (event) => {
      const from = event.timeStamp;
      requestAnimationFrame(() => setTimeout(() => window.took.push(performance.now() - from)));
    }, {capture: true});
  });
  for (let i = 0; i < count; i++) {
    await page.mouse.move(box.x + 260 + (box.width - 320) * (i * 0.618 % 1), box.y + 20 + Math.min(box.height - 120, 460) * (i * 0.382 % 1));
    await page.waitForTimeout(60);
  }
  const took = (await page.evaluate(() => window.took)).sort((a, b) => a - b);
  return {median_ms: took[took.length >> 1], worst_ms: took.at(-1), times: took.length};
}

const result = {open_ms: drawn, open_with_browser_ms: opened, time_line: await hover("#time-line-chart", 40), flame: await hover("#flame .flame", 40),
                heat: await hover("#heat-chart", 40)};
const search = await page.evaluate(async () => {
  const input = document.querySelector("#triggers input");
  const from = performance.now();
  input.value = "function_1";
  input.dispatchEvent(new Event("input"));
  await new Promise((resolve) => setTimeout(resolve, 210));
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve)));
  return performance.now() - from - 200;
});
result.filter_ms = search;
await done();
console.log(JSON.stringify(result, (key, value) => (typeof value === "number" ? Math.round(value * 10) / 10 : value)));
