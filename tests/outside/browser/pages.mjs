// What a reader sees and does on pages of a scorecard, a simulation, comparisons, a replay, a sweep, a search, a study
// and a run.
//   node pages.mjs CHROMIUM FOLDER   with validation.html, simulation.html, compare.html, recorded.html, replay.html,
//                                    sweep.html, plan.html and run.html in FOLDER
import {readFileSync} from 'node:fs';
import {open} from './browser.mjs';
import {manners} from './manners.mjs';

const [program, folder] = process.argv.slice(2);
const slowest = 12_000;  // milliseconds to open: generous, since machines of tests are busy
let failures = 0;
const check = (holds, what, seen = '') => {
  if (holds) return;
  ++failures;
  console.log(`FAILED: ${what}`, seen);
};

// How many colours a canvas has, coarsely; one that nothing was drawn on has one.
const colours = selector => `(() => {
  const canvas = document.querySelector(${JSON.stringify(selector)});
  const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height), seen = new Set();
  for (let i = 0; i < data.length; i += 4) seen.add(data[i + 3] < 128 ? 'none' : (data[i] >> 4) * 256 + (data[i + 1] >> 4) * 16 + (data[i + 2] >> 4));
  return seen.size;
})()`;
// The share of its pixels that are neither grey nor pale: marks, not lines and letters.
const marked = selector => `(() => {
  const canvas = document.querySelector(${JSON.stringify(selector)});
  const {data} = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
  let marks = 0;
  for (let i = 0; i < data.length; i += 4) {
    if (data[i + 3] > 128 && Math.max(data[i], data[i + 1], data[i + 2]) - Math.min(data[i], data[i + 1], data[i + 2]) > 50) ++marks;
  }
  return marks / (data.length / 4);
})()`;
const place = selector => `(() => {
  const element = document.querySelector(${JSON.stringify(selector)});
  element.scrollIntoView({block: 'center', behavior: 'instant'});
  const {left, top, width, height} = element.getBoundingClientRect();
  return {left, top, width, height};
})()`;
const text = selector => `document.querySelector(${JSON.stringify(selector)}).textContent`;
const click = selector => `document.querySelector(${JSON.stringify(selector)}).click()`;

const browser = await open(program, folder + '/profile');

const opened = async (name, options) => {
  const page = await browser.page(`file://${folder}/${name}.html`, options);
  await page.until('document.documentElement.dataset.drawnMs');
  const drawn = Number(await page.value('document.documentElement.dataset.drawnMs'));
  check(drawn < slowest, `${name} is on the screen in ${slowest} ms`, drawn);
  const faults = await page.value(manners);
  check(faults.length === 0, `manners of ${name} ${JSON.stringify(options)}`, faults.join('\n'));
  return {...page, drawn};
};
const content = name => JSON.parse(readFileSync(`${folder}/${name}.html`, 'utf8').match(/id="data">(.*?)<\/script>/s)[1]);

for (const options of [{width: 1280}, {width: 500}, {width: 500, dark: true}]) { // A scorecard.
  const page = await opened('validation', options), tall = () => page.value('document.documentElement.scrollHeight');
  check(await page.value(marked('#all canvas')) > 0.001, 'predictions are drawn over measurements');
  check(await page.value('document.querySelectorAll("#rows tbody tr").length') === 40, 'every row is there');
  const folded = await tall();
  check(folded < 6500, 'sets are behind a line each', folded);
  await page.value('document.querySelector("details.set summary").focus()');
  await page.key('Enter');
  await page.until('document.querySelector("details.set canvas")');
  check(await tall() > folded, 'a set opens with its chart');
  check(page.complaints.length === 0, 'no complaint', page.complaints.join('\n'));
}

{ // A simulation.
  const page = await opened('simulation', {width: 1280});
  const slices = content('simulation').timeline.stages.flatMap(stage => stage.lanes).reduce((sum, lane) => sum + lane.gap.length, 0);
  console.log(`simulation: ${slices} slices, ${page.drawn} ms`);
  check(slices >= 50_000, 'the timeline is a long one', slices);
  check(await page.value(marked('.timeline canvas')) > 0.1, 'the timeline is drawn');
  check(await page.value(marked('#memory-chart canvas')) > 0.001, 'memory is drawn');
  check(await page.value(marked('#links-chart canvas')) > 0.001, 'links are drawn');
  check(await page.value(marked('#roofline-chart canvas')) > 0.001, 'kernels are drawn under their rooflines');
  check(await page.value(colours('#partners-chart .matrix canvas')) > 4, 'the matrix is drawn');
  check(await page.value(colours('#fabric-charts .matrix canvas')) > 4, 'the map of the network is drawn');
  check(await page.value('document.querySelectorAll("#fabric-charts figure").length') === content('simulation').fabric.matrices.length,
    'with a matrix for each part of it');
  await page.value('document.querySelector("#fabric-charts .matrix canvas").focus()');
  await page.key('ArrowRight');
  check(/^NIC 0, node 0: [\d.]+ %, in [\d.]+ %, [\d,]+ B over 1 link; out [\d.]+ %/.test(
    await page.value(text('#fabric-charts .readout'))), 'its cells are told', await page.value(text('#fabric-charts .readout')));
  check(await page.value('document.querySelectorAll("#links tbody tr").length') > 8, 'links are told by name');
  check(await page.value('document.querySelectorAll(".bars .bar").length') === 5, 'a bar for each stage and for all');
  const sums = await page.value(`[...document.querySelectorAll('.bars .bar')].map(bar =>
    [...bar.children].reduce((sum, part) => sum + parseFloat(part.style.width), 0))`);
  check(sums.every(sum => Math.abs(sum - 100) < 0.1), 'parts of each bar are the whole step', sums);

  const view = () => page.value('document.querySelector(".timeline canvas").view()');
  const box = await page.value(place('.timeline canvas')), middle = [box.left + box.width / 2, box.top + 36];
  const whole = await view();
  await page.mouse('mouseWheel', ...middle, {deltaX: 0, deltaY: -400});
  await page.until('document.querySelector(".timeline canvas").view().to < ' + whole.to);
  const closer = await view();
  check(closer.to - closer.from < 0.6 * (whole.to - whole.from), 'the wheel zooms in', closer);
  await page.drag(middle[0] - 100, middle[1], middle[0] + 100, middle[1]);
  const ranged = await view();
  check(ranged.to - ranged.from < 0.3 * (closer.to - closer.from), 'a drag chooses a range', ranged);
  const axis = (await page.value(place('.timeline canvas'))).top + 8;  // anew: what is told below it moves the page
  await page.drag(middle[0], axis, middle[0] - 150, axis);
  const panned = await view();
  check(panned.from > ranged.from && Math.abs(panned.to - panned.from - ranged.to + ranged.from) < 2, 'a drag on the axis pans', panned);
  await page.value('document.querySelector(".timeline canvas").focus()');
  await page.key('0');
  check((await view()).to - (await view()).from === whole.to, '0 shows all');
  await page.key('+');
  check((await view()).to - (await view()).from < 0.6 * whole.to, '+ zooms in');
  const before = await view();
  await page.key('ArrowRight');
  check((await view()).from > before.from, 'an arrow pans');
  await page.key('ArrowDown');
  await page.key('.');
  check((await view()).chosen !== null, 'the keyboard reaches a slice');
  check(/takes .*micro-batch \d+/.test(await page.value(text('#timeline-chart .readout'))), 'and hears what it is');
  for (let x = 200; x < 1200; x += 7) {
    await page.mouse('mouseMoved', x, middle[1]);
    if (!await page.value('document.querySelector(".timeline .tip").hidden')) break;
  }
  check(/begins.*takes/.test(await page.value(text('.timeline .tip'))), 'the pointer hears what is below it');
  // As many digits as the view tells apart: milliseconds of seconds, parts of microseconds of microseconds.
  const beginsAt = async span => {
    const {from, end} = await view();
    await page.value(`document.querySelector('.timeline canvas').show(${from}, ${from + span})`);
    for (let x = 200; x < 1200; x += 3) {
      await page.mouse('mouseMoved', x, middle[1]);
      if (await page.value('!document.querySelector(".timeline .tip").hidden')) break;
    }
    const told = (await page.value(text('.timeline .tip'))).match(/begins([\d,.]+ m?u?s)takes/)?.[1];
    await page.value(`document.querySelector('.timeline canvas').show(0, ${end})`);
    return told;
  };
  check(/^[\d,]+\.\d{3} s$/.test(await beginsAt(20e9)), 'of seconds, milliseconds are told', await beginsAt(20e9));
  check(/^[\d,]+\.\d us$/.test(await beginsAt(300e3)), 'of microseconds, their tenths', await beginsAt(300e3));
  const links = await page.value(`(() => { const canvas = document.querySelector('.timeline canvas'); return canvas.links(); })()`);
  check(links.length > 1, 'links are below the stages', links);
  let used = '';
  for (let x = 200; x < 1200 && !/used/.test(used); x += 7) {
    await page.mouse('mouseMoved', x, box.top + links[0].y + 10);
    used = await page.value(text('.timeline .tip'));
  }
  check(/^[a-z_.x\d]+used[\d.]+ %from.*until/.test(used), 'links tell how busy they are', used);
  const lanesOf = () => page.value('document.querySelector(".timeline canvas").height');
  const tall = await lanesOf();
  await page.value(`document.querySelector('.stages').open = true, document.querySelector('.stages input').click()`);
  check(await lanesOf() < tall, 'a stage is taken away', [tall, await lanesOf()]);
  check(/^Stages: 3 of \d+ shown$/.test(await page.value(text('.stages summary'))), 'and told', await page.value(text('.stages summary')));
  await page.value(`document.querySelector('.stages input').click()`);
  check(await lanesOf() === tall, 'and put back');
  const fromTable = await page.value(`document.querySelector('#timeline-chart details.data').open = true,
    new Promise(done => setTimeout(() => done(document.querySelectorAll('#timeline-chart tbody tr').length), 100))`);
  check(fromTable > 8, 'the lanes are in a table, too', fromTable);
  const memory = await page.value(place('#memory-chart .u-over'));
  await page.mouse('mouseMoved', memory.left + memory.width / 2, memory.top + memory.height / 2);
  await page.until('!document.querySelector("#memory-chart .tip").hidden');
  check(/^time .*stage 0.*GiB/.test(await page.value(text('#memory-chart .tip'))), 'a chart tells its values');
  await page.value(click('#communication th button'));
  check(await page.value('document.querySelector("#communication th").ariaSort') === 'ascending', 'a table is sorted');
  check(page.complaints.length === 0, 'no complaint', page.complaints.join('\n'));
  await page.print(`${folder}/simulation.pdf`);
  const pdf = readFileSync(`${folder}/simulation.pdf`, 'latin1');
  check((pdf.match(/\/Type \/Page\b/g) ?? []).length >= 3, 'it goes on paper');
}
for (const options of [{width: 1400, dark: true}, {width: 900, still: true}, {width: 420}]) {
  const page = await opened('simulation', options);
  check(await page.value(marked('.timeline canvas')) > 0.1, 'the timeline is drawn', options);
  check(page.complaints.length === 0, 'no complaint', page.complaints.join('\n'));
  const ground = await page.value('getComputedStyle(document.body).backgroundColor');
  check((ground === 'rgb(255, 255, 255)') !== Boolean(options.dark), 'the scheme is followed', ground);
}

{ // A comparison.
  const page = await opened('compare', {width: 1280});
  const views = () => page.value('[...document.querySelectorAll(".timeline canvas")].map(canvas => canvas.view())');
  check((await views()).length === 2, 'a timeline for each job');
  const [{end}] = await views();
  check(content('compare').jobs.every(job => job.timeline.until <= end), 'the longer step is the whole axis');
  await page.value('document.querySelectorAll(".timeline canvas")[1].focus()');
  await page.key('+');
  await page.key('ArrowRight');
  const [first, second] = await views();
  check(first.to - first.from < 0.6 * end && first.from === second.from && first.to === second.to, 'both are zoomed together', [first, second]);
  check(await page.value('document.querySelectorAll(".diverging span").length') > 2, 'differences have bars');
  check(page.complaints.length === 0, 'no complaint', page.complaints.join('\n'));
}
for (const options of [{width: 500}, {width: 500, dark: true}]) {
  const page = await opened('compare', options);
  check(await page.value(marked('.timeline canvas')) > 0.02, 'timelines are drawn', options);
  check(page.complaints.length === 0, 'no complaint', page.complaints.join('\n'));
}

for (const options of [{width: 1280}, {width: 500, dark: true}]) { // A recorded step beside a simulated one, twice.
  const page = await opened('recorded', options);
  const views = () => page.value('[...document.querySelectorAll(".timeline canvas")].map(canvas => canvas.view())');
  check((await views()).length === 4, 'two timelines for each trace');
  const longest = content('recorded').jobs[0].timeline.until;  // much shorter than what is simulated
  await page.value(`document.querySelector('.timeline canvas').show(0, ${longest})`);
  await page.value('new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))');
  check(await page.value(marked('.timeline canvas')) > 0.001, 'recorded kernels are drawn', options);
  await page.value('document.querySelector(".timeline canvas").show(0, 1e18)');
  check(await page.value('document.querySelectorAll("details.set")[1].open') === false, 'further traces are behind a line');
  await page.value('document.querySelectorAll(".timeline canvas")[0].focus()');
  await page.key('+');
  const [recorded, simulated, other] = await views();
  check(recorded.to - recorded.from < 0.6 * recorded.end && recorded.from === simulated.from && recorded.to === simulated.to,
    'both sides are zoomed together', [recorded, simulated]);
  check(other.to === other.end, 'and not those of another trace', other);
  await page.key('0');
  await page.key('ArrowDown');
  await page.key('.');
  check(/class .*pass .*launched by aten/.test(await page.value(text('#timeline-0 .readout'))), 'the keyboard hears of a kernel',
    await page.value(text('#timeline-0 .readout')));
  check(page.complaints.length === 0, 'no complaint', page.complaints.join('\n'));
}

for (const options of [{width: 1280}, {width: 500, dark: true}]) { // A replay.
  const page = await opened('replay', options);
  check(await page.value(marked('.timeline canvas')) > 0.02, 'what ranks do is drawn', options);
  check(await page.value(text('.stages summary')) === 'Ranks: 2 of 2 shown', 'ranks are chosen', await page.value(text('.stages summary')));
  check(await page.value('document.querySelectorAll(".bars .bar").length') === 3, 'a bar for each rank and for all');
  await page.value('document.querySelector(".timeline canvas").focus()');
  await page.key('ArrowDown');
  await page.key('.');
  check(/takes .*operation point_to_point, group 2 ranks, message 64 B/.test(await page.value(text('#timeline-0 .readout'))),
    'the keyboard hears of a call', await page.value(text('#timeline-0 .readout')));
  check(page.complaints.length === 0, 'no complaint', page.complaints.join('\n'));
}

{ // A sweep.
  const page = await opened('sweep', {width: 1280}), told = content('sweep');
  console.log(`sweep: ${told.values[0].length} rows, ${page.drawn} ms`);
  const rows = () => page.value('document.querySelectorAll("#rows tbody tr").length');
  const cells = column => page.value(`[...document.querySelectorAll('#rows tbody tr')].map(row => row.cells[${column}].textContent)`);
  check(await rows() === 2000, 'every row is there', await rows());
  check((await page.value(text('h1'))).startsWith('</script><img'), 'a name stays a text');
  check(await page.value('document.querySelectorAll("main img, body > img").length') === 0, 'and makes no element');
  check(await page.value(marked('#lines canvas')) > 0.001, 'lines are drawn');
  check(await page.value(colours('#map .matrix canvas')) > 20, 'the heat map is drawn');
  await page.value(click('#rows th:nth-child(5) button'));
  await page.value(click('#rows th:nth-child(5) button'));
  const times = told.values[4].filter(value => value !== null), slow = Math.max(...times);
  const first = parseFloat((await cells(4))[0]);
  check(Math.abs(first - slow) < 0.01 * slow, 'the slowest comes first', first);
  check((await cells(4))[1999] === '', 'rows without a result come last');
  const filter = `const select = [...document.querySelectorAll('#rows select')][2]; select.value = '1'; select.dispatchEvent(new Event('change'))`;
  await page.value(`(() => { ${filter} })()`);
  check(await rows() === 1000 && new Set(await cells(2)).size === 1, 'a key is filtered by', await rows());
  await page.value(`(() => { const box = document.querySelector('#rows input[type=search]'); box.value = 'NOT FIT'; box.dispatchEvent(new Event('input')); })()`);
  check(await rows() === told.values[9].filter((why, row) => why && told.values[2][row] === 'gpipe').length, 'words filter', await rows());
  const title = await page.value(text('#lines figcaption'));
  await page.value(`(() => { const select = document.querySelector('#metric select'); select.value = '2'; select.dispatchEvent(new Event('change')); })()`);
  check(await page.value(text('#lines figcaption')) !== title, 'another metric is drawn');
  // Lengths and MFU: 512 to 10,240 crosses a decade, 0.19 to 0.29 does not; times do.
  const axes = () => page.value('(({x, y}) => [x.distr, y.distr])(document.querySelector("#lines .chart").plot.scales)');
  const metric = name => page.value(`(() => { const select = document.querySelector('#metric select');
    select.value = [...select.options].find(option => option.textContent === '${name}').value; select.dispatchEvent(new Event('change')); })()`);
  await metric('throughput_mfu');
  check(JSON.stringify(await axes()) === '[3,1]', 'an axis that crosses a decade is logarithmic', await axes());
  await metric('step_time_s');
  check(JSON.stringify(await axes()) === '[3,3]', 'of results, too', await axes());
  await page.value(click('#lines input[type=checkbox]'));
  check(JSON.stringify(await axes()) === '[1,3]', 'the axis becomes linear', await axes());
  await page.value(click('#lines .legend button'));
  check(await page.value('document.querySelector("#lines .chart").plot.series[1].show') === false, 'a line is hidden');
  await page.value('document.querySelector("#lines .chart").focus()');
  await page.key('ArrowRight');
  check(/batch.sequence 512: /.test(await page.value(text('#lines .readout'))), 'the keyboard hears the first point');
  const box = await page.value(place('#map .matrix canvas'));
  await page.mouse('mouseMoved', box.left + box.width - 20, box.top + box.height - 20);
  check(/does not fit/.test(await page.value(text('#map .tip'))), 'an empty cell tells why');
  check(/150/.test(await page.value(text('#reasons tbody td'))), 'reasons are counted', await page.value(text('#reasons tbody td')));
  check(page.complaints.length === 0, 'no complaint', page.complaints.join('\n'));
}

for (const name of ['sweep', 'plan']) await opened(name, {width: 420, dark: true});

{ // A search. Columns: 5 memory, 6 screened and 7 simulated time.
  const page = await opened('plan', {width: 1280}), {values} = content('plan');
  const rows = values[0].map((_, i) => i);
  check(rows.every(i => values[6][i] !== null), 'candidates without a time are not kept');
  const simulated = rows.filter(i => values[7][i] !== null), beats = (j, i) => values[7][j] <= values[7][i] &&
    values[5][j] <= values[5][i] && (values[7][j] < values[7][i] || values[5][j] < values[5][i]);
  const front = simulated.filter(i => !simulated.some(j => beats(j, i)));
  const buttons = await page.value('[...document.querySelectorAll("#front .legend button")].map(button => button.textContent)');
  const unsimulated = rows.filter(i => values[7][i] === null), betters = (j, i) => values[6][j] <= values[6][i] &&
    values[5][j] <= values[5][i] && (values[6][j] < values[6][i] || values[5][j] < values[5][i]);
  const unbeaten = unsimulated.filter(i => !unsimulated.some(j => betters(j, i)));
  check(JSON.stringify(buttons) === JSON.stringify([`screened only (${unsimulated.length - unbeaten.length})`,
    `screened, unbeaten by others of them (${unbeaten.length})`, `simulated (${simulated.length - front.length})`, `front (${front.length})`]), 'the front is what nothing beats', buttons);
  check(await page.value(marked('#front canvas')) > 0.001, 'candidates are drawn');
  await page.value('document.querySelector("#front .chart").focus()');
  await page.key('ArrowRight');
  check(/1 of .* on the front: layout.tensor/.test(await page.value(text('#front .readout'))), 'the keyboard goes along the front');
  check(/layout.tensor/.test(await page.value(text('#front .tip'))), 'and the layout is shown');
  await page.value(click('#front input[type=checkbox]'));
  check(await page.value('document.querySelector("#front .chart").plot.scales.x.distr') === 3, 'the axis becomes logarithmic');
  const best = await page.value('document.querySelector("#rows tbody tr").textContent');
  check(best.includes(Math.min(...simulated.map(i => values[7][i])).toFixed(1) + ' s'), 'the best comes first', best);
  check(await page.value('[...document.querySelectorAll("#rows select")].find(select => select.value === "simulated") !== undefined'), 'simulated candidates stand apart');
  check(await page.value('document.querySelectorAll("#rows tbody tr").length') === simulated.length, 'and no other is among them');
  // Below the front in closed form alone: told in words, counted here again.
  const beatenAt = (i, time) => front.some(j => values[7][j] <= time && values[5][j] <= values[5][i]);
  const screened = rows.filter(i => values[7][i] === null), beyond = screened.filter(i => !beatenAt(i, values[6][i])).length;
  const told = await page.value(text('#front .beyond'));
  check(told.startsWith(beyond === 0 ? 'No candidate' : `${beyond} that were only screened`), 'screened candidates beyond the front are told', [beyond, told]);
  check(/erred by 2.0 % on average/.test(told), 'with how far to trust them', told);
  await page.value('document.querySelector("#rows tbody button").focus()');
  await page.key('Enter');
  check(await page.value('document.querySelector("dialog").open'), 'a row opens its job');
  check(/"name": "\d+"/.test(await page.value(text('dialog pre'))) && /script/.test(await page.value(text('dialog pre:last-of-type'))), 'with what launches it', await page.value(text('dialog')));
  await page.value(click('dialog .controls button'));
  await page.until('/^(Copied|Selected): Job/.test(document.querySelector("dialog [role=status]").textContent)');
  await page.value('[...document.querySelectorAll("dialog button")].at(-1).click()');
  check(!await page.value('document.querySelector("dialog").open'), 'and closes');
  check(page.complaints.length === 0, 'no complaint', page.complaints.join('\n'));
}
for (const options of [{width: 1280}, {width: 360, dark: true}]) { // Messages, and jobs that share a machine.
  const page = await opened('traffic', options);
  check(await page.value(colours('#map .matrix canvas')) > 3, 'sources and destinations are drawn');
  check(page.complaints.length === 0, 'no complaint', page.complaints.join('\n'));
  const shared = await browser.page(`file://${folder}/share.html`, options);  // which draws nothing by script
  await shared.until('document.readyState === "complete"');
  const faults = await shared.value(manners);
  check(faults.length === 0, `manners of share ${JSON.stringify(options)}`, faults.join('\n'));
  check(await shared.value('document.querySelectorAll(".bars .bar").length') === 3, 'a bar per job, and one of all');
  check(shared.complaints.length === 0, 'no complaint', shared.complaints.join('\n'));
}
for (const options of [{width: 1280}, {width: 360, dark: true}]) { // A run, on a phone as well.
  const page = await opened('run', options);
  check(await page.value(marked('#distribution canvas')) > 0.001, 'a distribution is drawn');
  check(await page.value(`/run time: all runs within 0.\\d+ %/.test(document.querySelector('#distribution ul').textContent)`), 'what hardly differs is told in words');
  const parts = await page.value(`[...document.querySelectorAll('.bars .bar')].map(bar =>
    [...bar.children].reduce((sum, part) => sum + parseFloat(part.style.width), 0))`);
  check(parts.length === 2 && parts.every(sum => Math.abs(sum - 100) < 0.01), 'parts are the whole run, and all that is lost', parts);
  check(page.complaints.length === 0, 'no complaint', page.complaints.join('\n'));
}
await browser.close();
process.exit(failures ? 1 : 0);
