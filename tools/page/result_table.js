// Rows of named columns: access to them, and a table that is sorted, filtered and cut down to the columns of interest.
const table = data.columns.map((column, c) => ({...column, values: data.values[c]}));
const rowCount = table[0]?.values.length ?? 0;
const allRows = Array.from({length: rowCount}, (_, row) => row);
const ofKind = kind => table.filter(column => column.kind === kind);
const columnNamed = name => table.find(column => column.name === name);
const isNumeric = column => column.values.some(value => typeof value === 'number') &&
  column.values.every(value => value === null || typeof value === 'number');
const isLong = column => column.values.some(value => String(value ?? '').length > 30);
const keyColumns = ofKind('key'), noteColumns = ofKind('note');
const metricColumns = ofKind('metric').filter(isNumeric);
const withResult = row => metricColumns.some(column => Number.isFinite(column.values[row]));
const distinct = (column, rows = allRows) => {
  const values = [...new Set(rows.map(row => column.values[row]))];
  return isNumeric(column) ? values.sort((a, b) => a - b) : values;
};
const valueText = (column, row) => quantityText(column.values[row], column.unit);
// In the table the heading has the unit already, but for those that are scaled.
const cellText = (column, row) => quantityText(column.values[row], ['s', 'B'].includes(column.unit) ? column.unit : '');
// A metric by its words, without the unit that its figures have; keys are called as in a job.
const headingOf = column => column.kind !== 'metric' ? escaped(column.name).replace(/[_.]/g, '$&<wbr>')
  : escaped(column.name.replace(/^throughput_/, '').replace(['s', 'B'].includes(column.unit) ? /_(s|bytes)$/ : /$^/, '').replace(/_/g, ' ').replace(/\bmfu\b/, 'MFU').replace(/\btflops\b/, 'TFLOP/s').replace(/\bgpu\b/, 'GPU'));
const keyText = value => value === null ? '\u2013' : String(value);
const layoutText = row => keyColumns.filter(column => column.tells && column.values[row] !== null)
  .map(column => `${column.name} ${column.values[row]}`).join(', ');

// A note of a row without result, or the first note that it has.
const reasonOf = row => {
  for (const name of ['reason', 'why', 'verdict']) {
    const text = columnNamed(name)?.values[row];
    if (text) return String(text);
  }
  return noteColumns.map(column => column.values[row]).find(Boolean) ?? 'no reason given';
};

const mainMetrics = ['step_time_s', 'screened_time_s', 'throughput_tokens_per_s', 'throughput_model_tflops_per_gpu', 'throughput_mfu',
  'step_exposed_communication_s', 'step_bubble_s', 'memory_peak_bytes'];

const mostShown = 5000;  // rows at a time: more make a browser slow
const openFilters = 4;   // further ones fold up

//   resultTable(host, {sortedBy, first, groups, opens})
//     first: columns to begin with, in place of their order in the table
//     groups: {name, names, of(row)}: rows by what they are, at first those of the first name that has any
//     opens: {name, label(row), open(row)}: a button in every row
const resultTable = (host, {sortedBy, first = [], groups, opens}) => {
  const inOrder = [...first.filter(Boolean), ...table.filter(column => !first.includes(column))];
  const known = mainMetrics.filter(columnNamed);
  const present = groups?.names.filter(name => allRows.some(row => groups.of(row) === name)) ?? [];
  let group = present[0] ?? '';
  const inGroup = row => !group || groups.of(row) === group;
  const begun = allRows.filter(inGroup);
  const isShown = new Set([...keyColumns.filter(column => distinct(column, begun).length > 1 || (column.tells && begun.length < 2)),
    ...noteColumns.filter(column => distinct(column, begun).length > 1),
    ...(known.length ? known.map(columnNamed) : ofKind('metric').slice(0, 8))]);
  let sort = sortedBy ? {column: sortedBy, up: true} : null, filters = new Map(), words = '';

  const search = element('input', {type: 'search', placeholder: 'any text'});
  const told = element('span', {className: 'quiet', role: 'status'});
  const controls = element('div', {className: 'controls'}, label('Rows with', search));
  if (groups) {
    const select = choice([['', 'all'], ...present.map(name => [name, name])], group);
    select.addEventListener('change', () => { group = select.value; fill(); });
    controls.append(label(groups.name, select));
  }
  const further = element('div', {className: 'controls'});
  for (const column of keyColumns) {
    const values = distinct(column);
    if (values.length < 2 || values.length > 60) continue;
    const select = choice([['', 'any'], ...values.map((value, i) => [String(i), keyText(value)])], '');
    select.addEventListener('change', () => {
      if (select.value === '') filters.delete(column); else filters.set(column, values[select.value]);
      fill();
    });
    (controls.querySelectorAll('select').length < openFilters ? controls : further).append(label(column.name, select));
  }
  controls.append(told);
  const more = element('details', {className: 'controls-columns', hidden: !further.children.length}, element('summary', {textContent: 'More filters'}), further);
  const columns = element('div', {className: 'columns'});
  for (const column of table) {
    const box = element('input', {type: 'checkbox', checked: isShown.has(column)});
    box.addEventListener('change', () => {
      if (box.checked) isShown.add(column); else isShown.delete(column);
      head();
      fill();
    });
    const made = label('', box);
    made.append(' ' + column.name);
    made.title = column.meaning;
    columns.append(made);
  }
  const chooser = element('details', {className: 'controls-columns'}, element('summary', {textContent: 'Columns'}), columns);
  const thead = element('thead'), tbody = element('tbody');
  const scroll = element('div', {className: 'scroll tall', tabIndex: 0, role: 'region', ariaLabel: 'Rows'}, element('table', {}, thead, tbody));
  host.replaceChildren(controls, more, chooser, scroll);

  const head = () => {
    const row = element('tr');
    if (opens) row.append(element('th', {scope: 'col', textContent: opens.name}));
    for (const column of inOrder) {
      if (!isShown.has(column)) continue;
      const button = element('button', {type: 'button', innerHTML: headingOf(column), title: `${column.name}: ${column.meaning}`});
      const cell = element('th', {scope: 'col', className: isNumeric(column) ? 'number' : ''}, button);
      if (sort?.column === column) cell.ariaSort = sort.up ? 'ascending' : 'descending';
      button.addEventListener('click', () => {
        sort = {column, up: !(sort?.column === column && sort.up)};
        head();
        fill();
        thead.querySelector('[aria-sort] button')?.focus();
      });
      row.append(cell);
    }
    thead.replaceChildren(row);
  };
  const compare = (a, b) => typeof a === 'number' && typeof b === 'number' ? a - b : String(a).localeCompare(String(b));
  const fill = () => {
    const shown = inOrder.filter(column => isShown.has(column));
    let rows = allRows.filter(row => [...filters].every(([column, value]) => column.values[row] === value) && inGroup(row));
    if (words) rows = rows.filter(row => table.some(column => valueText(column, row).toLowerCase().includes(words)));
    if (sort) {
      const {values} = sort.column, way = sort.up ? 1 : -1;
      const empty = row => values[row] === null;
      rows.sort((a, b) => empty(a) - empty(b) || (empty(a) ? 0 : way * compare(values[a], values[b])) || a - b);
    }
    const found = rows.length;
    rows = rows.slice(0, mostShown);
    const classes = shown.map(column => isNumeric(column) ? 'number' : column.kind === 'note' && isLong(column) ? 'reason' : '');
    const opener = row => opens ? `<td><button type="button" data-row="${row}" aria-label="${escaped(opens.label(row))}">${opens.name}</button></td>` : '';
    tbody.innerHTML = rows.map(row => '<tr>' + opener(row) + shown.map((column, c) => `<td class="${classes[c]}">` +
      escaped(column.kind === 'key' ? keyText(column.values[row]) : cellText(column, row)) + '</td>').join('') + '</tr>').join('');
    told.textContent = `${grouped(found)} of ${grouped(rowCount)}` + (found > mostShown ? `, the first ${grouped(mostShown)} shown` : ' shown');
  };
  if (opens) tbody.addEventListener('click', event => {
    const button = event.target.closest('button[data-row]');
    if (button) opens.open(Number(button.dataset.row));
  });
  search.addEventListener('input', () => { words = search.value.toLowerCase(); fill(); });
  head();
  fill();
};

// Why rows have no result: the most frequent reason first, and for which.
const reasonTable = host => {
  const reasons = new Map();
  for (const row of allRows) {
    if (withResult(row)) continue;
    const reason = reasonOf(row);
    reasons.set(reason, [...(reasons.get(reason) ?? []), row]);
  }
  const sorted = [...reasons].sort((a, b) => b[1].length - a[1].length), most = 200, each = 5;
  const body = sorted.slice(0, most).map(([reason, rows]) => `<tr><td class="number">${grouped(rows.length)}</td>` +
    `<td>${escaped(reason)}</td><td class="quiet">${rows.slice(0, each).map(row => escaped(layoutText(row))).join('<br>')}` +
    (rows.length > each ? `<br>and ${grouped(rows.length - each)} more` : '') + '</td></tr>').join('');
  host.innerHTML = '<div class="scroll"><table><thead><tr><th scope="col" class="number">rows</th><th scope="col">reason</th>' +
    `<th scope="col">of</th></tr></thead><tbody>${body}</tbody></table></div>` +
    (sorted.length > most ? `<p class="quiet">and ${sorted.length - most} reasons more, in the table above</p>` : '');
};
