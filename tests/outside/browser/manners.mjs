// Names and contrasts that assistive technology and eyes need (WCAG 2.1 AA), on any page.
export const manners = `(() => {
  const faults = [];
  for (const control of document.querySelectorAll('input, select')) if (!control.labels.length) faults.push('no label: ' + control.outerHTML);
  for (const button of document.querySelectorAll('button')) if (!(button.textContent.trim() || button.ariaLabel)) faults.push('no name: ' + button.outerHTML);
  for (const chart of document.querySelectorAll('canvas')) {
    if (!chart.closest('[aria-label]') && !chart.ariaHidden) faults.push('no text: ' + chart.outerHTML);
  }
  const ids = [...document.querySelectorAll('[id]')].map(element => element.id);
  for (const id of ids) if (ids.indexOf(id) !== ids.lastIndexOf(id)) faults.push('twice: #' + id);
  for (const link of document.querySelectorAll('a[href^="#"]')) if (!ids.includes(link.hash.slice(1))) faults.push('leads nowhere: ' + link.hash);
  const style = getComputedStyle(document.documentElement);
  const light = name => {
    const text = style.getPropertyValue('--' + name).trim();
    const [r, g, b] = [1, 3, 5].map(i => parseInt(text.slice(i, i + 2), 16) / 255).map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const contrast = (a, b) => (Math.max(light(a), light(b)) + 0.05) / (Math.min(light(a), light(b)) + 0.05);
  for (const name of ['ink', 'quiet', 'accent', 'good', 'bad']) for (const ground of ['ground', 'raised']) {
    if (contrast(name, ground) < 4.5) faults.push(name + ' on ' + ground + ': ' + contrast(name, ground));
  }
  const marks = ['forward', 'backward', 'recompute', 'optimizer', 'other', 'compute', 'tensor', 'data', 'pipeline', 'context', 'expert', 'model', 'link', 'bubble',
    ...Array.from({length: 8}, (_, i) => 'series-' + i)];
  for (const name of marks) if (contrast(name, 'ground') < 3) faults.push(name + ': ' + contrast(name, 'ground'));
  if (document.documentElement.scrollWidth > innerWidth) faults.push('wider than the window: ' + document.documentElement.scrollWidth);
  return faults;
})()`;
