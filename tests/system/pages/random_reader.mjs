// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A reader who does anything at random: types, clicks, drags, presses keys, makes the window narrow. No script of the page
// may fail, and nothing may be said on the console (browser.mjs). usage: random_reader.mjs PAGE.html STEPS SEED
import assert from "node:assert/strict";
import {openPage} from "./browser.mjs";

const [, , file, steps, seed] = process.argv;
const {page, done} = await openPage(file);
let state = Number(seed) >>> 0;
// mulberry32
function random() {
  state = (state + 0x6d2b79f5) >>> 0;
  let t = state;
  t = Math.imul(t ^ (t >>> 15), t | 1);
  t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
  return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
}
const below = (number) => Math.floor(random() * number);
const oneOf = (list) => list[below(list.length)];
const kKeys = ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "Enter", "Home", "n", "p", "+", "-", " "];
const kWide = [1280, 700, 2000, 1000];
const words = (await page.locator("body").innerText()).split(/\s+/).filter((word) => word.length > 2 && word.length < 40);
const did = [];

async function type() {
  const inputs = await page.locator("input[type=search]:visible").all();
  if (!inputs.length) return;
  const word = oneOf([oneOf(words), oneOf(words).slice(0, 3), "zzzz-nothing", "", oneOf(words)]);
  did.push(`type ${word}`);
  await oneOf(inputs).fill(word);
}
async function click() {
  const targets = await page.locator("button:visible, summary:visible, tr.choosable:visible, g.node:visible, g.frame:visible").all();
  if (!targets.length) return;
  const target = oneOf(targets);
  did.push(`click ${(await target.innerText().catch(() => "")).slice(0, 40)}`);
  await target.click({timeout: 2000, force: true}).catch((error) => {
    if (!/outside of the viewport|Timeout|not visible|detached/.test(error.message)) throw error;
  });
}
async function choose() {
  const lists = await page.locator("select:visible:not([disabled])").all();
  if (!lists.length) return;
  const list = oneOf(lists), options = await list.locator("option").count();
  did.push("choose");
  await list.selectOption({index: below(options)});
}
async function point() {
  const places = await page.locator(".chart:visible, .flame:visible").all();
  if (!places.length) return;
  const place = oneOf(places);
  await place.scrollIntoViewIfNeeded();
  const box = await place.boundingBox(), at = () => [box.x + random() * box.width, box.y + random() * Math.min(box.height, 900)];
  did.push("point");
  await page.mouse.move(...at());
  const way = below(4);
  if (way === 0) await page.mouse.click(...at());
  if (way === 1) await page.mouse.dblclick(...at());
  if (way === 2) {
    await page.mouse.down();
    await page.mouse.move(...at(), {steps: 4});
    await page.mouse.up();
  }
  if (way === 3) await page.mouse.wheel(0, below(400) - 200);
}
async function press() {
  const places = await page.locator("[tabindex='0']:visible").all();
  if (!places.length) return;
  await oneOf(places).focus();
  for (let i = below(4); i >= 0; i--) {
    const key = oneOf(kKeys);
    did.push(`press ${key}`);
    await page.keyboard.press(key);
  }
}
async function resize() {
  did.push("resize");
  await page.setViewportSize({width: oneOf(kWide), height: 600 + below(800)});
}

const ways = [type, type, click, click, click, choose, point, point, press, press, resize];
for (let i = 0; i < Number(steps); i++) await oneOf(ways)();
await page.waitForTimeout(400);  // searches tell the pictures a little later
await page.setViewportSize({width: 1280, height: 1000});
await page.waitForTimeout(200);
try {
  await done();
} catch (error) {
  console.log(`seed ${seed}, the last steps: ${did.slice(-12).join("; ")}`);
  throw error;
}
assert.ok(did.length > 0);
console.log(`${did.length} things done at random`);
