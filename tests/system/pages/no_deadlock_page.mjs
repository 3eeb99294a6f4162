// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// The page of a trace in which nobody waits. usage: no_deadlock_page.mjs PAGE.html
import assert from "node:assert/strict";
import {openPage} from "./browser.mjs";

const {page, done} = await openPage(process.argv[2], {colorScheme: "dark"});
assert.match(await page.locator("h1").innerText(), /No deadlock found in .*good\.db$/);
assert.match(await page.locator("body").innerText(), /No thread is known to wait for another one\./);
assert.equal(await page.locator("svg").count(), 0);
await done();
console.log("the page of no deadlock");
