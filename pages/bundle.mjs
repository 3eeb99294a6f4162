// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Makes the script and the styles of each page: dist/PAGE.js and dist/PAGE.css, and dist/licences, which has the licences of
// all packages that are in them. usage: node bundle.mjs
// A page without a folder in src/ is not made.
import {build} from "esbuild";
import {existsSync, readFileSync, readdirSync, statSync, writeFileSync} from "node:fs";
import {dirname, join} from "node:path";
import {fileURLToPath} from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const pages = ["report", "diff", "deadlock"];
const most = 3_000_000;  // bytes of a page beyond its data

// The names of the packages that a bundle has code of.
function packagesOf(inputs) {
  const names = new Set();
  for (const path of Object.keys(inputs)) {
    const found = path.match(/node_modules\/((?:@[^/]+\/)?[^/]+)\//);
    if (found) names.add(found[1]);
  }
  return [...names].sort();
}

// Their licences and notices ask to be kept with the code. Readers of HTML turn CR LF into LF, which would change the
// script's digest.
function licencesOf(names) {
  let text = "";
  for (const name of names) {
    const folder = join(here, "node_modules", name);
    const {version, license} = JSON.parse(readFileSync(join(folder, "package.json")));
    const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file)).sort().flatMap((file) => (
        statSync(join(folder, file)).isDirectory() ? readdirSync(join(folder, file)).sort().map((inner) => join(file, inner)) : file));
    if (files.length === 0) throw new Error(`${name} has no licence file`);
    text += `\n${name} ${version}, ${license}\n\n`;
    for (const file of files)
      text += readFileSync(join(folder, file), "utf8").replace(/\r\n?/g, "\n").replaceAll("*/", "* /") + "\n";
  }
  return text;
}

let failed = false;
const all = new Set();
for (const page of pages) {
  const entry = join(here, "src", page, "main.js");
  if (!existsSync(entry)) continue;
  const outfile = join(here, "dist", `${page}.js`);
  const result = await build({
    absWorkingDir: here, entryPoints: [entry], outfile, bundle: true, minify: true, format: "iife", target: "es2020",
    charset: "ascii", legalComments: "none", metafile: true, logLevel: "warning",
    loader: {".css": "css"},
  });
  const script = readFileSync(outfile, "utf8");
  const styles = join(here, "dist", `${page}.css`);
  const packages = packagesOf(result.metafile.inputs);
  packages.forEach((name) => all.add(name));
  writeFileSync(outfile, `/*!\nThis page has code of these packages.\n${licencesOf(packages)}*/\n${script}`);
  const bytes = readFileSync(outfile).length + readFileSync(styles).length;
  console.log(`${page}: ${bytes.toLocaleString("en")} bytes of script and styles`);
  if (bytes > most) {
    console.error(`${page}: more than ${most.toLocaleString("en")} bytes`);
    failed = true;
  }
}
writeFileSync(join(here, "dist", "licences"),
              `The pages of uscope's --html have code of these npm packages. Each page has their licences, too.\n${licencesOf([...all].sort())}`);
process.exit(failed ? 1 : 0);
