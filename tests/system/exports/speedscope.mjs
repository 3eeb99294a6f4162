// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Reads a file as speedscope does, by the importer in its own bundle. usage: node speedscope.mjs BUNDLE.js FILE. Prints
// as JSON the profiles that it found: name, unit, total weight, and stacks from the outermost frame on, with weights.
import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { runInThisContext } from "node:vm";

const [bundle, file] = process.argv.slice(2);

// The bundle is a page's, and begins by drawing that, which fails here. What the importer needs has been set up by then.
const nothing = () => new Proxy(function () {}, { get: (target, key) => (key === Symbol.toPrimitive ? () => "" : nothing()), apply: nothing, construct: nothing });
globalThis.window = globalThis;
globalThis.document = nothing();
globalThis.location = { hash: "", protocol: "file:", href: "file:///" };
console.log = console.warn = console.error = () => {};
let source = readFileSync(bundle, "utf8");
const importer = /loadFileFromBase64:\((\w+),(\w+)\)=>\{this\.loadProfile\(\(\)=>(\w+)\(\1,\2\)\)/.exec(source)?.[3];
const start = '"use strict";(()=>{';
if (!importer || !source.startsWith(start)) throw new Error("the bundle is not the one that readers.json says");
source = `${start}globalThis.importFile=(name,text)=>${importer}(name,text);` + source.slice(start.length);
try {
  runInThisContext(source);
} catch (error) {
  if (!globalThis.importFile) throw error;
}

const group = await globalThis.importFile(basename(file), readFileSync(file).toString("base64"));
const profiles = group.profiles.map((profile) => {
  const stacks = [];
  const open = [];
  let at = 0;
  // Each leaf's own weight is what no child takes.
  profile.forEachCall(
    (node, value) => {
      if (open.length > 0) open.at(-1).self += value - at;
      at = value;
      open.push({ node, self: 0 });
    },
    (node, value) => {
      const top = open.pop();
      top.self += value - at;
      at = value;
      if (top.self > 0)
        stacks.push({ frames: [...open.map((one) => one.node), node].map((one) => ({ name: one.frame.name, file: one.frame.file })), weight: top.self });
    },
  );
  return { name: profile.getName(), unit: profile.getWeightUnit(), total: profile.getTotalWeight(), stacks };
});
process.stdout.write(JSON.stringify({ name: group.name, profiles }) + "\n", () => process.exit(0));
