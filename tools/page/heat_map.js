// A matrix of values as colours on a canvas, with a scale, the value under the pointer or the keyboard's cell, and
// numbers in the cells where they have room.
//   heatMap(host, {title, rows: {label, names}, columns: {label, names}, value(row, column), text(value), detail, none, why, log, from, high})
//     value: null where there is none; why(row, column): then the reason, if there is one
//     high: pixels of a row, if not as many as fit
//     from: where the scale begins, unless a value is below it (else with the least value)
//     detail(row, column): what else is told of a value; none: what is told of others ("nothing")
const mixed = (low, high, share) => {
  const [a, b] = [partsOf(low), partsOf(high)];
  return a.map((part, i) => Math.round(part + (b[i] - part) * share));
};
const heatMap = (host, asked) => {
  const {rows, columns, value, text} = asked;
  const values = [];
  for (let r = 0; r < rows.names.length; ++r) for (let c = 0; c < columns.names.length; ++c) {
    const one = value(r, c);
    if (Number.isFinite(one) && !(asked.log && one <= 0)) values.push(one);
  }
  const least = values.reduce((a, b) => Math.min(a, b), asked.from ?? Infinity), most = values.reduce((a, b) => Math.max(a, b), -Infinity);
  const shareOf = one => most === least ? 0.5
    : asked.log ? (Math.log(one) - Math.log(least)) / (Math.log(most) - Math.log(least)) : (one - least) / (most - least);
  const canvas = element('canvas', {tabIndex: 0,
    ariaLabel: `${asked.title}: ${rows.label} by ${columns.label}. Arrows move from cell to cell.`});
  canvas.setAttribute('role', 'application');
  const box = element('div', {className: 'chart matrix'}, canvas);
  const bar = element('canvas', {ariaHidden: 'true'});
  const scale = element('div', {className: 'scale'}, values.length ? text(least) : '', bar, values.length ? text(most) : '');
  if (asked.log) scale.append(' (logarithmic)');
  const readout = element('p', {className: 'readout', ariaLive: 'polite'});
  host.replaceChildren(element('figure', {}, element('figcaption', {textContent: asked.title}), scale, box, readout));
  const tip = tipIn(box);
  let layout = null, at = null;

  const draw = width => {
    const probe = canvas.getContext('2d');
    probe.font = '12px ' + getComputedStyle(document.body).fontFamily;
    const widest = names => names.reduce((a, name) => Math.max(a, probe.measureText(name).width), 0);
    const left = Math.min(200, widest(rows.names) + 34), count = columns.names.length;
    const cell = Math.max(3, Math.min(asked.cell ?? 110, (width - left - 4) / count));
    const high = asked.high ?? Math.max(3, Math.min(asked.cell ?? 34, rows.names.length > 40 ? cell : 34));
    const wide = rows.names.length > 40 && count > 40 ? high : cell;
    const top = 38, height = top + high * rows.names.length + 4;
    const pen = sized(canvas, Math.min(width, left + wide * count + 4), height);
    layout = {left, top, wide, high};
    const [low, dark, ground, ink] = ['low', 'high', 'ground', 'ink'].map(colour);
    pen.textBaseline = 'middle';
    pen.fillStyle = colour('quiet');
    pen.textAlign = 'left';
    pen.fillText(columns.label, left, 9);
    pen.save();
    pen.translate(9, top + high * rows.names.length / 2);
    pen.rotate(-Math.PI / 2);
    pen.textAlign = 'center';
    pen.fillText(rows.label, 0, 0);
    pen.restore();
    const round = least => [1, 2, 4, 8, 16, 32, 64].find(n => n >= least) ?? 128;
    const nameEvery = round((widest(columns.names) + 10) / wide), rowEvery = round(14 / high);
    pen.fillStyle = colour('ink');
    pen.textAlign = 'center';
    columns.names.forEach((name, c) => { if (c % nameEvery === 0) pen.fillText(name, left + wide * (c + 0.5), 27); });
    pen.textAlign = 'right';
    rows.names.forEach((name, r) => { if (r % rowEvery === 0) pen.fillText(name, left - 6, top + high * (r + 0.5), left - 26); });
    pen.textAlign = 'center';
    const gap = Math.min(wide, high) > 8 ? 1 : 0;
    for (let r = 0; r < rows.names.length; ++r) for (let c = 0; c < count; ++c) {
      const one = value(r, c), x = left + wide * c, y = top + high * r;
      if (!Number.isFinite(one) || (asked.log && one <= 0)) {
        pen.fillStyle = colour('raised');
        pen.fillRect(x, y, wide - gap, high - gap);
        if (asked.why?.(r, c)) hatch(pen, x, y, wide - gap, high - gap);
        continue;
      }
      const shade = mixed(low, dark, shareOf(one));
      pen.fillStyle = `rgb(${shade})`;
      pen.fillRect(x, y, wide - gap, high - gap);
      const words = text(one);
      if (high >= 18 && probe.measureText(words).width < wide - 6) {
        pen.fillStyle = readableOn(shade, ground, ink);
        pen.fillText(words, x + wide / 2, y + high / 2);
      }
    }
    if (at) {
      pen.strokeStyle = colour('ink');
      pen.lineWidth = 2;
      pen.strokeRect(left + wide * at[1], top + high * at[0], wide - gap, high - gap);
    }
    const pencil = sized(bar, 160, 10);
    for (let x = 0; x < 160; ++x) {
      pencil.fillStyle = `rgb(${mixed(low, dark, x / 159)})`;
      pencil.fillRect(x, 0, 1, 10);
    }
  };
  const hatch = (pen, x, y, wide, high) => {
    pen.save();
    pen.beginPath();
    pen.rect(x, y, wide, high);
    pen.clip();
    pen.strokeStyle = colour('line');
    pen.beginPath();
    for (let d = -high; d < wide; d += 6) { pen.moveTo(x + d, y + high); pen.lineTo(x + d + high, y); }
    pen.stroke();
    pen.restore();
  };
  const words = ([r, c]) => {
    const one = value(r, c);
    const known = Number.isFinite(one), more = known && asked.detail?.(r, c);
    const what = (known ? text(one) : asked.why?.(r, c) || asked.none || 'nothing') + (more ? `, ${more}` : '');
    return [`${rows.label} ${rows.names[r]}, ${columns.label} ${columns.names[c]}`, what];
  };
  canvas.addEventListener('pointermove', event => {
    const frame = canvas.getBoundingClientRect(), x = event.clientX - frame.left, y = event.clientY - frame.top;
    const r = Math.floor((y - layout.top) / layout.high), c = Math.floor((x - layout.left) / layout.wide);
    if (!(r >= 0 && r < rows.names.length && c >= 0 && c < columns.names.length)) return tip.hide();
    const [where, what] = words([r, c]);
    tip.show(x, y, `<b>${escaped(what)}</b><br>${escaped(where)}`);
  });
  canvas.addEventListener('pointerleave', () => tip.hide());
  const refresh = keepDrawn(box, draw);
  canvas.addEventListener('keydown', event => {
    const step = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]}[event.key];
    if (!step) return;
    const [r, c] = at ?? [-step[0], -step[1]];
    at = [Math.max(0, Math.min(rows.names.length - 1, r + step[0])), Math.max(0, Math.min(columns.names.length - 1, c + step[1]))];
    readout.textContent = words(at).join(': ');
    refresh();
    event.preventDefault();
  });
  if (!asked.noTable) {
    host.append(dataTable('Values as a table', [`${rows.label} \\ ${columns.label}`, ...columns.names],
      () => rows.names.map((name, r) => [name, ...columns.names.map((_, c) => {
        const one = value(r, c);
        return Number.isFinite(one) ? text(one) : asked.why?.(r, c) ?? '';
      })])));
  }
};
