// The charts of a sweep: a metric over one key, a line for each combination of the others; over two keys, as colours.
const hasResults = metricColumns.length > 0 && allRows.some(withResult);
const metricChoice = choice(metricColumns.map((column, i) => [String(i), column.name]),
  String(Math.max(0, metricColumns.findIndex(column => /^(step_)?time_s$/.test(column.name)))));
const metric = () => metricColumns[metricChoice.value];
const meaning = element('span', {className: 'quiet'});
const redraws = [];
const redraw = () => {
  meaning.textContent = metric().meaning;
  for (const each of redraws) each();
};
const varied = keyColumns.filter(column => column.tells && distinct(column).length > 1);
// Charts begin with the first key of more than two numbers across, and the first other key down.
const firstNumbers = varied.findIndex(column => isNumeric(column) && distinct(column).length > 2);
const firstAcross = Math.max(0, firstNumbers), firstDown = firstAcross === 0 ? 1 : 0;
const keyOptions = varied.map((column, i) => [String(i), column.name]);

// A select for each key but those of `taken`: a value, or all of them where `any` is allowed.
const restChoices = (taken, host, any, changed) => {
  const chosen = varied.filter(column => !taken.includes(column)).map(column => {
    const values = distinct(column);
    const select = choice([...(any ? [['', 'all']] : []), ...values.map((value, i) => [String(i), keyText(value)])], any ? '' : '0');
    select.addEventListener('change', changed);
    host.append(label(column.name, select));
    return {column, fits: row => select.value === '' || column.values[row] === values[select.value]};
  });
  return row => chosen.every(({fits}) => fits(row));
};

// Whether numbers reach over a decade or more, which a linear axis squeezes into a corner.
const crossesDecade = values => {
  const [least, most] = values.reduce(([a, b], value) => [Math.min(a, value), Math.max(b, value)], [Infinity, -Infinity]);
  return least > 0 && most / least >= 10;
};
const resultsOf = rows => rows.map(row => metric().values[row]).filter(Number.isFinite);

const lines = host => {
  const most = 16;
  const key = choice(keyOptions, String(firstAcross)), xLog = element('input', {type: 'checkbox'}), yLog = element('input', {type: 'checkbox'});
  const rest = element('div', {className: 'controls'}), plot = element('div'), note = element('p', {className: 'quiet'});
  host.append(element('div', {className: 'controls'}, label('Key', key), label('logarithmic x', xLog), label('logarithmic y', yLog)),
    rest, plot, note);
  let fits = () => true;
  const draw = () => {
    const x = varied[key.value], others = varied.filter(column => column !== x), texts = isNumeric(x) ? null : distinct(x).map(keyText);
    const rows = allRows.filter(row => fits(row) && Number.isFinite(metric().values[row]));
    const positions = texts ? texts.map((_, i) => i) : distinct(x, rows);
    const indexOf = new Map((texts ? distinct(x) : positions).map((value, i) => [value, i]));
    const groups = new Map();
    for (const row of rows) {
      const name = others.map(column => `${column.name} ${keyText(column.values[row])}`).join(', ') || metric().name;
      if (!groups.has(name)) groups.set(name, new Array(positions.length).fill(null));
      groups.get(name)[indexOf.get(x.values[row])] = metric().values[row];
    }
    const series = [...groups].map(([name, values]) => ({name, values}));
    note.textContent = series.length > most
      ? `${most} of ${series.length} combinations are drawn; choose values above to see others.` : '';
    xLog.disabled = Boolean(texts);
    chart(plot, {title: `${metric().name} over ${x.name}`, height: 360,
      x: {label: x.name, unit: x.unit, values: positions, texts, log: xLog.checked},
      y: {label: metric().name.replace(/_(s|bytes)$/, '').replaceAll('_', ' '), unit: metric().unit, log: yLog.checked},
      series: series.slice(0, most)});
  };
  const setUp = () => {
    rest.replaceChildren();
    fits = restChoices([varied[key.value]], rest, true, draw);
    xLog.checked = isNumeric(varied[key.value]) && crossesDecade(distinct(varied[key.value]));
    draw();
  };
  const setUpMetric = () => {
    yLog.checked = crossesDecade(resultsOf(allRows));
    draw();
  };
  key.addEventListener('change', setUp);
  for (const box of [xLog, yLog]) box.addEventListener('change', draw);
  setUp();
  setUpMetric();
  redraws.push(setUpMetric);
};

const map = host => {
  const across = choice(keyOptions, String(firstAcross)), down = choice(keyOptions, String(firstDown)), log = element('input', {type: 'checkbox'});
  const rest = element('div', {className: 'controls'}), plot = element('div');
  host.append(element('div', {className: 'controls'}, label('Across', across), label('Down', down), label('logarithmic colours', log)),
    rest, plot);
  let fits = () => true;
  const draw = () => {
    const x = varied[across.value], y = varied[down.value], columns = distinct(x), rows = distinct(y);
    const places = new Map();
    for (const row of allRows) {
      if (fits(row)) places.set(JSON.stringify([y.values[row], x.values[row]]), row);
    }
    const rowAt = (r, c) => places.get(JSON.stringify([rows[r], columns[c]]));
    heatMap(plot, {title: `${metric().name} over ${x.name} and ${y.name}`,
      rows: {label: y.name, names: rows.map(keyText)}, columns: {label: x.name, names: columns.map(keyText)},
      value: (r, c) => metric().values[rowAt(r, c)], text: value => quantityText(value, metric().unit), log: log.checked,
      why: (r, c) => rowAt(r, c) !== undefined && !withResult(rowAt(r, c)) ? reasonOf(rowAt(r, c)) : ''});
  };
  const setUp = other => {
    if (across.value === down.value) other.value = String((Number(other.value) + 1) % varied.length);
    rest.replaceChildren();
    fits = restChoices([varied[across.value], varied[down.value]], rest, false, draw);
    draw();
  };
  across.addEventListener('change', () => setUp(down));
  down.addEventListener('change', () => setUp(across));
  log.addEventListener('change', draw);
  const setUpMetric = () => {
    log.checked = crossesDecade(resultsOf(allRows));
    draw();
  };
  setUp(down);
  setUpMetric();
  redraws.push(setUpMetric);
};

const metricHost = document.getElementById('metric'), mapHost = document.getElementById('map');
if (hasResults && varied.length > 0) {
  metricHost.append(element('div', {className: 'controls'}, label('Metric', metricChoice), meaning));
  meaning.textContent = metric().meaning;
  metricChoice.addEventListener('change', redraw);
  lines(document.getElementById('lines'));
} else {
  metricHost.append(element('p', {className: 'quiet',
    textContent: hasResults ? 'No key has more than one value.' : 'No point has a result to draw.'}));
}
if (mapHost) {
  if (hasResults && varied.length > 1) map(mapHost);
  else mapHost.append(element('p', {className: 'quiet', textContent: 'There is nothing to draw over two keys.'}));
}
resultTable(document.getElementById('rows'), {});
const reasonsHost = document.getElementById('reasons');
if (reasonsHost) reasonTable(reasonsHost);
tellWhenDrawn();
