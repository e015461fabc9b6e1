// Loads a trace with Perfetto's own trace processor (WebAssembly) and asks it what it found.
//
//   node check_trace.mjs FOLDER TRACE [AS]    FOLDER: trace_processor.wasm, engine.mjs, engine_bundle.node.js
//
// AS: the same trace as JSON, where TRACE is Perfetto's own format.
//
// Exit code 0: nothing was dropped or repaired and everything that weft draws is there; 1: not so.
import fs from 'node:fs';
import path from 'node:path';
import {pathToFileURL} from 'node:url';

console.warn = () => {};  // the engine's decoder and the glue mention what they do without

const [folder, trace, as] = process.argv.slice(2);
const wasm = fs.readFileSync(path.join(folder, 'trace_processor.wasm'));
const glue = fs.readFileSync(path.join(folder, 'engine_bundle.node.js'), 'utf8');
const {EngineBase} = await import(pathToFileURL(path.join(folder, 'engine.mjs')));

// The glue expects to be a web worker in a browser: it gets the few globals of one that it uses, as arguments.
// It tries a tiny 64-bit-memory module first; only the 32-bit build is at hand, so that one is refused.
class Module32 extends WebAssembly.Module {
  constructor(bytes) {
    const [section, , , limits] = bytes.slice(8, 12);  // 5: memory; limits 4: addressed with 64 bits
    if (section === 5 && limits === 4) throw new Error('no 64-bit memory here');
    super(bytes);
  }
}
class RequestForTheModule {  // the one file that the glue loads
  open() {}
  send() { this.response = new Uint8Array(wasm).buffer; }
}
function start_worker() {
  const location = {href: pathToFileURL(folder).href + '/'};
  const scope = {location};
  const assembly = Object.create(WebAssembly, {Module: {value: Module32}});
  const globals = {self: scope, location, WebAssembly: assembly, WorkerGlobalScope: class {},
                   XMLHttpRequest: RequestForTheModule, process: undefined, require: undefined};
  new Function(...Object.keys(globals), glue)(...Object.values(globals));
  return scope;
}

class Engine extends EngineBase {
  mode = 'WASM';
  id = 'weft';
  constructor(port) {
    super();
    this.port = port;
    port.onmessage = (message) => this.onRpcResponseBytes(message.data);
  }
  rpcSendRequestBytes(bytes) { this.port.postMessage(bytes); }
}

const channel = new MessageChannel();
const worker = start_worker();
worker.onmessage({data: channel.port1});
const engine = new Engine(channel.port2);

async function rows(sql) {
  const result = await engine.query(sql);
  const columns = result.columns();
  const all = [];
  for (const it = result.iter({}); it.valid(); it.next()) {
    all.push(Object.fromEntries(columns.map((column) => [column, it.get(column)])));
  }
  return all;
}
const value = async (sql) => Number(Object.values((await rows(sql))[0])[0]);

let failures = 0;
function require_that(holds, what) {
  console.log(`${holds ? 'ok  ' : 'FAIL'} ${what}`);
  failures += holds ? 0 : 1;
}

const content = fs.readFileSync(trace);
await engine.parse(new Uint8Array(content));
await engine.notifyEof();

const errors = await rows("select name, value from stats where severity = 'error' and value > 0");
require_that(errors.length === 0, `no import errors ${errors.map((e) => `${e.name}=${e.value}`).join(' ')}`);

const told = as ? fs.readFileSync(as) : content;
const written = JSON.parse(told.subarray(0, 2).equals(Buffer.from([0x1f, 0x8b])) ?
    (await import('node:zlib')).gunzipSync(told) : told).traceEvents;
const count = (kind) => written.filter((event) => event.ph === kind).length;
for (const [table, kind] of [['slice', 'X'], ['flow', 's'], ['counter', 'C']]) {
  const found = await value(`select count(*) from ${table}`);
  require_that(found > 0 && found === count(kind), `${found} of ${count(kind)} rows in ${table}`);
}

const unnamed = await value('select count(*) from slice join thread_track on track_id = thread_track.id ' +
    'join thread using (utid) left join process using (upid) where process.name is null or thread.name is null');
require_that(unnamed === 0, `${unnamed} slices in unnamed processes or threads`);
const names = (await rows('select name from process where name is not null order by upid')).map((row) => row.name);
require_that(names.length > 1, `processes: ${names.join(', ')}`);

// To the nanosecond: the same total time as written.
const total = written.filter((e) => e.ph === 'X').reduce((sum, e) => sum + Math.round(e.dur * 1000), 0);
const read = await value('select sum(dur) from slice');
require_that(read === total, `slices last ${read} ns in all, ${total} ns were written`);
const nested = await value('select count(*) from slice where depth > 0');
require_that(nested === 0, `${nested} slices lie inside others`);
const astray = await value('select count(*) from flow join slice o on slice_out = o.id join slice i on ' +
    "slice_in = i.id where o.name not like 'send%' or i.name not like 'receive%' or i.ts != o.ts or i.dur != o.dur");
require_that(astray === 0, `${astray} arrows that do not lead from a send to the receive at the same time`);

// What slices say of themselves: the same arguments, whatever the format.
for (const key of ['micro_batch', 'wait_us', 'busbw_bytes_per_s', 'group_size', 'algorithm']) {
  const said = written.filter((e) => e.ph === 'X' && e.args?.[key] !== undefined).length;
  const found = await value(`select count(*) from slice join args using (arg_set_id) where key glob '*.${key}'`);
  require_that(found === said, `${found} of ${said} slices say ${key}`);
}

process.exit(failures === 0 ? 0 : 1);
