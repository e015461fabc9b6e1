// Kernel times of layers: recorded and simulated columns side by side, stacked by class, a picture per pass.
// `rows`: pass, layer, class, and nanoseconds recorded and simulated.
const layerColumns = (host, rows) => {
  const width = 1160, height = 190, left = 70, top = 12, bottom = 24;
  const sums = new Map();
  for (const [, , what, ...times] of rows) sums.set(what, (sums.get(what) ?? 0) + times[0] + times[1]);
  const classes = [...sums.keys()].sort((a, b) => sums.get(b) - sums.get(a)), own = classes.length > 8 ? 7 : 8;
  const shade = what => `var(--series-${Math.min(own, classes.indexOf(what))})`;
  const legend = element('ul', {className: 'legend'});
  for (const what of classes.slice(0, own + 1)) {
    const swatch = element('span', {className: 'swatch'});
    swatch.style.background = shade(what);
    legend.append(element('li', {}, swatch, classes.indexOf(what) === own ? 'other classes' : what));
  }
  host.replaceChildren(legend);
  for (const pass of new Set(rows.map(row => row[0]))) {
    const of = rows.filter(row => row[0] === pass).sort((a, b) => classes.indexOf(a[2]) - classes.indexOf(b[2]));
    const layers = 1 + of.reduce((most, row) => Math.max(most, row[1]), 0), slot = (width - left) / layers;
    const filled = Array.from({length: layers}, () => [0, 0]);
    for (const [, layer, , ...times] of of) times.forEach((time, side) => { filled[layer][side] += time; });
    const most = filled.flat().reduce((a, b) => Math.max(a, b), 1), unit = axisUnit('s', most / 1e9);
    const rough = most / 1e9 / unit.factor / 5, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].find(n => n * power >= rough * 0.999) * power, ticks = Math.ceil(most / 1e9 / unit.factor / step - 1e-9);
    const y = time => height - bottom - (height - bottom - top) * time / 1e9 / unit.factor / (ticks * step);
    let marks = '';
    for (let tick = 0; tick <= ticks; ++tick) {
      const at = y(tick * step * unit.factor * 1e9);
      marks += `<line class="grid" x1="${left}" x2="${width}" y1="${at}" y2="${at}"/>` +
        `<text x="${left - 8}" y="${at + 4}" text-anchor="end">${+(tick * step).toPrecision(6)} ${unit.name}</text>`;
    }
    for (let layer = 0; layer < layers; layer += Math.ceil(34 / slot)) {
      marks += `<text x="${left + (layer + 0.5) * slot}" y="${height - 7}" text-anchor="middle">${layer}</text>`;
    }
    const wide = Math.min(22, 0.4 * slot);
    for (const column of filled) column.fill(0);
    for (const [, layer, what, ...times] of of) times.forEach((time, side) => {
      const base = filled[layer][side], name = `layer ${layer}, ${pass}, ${side ? 'simulated' : 'recorded'}: ${what} ${timeText(time / 1e9)}`;
      filled[layer][side] += time;
      if (time) marks += `<rect x="${left + (layer + 0.5) * slot + (side ? 0.5 : -wide - 0.5)}" y="${y(base + time)}" width="${wide}" ` +
        `height="${y(base) - y(base + time)}" style="fill:${shade(what)}"${side ? ' fill-opacity=".6"' : ''}><title>${escaped(name)}</title></rect>`;
    });
    host.append(element('h3', {textContent: pass}), element('div', {className: 'scroll', innerHTML:
      `<svg class="layers" viewBox="0 0 ${width} ${height}" role="img" aria-label="Kernel time of each layer, ${pass}">${marks}</svg>`}));
  }
  host.append(dataTable('As a table', ['layer', 'pass', 'class', 'recorded', 'simulated'], () =>
    rows.map(([pass, layer, what, ...times]) => [layer, pass, what, ...times.map(time => time ? timeText(time / 1e9) : '')])));
};
