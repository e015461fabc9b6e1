// How a quantity of a run is spread over the runs played.
{
  const host = document.getElementById('distribution'), {distributions} = data;
  if (distributions.length === 0) {
    host.append(element('p', {className: 'quiet', textContent: 'All runs came out the same.'}));
  } else {
    const quantity = choice(distributions.map(({name}, i) => [String(i), name]), '0'), plot = element('div');
    const draw = () => {
      const {name, unit, at, share} = distributions[quantity.value];
      const percent = share.map(one => 100 * one);
      chart(plot, {title: `Runs by ${name}`, height: 280, stepped: true,
        x: {label: name, unit, values: at}, y: {label: 'runs', unit: '%'},
        series: [{name: 'runs', values: [...percent, percent.at(-1)]}]});
    };
    quantity.addEventListener('change', draw);
    host.append(element('div', {className: 'controls'}, label('Quantity', quantity)), plot);
    draw();
  }
}
tellWhenDrawn();
