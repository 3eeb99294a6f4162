// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// A page in headless Chromium. What the page says on the console, what fails in it, and what it asks of the network are
// errors.
import assert from "node:assert/strict";
import {createServer} from "node:http";
import {createRequire} from "node:module";
import {resolve} from "node:path";
import {pathToFileURL} from "node:url";

const {chromium} = createRequire(new URL("../../../pages/package.json", import.meta.url))("playwright-core");

// Root runs Chromium without its sandbox only, and without what it does for itself in the background.
const kOptions = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
                  "--disable-component-update", "--disable-sync"];

export function address(file) {
  return pathToFileURL(resolve(file)).href;
}

// On paper, which is narrower than the window, each picture is shown once and whole.
async function checkPrinted(page) {
  await page.emulateMedia({media: "print"});
  const [pictures, shown, cut] = await page.evaluate(() => {
    window.dispatchEvent(new Event("beforeprint"));
    document.body.style.width = "600px";
    const {right} = document.body.getBoundingClientRect();
    const pictures = [...document.querySelectorAll(".chart, .flame")].filter((place) => place.querySelector("canvas, svg"));
    const boxes = pictures.flatMap((place) => [...place.querySelectorAll("canvas, svg")].map((one) => one.getBoundingClientRect()));
    const shown = boxes.filter(({width, height}) => width > 0 && height > 0);
    const cut = shown.filter((box) => box.right > right + 1);
    window.dispatchEvent(new Event("afterprint"));
    document.body.style.width = "";
    return [pictures.length, shown.length, cut.length];
  });
  assert.equal(shown, pictures);
  assert.equal(cut, 0, "a picture is wider than the paper");
  await page.emulateMedia({media: "screen"});
}

// options: of the browser's context, as {colorScheme: "dark"}. `done` ends the browser and checks that all was quiet.
export async function openPage(file, options = {}) {
  const browser = await chromium.launch({executablePath: "/usr/bin/chromium", args: kOptions});
  const page = await browser.newPage({viewport: {width: 1280, height: 1000}, ...options});
  page.setDefaultTimeout(60_000);
  const said = [];
  const place = address(file);
  page.on("console", (message) => said.push(`${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => said.push(error.stack));
  page.on("request", (request) => {
    if (request.url() !== place && !request.url().startsWith("data:")) said.push(`asks for ${request.url()}`);
  });
  process.on("exit", () => browser.close());
  await page.goto(place);
  return {page, done: async () => {
    assert.deepEqual(said, []);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= document.documentElement.clientWidth), "wider than the window");
    await checkPrinted(page);  // after which charts have yet to take the window's width again
    // The page's policy lets nothing run that was not in it, and asks nobody for anything.
    let asked = 0;
    const server = createServer((request, response) => {
      asked++;
      response.end();
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    const refused = await page.evaluate((elsewhere) => new Promise((resolve) => {
      const seen = [];
      addEventListener("securitypolicyviolation", (event) => {
        seen.push(event.effectiveDirective);
        if (seen.length === 4) resolve(seen.sort());
      });
      const script = document.createElement("script");
      script.textContent = "window.intruder = true";
      document.body.append(script);
      document.body.insertAdjacentHTML("beforeend", "<i style='color:red'></i>");
      new Image().src = `${elsewhere}/image.png`;
      fetch(elsewhere).catch(() => {});
      setTimeout(() => resolve(seen.sort()), 5000);
    }), `http://127.0.0.1:${server.address().port}`);
    assert.deepEqual(refused, ["connect-src", "img-src", "script-src-elem", "style-src-attr"]);
    assert.equal(await page.evaluate(() => window.intruder), undefined);
    assert.equal(asked, 0);
    server.close();
    await browser.close();
  }};
}
