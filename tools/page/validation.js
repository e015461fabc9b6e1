// Predictions over measurements, of all sets and of each where it is opened, a chart for each unit.
const {measured, predicted, units} = data;
const used = columnNamed('use').values, setOf = columnNamed('set').values;

const scatter = (host, title, unit, rows) => {
  const times = factor => rows.map(row => factor * measured[row]);
  const ofUse = use => rows.map(row => used[row] === use ? predicted[row] : null);
  const line = {points: false, colour: 'quiet', width: 1};
  const points = {pointsOnly: true, points: true, size: 6};
  // The row whose mark is nearest, within 24 pixels.
  const hover = (u, tip) => {
    const away = (row, i) => Math.hypot(u.valToPos(u.data[0][i], 'x') - u.cursor.left,
      u.valToPos(predicted[row] * u.data[0][i] / measured[row], 'y') - u.cursor.top);
    const distances = rows.map(away), i = distances.indexOf(Math.min(...distances)), row = rows[i];
    if (u.cursor.left < 0 || distances[i] > 24) return tip.hide();
    const facts = ['measured', 'predicted', 'error_percent'].map(name =>
      `<tr><td>${name.replace('_', ', ')}</td><td>${escaped(valueText(columnNamed(name), row))}</td></tr>`).join('');
    tip.show(u.cursor.left + u.over.offsetLeft, u.cursor.top,
      `<b>${escaped(setOf[row])}: ${escaped(columnNamed('row').values[row])}</b><table>${facts}</table>`);
  };
  chart(host, {title: `${title}, predicted over measured`, height: 360, noTable: true, hover,
    x: {label: 'measured', unit, values: times(1), log: true}, y: {label: 'predicted', unit, log: true},
    series: [{name: 'equal', values: times(1), ...line, width: 1.5, dash: [5, 4]},
      {name: '10 % more', values: times(1.1), ...line, dash: []}, {name: '10 % less', values: times(0.9), ...line, dash: []},
      {name: 'predicted', values: ofUse('predict'), ...points, colour: 'series-0'},
      {name: 'fitted to', values: ofUse('fit'), ...points, colour: 'series-1', hollow: true}]});
};
const scatters = (host, title, rows) => {
  const drawn = rows.filter(row => used[row] !== 'disturbed' && measured[row] > 0 && predicted[row] > 0)
    .sort((a, b) => measured[a] - measured[b]);
  for (const unit of new Set(drawn.map(row => units[row]))) {
    const own = element('div');
    host.append(own);
    scatter(own, title, unit, drawn.filter(row => units[row] === unit));
  }
};

scatters(document.getElementById('all'), 'All sets', allRows);
for (const details of document.querySelectorAll('details.set')) {
  details.addEventListener('toggle', () => scatters(details.querySelector('.scatter'), details.dataset.set,
    allRows.filter(row => setOf[row] === details.dataset.set)), {once: true});
}
resultTable(document.getElementById('rows'), {});
tellWhenDrawn();
