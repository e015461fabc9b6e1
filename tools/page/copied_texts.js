// A dialog with texts to copy or to save.
//   copiedTexts() gives open(title, [{name, text, file}, ...]): without `file` there is nothing to save; without `text`
//   the name is all there is to say.
const copiedTexts = () => {
  const heading = element('h2'), parts = element('div'), told = element('p', {className: 'quiet', role: 'status'});
  const close = element('button', {type: 'button', textContent: 'Close'});
  const dialog = element('dialog', {}, heading, parts, told, element('div', {className: 'controls'}, close));
  dialog.setAttribute('aria-label', 'Texts to copy');
  close.addEventListener('click', () => dialog.close());
  document.body.append(dialog);
  // Where the clipboard is not to be had, the text is selected.
  const copy = async (box, text, name) => {
    try {
      await navigator.clipboard.writeText(text);
      told.textContent = `Copied: ${name}.`;
    } catch {
      getSelection().selectAllChildren(box);
      told.textContent = `Selected: ${name}.`;
    }
  };
  const save = (text, file) => {
    const address = URL.createObjectURL(new Blob([text], {type: 'text/plain'}));
    element('a', {href: address, download: file}).click();
    setTimeout(() => URL.revokeObjectURL(address), 1000);
    told.textContent = `Saved as ${file}.`;
  };
  const button = (text, act) => {
    const made = element('button', {type: 'button', textContent: text});
    made.addEventListener('click', act);
    return made;
  };
  return (title, texts) => {
    heading.textContent = title;
    told.textContent = '';
    parts.replaceChildren(...texts.flatMap(({name, text, file}) => {
      if (!text) return [element('p', {textContent: name})];
      const box = element('pre', {tabIndex: 0, textContent: text, ariaLabel: name});
      const controls = element('div', {className: 'controls'}, button('Copy', () => copy(box, text, name)));
      if (file) controls.append(button('Save', () => save(text, file)));
      return [element('h3', {textContent: name}), controls, box];
    }));
    dialog.showModal();
  };
};
