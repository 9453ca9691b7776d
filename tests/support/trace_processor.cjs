// Perfetto's trace processor, as its page runs it: ENGINE is the page's worker (engine_bundle.js, beside its wasm),
// REQUESTS a file of RPC bytes; the replies go to the file REPLIES. node trace_processor.cjs ENGINE REQUESTS REPLIES
const fs = require("fs");
const path = require("path");
const vm = require("vm");

const [engine, requests, replies] = process.argv.slice(2);
const found = [];
const port = { postMessage: (bytes) => found.push(Buffer.from(bytes)) };

// What the worker has in a browser: the page's address, and a way to fetch the wasm that lies there.
class XMLHttpRequest {
  open(method, name) {
    this.name = name;
  }
  send() {
    const bytes = fs.readFileSync(path.join(path.dirname(engine), path.basename(this.name)));
    this.response = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  }
}
const { process: node, console: terminal } = globalThis;
const quiet = { log() {}, warn() {}, error() {} };
Object.assign(globalThis, {
  self: globalThis,
  location: { href: "file:///" },
  WorkerGlobalScope: Object,
  XMLHttpRequest,
  process: undefined, // else the worker takes this for a program of Node's
  console: quiet,
});
vm.runInThisContext(fs.readFileSync(engine, "utf8"));
Object.assign(globalThis, { process: node });

self.onmessage({ data: port });
setTimeout(() => {
  try {
    port.onmessage({ data: new Uint8Array(fs.readFileSync(requests)) });
    fs.writeFileSync(replies, Buffer.concat(found));
  } catch (error) {
    terminal.error(String(error.stack).slice(-2000));
    node.exitCode = 1;
  }
}, 0);
