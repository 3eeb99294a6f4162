// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// How long a page of `uscope report --html` takes to open, and to answer the pointer and a search. Prints one JSON object.
// usage: open_page.mjs PAGE.html
import {address, openPage} from "../../tests/system/pages/browser.mjs";

const {page, done} = await openPage(process.argv[2]);
// The page's own processor time: what it takes when nothing else runs on the machine.
const metrics = await page.context().newCDPSession(page);
await metrics.send("Performance.enable", {timeDomain: "threadTicks"});
const processor = async () => (await metrics.send("Performance.getMetrics")).metrics.find(({name}) => name === "TaskDuration").value * 1000;
await page.goto("about:blank");
const before = await processor(), began = performance.now();
await page.goto(address(process.argv[2]));
// The page is open when its pictures are drawn: two frames after its script has run.
const drawn = await page.evaluate(() => new Promise((resolve) =>
    requestAnimationFrame(() => requestAnimationFrame(() => resolve(performance.now())))));
const opened = {processor_ms: await processor() - before, ms: drawn, with_reading_ms: performance.now() - began};

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
  await page.waitForTimeout(300);
  const before = await processor();
  for (let i = 0; i < count; i++) {
    await page.mouse.move(box.x + 260 + (box.width - 320) * (i * 0.618 % 1), box.y + 20 + Math.min(box.height - 120, 460) * (i * 0.382 % 1));
    await page.waitForTimeout(60);
  }
  const took = (await page.evaluate(() => window.took)).sort((a, b) => a - b);
  const each = (await processor() - before) / count;
  return {processor_ms: each, median_ms: took[took.length >> 1], worst_ms: took.at(-1), times: took.length};
}

const result = {open: opened, time_line: await hover("#time-line-chart", 40), flame: await hover("#flame .flame", 40),
                heat: await hover("#heat-chart", 40)};
const idle = await processor(), from = performance.now();
await page.locator("#triggers input").fill("function_1");
await page.locator(".limit:visible").waitFor();
await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve))));
result.filter = {processor_ms: await processor() - idle, ms: performance.now() - from};
await done();
console.log(JSON.stringify(result, (key, value) => (typeof value === "number" ? Math.round(value * 10) / 10 : value)));
