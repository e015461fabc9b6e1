// The form of a job: what is chosen stands in the address, and what comes of it below. The frame shows the server's own
// pages; one that says why there is none has the reasons as data.
const form = document.getElementById('job'), frame = document.getElementById('result'), told = document.getElementById('told');
const mistakes = document.getElementById('mistakes'), about = document.getElementById('about');
const views = [...form.querySelectorAll('button[formaction]')].filter(button => button.id !== 'save');
const nameOf = button => new URL(button.formAction).pathname.slice(1);
let view = views.find(button => location.hash === '#' + nameOf(button)) ?? views[0], shown = '';

const query = () => {
  const said = new URLSearchParams();
  for (const [key, value] of new FormData(form)) if (value !== '') said.set(key, value);
  return said.toString();
};

const show = () => {
  const said = query(), address = '/' + nameOf(view) + '?' + said;
  for (const button of views) button.setAttribute('aria-pressed', button === view);
  if (address === shown) return;
  shown = address;
  history.replaceState(null, '', '/?' + said + (view === views[0] ? '' : '#' + nameOf(view)));
  told.textContent = view.textContent + ' is worked out';
  frame.contentWindow.location.replace(address);  // which also ends what it waits for
};

const refuse = ({error, diagnostics = [], text = ''}) => {
  const list = document.createElement('ul');
  for (const {key, message} of diagnostics) {
    const item = document.createElement('li');
    item.textContent = (key ? key + ': ' : '') + message;
    list.append(item);
    for (let name = key ?? ''; name; name = name.includes('.') ? name.slice(0, name.lastIndexOf('.')) : '') {
      const inputs = [...form.elements].filter(input => input.name === name || input.name.startsWith(name + '.'));
      for (const input of inputs) input.setAttribute('aria-invalid', 'true');
      if (inputs.length) break;
    }
  }
  const heading = document.createElement('strong');
  heading.className = 'bad';
  heading.textContent = error;
  mistakes.append(heading, list);
  if (text) mistakes.append(Object.assign(document.createElement('pre'), {textContent: text, tabIndex: 0, role: 'region', ariaLabel: 'more on it'}));
};

frame.addEventListener('load', () => {
  const page = frame.contentDocument;
  if (!page || page.location.href === 'about:blank') return;
  mistakes.replaceChildren();
  for (const input of form.elements) input.removeAttribute?.('aria-invalid');
  const refusal = page.getElementById('refusal')?.dataset.refusal;
  frame.hidden = refusal !== undefined;
  told.textContent = '';
  if (refusal !== undefined) refuse(JSON.parse(refusal));
  else told.textContent = [...page.querySelectorAll('.cards > div')].slice(0, 2).map(card =>
    card.querySelector('dt').textContent + ' ' + (card.querySelector('.figure') ?? card.querySelector('dd')).textContent).join(', ');
});

let pause;
form.addEventListener('input', () => { clearTimeout(pause); pause = setTimeout(show, 250); });
form.addEventListener('submit', event => {
  if (event.submitter?.id === 'save') return;
  event.preventDefault();
  if (views.includes(event.submitter)) view = event.submitter;
  clearTimeout(pause);
  show();
});
form.addEventListener('focusin', event => {
  const text = document.getElementById(event.target.getAttribute('aria-describedby'));
  if (text) about.textContent = text.textContent;
});

// A key that the form does not have yet.
const another = document.getElementById('another');
const add = () => {
  const key = another.value.trim();
  if (!key) return;
  another.value = '';
  const known = form.elements.namedItem(key);
  if (known) return known.focus();
  const label = Object.assign(document.createElement('label'), {htmlFor: 'of-' + key, textContent: key});
  const input = Object.assign(document.createElement('input'), {id: 'of-' + key, name: key});
  const field = Object.assign(document.createElement('div'), {className: 'field'});
  field.append(label, input);
  document.getElementById('others').append(field);
  input.focus();
};
document.getElementById('add').addEventListener('click', add);
another.addEventListener('keydown', event => {
  if (event.key !== 'Enter') return;
  event.preventDefault();
  add();
});
if (location.hash) { // an address that asks for a view, as the questions do
  view.parentElement.scrollIntoView();
  view.focus({preventScroll: true});
}
show();
