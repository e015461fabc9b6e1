// Step time and memory of candidates: those that were simulated with the front of those that no other beats in both,
// and beside them those that were only screened, in closed form, the best of these with bars as far as screening may err.
const simulatedTime = columnNamed('step_time_s'), screenedTime = columnNamed('screened_time_s');
const memory = columnNamed('memory_peak_bytes');
const host = document.getElementById('front');
const isNumber = (column, row) => Number.isFinite(column?.values[row]);
const isSimulated = row => isNumber(simulatedTime, row);
const timeOf = row => isSimulated(row) ? simulatedTime.values[row] : screenedTime?.values[row];
const drawn = allRows.filter(row => Number.isFinite(timeOf(row)) && isNumber(memory, row))
  .sort((a, b) => timeOf(a) - timeOf(b) || memory.values[a] - memory.values[b]);

// By time, each with less memory than all before it.
const frontOf = rows => {
  let least = Infinity;
  return rows.filter(row => {
    if (memory.values[row] >= least) return false;
    least = memory.values[row];
    return true;
  });
};

if (drawn.length === 0) {
  host.append(element('p', {className: 'quiet', textContent: 'No candidate has both a step time and a memory.'}));
} else {
  const simulated = drawn.filter(isSimulated), front = frontOf(simulated), isFront = new Set(front);
  const wordsOf = column => column.name.replace(/_(s|bytes)$/, '').replaceAll('_', ' ');
  const {mean_error: meanError, largest_error: largestError} = data.screening;
  // What a screened time may be when it is simulated, as far as screening erred in any simulation.
  const soonest = row => timeOf(row) / (1 + largestError), latest = row => timeOf(row) / (1 - Math.min(largestError, 0.9));
  const facts = row => [[isSimulated(row) ? 'step time' : 'step time, screened', timeText(timeOf(row))],
    ...(isSimulated(row) || largestError === 0 ? [] : [['may be', `${timeText(soonest(row))} to ${timeText(latest(row))}`]]),
    ['memory', valueText(memory, row)],
    ...['throughput_model_tflops_per_gpu', 'step_exposed_communication_s', 'step_bubble_s'].map(columnNamed)
      .filter(column => isNumber(column, row)).map(column => [wordsOf(column), valueText(column, row)]),
    ...noteColumns.filter(column => column.values[row]).map(column => [column.name, valueText(column, row)])];
  const html = row => `<b>${escaped(layoutText(row))}</b><table>` + facts(row).map(([name, value]) =>
    `<tr><td>${escaped(name)}</td><td>${escaped(value)}</td></tr>`).join('') + '</table>';
  // The nearest candidate within 24 pixels, by both axes; what is hidden is not found.
  const hover = (u, tip) => {
    const {left, top} = u.cursor;
    if (left < 0) return tip.hide();
    let near = null, distance = 24 ** 2;
    drawn.forEach((row, i) => {
      const series = u.series.findIndex((one, s) => s > 0 && one.show && u.data[s][i] !== null);
      if (series < 0) return;
      const x = u.valToPos(u.data[0][i], 'x'), y = u.valToPos(u.data[series][i], 'y');
      const away = (x - left) ** 2 + (y - top) ** 2;
      if (away < distance) { near = {row, x, y}; distance = away; }
    });
    if (near) tip.show(near.x + u.over.offsetLeft, near.y, html(near.row)); else tip.hide();
  };
  const kinds = [
    {name: 'screened only', of: row => !isSimulated(row) && !unbeaten.has(row), pointsOnly: true, size: 3, colour: 'bubble'},
    {name: 'screened, unbeaten by others of them', of: row => unbeaten.has(row), pointsOnly: true, size: 6, colour: 'series-2', hollow: true},
    {name: 'simulated', of: row => isSimulated(row) && !isFront.has(row), pointsOnly: true, size: 7, colour: 'series-0'},
    {name: 'front', of: row => isFront.has(row), stepped: true, size: 9, colour: 'series-1', dash: []}];
  // Candidates that were not simulated are not on the front, whatever their closed form says; that is told in words.
  const beaten = (row, time) => front.some(other => timeOf(other) <= time && memory.values[other] <= memory.values[row]);
  const screened = drawn.filter(row => !isSimulated(row)), unbeaten = new Set(frontOf(screened));
  const beyond = screened.filter(row => !beaten(row, timeOf(row))), open = screened.filter(row => !beaten(row, soonest(row)));
  const words = () => {
    if (screened.length === 0) return '';
    if (front.length === 0) return 'No candidate was simulated: all times are in closed form.';
    const erred = `Screening erred by ${percentText(meanError)} on average and ${percentText(largestError)} at most where both are known.`;
    const where = beyond.length === 0 ? 'No candidate that was only screened lies beyond the front.'
      : `${grouped(beyond.length)} that were only screened lie beyond the front in closed form; they were not simulated, so they count for nothing on it.`;
    const more = open.length === 0 ? ' None can, as far as screening errs.'
      : ` As far as screening errs, ${grouped(open.length)} may.`;
    return `${where}${more} ${erred} That far reach the bars.`;
  };
  const errorBars = u => {
    const s = u.series.findIndex(one => one.label?.startsWith('screened, unbeaten'));
    if (s < 0 || !u.series[s].show || largestError === 0) return;
    const {ctx, bbox} = u;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.strokeStyle = colour('series-2');
    ctx.lineWidth = devicePixelRatio || 1;
    ctx.beginPath();
    drawn.forEach((row, i) => {
      if (u.data[s][i] === null) return;
      const y = Math.round(u.valToPos(u.data[s][i], 'y', true)) + 0.5, time = u.data[0][i] / timeOf(row);
      ctx.moveTo(u.valToPos(soonest(row) * time, 'x', true), y);
      ctx.lineTo(u.valToPos(latest(row) * time, 'x', true), y);
    });
    ctx.stroke();
    ctx.restore();
  };
  const logTime = element('input', {type: 'checkbox'}), logMemory = element('input', {type: 'checkbox'});
  const plot = element('div');
  const draw = () => {
    const made = chart(plot, {title: 'Memory of the fullest rank over step time', height: 420, hover, drawn: errorBars, pad: true, noTable: true,
      x: {label: 'step time', unit: 's', values: drawn.map(timeOf), log: logTime.checked},
      y: {label: 'memory', unit: 'B', zero: false, log: logMemory.checked},
      series: kinds.filter(kind => drawn.some(kind.of)).map(kind => ({...kind, points: true,
        name: `${kind.name} (${grouped(drawn.filter(kind.of).length)})`,
        values: drawn.map(row => kind.of(row) ? memory.values[row] : null)}))});
    // The keyboard goes along the front, which is what a reader looks for.
    let shown = -1;
    made.box.addEventListener('keydown', event => {
      const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
      if (!step || front.length === 0) return;
      event.stopImmediatePropagation();
      event.preventDefault();
      shown = Math.max(0, Math.min(front.length - 1, shown + step));
      const row = front[shown], u = made.plot, place = u.data[u.data.length - 1][drawn.indexOf(row)];
      u.setCursor({left: u.valToPos(u.data[0][drawn.indexOf(row)], 'x'), top: u.valToPos(place, 'y')});
      made.readout.textContent = `${shown + 1} of ${front.length} on the front: ${layoutText(row)}; ` +
        facts(row).map(([name, value]) => `${name} ${value}`).join(', ');
    }, true);
  };
  for (const box of [logTime, logMemory]) box.addEventListener('change', draw);
  host.append(element('div', {className: 'controls'}, label('logarithmic time', logTime), label('logarithmic memory', logMemory)),
    plot, element('p', {className: 'beyond', textContent: words()}), dataTable('The front as a table', ['layout', 'step time', 'memory'],
      () => front.map(row => [layoutText(row), valueText(simulatedTime, row), valueText(memory, row)])));
  draw();
}
// Of a simulated candidate its job and what launches it; of the others, what simulates them.
const openTexts = copiedTexts();
const assignments = row => keyColumns.filter(column => column.values[row] !== 'as the job has it')
  .map(column => `--set '${column.name}=${column.values[row]}'`).join(' ');
const textsOf = row => {
  const files = data.files[row];
  if (!files) return [{name: 'What simulates it', text: `${data.simulate} ${assignments(row)}`},
    {name: 'It was only screened: jobs and launch lines are kept of simulated candidates.'}];
  return [{name: 'Job', text: files.job, file: 'job.json'}, files.format
    ? {name: `What launches it (weft export --format ${files.format})`, text: files.launch, file: `launch-${files.format}.txt`}
    : {name: `No format can launch it: ${files.launch}`}];
};
resultTable(document.getElementById('rows'), {sortedBy: simulatedTime, first: [simulatedTime, screenedTime, memory],
  groups: {name: 'Candidates', names: ['simulated', 'screened only'], of: row => isSimulated(row) ? 'simulated' : 'screened only'},
  opens: {name: 'Job', label: row => `Job of ${layoutText(row)}`, open: row => openTexts(layoutText(row), textsOf(row))}});
tellWhenDrawn();
