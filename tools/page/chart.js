// A figure with lines or points over a common x, drawn by uPlot: titles and units on the axes, a legend whose buttons
// hide series, values beside the pointer, arrows and + - on the keyboard, and what is drawn as a table.
//   chart(host, {title, x, y, series, height, stepped, pointsOnly})
//     x: {label, unit, values, log, texts}: ascending numbers; texts: names in their place, at 0, 1, 2, ...
//     y: {label, unit, log, zero}: zero: starts at zero
//     series: [{name, values, points}] with null where there is none
//     drawn(plot): draws more on its canvas
const chart = (host, asked) => {
  const {x, y, series} = asked;
  const figure = element('figure', {}, element('figcaption', {textContent: asked.title}));
  const legend = element('div', {className: 'legend', role: 'group', ariaLabel: 'Series'});
  const box = element('div', {className: 'chart', tabIndex: 0, role: 'group',
    ariaLabel: `${asked.title}: chart. Arrows move from point to point, plus and minus zoom, 0 shows all.`});
  const readout = element('p', {className: 'readout', ariaLive: 'polite'});
  figure.append(legend, box, readout);
  host.replaceChildren(figure);

  const finite = series.flatMap(one => one.values.filter(Number.isFinite));
  const most = (values, otherwise) => values.reduce((a, b) => Math.max(a, b), otherwise);
  const xUnit = x.texts ? {factor: 1, name: ''} : axisUnit(x.unit, most(x.values, 0));
  const yUnit = axisUnit(y.unit, most(finite, 0));
  const xText = value => x.texts ? x.texts[value] ?? '' : quantityText(value, x.unit);
  const yText = value => quantityText(value, y.unit);
  const named = (axis, unit) => axis.label + (unit.name ? ', ' + unit.name : '');
  const tickText = value => value === null ? '' : Math.abs(value) >= 1e6 || (value && Math.abs(value) < 1e-4)
    ? value.toExponential(0).replace('e+', 'e') : String(Number(value.toPrecision(6)));
  // Of a logarithmic axis: the powers of two that were asked for, or 1, 2, 5 (over many decades: 1) times powers of ten.
  const powersOfTwo = values => values.length > 1 && values.length <= 16 && values.every(value => Number.isInteger(Math.log2(value)));
  const logTicks = (least, most) => {
    const ticks = [], factors = most / least > 1e4 ? [1] : [1, 2, 5];
    for (let power = 10 ** Math.floor(Math.log10(least)); power <= most; power *= 10) {
      for (const factor of factors) if (factor * power >= least * 0.999 && factor * power <= most * 1.001) ticks.push(factor * power);
    }
    return ticks;
  };
  const logAxis = values => ({filter: (u, splits) => splits,
    splits: (u, axis, least, most) => powersOfTwo(values) ? values.filter(value => value >= least && value <= most) : logTicks(least, most)});
  const logRange = (u, least, most) => least === null || least <= 0 ? [1, 10] : [least / 1.08, most * 1.08];
  const positive = values => values.every(value => value > 0);
  const xLog = x.log && !x.texts && positive(x.values), yLog = y.log && positive(finite);
  const rows = [x.values.map(value => value / xUnit.factor),
    ...series.map(one => one.values.map(value => value === null ? null : value / yUnit.factor))];
  const tip = tipIn(box);
  let plot = null;

  const valuesAt = i => series.map((one, s) => ({name: one.name, value: one.values[i], s}))
    .filter(one => Number.isFinite(one.value) && plot.series[one.s + 1].show);
  const lastBefore = (values, i) => {  // of a stepped line
    while (i > 0 && values[i] === null) --i;
    return values[i];
  };
  const shownAt = i => asked.stepped
    ? series.map((one, s) => ({name: one.name, value: lastBefore(one.values, i), s}))
      .filter(one => Number.isFinite(one.value) && plot.series[one.s + 1].show) : valuesAt(i);
  const showTip = i => {
    if (i === null || i === undefined) return tip.hide();
    if (asked.hover) return;
    const all = shownAt(i), focus = plot.cursor.top;
    if (all.length === 0) return tip.hide();
    const near = all.length <= 10 ? all
      : all.sort((a, b) => Math.abs(plot.valToPos(a.value / yUnit.factor, 'y') - focus) -
                           Math.abs(plot.valToPos(b.value / yUnit.factor, 'y') - focus)).slice(0, 10);
    const lines = near.map(one => `<tr><td><span class="swatch" style="background:${seriesColour(one.s)}"></span>` +
      `${escaped(one.name)}</td><td>${escaped(yText(one.value))}</td></tr>`).join('');
    tip.show(plot.valToPos(rows[0][i], 'x') + plot.over.offsetLeft, Math.max(plot.cursor.top, 0),
      `<b>${escaped(x.label)} ${escaped(xText(x.values[i]))}</b><table>${lines}</table>`);
  };

  const axis = (text, side) => ({
    label: text, side, labelSize: 20, labelFont: '12px ' + getComputedStyle(document.body).fontFamily,
    font: '12px ' + getComputedStyle(document.body).fontFamily, stroke: () => colour('quiet'),
    grid: {stroke: () => colour('grid'), width: 1}, ticks: {stroke: () => colour('line'), width: 1, size: 5}, gap: 4,
  });
  const few = x.values.length <= 80;
  const options = width => ({
    width, height: asked.height ?? 300, legend: {show: false},
    scales: {
      x: {time: false, distr: xLog ? 3 : 1,
        range: x.texts ? [-0.4, x.texts.length - 0.6] : xLog ? logRange : asked.pad ? (u, a, b) => [Math.max(0, a - 0.06 * (b - a || a)), b + 0.06 * (b - a || b)] : (u, a, b) => a === b ? [a - 1, b + 1] : [a, b]},
      y: {distr: yLog ? 3 : 1, range: yLog ? logRange
        : y.zero === false ? (u, a, b) => a === null ? [0, 1] : [Math.max(0, a - 0.08 * (b - a || a)), b + 0.08 * (b - a || b)]
        : (u, a, b) => a === null ? [0, 1] : uPlot.rangeNum(Math.min(0, a), b || 1, 0.08, true)},
    },
    axes: [
      {...axis(named(x, xUnit), 2), size: 34, ...(x.texts ? {splits: () => x.texts.map((_, i) => i)} : xLog ? logAxis(rows[0]) : {}),
        values: (u, splits) => splits.map(split => x.texts ? x.texts[split] ?? '' : tickText(split))},
      {...axis(named(y, yUnit), 3), size: (u, values) => 18 + 7 * Math.max(3, ...(values ?? []).map(text => (text ?? '').length)),
        ...(yLog ? logAxis([]) : {}), values: (u, splits) => splits.map(tickText)},
    ],
    cursor: {drag: {x: true, y: false, uni: 10}, points: {size: 7}, focus: {prox: 24}},
    focus: {alpha: asked.hover ? 1 : 0.35},
    series: [{}, ...series.map((one, s) => ({
      label: one.name, stroke: () => colour(one.colour ?? '') || seriesColour(s), width: one.width ?? 2, dash: one.dash ?? seriesDash(s),
      spanGaps: true, show: one.show !== false,
      paths: one.pointsOnly ? () => null : (one.stepped ?? asked.stepped) ? uPlot.paths.stepped({align: 1}) : undefined,
      points: {show: one.points ?? (few && !asked.stepped), size: one.size ?? 6, width: 1.5,
        fill: one.hollow ? () => colour('ground') : () => colour(one.colour ?? '') || seriesColour(s)},
    }))],
    hooks: {draw: asked.drawn ? [asked.drawn] : [], setCursor: [u => { showTip(u.cursor.idx); asked.hover?.(u, tip); }]},
  });

  // Rebuilt for every width and scheme: that is quick, and nothing is left from before.
  keepDrawn(box, width => {
    const shown = plot?.series.map(one => one.show);
    plot?.destroy();
    plot = new uPlot(options(width), rows, box);
    shown?.forEach((show, s) => { if (s > 0 && !show) plot.setSeries(s, {show: false}); });
    box.plot = plot;
  });

  if (series.length > 1) series.forEach((one, s) => {
    const swatch = element('span', {className: 'swatch line'}), ink = `var(--${one.colour ?? 'series-' + s % 8})`;
    const [on, off] = one.dash ?? seriesDash(s);
    swatch.style.background = one.pointsOnly || !on ? ink : `repeating-linear-gradient(90deg, ${ink} 0 ${on}px, transparent ${on}px ${on + off}px)`;
    const button = element('button', {type: 'button', ariaPressed: String(one.show !== false)}, swatch, one.name);
    button.addEventListener('click', () => {
      const show = !plot.series[s + 1].show;
      plot.setSeries(s + 1, {show});
      button.ariaPressed = String(show);
    });
    legend.append(button);
  });

  let at = -1;
  const zoom = factor => {
    const {min, max} = plot.scales.x, middle = at >= 0 ? rows[0][at] : (min + max) / 2;
    if (xLog) plot.setScale('x', {min: middle * (min / middle) ** factor, max: middle * (max / middle) ** factor});
    else plot.setScale('x', {min: middle - (middle - min) * factor, max: middle + (max - middle) * factor});
  };
  box.addEventListener('keydown', event => {
    const step = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (step) {
      at = Math.min(rows[0].length - 1, Math.max(0, at + step));
      const all = shownAt(at), first = all[0];
      plot.setCursor({left: plot.valToPos(rows[0][at], 'x'), top: first ? plot.valToPos(first.value / yUnit.factor, 'y') : 0});
      readout.textContent = `${x.label} ${xText(x.values[at])}: ` +
        all.slice(0, 12).map(one => `${one.name} ${yText(one.value)}`).join(', ');
    } else if (event.key === '+' || event.key === '=') zoom(0.5);
    else if (event.key === '-') zoom(2);
    else if (event.key === '0') plot.setData(rows);
    else return;
    event.preventDefault();
  });
  if (!asked.noTable) {
    figure.append(dataTable('Data as a table', [named(x, {name: ''}), ...series.map(one => one.name)],
      () => x.values.map((value, i) => [xText(value), ...series.map(one => yText(one.values[i]))])));
  }
  return {figure, box, get plot() { return plot; }, readout, tip};
};
