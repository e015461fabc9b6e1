// What of a timeline is drawn how: slices, links, axis, critical path.
// `left` (the first pixel), `width`, `xOf` and `timeOf` are functions, since they change; `fullShare` of a link is as
// tall as its lane.
const timelineDrawing = (part, {view, left, xOf, timeOf, width: widthOf, axisHeight, linkHeight, fullShare}) => {
  // What is narrower than a pixel is summed up by pixel columns: as tall as it is dense, one kind above the other.
  const drawLane = (pen, lane) => {
    const columns = lane.kinds.map(() => null);
    const {from, to} = view, width = widthOf(), colours = lane.kinds.map(colour), zero = left(), perTime = (width - zero) / (to - from);
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
        if (wide > 60 && lane.height >= 13) text(pen, lane, i, start, stop, colours[kind]);
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
  // The mean of what each pixel stands for.
  const drawLink = (pen, link) => {
    const base = link.y + linkHeight, last = Math.min(widthOf(), Math.ceil(xOf(part.until)));
    pen.fillStyle = colour('link');
    let i = lastBegunAt(link.at, timeOf(left()));
    for (let x = left(); x < last; ++x) {
      const begin = timeOf(x), stop = Math.min(part.until, timeOf(x + 1));
      let sum = 0;
      for (let at = begin; at < stop;) {
        while (i + 1 < link.at.length && link.at[i + 1] <= at) ++i;
        const next = Math.min(stop, link.at[i + 1] ?? stop);
        sum += (link.share[i] ?? 0) * (next - at);
        at = next;
      }
      const tall = stop > begin ? sum / (stop - begin) / fullShare * linkHeight : 0;
      if (tall > 0) pen.fillRect(x, base - tall, 1, tall);
    }
  };
  const nameBeside = (pen, name, font, ink, y) => {
    pen.font = font + ' ' + getComputedStyle(document.body).fontFamily;
    pen.fillStyle = colour(ink);
    let shown = name;
    while (shown.length > 1 && pen.measureText(shown).width > left() - 10) shown = shown.slice(0, -2) + '\u2026';
    pen.textAlign = 'right';
    pen.fillText(shown, left() - 8, y);
    pen.textAlign = 'left';
  };
  const text = (pen, lane, i, start, stop, ground) => {
    pen.save();
    pen.beginPath();
    pen.rect(start, lane.y, stop - start - 3, lane.height);
    pen.clip();
    pen.fillStyle = readableOn(partsOf(ground), colour('ground'), colour('ink'));
    pen.font = '11px ' + getComputedStyle(document.body).fontFamily;
    const name = part.labels[lane.label[i]][0];
    pen.fillText(lane.layer?.[i] >= 0 && / layer$/.test(name) ? `${name} ${lane.layer[i]}` : name, start + 4, lane.y + lane.height / 2 + 0.5);
    pen.restore();
  };

  const drawAxis = (pen, height) => {
    const {from, to} = view, width = widthOf(), rough = (to - from) / 1e9 / Math.max(2, (width - left()) / 110);
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
      const start = Math.max(left(), xOf(path[i])), stop = Math.min(widthOf(), xOf(path[i] + path[i + 1]));
      if (stop >= start) pen.fillRect(start, y, Math.max(1, stop - start), 3);
    }
  };
  return {drawLane, drawLink, drawAxis, drawPath, nameBeside};
};
