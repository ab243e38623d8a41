import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const executable = '/usr/bin/firefox-esr';

/** Debian's Firefox: 60 MB that a test machine may do without. */
export const hasFirefox = existsSync(executable);

type Sent = Record<string, unknown>;
type Said = { id?: number; type: string; result?: Sent; message?: string };

/** One page in Firefox, driven by WebDriver BiDi, which the browser speaks itself. */
export type FirefoxPage = {
  open: (url: string) => Promise<void>;
  /** Value of the expression in the page, as JSON. */
  evaluate: (expression: string) => Promise<unknown>;
  /** Waits until the expression is true in the page. */
  until: (expression: string) => Promise<void>;
  type: (text: string) => Promise<void>;
  /** Clicks the button with exactly this text, as a mouse does. */
  press: (name: string) => Promise<void>;
  /** Errors and warnings of the page's scripts. */
  faults: string[];
  screenshot: () => Promise<Buffer>;
  close: () => Promise<void>;
};

export async function openFirefox({ locale = 'en-GB' } = {}): Promise<FirefoxPage> {
  const profile = await mkdtemp(join(tmpdir(), 'vestra-firefox-'));
  await writeFile(join(profile, 'user.js'), `user_pref('intl.accept_languages', '${locale}, en');\n`);
  const browser = spawn(executable, ['--headless', '--remote-debugging-port=0', '--profile', profile, 'about:blank'], {
    env: { ...process.env, HOME: profile, MOZ_REMOTE_ALLOW_SYSTEM_ACCESS: '1' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const socket = new WebSocket(`${await listensAt(browser)}/session`);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error('Firefox does not answer.'));
  });
  const faults: string[] = [];
  const send = commandsOver(socket, faults);
  await send('session.new', { capabilities: {} });
  await send('session.subscribe', { events: ['log.entryAdded'] });
  const { contexts } = (await send('browsingContext.getTree', {})) as { contexts: { context: string }[] };
  const context = contexts[0]?.context as string;

  const evaluate = async (expression: string) => {
    const answer = (await send('script.evaluate', {
      expression: `Promise.resolve(${expression}).then((value) => JSON.stringify(value ?? null))`,
      target: { context },
      awaitPromise: true,
    })) as { type: string; result?: { value: string }; exceptionDetails?: { text: string } };
    if (answer.type !== 'success') throw new Error(`${expression}: ${answer.exceptionDetails?.text}`);
    return JSON.parse(answer.result?.value ?? 'null') as unknown;
  };
  const until = async (expression: string) => {
    for (const deadline = Date.now() + 30_000; ; ) {
      if ((await evaluate(`Boolean(${expression})`)) === true) return;
      if (Date.now() > deadline) throw new Error(`It never came to: ${expression}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  };
  const perform = (actions: Sent[]) => send('input.performActions', { context, actions });
  const button = (name: string) =>
    `[...document.querySelectorAll('button')].find((each) => each.textContent === ${JSON.stringify(name)})`;
  return {
    faults,
    evaluate,
    until,
    open: async (url) => void (await send('browsingContext.navigate', { context, url, wait: 'complete' })),
    async type(text) {
      const keys = [...text].flatMap((value) => [
        { type: 'keyDown', value },
        { type: 'keyUp', value },
      ]);
      await perform([{ type: 'key', id: 'keyboard', actions: keys }]);
    },
    async press(name) {
      await until(button(name));
      const at = (await evaluate(
        `(() => { const box = ${button(name)}.getBoundingClientRect(); return [box.x + box.width / 2, box.y + box.height / 2]; })()`,
      )) as [number, number];
      const [x, y] = at.map(Math.round);
      const actions = [
        { type: 'pointerMove', x, y },
        { type: 'pointerDown', button: 0 },
        { type: 'pointerUp', button: 0 },
      ];
      await perform([{ type: 'pointer', id: 'mouse', actions }]);
    },
    async screenshot() {
      const { data } = (await send('browsingContext.captureScreenshot', { context })) as { data: string };
      return Buffer.from(data, 'base64');
    },
    async close() {
      socket.close();
      const ended = new Promise((resolve) => browser.once('exit', resolve));
      browser.kill('SIGTERM');
      await ended;
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Firefox says on standard error where it listens. */
function listensAt({ stderr }: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let said = '';
    stderr?.on('data', (chunk) => {
      said += chunk;
      const address = /WebDriver BiDi listening on (ws:\/\/\S+)/.exec(said)?.[1];
      if (address) resolve(address);
    });
    stderr?.once('close', () => reject(new Error(`Firefox ended: ${said}`)));
  });
}

/** Sends one command and waits for its own answer; what the page logs goes into `faults`. */
function commandsOver(socket: WebSocket, faults: string[]) {
  const waiting = new Map<number, (said: Said) => void>();
  let count = 0;
  socket.onmessage = ({ data }) => {
    const said = JSON.parse(String(data)) as Said & { params?: { level?: string; text?: string } };
    if (said.id !== undefined) waiting.get(said.id)?.(said);
    else if (said.params?.level === 'error') faults.push(said.params.text ?? '');
  };
  return async (method: string, params: Sent): Promise<Sent> => {
    count += 1;
    const id = count;
    const answered = new Promise<Said>((resolve) => waiting.set(id, resolve));
    socket.send(JSON.stringify({ id, method, params }));
    const said = await answered;
    waiting.delete(id);
    if (said.type === 'error') throw new Error(`${method}: ${said.message}`);
    return said.result ?? {};
  };
}
