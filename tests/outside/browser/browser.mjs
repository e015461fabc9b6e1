// Chromium as a test drives it: the DevTools protocol over a pipe, nothing but node's own modules.
//   const browser = await open('chromium', folder);
//   const page = await browser.page('file:///...', {width: 1280, height: 900, dark: false});
//   (own: 'http://localhost:8080/', from where a page may load more)
//   await page.value('document.title'); await page.screenshot('page.png'); page.complaints; await browser.close();
import {spawn} from 'node:child_process';
import {writeFileSync} from 'node:fs';

// What keys that write nothing are called by (DOM keyCode).
const keyCodes = {Backspace: 8, Tab: 9, Enter: 13, ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40};
const wait = milliseconds => new Promise(done => setTimeout(done, milliseconds));

export const open = async (program, folder) => {
  const child = spawn(program, ['--headless=new', '--no-sandbox', '--disable-gpu', '--hide-scrollbars', '--disable-extensions',
    '--no-first-run', '--disable-background-networking', `--user-data-dir=${folder}`, '--remote-debugging-pipe'],
    {stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe']});
  const answers = new Map(), listeners = [];
  let number = 0, rest = '';
  child.stdio[4].setEncoding('utf8').on('data', text => {
    const parts = (rest + text).split('\0');
    rest = parts.pop();
    for (const part of parts) {
      const message = JSON.parse(part);
      if (message.id) {
        const {done, failed} = answers.get(message.id);
        answers.delete(message.id);
        if (message.error) failed(new Error(message.error.message)); else done(message.result);
      } else for (const listen of listeners) listen(message);
    }
  });
  const ended = new Promise(done => child.on('exit', done));
  process.on('exit', () => child.kill('SIGKILL'));
  ended.then(() => { for (const {failed} of answers.values()) failed(new Error('the browser ended')); });
  const send = (method, params = {}, sessionId = undefined) => new Promise((done, failed) => {
    answers.set(++number, {done, failed});
    child.stdio[3].write(JSON.stringify({id: number, method, params, sessionId}) + '\0');
  });

  const page = async (address, {width = 1280, height = 900, dark = false, still = false, own = 'file:'} = {}) => {
    const {targetId} = await send('Target.createTarget', {url: 'about:blank'});
    const {sessionId} = await send('Target.attachToTarget', {targetId, flatten: true});
    const tell = (method, params) => send(method, params, sessionId);
    const complaints = [];
    listeners.push(message => {
      if (message.sessionId !== sessionId) return;
      if (message.method === 'Runtime.exceptionThrown') {
        const {exception, text, lineNumber} = message.params.exceptionDetails;
        complaints.push(`line ${lineNumber}: ${exception?.description ?? text}`);
      } else if (message.method === 'Log.entryAdded') complaints.push(message.params.entry.text);
      else if (message.method === 'Runtime.consoleAPICalled') complaints.push(message.params.args.map(arg => arg.value).join(' '));
      else if (message.method === 'Network.requestWillBeSent' && ![own, 'file:', 'data:'].some(from => message.params.request.url.startsWith(from))) {
        complaints.push('asks the network for ' + message.params.request.url);
      }
    });
    await Promise.all(['Page', 'Runtime', 'Log', 'Network'].map(domain => tell(domain + '.enable')));
    await tell('Emulation.setDeviceMetricsOverride', {width, height, deviceScaleFactor: 1, mobile: false});
    await tell('Emulation.setEmulatedMedia', {features: [{name: 'prefers-color-scheme', value: dark ? 'dark' : 'light'},
      {name: 'prefers-reduced-motion', value: still ? 'reduce' : 'no-preference'}]});
    const value = async expression => {
      const {result, exceptionDetails} = await tell('Runtime.evaluate', {expression, returnByValue: true, awaitPromise: true});
      if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text);
      return result.value;
    };
    // A page that is being left answers nothing: what is asked for is awaited of the next one.
    const left = error => /navigated or closed|context was destroyed|Cannot find context/.test(error.message);
    const until = async (expression, seconds = 60) => {
      for (let tries = 0; tries < seconds * 20; ++tries) {
        if (await value(expression).catch(error => { if (!left(error)) throw error; })) return;
        await wait(50);
      }
      throw new Error(`waited ${seconds} s in vain for ${expression}`);
    };
    await tell('Page.navigate', {url: address});
    await until('document.readyState === "complete" && location.href !== "about:blank"');
    const mouse = (type, x, y, more = {}) => tell('Input.dispatchMouseEvent', {type, x, y, ...more});
    return {
      complaints, value, until, mouse,
      key: async (key, modifiers = 0) => {
        const text = key.length === 1 ? key : key === 'Enter' ? '\r' : undefined;
        const how = {key, code: key.length === 1 ? undefined : key, windowsVirtualKeyCode: keyCodes[key], modifiers};
        await tell('Input.dispatchKeyEvent', {type: 'keyDown', text, ...how});
        await tell('Input.dispatchKeyEvent', {type: 'keyUp', ...how});
      },
      drag: async (x, y, toX, toY) => {
        await mouse('mousePressed', x, y, {button: 'left', clickCount: 1});
        await mouse('mouseMoved', (x + toX) / 2, (y + toY) / 2, {button: 'left', buttons: 1});
        await mouse('mouseMoved', toX, toY, {button: 'left', buttons: 1});
        await mouse('mouseReleased', toX, toY, {button: 'left', clickCount: 1});
      },
      screenshot: async (path, {from = 0, height: part} = {}) => {
        const clip = {x: 0, y: from, width, height: part ?? await value('document.documentElement.scrollHeight'), scale: 1};
        const {data} = await tell('Page.captureScreenshot', {captureBeyondViewport: true, clip,
          ...(path.endsWith('.webp') ? {format: 'webp', quality: 85} : {format: 'png'})});
        writeFileSync(path, Buffer.from(data, 'base64'));
      },
      media: media => tell('Emulation.setEmulatedMedia', {media}),
      print: async path => {
        const {data} = await tell('Page.printToPDF', {printBackground: false, paperWidth: 8.27, paperHeight: 11.69});
        writeFileSync(path, Buffer.from(data, 'base64'));
      },
    };
  };
  const close = async () => {
    send('Browser.close').catch(() => {});
    await ended;
  };
  return {page, close};
};
