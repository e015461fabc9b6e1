// The front of step time and memory: every candidate that has both, and those that no other beats in both.
const time = columnNamed('step_time_s'), memory = columnNamed('memory_peak_bytes');
const host = document.getElementById('front');
const drawn = time && memory ? allRows.filter(row => Number.isFinite(time.values[row]) && Number.isFinite(memory.values[row]))
  .sort((a, b) => time.values[a] - time.values[b] || memory.values[a] - memory.values[b]) : [];

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
  const front = frontOf(drawn), isFront = new Set(front);
  let shown = -1;
  const facts = row => [['step time', valueText(time, row)], ['memory', valueText(memory, row)],
    ...['throughput_model_tflops_per_gpu', 'step_exposed_communication_s', 'step_bubble_s'].map(columnNamed).filter(Boolean)
      .map(column => [column.name.replace(/_(s|bytes)$/, '').replaceAll('_', ' '), valueText(column, row)]),
    ...noteColumns.filter(column => column.values[row]).map(column => [column.name, valueText(column, row)])];
  const html = row => `<b>${escaped(layoutText(row))}</b><table>` + facts(row).map(([name, value]) =>
    `<tr><td>${escaped(name)}</td><td>${escaped(value)}</td></tr>`).join('') + '</table>';
  // The nearest candidate within 24 pixels, by both axes.
  const hover = (u, tip) => {
    const {left, top} = u.cursor;
    if (left < 0) return tip.hide();
    let near = null, distance = 24 ** 2;
    drawn.forEach((row, i) => {
      const x = u.valToPos(u.data[0][i], 'x'), y = u.valToPos(u.data[1][i] ?? u.data[2][i], 'y');
      const away = (x - left) ** 2 + (y - top) ** 2;
      if (away < distance) { near = {row, x, y}; distance = away; }
    });
    if (near) tip.show(near.x + u.over.offsetLeft, near.y, html(near.row)); else tip.hide();
  };
  const made = chart(host, {title: 'Memory of the fullest rank over step time', height: 420, hover, pad: true, noTable: true,
    x: {label: 'step time', unit: 's', values: drawn.map(row => time.values[row])},
    y: {label: 'memory', unit: 'B', zero: false},
    series: [
      {name: `candidates (${drawn.length - front.length})`, pointsOnly: true, points: true, size: 6, colour: 'series-0', hollow: true,
        values: drawn.map(row => isFront.has(row) ? null : memory.values[row])},
      {name: `front (${front.length})`, stepped: true, points: true, size: 9, colour: 'series-1', dash: [],
        values: drawn.map(row => isFront.has(row) ? memory.values[row] : null)}]});
  // The keyboard goes along the front, which is what a reader looks for.
  made.box.addEventListener('keydown', event => {
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!step) return;
    event.stopImmediatePropagation();
    event.preventDefault();
    shown = Math.max(0, Math.min(front.length - 1, shown + step));
    const row = front[shown], i = drawn.indexOf(row), u = made.plot;
    u.setCursor({left: u.valToPos(u.data[0][i], 'x'), top: u.valToPos(u.data[2][i], 'y')});
    made.readout.textContent = `${shown + 1} of ${front.length} on the front: ${layoutText(row)}; ` +
      facts(row).map(([name, value]) => `${name} ${value}`).join(', ');
  }, true);
  host.append(dataTable('The front as a table', ['layout', 'step time', 'memory'],
    () => front.map(row => [layoutText(row), valueText(time, row), valueText(memory, row)])));
}
resultTable(document.getElementById('rows'), {sortedBy: time});
const reasonsHost = document.getElementById('reasons');
if (reasonsHost) reasonTable(reasonsHost);
tellWhenDrawn();
