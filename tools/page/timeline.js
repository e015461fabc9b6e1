// Lanes of slices over time on a canvas. `part` is the data of tools/page/simulation_data: columns per lane.
// The wheel zooms, a drag chooses a range, a drag on the axis pans; see `help` for the keyboard.
const timeline = (host, part) => {
  const end = part.until, axisHeight = 26, stageGap = 10;
  const help = 'Wheel or drag: zoom. Shift and drag, or drag on the axis: pan. Keys: arrows pan and choose a lane, ' +
    'plus and minus zoom, comma and full stop go from slice to slice, 0 shows all.';

  const lanes = timelineLanes(part);
  const canvas = element('canvas', {tabIndex: 0, ariaLabel: 'Timeline. ' + help});
  canvas.setAttribute('role', 'application');
  const button = (text, name, act) => {
    const made = element('button', {type: 'button', textContent: text, title: name, ariaLabel: name});
    made.addEventListener('click', act);
    return made;
  };
  const separate = element('input', {type: 'checkbox'});
  const controls = element('div', {className: 'controls'},
    button('+', 'Zoom in', () => zoom(0.5)), button('\u2212', 'Zoom out', () => zoom(2)),
    button('\u2190', 'Earlier', () => pan(-0.25)), button('\u2192', 'Later', () => pan(0.25)),
    button('All', 'Show all', () => { from = 0; to = end; draw(); }), label('', separate));
  separate.after(' a lane for each dimension');
  const legend = element('ul', {className: 'legend'}), names = {model: 'other communication', 'expert-data': 'expert data', weights: "weights' gradients"};
  for (const kind of ['forward', 'backward', 'weights', 'recompute', 'optimizer', 'other', ...laneFamilies, 'expert-data', 'model']) {
    if (!lanes.some(lane => lane.kinds.includes(kind))) continue;
    const swatch = element('span', {className: 'swatch'});
    swatch.style.background = `var(--${kind})`;
    legend.append(element('li', {}, swatch, names[kind] ?? kind));
  }
  const pale = element('span', {className: 'swatch'});
  pale.style.cssText = 'background:var(--communication);opacity:.3;height:4px';
  if (lanes.some(lane => lane.wait?.some(wait => wait > 0))) legend.append(element('li', {}, pale, 'waiting for others'));
  const hasPath = part.stages.some(stage => stage.path?.length);
  if (hasPath) {
    const line = element('span', {className: 'swatch'});
    line.style.cssText = 'background:var(--ink);height:4px';
    legend.append(element('li', {}, line, 'critical path'));
  }
  const box = element('div', {className: 'chart timeline'}, canvas);
  const readout = element('p', {className: 'readout', ariaLive: 'polite', textContent: help});
  host.replaceChildren(controls, legend, box, readout);
  const tip = tipIn(box);

  let from = 0, to = end, width = 0, chosen = null, chosenLane = 0, selection = null;
  const probe = canvas.getContext('2d');
  probe.font = '600 12px ' + getComputedStyle(document.body).fontFamily;
  const widest = Math.ceil(Math.max(...lanes.map(lane => probe.measureText(lane.name).width), ...part.stages.map(stage => probe.measureText(stage.name).width)));
  const left = () => widest + 12;
  const xOf = time => left() + (time - from) / (to - from) * (width - left());
  const timeOf = x => from + (x - left()) / (width - left()) * (to - from);

  // Where each lane is: all of a stage's communication in one strip, or apart.
  const place = () => {
    let y = axisHeight + (hasPath ? 4 : 0);
    for (const lane of lanes) {
      if (lane.first && lane !== lanes[0]) y += stageGap;
      if (separate.checked || lane.isCompute || lane.first) {
        lane.y = y;
        lane.height = lane.isCompute ? 20 : separate.checked ? 13 : 9;
        y += lane.height + (separate.checked ? 2 : 1);
      } else {
        const before = lanes[lanes.indexOf(lane) - 1];
        lane.height = 9;
        lane.y = before.isCompute ? y : before.y;
        if (before.isCompute) y += lane.height + 1;
      }
    }
    return y + 8;
  };
  separate.checked = part.stages.length <= 8;
  if (separate.checked && place() > 560) separate.checked = false;

  // What is narrower than a pixel is summed up by pixel columns: as tall as it is dense, one kind above the other.
  const drawLane = (pen, lane) => {
    const columns = lane.kinds.map(() => null);
    const colours = lane.kinds.map(colour), zero = left(), perTime = (width - zero) / (to - from);
    for (let i = firstEndingAfter(lane, from); i < lane.begin.length && lane.begin[i] - (lane.wait?.[i] ?? 0) < to; ++i) {
      const kind = lane.kind[i], x = zero + (lane.begin[i] - from) * perTime, wide = lane.length[i] * perTime;
      const waited = lane.wait ? lane.wait[i] * perTime : 0;
      if (waited >= 1) {
        pen.globalAlpha = 0.3;
        pen.fillStyle = colours[kind];
        const start = Math.max(zero, x - waited);
        pen.fillRect(start, lane.y + lane.height / 2 - 1.5, Math.max(0, x - start), 3);
        pen.globalAlpha = 1;
      }
      if (wide >= 1.5) {
        const start = Math.max(zero, x), stop = Math.min(width, x + wide);
        pen.fillStyle = colours[kind];
        pen.fillRect(start, lane.y, Math.max(0.5, stop - start - (wide > 4 ? 0.6 : 0)), lane.height);
        if (wide > 60 && lane.height >= 13) text(pen, lane, i, start, stop);
      } else if (x >= zero) {
        const sums = columns[kind] ??= new Float32Array(Math.ceil(width) + 2);
        const pixel = Math.floor(x), own = Math.min(wide, pixel + 1 - x);
        sums[pixel] += own;
        sums[pixel + 1] += wide - own;
      }
    }
    for (let x = Math.floor(zero); x < width; ++x) {
      let all = 0, y = lane.y;
      for (const sums of columns) all += sums?.[x] ?? 0;
      if (all === 0) continue;
      const tall = Math.max(0.15, Math.min(1, all)) * lane.height;
      y += lane.height - tall;
      columns.forEach((sums, kind) => {
        const high = (sums?.[x] ?? 0) / all * tall;
        if (high === 0) return;
        pen.fillStyle = colours[kind];
        pen.fillRect(x, y, 1, high);
        y += high;
      });
    }
  };
  const text = (pen, lane, i, start, stop) => {
    pen.save();
    pen.beginPath();
    pen.rect(start, lane.y, stop - start - 3, lane.height);
    pen.clip();
    pen.fillStyle = colour('ground');
    pen.font = '11px ' + getComputedStyle(document.body).fontFamily;
    pen.fillText(part.labels[lane.label[i]][0], start + 4, lane.y + lane.height / 2 + 0.5);
    pen.restore();
  };

  const drawAxis = (pen, height) => {
    const span = (to - from) / 1e9, rough = span / Math.max(2, (width - left()) / 110);
    const power = 10 ** Math.floor(Math.log10(rough)), step = [1, 2, 5, 10].find(n => n * power >= rough) * power;
    const unit = axisUnit('s', to / 1e9), decimals = Math.max(0, -Math.floor(Math.log10(step / unit.factor) + 1e-9));
    pen.textBaseline = 'middle';
    pen.textAlign = 'center';
    for (let n = Math.ceil(from / 1e9 / step); n * step <= to / 1e9 * (1 + 1e-12); ++n) {
      const x = Math.round(xOf(n * step * 1e9)) + 0.5;
      pen.strokeStyle = colour('grid');
      pen.beginPath();
      pen.moveTo(x, axisHeight - 6);
      pen.lineTo(x, height);
      pen.stroke();
      pen.fillStyle = colour('quiet');
      pen.fillText((n * step / unit.factor).toFixed(decimals) + ' ' + unit.name, Math.min(x, width - 24), 10);
    }
    pen.textAlign = 'left';
  };

  // Where the critical path stays on a stage: begins and lengths in turn.
  const drawPath = (pen, path, y) => {
    pen.fillStyle = colour('ink');
    for (let i = 0; i < path.length; i += 2) {
      const start = Math.max(left(), xOf(path[i])), stop = Math.min(width, xOf(path[i] + path[i + 1]));
      if (stop >= start) pen.fillRect(start, y, Math.max(1, stop - start), 3);
    }
  };

  const draw = () => {
    const height = place(), pen = sized(canvas, width, height);
    pen.fillStyle = colour('ground');
    pen.fillRect(0, 0, width, height);
    pen.fillStyle = colour('raised');
    for (const lane of lanes) pen.fillRect(left(), lane.y, width - left(), lane.height);
    drawAxis(pen, height);
    for (const lane of lanes) {
      drawLane(pen, lane);
      const stage = part.stages[lane.stage];
      if (lane.first && hasPath) drawPath(pen, stage.path, lane.y - 5);
      pen.textAlign = 'right';
      if (lane.first) {
        pen.font = '600 12px ' + getComputedStyle(document.body).fontFamily;
        pen.fillStyle = colour('ink');
        pen.fillText(stage.name, left() - 8, lane.y + lane.height / 2);
      } else if (separate.checked) {
        pen.font = '11px ' + getComputedStyle(document.body).fontFamily;
        pen.fillStyle = colour('quiet');
        pen.fillText(lane.name, left() - 8, lane.y + lane.height / 2);
      }
      pen.textAlign = 'left';
    }
    if (chosen) {
      const {lane, i} = chosen, x = Math.max(left(), xOf(lane.begin[i]));
      pen.strokeStyle = colour('ink');
      pen.lineWidth = 2;
      pen.strokeRect(x, lane.y - 1, Math.max(2, Math.min(width, xOf(lane.begin[i] + lane.length[i])) - x), lane.height + 2);
      pen.lineWidth = 1;
    }
    if (selection) {
      pen.fillStyle = colour('band');
      pen.fillRect(Math.min(...selection), axisHeight, Math.abs(selection[1] - selection[0]), height);
    }
  };
  let isDue = false;
  const drawSoon = () => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => { isDue = false; draw(); });
  };

  const show = (a, b) => {
    const length = Math.min(end, Math.max(100, b - a));  // at least 100 ns
    from = Math.max(0, Math.min(end - length, a));
    to = from + length;
    drawSoon();
  };
  const zoom = (factor, middle = (from + to) / 2) => show(middle - (middle - from) * factor, middle + (to - middle) * factor);
  const pan = share => show(from + share * (to - from), to + share * (to - from));

  const facts = ({lane, i}) => {
    const call = lane.call && lane.call[i] >= 0 ? part.calls[lane.call[i]] : null;
    const list = [['lane', `${part.stages[lane.stage].name}, ${lane.name}`],
      ['begins', timeText(lane.begin[i] / 1e9)], ['takes', timeText(lane.length[i] / 1e9)],
      ['micro-batch', lane.micro[i]], ['layer', lane.layer[i]]];
    if (call) list.push(['operation', call[0]], ['group', call[1] + ' ranks'], ['message', bytesText(call[2])]);
    if (call && lane.wait[i] > 0) list.push(['waited', timeText(lane.wait[i] / 1e9)]);
    return list;
  };
  const nameOf = ({lane, i}) => part.labels[lane.label[i]][0];

  // The slice under a point, or a narrow one within two pixels.
  const sliceAt = (x, y) => {
    const time = timeOf(x), near = 2 * (to - from) / (width - left());
    for (let l = lanes.length - 1; l >= 0; --l) {
      const lane = lanes[l];
      if (y < lane.y - 1 || y > lane.y + lane.height + 1) continue;
      for (let i = firstEndingAfter(lane, time - near); i < lane.begin.length && lane.begin[i] <= time + near; ++i) {
        if (lane.begin[i] + lane.length[i] >= time || lane.length[i] < near) return {lane, i};
      }
    }
    return null;
  };

  const position = event => {
    const frame = canvas.getBoundingClientRect();
    return [event.clientX - frame.left, event.clientY - frame.top];
  };
  canvas.addEventListener('wheel', event => {
    const [x] = position(event);
    if (x < left()) return;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      pan((event.deltaX || event.deltaY) / 800);
    } else {
      if (event.deltaY > 0 && from === 0 && to === end) return;  // nothing to zoom out to: the page scrolls
      zoom(1.0015 ** Math.max(-400, Math.min(400, event.deltaY)), timeOf(x));
    }
    event.preventDefault();
  }, {passive: false});
  let grip = null;
  canvas.addEventListener('pointerdown', event => {
    const [x, y] = position(event);
    if (event.button !== 0 || x < left()) return;
    canvas.setPointerCapture(event.pointerId);
    grip = {x, from, to, isPan: event.shiftKey || y < axisHeight || event.pointerType === 'touch'};
  });
  canvas.addEventListener('pointermove', event => {
    const [x, y] = position(event);
    if (grip) {
      tip.hide();
      const moved = (grip.x - x) / (width - left()) * (grip.to - grip.from);
      if (grip.isPan) show(grip.from + moved, grip.to + moved);
      else { selection = [grip.x, Math.max(left(), Math.min(width, x))]; drawSoon(); }
      return;
    }
    const found = x >= left() ? sliceAt(x, y) : null;
    if (!found) return tip.hide();
    tip.show(x, y, `<b>${escaped(nameOf(found))}</b><table>${facts(found).map(([name, value]) =>
      `<tr><td>${name}</td><td>${escaped(value)}</td></tr>`).join('')}</table>`);
  });
  canvas.addEventListener('pointerup', event => {
    if (!grip) return;
    const [x, y] = position(event);
    if (selection && Math.abs(selection[1] - selection[0]) > 4) {
      const times = selection.map(timeOf).sort((a, b) => a - b);
      show(times[0], times[1]);
    } else if (!grip.isPan) choose(sliceAt(x, y));
    grip = selection = null;
    drawSoon();
  });
  canvas.addEventListener('pointerleave', () => tip.hide());
  canvas.addEventListener('dblclick', () => show(0, end));

  const choose = found => {
    chosen = found;
    if (!found) return drawSoon();
    chosenLane = lanes.indexOf(found.lane);
    readout.textContent = nameOf(found) + ': ' + facts(found).map(([name, value]) => `${name} ${value}`).join(', ');
    const {lane, i} = found;
    if (lane.begin[i] + lane.length[i] < from || lane.begin[i] > to) {
      show(lane.begin[i] - (to - from) / 2, lane.begin[i] + (to - from) / 2);
    }
    drawSoon();
  };
  const nextSlice = step => {
    const lane = lanes[chosenLane];
    const start = chosen?.lane === lane ? chosen.i + step : firstEndingAfter(lane, from);
    choose({lane, i: Math.max(0, Math.min(lane.begin.length - 1, start))});
  };
  const nextLane = step => {
    chosenLane = Math.max(0, Math.min(lanes.length - 1, chosenLane + step));
    const lane = lanes[chosenLane], time = chosen ? chosen.lane.begin[chosen.i] : from;
    choose({lane, i: Math.min(lane.begin.length - 1, firstEndingAfter(lane, time))});
  };
  const keys = {
    ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), ArrowUp: () => nextLane(-1), ArrowDown: () => nextLane(1),
    '+': () => zoom(0.5), '=': () => zoom(0.5), '-': () => zoom(2), '0': () => show(0, end), Home: () => show(0, end),
    ',': () => nextSlice(-1), '.': () => nextSlice(1), Escape: () => { choose(null); readout.textContent = help; },
  };
  canvas.addEventListener('keydown', event => {
    const act = event.ctrlKey || event.metaKey || event.altKey ? null : keys[event.key];
    if (act) { act(); event.preventDefault(); }
  });
  separate.addEventListener('change', draw);

  keepDrawn(box, wide => { width = wide; draw(); });

  // In words: what each lane is busy with.
  host.append(dataTable('Lanes as a table', ['lane', 'slices', 'busy', 'longest'], () => lanes.map(lane => [
    `${part.stages[lane.stage].name}, ${lane.name}`, grouped(lane.begin.length),
    timeText(lane.length.reduce((a, b) => a + b, 0) / 1e9), timeText(lane.length.reduce((a, b) => Math.max(a, b), 0) / 1e9)])));
  canvas.view = () => ({from, to, end, chosen: chosen && nameOf(chosen)});
};
