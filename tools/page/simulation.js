// The charts of a simulated step.
const seconds = list => list.map(time => time / 1e9);

// Series with times of their own over all times together: null where a series has no point.
const joined = (series, valuesOf) => {
  const times = [...new Set(series.flatMap(one => one.at))].sort((a, b) => a - b);
  const index = new Map(times.map((time, i) => [time, i]));
  return {times, series: series.map(one => {
    const values = new Array(times.length).fill(null);
    one.at.forEach((time, i) => { values[index.get(time)] = valuesOf(one)[i]; });
    return {name: one.name, values};
  })};
};
// A stepped line holds its last value until the end of the step.
const heldUntil = (series, end) => {
  for (const one of series) {
    const values = one.bytes ?? one.share;
    one.at.push(end);
    values.push(values[values.length - 1]);
  }
  return series;
};

timeline(document.getElementById('timeline-chart'), data.timeline);

{
  const {times, series} = joined(heldUntil(data.memory.series, data.end), one => one.bytes);
  const peak = data.memory.series.reduce((most, one) => Math.max(most, ...one.bytes), 0);
  if (peak * 2 > data.memory.capacity) {
    const values = times.map((_, i) => i === 0 || i === times.length - 1 ? data.memory.capacity : null);
    series.push({name: 'device memory', values, colour: 'bad', dash: [6, 4], width: 1.5});
  }
  chart(document.getElementById('memory-chart'), {title: 'Memory in use over the step', stepped: true, height: 280,
    x: {label: 'time', unit: 's', values: seconds(times)}, y: {label: 'memory of a rank', unit: 'B'}, series});
}

if (data.timeline.links.length) {
  const shown = data.timeline.links.slice(0, 8);
  const {times, series} = joined(heldUntil(shown, data.end), one => one.share);
  for (const one of series) one.values = one.values.map(share => share === null ? null : 100 * share);
  chart(document.getElementById('links-chart'), {title: 'Utilization over the step, mean over the links of a class',
    stepped: true, height: 260, x: {label: 'time', unit: 's', values: seconds(times)},
    y: {label: 'utilization', unit: '%'}, series: series.map((one, s) => ({...one, width: 1.25, show: s < 4}))});
}

const partnersHost = document.getElementById('partners-chart');
if (partnersHost && data.partners.dimensions.length) {
  const {cells, ranks_per_cell: each, dimensions} = data.partners;
  const matrices = dimensions.map(({pairs}) => {
    const matrix = new Float64Array(cells * cells);
    for (let i = 0; i < pairs.length; i += 3) matrix[pairs[i] * cells + pairs[i + 1]] = pairs[i + 2];
    return matrix;
  });
  const all = new Float64Array(cells * cells);
  for (const matrix of matrices) matrix.forEach((bytes, i) => { all[i] += bytes; });
  const names = Array.from({length: cells}, (_, i) => each === 1 ? String(i) : `${i * each}\u2013${(i + 1) * each - 1}`);
  const dimension = choice([['all', 'all dimensions'], ...dimensions.map(({name}, i) => [String(i), name])], 'all');
  const host = element('div');
  const draw = () => {
    const matrix = dimension.value === 'all' ? all : matrices[dimension.value];
    heatMap(host, {title: each === 1 ? 'Bytes from rank to rank' : `Bytes between blocks of ${each} ranks`,
      rows: {label: each === 1 ? 'from rank' : 'from ranks', names}, columns: {label: each === 1 ? 'to rank' : 'to ranks', names},
      value: (r, c) => matrix[r * cells + c] || null, text: bytesText, log: true, cell: cells > 64 ? 5 : cells > 24 ? 10 : 28,
      noTable: cells > 64});
  };
  dimension.addEventListener('change', draw);
  partnersHost.append(element('div', {className: 'controls'}, label('Dimension', dimension)), host,
    dataTable('Sums as a table', ['dimension', each === 1 ? 'pairs of ranks' : 'pairs of blocks', 'bytes of all together'],
      () => dimensions.map(({name, pairs}) => [name, grouped(pairs.length / 3),
        bytesText(pairs.reduce((sum, part, i) => i % 3 === 2 ? sum + part : sum, 0))])));
  draw();
}
// Of a matrix of links: a cell's value is that of its busiest link, whichever way it leads.
const fabricMatrix = ({title, rows, columns, row, column, ways}) => {
  const coarse = [[rows, 'row'], [columns, 'column']].filter(([side]) => side.per_cell > 1)
    .map(([side, name]) => `${side.per_cell} to a ${name}`);
  const wide = columns.names.length, cell = new Map(row.map((r, i) => [r * wide + column[i], i]));
  const at = (r, c) => cell.get(r * wide + c);
  const told = (way, i) => `${way.name ? way.name + ' ' : ''}${(100 * way.busiest[i]).toFixed(2)} %, ` +
    `${grouped(way.bytes[i])} B over ${way.links[i]} ${way.links[i] === 1 ? 'link' : 'links'}`;
  const host = element('div'), size = wide > 32 ? 10 : wide > 12 ? 20 : 52;
  Object.assign(host.style, {flex: `1 1 ${Math.max(300, 80 + size * wide)}px`, maxWidth: '100%'});
  heatMap(host, {title: title + (coarse.length ? ` (${coarse.join(', ')})` : ''), rows, columns,
    value: (r, c) => at(r, c) === undefined ? null : Math.max(...ways.map(way => way.busiest[at(r, c)])),
    text: percentText, detail: (r, c) => ways.map(way => told(way, at(r, c))).join('; '), none: 'no links',
    cell: size, high: rows.names.length > 16 ? undefined : 20, from: 0, noTable: wide > 32});
  return host;
};
const fabricHost = document.getElementById('fabric-charts');
fabricHost.append(...data.fabric.matrices.map(fabricMatrix));
if (data.fabric.idle.length) {
  fabricHost.after(element('p', {className: 'quiet', textContent: `Nothing was carried: ${data.fabric.idle.join('; ')}.`}));
}

// A dot per class of kernels under the roofs of the device: what its data sheet says, and what it sustains.
const rooflineHost = document.getElementById('roofline-chart');
if (rooflineHost) {
  const {device, peak_flops_per_s: peak, memory_bytes_per_s: memory, ...own} = data.rooflines;
  const kernels = device.filter(({flops, memory_bytes: bytes, time_s: time}) => flops > 0 && bytes > 0 && time > 0);
  const roofs = [['data sheet', peak, memory, []], ['sustained', own.sustained_flops_per_s, own.sustained_memory_bytes_per_s, [5, 3]]];
  const intensity = ({flops, memory_bytes: bytes}) => flops / bytes;
  const bends = roofs.map(([, flops, bytes]) => flops / bytes), all = [...kernels.map(intensity), ...bends];
  const at = [...new Set([Math.min(...all) * 0.7, ...all, Math.max(...all) * 1.4])].sort((a, b) => a - b);
  const longest = Math.max(...kernels.map(one => one.time_s));
  if (kernels.length) chart(rooflineHost, {title: 'Rates of kernels under the rooflines of the device', height: 360,
    x: {label: 'FLOP per byte of memory', unit: '', values: at, log: true}, y: {label: 'rate', unit: 'TFLOP/s', log: true},
    series: [...roofs.map(([name, flops, bytes, dash]) => ({name, dash, colour: 'quiet', points: false, width: 1.5,
      values: at.map(x => Math.min(x * bytes, flops) / 1e12)})),
    ...kernels.map(one => ({name: one.kernels, pointsOnly: true, points: true, size: Math.max(7, 32 * Math.sqrt(one.time_s / longest)),
      values: at.map(x => x === intensity(one) ? one.flops / one.time_s / 1e12 : null)}))]});
}

tellWhenDrawn();
