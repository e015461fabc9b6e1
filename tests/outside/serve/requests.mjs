// 1,000 requests at once, good and bad: each gets its answer, and the server is afterwards what it was before.
//   node requests.mjs ADDRESS PROCESS WEFT FOLDER
import {execFileSync} from 'node:child_process';
import {readdirSync, readFileSync, writeFileSync} from 'node:fs';
import {request} from 'node:http';
import {connect} from 'node:net';
import {resolve} from 'node:path';

const [address, process_id, program, folder] = process.argv.slice(2), weft = resolve(program);
const {host, port} = new URL(address);
let failures = 0;
const check = (holds, what, seen = '') => {
  if (holds) return;
  ++failures;
  console.log(`FAILED: ${what}`, seen);
};
const wait = milliseconds => new Promise(done => setTimeout(done, milliseconds));

// One request on a connection of its own: its status and body; 0 where the connection broke.
const ask = ({method = 'GET', path = '/', headers = {}, body = ''}) => new Promise(done => {
  const sent = request({host: '127.0.0.1', port, method, path, agent: false, headers: {Host: host, ...headers}}, answer => {
    let text = '';
    answer.setEncoding('utf8').on('data', part => { text += part; })
      .on('end', () => done({status: answer.statusCode, text, headers: answer.headers})).on('error', () => done({status: 0}));
  });
  sent.on('error', () => done({status: 0}));
  sent.end(body);
});
// Something that need not be a request; what comes back until the server closes.
const raw = text => new Promise(done => {
  let got = '';
  const socket = connect(port, '127.0.0.1', () => socket.write(text));
  socket.setEncoding('utf8').on('data', part => { got += part; });
  socket.on('close', () => done({status: Number(got.match(/^HTTP\/1.1 (\d+)/)?.[1] ?? 0), text: got})).on('error', () => {});
});
// Begins, and leaves.
const leave = (text, milliseconds) => new Promise(done => {
  const socket = connect(port, '127.0.0.1', () => {
    socket.write(text);
    setTimeout(() => { socket.destroy(); done({status: -1, text: ''}); }, milliseconds);
  });
  socket.on('error', () => done({status: -1, text: ''}));
});

const job = {machine: 'dgx-h100', nodes: 1, model: 'llama3-8b', framework: 'megatron', layout: {tensor: 8},
  batch: {sequence: 1024, micro: 1, global: 4}};
const query = 'machine=dgx-h100&nodes=1&model=llama3-8b&framework=megatron&layout.tensor=8&batch.sequence=1024&batch.micro=1&batch.global=4';
const kinds = [
  {expect: 200, make: () => ask({path: '/simulate?' + query})},
  {expect: 200, make: () => ask({path: '/job.json?' + query})},
  {expect: 200, make: () => ask({method: 'POST', path: '/job.json', body: JSON.stringify(job)})},
  {expect: 200, make: () => ask({path: '/'})},
  {expect: 200, make: () => ask({method: 'HEAD', path: '/job.json?' + query})},
  {expect: 404, make: () => ask({path: '/../../etc/passwd'})},
  {expect: 405, make: () => ask({method: 'DELETE', path: '/plan'})},
  {expect: 422, make: () => ask({method: 'POST', path: '/', body: '{}'})},
  {expect: 400, make: () => ask({path: '/simulate?machine=%zz'})},
  {expect: 421, make: () => ask({path: '/', headers: {Host: 'rebound.example'}})},
  {expect: 403, make: () => ask({method: 'POST', path: '/plan', headers: {Origin: 'http://elsewhere.example'}, body: JSON.stringify(job)})},
  {expect: 422, make: () => ask({path: '/simulate?machine=dgx-h10&nodes=0'})},
  {expect: 422, make: () => ask({method: 'POST', path: '/simulate', body: '{"machine": '})},
  {expect: 422, make: () => ask({method: 'POST', path: '/simulate', body: '['.repeat(500_000)})},
  {expect: 422, make: () => ask({path: '/simulate?' + query + '&machine=/etc/passwd'})},
  {expect: 413, make: () => ask({method: 'POST', path: '/simulate', body: ' '.repeat(1_500_000)})},
  {expect: 431, make: () => raw('GET /simulate?' + 'a'.repeat(100_000) + ' HTTP/1.1\r\n\r\n')},
  {expect: 400, make: () => raw('\0\x01\x02 what is this\r\n\r\n')},
  {expect: 400, make: () => raw(`GET / HTTP/1.1\r\nHost: ${host}\r\nContent-Length: many\r\n\r\n`)},
  {expect: -1, make: () => leave('GET / HT', 50)},
  {expect: -1, make: () => leave(`POST /plan HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 1000\r\n\r\n{`, 50)},
  {expect: -1, make: () => leave(`GET /explain?${query} HTTP/1.1\r\nHost: ${host}\r\n\r\n`, 100)},
];

// Where there are too many at once, the server says so, and to come again. It does not wait long for those: a client
// too slow to ask in that time finds its connection closed, and comes again, too.
let busy = 0, closed = 0;
const insist = async kind => {
  let answer;
  for (let tries = 0; tries < 300; ++tries) {
    answer = await kind.make();
    if (answer.status !== 503 && answer.status !== 0) return answer;
    if (answer.status === 0) {
      ++closed;
    } else {
      ++busy;
      check(answer.text === '' || answer.text.includes('too many'), 'it says why', answer.text);
    }
    await wait(200 + 20 * (tries % 10));
  }
  return {...answer, text: 'always'};
};

const pages = new Set();
const round = async count => {
  const start = Date.now();
  busy = closed = 0;
  await Promise.all(Array.from({length: count}, async (_, i) => {
    const kind = kinds[i % kinds.length], answer = await insist(kind);
    check(answer.status === kind.expect, `expected ${kind.expect} of ${kind.make}`, `${answer.status} ${answer.text?.slice(0, 300)}`);
    if (kind === kinds[0]) pages.add(answer.text);
    if (answer.headers) check(answer.headers['x-content-type-options'] === 'nosniff', 'headers are there');
    if (answer.status >= 400) check(JSON.parse(answer.text.replace(/^HTTP.*?\r\n\r\n/s, '')).error.length > 0, 'it says why');
  }));
  check(closed === 0 || busy > 0, 'a connection breaks only where there are too many', closed);
  console.log(`${count} requests in ${Date.now() - start} ms, ${busy} times too many at once, ${closed} times too slow`);
};

const descriptors = () => readdirSync(`/proc/${process_id}/fd`).length;
const memory = () => Number(readFileSync(`/proc/${process_id}/status`, 'utf8').match(/VmRSS:\s*(\d+)/)[1]) / 1024;
await ask({});
await wait(300);
const before = descriptors();
await round(1000);
const first = memory();
await round(1000);
const second = memory();
for (let tries = 0; tries < 300 && descriptors() > before; ++tries) await wait(100);
console.log(`descriptors ${before}, then ${descriptors()}; memory ${first.toFixed(0)} MiB, then ${second.toFixed(0)} MiB`);
check(descriptors() <= before, 'every connection is closed', descriptors());
check(second < 1.25 * first + 64, 'memory does not grow', `${first} MiB, then ${second} MiB`);

// A search of minutes ends with the client that asked for it.
const ticks = () => { // of 10 ms, that the server has computed
  const fields = readFileSync(`/proc/${process_id}/stat`, 'utf8').split(') ')[1].split(' ');
  return Number(fields[11]) + Number(fields[12]);
};
const began = ticks();
const long = '/plan?machine=frontier&model=frontier-175b&nodes=1024&framework=megatron&batch.sequence=2048&batch.global=4096';
await leave(`GET ${long} HTTP/1.1\r\nHost: ${host}\r\n\r\n`, 2000);
check(ticks() - began > 20, 'it searched', ticks() - began);
const left = Date.now();
for (let last = ticks(); ; last = ticks()) {
  await wait(1000);
  if (ticks() - last < 5) break;
  if (Date.now() - left > 60_000) {
    check(false, 'nobody waits for a search, and it goes on');
    break;
  }
}
console.log(`a search ended ${Date.now() - left} ms after its client left`);

check(pages.size === 1, 'equal jobs have equal pages', pages.size);
writeFileSync(`${folder}/job.json`, (await ask({path: '/job.json?' + query})).text);
execFileSync(weft, ['simulate', 'job.json', '--report', 'page.html'], {cwd: folder});
check([...pages][0] === readFileSync(`${folder}/page.html`, 'utf8'), 'the page is that of the command');
process.exit(failures ? 1 : 0);
