// The form by keyboard alone: a question asked, another machine is chosen, a mistake made and told, an explanation asked for.
//   node keyboard.mjs CHROMIUM ADDRESS FOLDER
import {open} from '../browser/browser.mjs';
import {manners} from '../browser/manners.mjs';

const [program, address, folder] = process.argv.slice(2);
let failures = 0;
const check = (holds, what, seen = '') => {
  if (holds) return;
  ++failures;
  console.log(`FAILED: ${what}`, seen);
};
const job = 'machine=dgx-a100&nodes=2&model=llama3-8b&framework=megatron&layout.tensor=8&batch.micro=1&batch.global=16';
const browser = await open(program, folder + '/profile');
const opened = options => browser.page(`${address}?${job}`, {own: address, ...options});
const told = `(document.getElementById("told")?.textContent ?? "")`;
const shown = 'document.getElementById("result").contentDocument';
const shift = 8;

for (const [width, dark] of [[1440, false], [1440, true], [390, false], [390, true]]) {
  const page = await opened({width, dark});
  await page.until(`${told}.startsWith("step time")`);
  const faults = await page.value(manners);
  check(faults.length === 0, `manners at ${width}`, faults.join('\n'));
  check(page.complaints.length === 0, 'no complaint', page.complaints.join('\n'));
}

const page = await opened({width: 1280}), first = page;
await page.until(`${told}.startsWith("step time")`);
const before = await page.value(told);
const focused = (page = first) => page.value('document.activeElement.id || document.activeElement.name || document.activeElement.textContent');
const tabTo = async (name, page = first) => {
  for (let steps = 0; steps < 80; ++steps) {
    await page.key('Tab');
    if (await focused(page) === name) {
      const outline = await page.value('getComputedStyle(document.activeElement).outline');
      check(/solid [2-9]px/.test(outline) || /[2-9]px/.test(outline), `focus on ${name} is visible`, outline);
      return;
    }
  }
  throw new Error('Tab does not reach ' + name);
};
await tabTo('of-machine');
check((await page.value('document.getElementById("about").textContent')).startsWith('machine: '), 'the key is explained');
const machine = () => page.value('document.getElementById("of-machine").value');
for (let presses = 0; presses < 10 && await machine() !== 'dgx-h100'; ++presses) await page.key('ArrowDown');
check(await machine() === 'dgx-h100', 'arrows choose a machine', await machine());
await page.until(`${told}.startsWith("step time") && ${told} !== ${JSON.stringify(before)}`);
console.log(`${before}; on another machine ${await page.value(told)}`);
check((await page.value(`${shown}.querySelector("h1").textContent`)).includes('dgx-h100'), 'the page is of it');
check((await page.value('location.search')).includes('machine=dgx-h100'), 'the address holds the job');

const again = await browser.page(await page.value('location.href'), {own: address});
await again.until(`${told}.startsWith("step time")`);
check(await again.value(told) === await page.value(told), 'a link shows the same');
check(again.complaints.length === 0, 'no complaint', again.complaints.join('\n'));

await tabTo('of-layout.tensor');
await page.key('7');
await page.until('document.getElementById("mistakes").textContent !== ""');
check(/tensor/.test(await page.value('document.getElementById("mistakes").textContent')), 'a mistake is told');
check(await page.value('document.activeElement.getAttribute("aria-invalid")') === 'true', 'and where it is');
await page.key('Backspace');
await page.key('8');
await page.until('document.getElementById("mistakes").textContent === ""');

// The questions above the form; Enter asks.
const asking = await browser.page(address, {own: address});
await asking.until(`${told}.startsWith("step time")`);
await tabTo('gpus', asking);
for (const letter of '128') await asking.key(letter);
await asking.key('Enter');
await asking.until(`${told}.startsWith("step time") && location.search.includes("gpus=128")`);
check(/layout\.tensor=\d/.test(await asking.value('location.search')), 'the layout found stands in the address');
check(await asking.value('scrollY > 0 && document.activeElement.textContent') === 'Step', 'the answer is in view');
for (const [question, button] of [[1, 'Plan'], [2, 'Explanation']]) {
  await asking.value(`document.querySelectorAll('.questions button')[${question}].focus()`);
  await asking.key('Enter');
  await asking.until(`document.activeElement?.textContent === '${button}' && ${shown}?.querySelector('h1') && ${told} !== ''`);
  check(await asking.value('document.activeElement.getAttribute("aria-pressed")') === 'true', `${button} is shown`);
}
check(asking.complaints.length === 0, 'no complaint', asking.complaints.join('\n'));

await tabTo('another');
for (const letter of 'library') await page.key(letter);
await page.key('Enter');
check(await focused() === 'of-library', 'another key is added', await focused());
for (const letter of 'ncc') await page.key(letter);
await page.until('document.getElementById("mistakes").textContent.includes("nccl")');
await page.key('l');
await page.until(`${told}.startsWith("step time")`);

await tabTo('Explanation');
await page.key('Enter');
await page.until(`${shown}?.getElementById("why")?.textContent.includes("With other settings")`);
check(await page.value('document.activeElement.getAttribute("aria-pressed")') === 'true', 'what is shown is marked');
await page.key('Tab', shift);
const mistakes = page.complaints.filter(text => !/status of 422/.test(text));
check(mistakes.length === 0, 'no complaint', mistakes.join('\n'));
await browser.close();
process.exit(failures ? 1 : 0);
