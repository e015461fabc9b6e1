// Numbers as text: three significant digits in the largest unit of which there is at least one, as the program's own.
const digits = value => {
  const size = Math.abs(value);
  return value === 0 ? '0' : value.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
};
const scaled = (value, units) => {
  let [factor, name] = units[0];
  for (const [larger, other] of units) if (Math.abs(value) / larger >= 0.9995) [factor, name] = [larger, other];
  return digits(value / factor) + ' ' + name;
};
const timeUnits = [[1e-9, 'ns'], [1e-6, 'us'], [1e-3, 'ms'], [1, 's']];
const byteUnits = [[1, 'B'], [2 ** 10, 'KiB'], [2 ** 20, 'MiB'], [2 ** 30, 'GiB'], [2 ** 40, 'TiB']];
const rateUnits = [[1, 'B/s'], [1e3, 'kB/s'], [1e6, 'MB/s'], [1e9, 'GB/s'], [1e12, 'TB/s']];
const timeText = seconds => seconds === 0 ? '0 s' : scaled(seconds, timeUnits);
// What a view of `span` nanoseconds can tell apart: a thousandth of it, as a power of ten, from one nanosecond to one
// millisecond.
const resolutionOf = span => Math.min(1e6, Math.max(1, 10 ** Math.floor(Math.log10(span) - 3 + 1e-9)));
// Of one column of times: the unit of the view, and as many decimals as it tells apart.
const instantText = (time, span) => {
  let [factor, name] = timeUnits[1];
  for (const [larger, other] of timeUnits.slice(1)) if (span / 1e9 >= larger) [factor, name] = [larger, other];
  const decimals = Math.max(0, Math.round(Math.log10(factor * 1e9 / resolutionOf(span))));
  return (time / 1e9 / factor).toLocaleString('en-US', {minimumFractionDigits: decimals, maximumFractionDigits: decimals}) + ' ' + name;
};
// A length in its own unit: three digits, or more where the view tells more apart.
const lengthText = (time, span) => {
  let [factor, name] = timeUnits[0];
  for (const [larger, other] of timeUnits) if (time / 1e9 >= 0.9995 * larger) [factor, name] = [larger, other];
  const fine = Math.round(Math.log10(factor * 1e9 / resolutionOf(span)));
  const usual = [9.995, 99.95].filter(size => time / 1e9 / factor < size).length;
  const least = factor === 1e-9 ? 0 : Math.round(Math.log10(factor * 1e9));
  return (time / 1e9 / factor).toFixed(Math.min(least, Math.max(usual, fine))) + ' ' + name;
};
const bytesText = bytes => Math.abs(bytes) < 1024 && Number.isInteger(bytes) ? bytes + ' B' : scaled(bytes, byteUnits);
const rateText = bytesPerSecond => scaled(bytesPerSecond, rateUnits);
const percentText = share => (100 * share).toFixed(1) + ' %';
const grouped = value => value.toLocaleString('en-US');
const plainText = value => Number.isInteger(value) || Math.abs(value) >= 1000 ? grouped(Math.round(value)) : String(Number(value.toPrecision(4)));

// A value with the unit that its column says.
const quantityText = (value, unit) => {
  if (value === null || value === undefined) return '';
  if (typeof value !== 'number') return String(value);
  if (unit === 's') return timeText(value);
  if (unit === 'B') return bytesText(value);
  return plainText(value) + (unit ? ' ' + unit : '');
};

// The unit for an axis that reaches up to `most`: by what to divide, and its name.
const axisUnit = (unit, most) => {
  const units = unit === 's' ? timeUnits : unit === 'B' ? byteUnits : null;
  if (!units) return {factor: 1, name: unit};
  let [factor, name] = units[0];
  for (const [larger, other] of units) if (most / larger >= 1) [factor, name] = [larger, other];
  return {factor, name};
};

const escaped = text => String(text).replace(/[&<>"]/g, c => ({'&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;'})[c]);
const element = (tag, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};
const label = (text, control) => element('label', {}, text, control);
const choice = (options, chosen) => {
  const select = element('select');
  for (const [value, text] of options) select.append(element('option', {value, textContent: text, selected: value === chosen}));
  return select;
};

// A table that is made when it is first asked for. `rows` gives lists of texts; the first cell is a heading.
const dataTable = (summary, headings, rows) => {
  const details = element('details', {className: 'data'}, element('summary', {textContent: summary}));
  details.addEventListener('toggle', () => {
    if (!details.open || details.childElementCount > 1) return;
    const head = headings.map((heading, i) => `<th scope="col"${i ? ' class="number"' : ''}>${escaped(heading)}</th>`).join('');
    const body = rows().map(row => '<tr>' + row.map((cell, i) =>
      i ? `<td class="number">${escaped(cell)}</td>` : `<th scope="row">${escaped(cell)}</th>`).join('') + '</tr>').join('');
    details.append(element('div', {className: 'scroll',
      innerHTML: `<table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>`}));
  });
  return details;
};
