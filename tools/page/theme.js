// Colours of the style sheet for what is drawn on canvases, which are drawn anew when the scheme changes or the page is
// printed, and when their width does.
const drawings = [];
let style = getComputedStyle(document.documentElement);
const colour = name => style.getPropertyValue('--' + name).trim();
const seriesColour = i => colour('series-' + i % 8);
const dashes = [[], [7, 4], [2, 3], [9, 3, 2, 3]];
const seriesDash = i => dashes[Math.floor(i / 8) % 4];

const partsOf = text => [1, 3, 5].map(i => parseInt(text.slice(i, i + 2), 16));
// WCAG's relative luminance, and the more readable of two colours on a ground.
const luminance = parts => {
  const [r, g, b] = parts.map(part => part / 255).map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const readableOn = (parts, ...colours) => {
  const ground = luminance(parts);
  const contrast = text => {
    const own = luminance(partsOf(text));
    return (Math.max(own, ground) + 0.05) / (Math.min(own, ground) + 0.05);
  };
  return colours.reduce((a, b) => contrast(b) > contrast(a) ? b : a);
};

// draw(width): draws at so many CSS pixels. `host` says how wide.
const paperWidth = 690;
const keepDrawn = (host, draw) => {
  const drawing = {host, draw, width: 0};
  drawings.push(drawing);
  const refresh = () => {
    const width = document.documentElement.dataset.theme ? paperWidth : Math.floor(host.clientWidth);
    if (width > 0) draw(drawing.width = width);
  };
  drawing.refresh = refresh;
  new ResizeObserver(() => { if (Math.floor(host.clientWidth) !== drawing.width) refresh(); }).observe(host);
  refresh();
  return refresh;
};
const refreshAll = () => {
  style = getComputedStyle(document.documentElement);
  for (const drawing of drawings) drawing.refresh();
};
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', refreshAll);
addEventListener('beforeprint', () => { document.documentElement.dataset.theme = 'light'; refreshAll(); });
addEventListener('afterprint', () => { delete document.documentElement.dataset.theme; refreshAll(); });

// A canvas of so many CSS pixels, sharp on any screen.
const sized = (canvas, width, height) => {
  const ratio = devicePixelRatio || 1;
  canvas.width = Math.round(width * ratio);
  canvas.height = Math.round(height * ratio);
  canvas.style.width = width + 'px';
  canvas.style.height = height + 'px';
  const pen = canvas.getContext('2d');
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.font = '12px ' + getComputedStyle(document.body).fontFamily;
  return pen;
};

// A box beside the pointer, inside `host`.
const tipIn = host => {
  const tip = element('div', {className: 'tip', hidden: true});
  host.append(tip);
  return {
    show(x, y, html) {
      tip.innerHTML = html;
      tip.hidden = false;
      const left = x + 16 + tip.offsetWidth > host.clientWidth ? x - tip.offsetWidth - 14 : x + 16;
      tip.style.left = Math.max(0, left) + 'px';
      tip.style.top = Math.max(0, y + 14) + 'px';
    },
    hide() { tip.hidden = true; },
  };
};

// How long opening took, once everything is on the screen.
const tellWhenDrawn = () => requestAnimationFrame(() => setTimeout(() => {
  document.documentElement.dataset.drawnMs = Math.round(performance.now());
}));
