// How a quantity of a run is spread over the runs played; those that hardly are, in words.
{
  const host = document.getElementById('distribution'), {distributions} = data;
  const spread = distributions.filter(one => one.share), alike = distributions.filter(one => one.alike);
  if (spread.length > 0) {
    const quantity = choice(spread.map(({name}, i) => [String(i), name]), '0'), plot = element('div');
    const draw = () => {
      const {name, unit, at, share} = spread[quantity.value];
      const percent = share.map(one => 100 * one);
      chart(plot, {title: `Runs by ${name}`, height: 280, stepped: true,
        x: {label: name, unit, values: at}, y: {label: 'runs', unit: '%'},
        series: [{name: 'runs', values: [...percent, percent.at(-1)]}]});
    };
    quantity.addEventListener('change', draw);
    host.append(element('div', {className: 'controls'}, label('Quantity', quantity)), plot);
    draw();
  }
  const words = element('ul', {className: 'quiet'});
  for (const one of alike) words.append(element('li', {textContent: `${one.name}: ${one.alike}`}));
  if (alike.length > 0) host.append(words);
}
tellWhenDrawn();
