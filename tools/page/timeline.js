// Lanes of slices over time on a canvas. `part` is the data of tools/page/timeline_data: columns per lane. Timelines
// of one `view` zoom together.
// The wheel zooms, a drag chooses a range, a drag on the axis pans; see `help` for the keyboard.
const timeline = (host, part, {view = timeView(part.until), name = 'Timeline'} = {}) => {
  const axisHeight = 26, stageGap = 10, linkHeight = 22, mostLinks = 6;
  const help = 'Wheel or drag: zoom. Shift and drag, or drag on the axis: pan. Keys: arrows pan and choose a lane, ' +
    'plus and minus zoom, comma and full stop go from slice to slice, 0 shows all.';

  const allLanes = timelineLanes(part), links = timelineLinks(part).slice(0, mostLinks);
  // Their lanes are as tall as the busiest of them ever is, in a round share.
  const most = Math.max(0, ...links.map(link => link.share.reduce((a, b) => Math.max(a, b), 0)));
  const fullShare = [0.05, 0.1, 0.2, 0.5].find(share => share >= most) ?? 1;
  let lanes = [];
  const canvas = element('canvas', {tabIndex: 0, ariaLabel: `${name}. ${help}`});
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
    button('All', 'Show all', () => view.show(0, view.end)), label('', separate));
  separate.after(' a lane for each dimension');
  const told = element('summary'), boxes = element('div', {className: 'columns'});
  for (const stage of part.stages) {
    const box = element('input', {type: 'checkbox', checked: stage.shown});
    box.addEventListener('change', () => { stage.shown = box.checked; chooseLanes(); draw(); });
    const made = label('', box);
    made.append(' ' + stage.name);
    boxes.append(made);
  }
  const chooser = element('details', {className: 'stages'}, told, boxes);
  const legend = element('ul', {className: 'legend'}), names = {recurrence: 'forward of recurrent layers', recurrence_backward: 'their backward', model: 'other communication', 'expert-data': 'expert data', weights: "weights' gradients"};
  for (const kind of ['forward', 'backward', 'recurrence', 'recurrence_backward', 'weights', 'recompute', 'optimizer', 'compute', 'other', 'communication', ...laneFamilies, 'expert-data', 'model']) {
    if (!allLanes.some(lane => lane.kinds.includes(kind))) continue;
    const swatch = element('span', {className: 'swatch'});
    swatch.style.background = `var(--${kind})`;
    legend.append(element('li', {}, swatch, names[kind] ?? kind));
  }
  const pale = element('span', {className: 'swatch'});
  pale.style.cssText = 'background:var(--communication);opacity:.3;height:4px';
  if (allLanes.some(lane => lane.wait?.some(wait => wait > 0))) legend.append(element('li', {}, pale, 'waiting for others'));
  const hasPath = part.stages.some(stage => stage.path?.length);
  if (hasPath) {
    const line = element('span', {className: 'swatch'});
    line.style.cssText = 'background:var(--ink);height:4px';
    legend.append(element('li', {}, line, 'critical path'));
  }
  if (links.length) {
    const area = element('span', {className: 'swatch'});
    area.style.background = 'var(--link)';
    legend.append(element('li', {}, area, `use of links, ${100 * fullShare} % of their bandwidth at full height`));
  }
  const box = element('div', {className: 'chart timeline'}, canvas);
  const readout = element('p', {className: 'readout', ariaLive: 'polite', textContent: help});
  host.replaceChildren(controls, ...(part.stages.length > 1 ? [chooser] : []), legend, box, readout);
  const tip = tipIn(box);

  let width = 0, chosen = null, chosenLane = 0, selection = null;
  const chooseLanes = () => {
    lanes = allLanes.filter(lane => part.stages[lane.stage].shown);
    if (chosen && !lanes.includes(chosen.lane)) chosen = null;
    chosenLane = 0;
    told.textContent = `${part.rows ?? 'Stages'}: ${part.stages.filter(stage => stage.shown).length} of ${part.stages.length} shown`;
  };
  chooseLanes();
  const probe = canvas.getContext('2d');
  probe.font = '600 12px ' + getComputedStyle(document.body).fontFamily;
  view.left = Math.max(view.left, ...[...allLanes, ...part.stages, ...links].map(one => Math.ceil(probe.measureText(one.name).width) + 12));
  const left = () => Math.min(view.left, Math.floor(0.28 * width));
  const xOf = time => left() + (time - view.from) / (view.to - view.from) * (width - left());
  const timeOf = x => view.from + (x - left()) / (width - left()) * (view.to - view.from);
  const span = () => view.to - view.from;

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
    if (links.length) y += stageGap;
    for (const link of links) {
      link.y = y;
      y += linkHeight + 4;
    }
    return y + 8;
  };
  separate.checked = part.stages.filter(stage => stage.shown).length <= 8;
  if (separate.checked && place() > 560) separate.checked = false;

  const {drawLane, drawLink, drawAxis, drawPath, nameBeside} = timelineDrawing(part, {
    view, left, xOf, timeOf, width: () => width, axisHeight, linkHeight, fullShare});

  const draw = () => {
    const height = place(), pen = sized(canvas, width, height);
    pen.fillStyle = colour('ground');
    pen.fillRect(0, 0, width, height);
    pen.fillStyle = colour('raised');
    const last = Math.max(left(), Math.min(width, xOf(part.until)));  // beyond it there is nothing
    for (const lane of lanes) pen.fillRect(left(), lane.y, last - left(), lane.height);
    for (const link of links) pen.fillRect(left(), link.y, last - left(), linkHeight);
    drawAxis(pen, height);
    if (part.until < view.end && last < width) {
      pen.fillStyle = colour('quiet');
      pen.fillRect(last, axisHeight - 6, 1, height);
    }
    for (const lane of lanes) {
      drawLane(pen, lane);
      const stage = part.stages[lane.stage];
      if (lane.first && hasPath) drawPath(pen, stage.path, lane.y - 5);
      if (lane.first) nameBeside(pen, stage.name, '600 12px', 'ink', lane.y + lane.height / 2);
      else if (separate.checked) nameBeside(pen, lane.name, '11px', 'quiet', lane.y + lane.height / 2);
    }
    for (const link of links) {
      drawLink(pen, link);
      nameBeside(pen, link.name, '11px', 'quiet', link.y + linkHeight / 2);
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

  view.redraws.push(drawSoon);
  const {show} = view;
  const zoom = (factor, middle = (view.from + view.to) / 2) =>
    show(middle - (middle - view.from) * factor, middle + (view.to - middle) * factor);
  const pan = share => show(view.from + share * span(), view.to + share * span());

  const facts = ({lane, i}) => {
    const call = lane.call && lane.call[i] >= 0 ? part.calls[lane.call[i]] : null;
    const list = [['lane', `${part.stages[lane.stage].name}, ${lane.name}`],
      ['begins', instantText(lane.begin[i], span())], ['takes', lengthText(lane.length[i], span())],
      ['micro-batch', lane.micro?.[i]], ['layer', lane.layer?.[i]], ...(part.labels[lane.label[i]][2] ?? [])];
    if (call) list.push(['operation', call[0]], ['group', call[1] ? call[1] + ' ranks' : undefined], ['message', bytesText(call[2])]);
    if (call && call[3]) list.push(['carried by', call[3]], ['bus bandwidth', rateText(call[2] * call[4] / lane.length[i] * 1e9)]);
    if (call && lane.wait?.[i] > 0) list.push(['waited', lengthText(lane.wait[i], span())]);
    return list.filter(([, value]) => value !== undefined && value !== -1);
  };
  const nameOf = ({lane, i}) => part.labels[lane.label[i]][0];

  // The slice under a point, or a narrow one within two pixels.
  const sliceAt = (x, y) => {
    const time = timeOf(x), near = 2 * span() / (width - left());
    for (let l = lanes.length - 1; l >= 0; --l) {
      const lane = lanes[l];
      if (y < lane.y - 1 || y > lane.y + lane.height + 1) continue;
      for (let i = firstEndingAfter(lane, time - near); i < lane.begin.length && lane.begin[i] <= time + near; ++i) {
        if (lane.begin[i] + lane.length[i] >= time || lane.length[i] < near) return {lane, i};
      }
    }
    return null;
  };

  // How busy the links below a point are, and how long they stay so.
  const linkFacts = (x, y) => {
    const link = links.find(one => y >= one.y - 1 && y <= one.y + linkHeight + 1), time = timeOf(x);
    if (!link || time > part.until) return null;
    const i = lastBegunAt(link.at, time);
    return {name: link.name, facts: [['used', percentText(link.share[i] ?? 0)], ['from', instantText(link.at[i] ?? 0, span())],
      ['until', instantText(link.at[i + 1] ?? part.until, span())]]};
  };
  const tipText = (name, list) => `<b>${escaped(name)}</b><table>${list.map(([what, value]) =>
    `<tr><td>${what}</td><td>${escaped(value)}</td></tr>`).join('')}</table>`;

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
      if (event.deltaY > 0 && span() === view.end) return;  // nothing to zoom out to: the page scrolls
      zoom(1.0015 ** Math.max(-400, Math.min(400, event.deltaY)), timeOf(x));
    }
    event.preventDefault();
  }, {passive: false});
  let grip = null;
  canvas.addEventListener('pointerdown', event => {
    const [x, y] = position(event);
    if (event.button !== 0 || x < left()) return;
    canvas.setPointerCapture(event.pointerId);
    grip = {x, from: view.from, to: view.to, isPan: event.shiftKey || y < axisHeight || event.pointerType === 'touch'};
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
    const found = x >= left() ? sliceAt(x, y) : null, link = x >= left() ? linkFacts(x, y) : null;
    if (found) tip.show(x, y, tipText(nameOf(found), facts(found)));
    else if (link) tip.show(x, y, tipText(link.name, link.facts));
    else tip.hide();
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
  canvas.addEventListener('dblclick', () => show(0, view.end));

  const choose = found => {
    chosen = found;
    if (!found) return drawSoon();
    chosenLane = lanes.indexOf(found.lane);
    readout.textContent = nameOf(found) + ': ' + facts(found).map(([name, value]) => `${name} ${value}`).join(', ');
    const {lane, i} = found;
    if (lane.begin[i] + lane.length[i] < view.from || lane.begin[i] > view.to) {
      show(lane.begin[i] - span() / 2, lane.begin[i] + span() / 2);
    }
    drawSoon();
  };
  const nextSlice = step => {
    const lane = lanes[chosenLane];
    if (!lane) return;
    const start = chosen?.lane === lane ? chosen.i + step : firstEndingAfter(lane, view.from);
    choose({lane, i: Math.max(0, Math.min(lane.begin.length - 1, start))});
  };
  const nextLane = step => {
    if (!lanes.length) return;
    chosenLane = Math.max(0, Math.min(lanes.length - 1, chosenLane + step));
    const lane = lanes[chosenLane], time = chosen ? chosen.lane.begin[chosen.i] : view.from;
    choose({lane, i: Math.min(lane.begin.length - 1, firstEndingAfter(lane, time))});
  };
  const keys = {
    ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2), ArrowUp: () => nextLane(-1), ArrowDown: () => nextLane(1),
    '+': () => zoom(0.5), '=': () => zoom(0.5), '-': () => zoom(2), '0': () => show(0, view.end), Home: () => show(0, view.end),
    ',': () => nextSlice(-1), '.': () => nextSlice(1), Escape: () => { choose(null); readout.textContent = help; },
  };
  canvas.addEventListener('keydown', event => {
    const act = event.ctrlKey || event.metaKey || event.altKey ? null : keys[event.key];
    if (act) { act(); event.preventDefault(); }
  });
  separate.addEventListener('change', draw);

  keepDrawn(box, wide => { width = wide; draw(); });

  // In words: what each lane is busy with.
  host.append(dataTable('Lanes as a table', ['lane', 'slices', 'busy', 'longest'], () => allLanes.map(lane => [
    `${part.stages[lane.stage].name}, ${lane.name}`, grouped(lane.begin.length),
    timeText(lane.length.reduce((a, b) => a + b, 0) / 1e9), timeText(lane.length.reduce((a, b) => Math.max(a, b), 0) / 1e9)])));
  canvas.view = () => ({from: view.from, to: view.to, end: view.end, chosen: chosen && nameOf(chosen)});
  canvas.show = show;
  canvas.links = () => links.map(({name, y}) => ({name, y}));
};
