import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { measureFolder } from '../../platform/sandbox/resource-limits.ts';
import { type ComputerFolders, makeComputerFolders } from '../machine/computer-folder.ts';
import { type Browser, browserStarter } from './browser.ts';
import { browsersUnder, redirectTo, type Sites, startSites } from './chromium.fixture.ts';
import { browserObstacle, emptyIfTooLarge } from './chromium.ts';
import type { RequestRefusal, SiteRules } from './request-guard.ts';
import type { DataCall } from './tab.ts';

const executable = '/usr/bin/chromium-headless-shell';
let sites: Sites;
let dataDir: string;
let folders: ComputerFolders;
let browser: Browser;
const start = browserStarter({ executable, allowPrivate: true, log: pino({ level: 'silent' }) });

beforeAll(async () => {
  sites = await startSites();
  dataDir = await mkdtemp(join(tmpdir(), 'vestra-browser-'));
  folders = await makeComputerFolders(dataDir, 1);
  browser = await start(folders);
});
afterAll(async () => {
  await browser.close();
  await sites.close();
  await rm(dataDir, { recursive: true, force: true });
});
beforeEach(() => {
  sites.seen.length = 0;
});

const only = (...hosts: string[]): SiteRules => ({
  hosts,
  mayReach: (host) => hosts.includes(host),
  blockedPage: ({ hostname, pathname }) => (pathname.startsWith('/closed') ? { host: hostname, path: pathname } : null),
});
const megabyte = 1024 * 1024;

/** Stores blocks of ten megabytes and writes the outcome to its title. */
const storing = `<script>
const opened = indexedDB.open('all');
opened.onupgradeneeded = () => opened.result.createObjectStore('parts');
opened.onsuccess = () => {
  let part = 0;
  const more = () => {
    const writing = opened.result.transaction('parts', 'readwrite');
    const bytes = new Uint8Array(1e7);
    for (let at = 0; at + 65536 <= bytes.length; at += 65536) crypto.getRandomValues(bytes.subarray(at, at + 65536));
    writing.objectStore('parts').put(bytes, part++);
    writing.oncomplete = more;
    writing.onabort = () => { document.title = writing.error.name; };
  };
  more();
};
</script>`;

const anywhere: SiteRules = { hosts: null, mayReach: () => true, blockedPage: () => null };
const soon = () => AbortSignal.timeout(30_000);

/** Tries every way out of a page and writes to its title when all have ended. */
const escaping = (port: number, service: string) => `<title>trying</title>
<link rel=prefetch href="http://other.localhost:${port}/prefetch">
<link rel=preload as=style href="http://other.localhost:${port}/preload">
<link rel=stylesheet href="http://other.localhost:${port}/style">
<script src="http://other.localhost:${port}/script"></script>
<img src="http://other.localhost:${port}/image">
<iframe src="http://other.localhost:${port}/frame"></iframe>
<iframe srcdoc="<img src='http://other.localhost:${port}/srcdoc-image'>"></iframe>
<iframe src="/to-other"></iframe>
<object data="http://other.localhost:${port}/object"></object>
<form id=form target=sink action="http://other.localhost:${port}/form"></form><iframe name=sink></iframe>
<script>
const out = (path, scheme = 'http') => scheme + '://other.localhost:${port}/' + path;
const socket = (path) => new Promise((end) => {
  try { const open = new WebSocket(out(path, 'ws')); open.onclose = open.onerror = open.onopen = end; } catch { end(); }
});
const events = () => new Promise((end) => { const open = new EventSource(out('events')); open.onerror = open.onopen = end; });
const inWorker = (url) => new Promise((end) => {
  try { const worker = new Worker(url); worker.onmessage = worker.onerror = end; } catch { end(); }
});
const work = (name) => \`
const settled = [
  fetch('\${out(name + '-fetch')}', { mode: 'no-cors' }).catch(() => {}),
  new Promise((end) => { try { const open = new WebSocket('\${out(name + '-socket', 'ws')}'); open.onclose = open.onerror = open.onopen = end; } catch { end(); } }),
];
try { importScripts('\${out(name + '-import')}'); } catch {}
Promise.allSettled(settled).then(() => self.postMessage && postMessage('done'));
\`;
navigator.sendBeacon(out('beacon'), 'x');
document.getElementById('form').submit();
const shared = () => new Promise((end) => { try { const worker = new SharedWorker('/shared.js'); worker.port.onmessage = worker.onerror = end; worker.port.start(); } catch { end(); } });
const service = async () => { await navigator.serviceWorker.register('${service}'); await navigator.serviceWorker.ready; };
const attempts = {
  fetch: fetch(out('fetch'), { mode: 'no-cors' }),
  redirected: fetch('/to-other', { mode: 'no-cors' }),
  keepalive: fetch(out('keepalive'), { mode: 'no-cors', keepalive: true }),
  socket: socket('socket'),
  events: events(),
  blob: inWorker(URL.createObjectURL(new Blob([work('blob-worker')]))),
  worker: inWorker('/worker.js'),
  shared: shared(),
  service: service(),
  module: import(out('module')),
};
for (const [name, attempt] of Object.entries(attempts)) attempt.catch(() => {}).then(() => {
  delete attempts[name];
  document.title = Object.keys(attempts).join(' ') || 'tried';
});
</script>`;

const workerWork = (port: number, name: string, done: string) => `
const settled = [
  fetch('http://other.localhost:${port}/${name}-fetch', { mode: 'no-cors' }).catch(() => {}),
  new Promise((end) => { try { const open = new WebSocket('ws://other.localhost:${port}/${name}-socket'); open.onclose = open.onerror = open.onopen = end; } catch { end(); } }),
];
try { importScripts('http://other.localhost:${port}/${name}-import'); } catch {}
${done}`;

const script =
  (text: string) =>
  (_request: unknown, response: ServerResponse): void => {
    response.writeHead(200, { 'content-type': 'text/javascript' }).end(text);
  };

describe('a browser', () => {
  it('opens a page of an allowed site', async () => {
    sites.serve('shop.localhost', { '/': '<title>Shop</title><h1>Hello</h1>' });
    const tab = await browser.openTab(only('shop.localhost'));
    expect(await tab.navigate(sites.at('shop.localhost'))).toEqual({ error: null });
    await tab.until(() => tab.readiness() === 'loaded', soon());
    expect([tab.url(), tab.status(), await tab.title()]).toEqual([sites.at('shop.localhost'), 200, 'Shop']);
    expect((await tab.picture({ width: 320, quality: 50 })).subarray(0, 3)).toEqual(Buffer.from([0xff, 0xd8, 0xff]));
    await tab.close();
  });

  it('loads compressed pages, and frames and workers of every allowed site', async () => {
    const packed = (type: string, text: string) => (_request: unknown, response: ServerResponse) => {
      response.writeHead(200, { 'content-type': type, 'content-encoding': 'gzip' }).end(gzipSync(text));
    };
    sites.serve('shop.localhost', {
      '/packed': packed(
        'text/html; charset=utf-8',
        `<title>Grüße</title><script src="/packed.js"></script>
        <iframe src="${sites.at('partner.localhost', '/frame')}"></iframe>`,
      ),
      '/packed.js': packed('text/javascript', "document.title += ' and more'"),
    });
    sites.serve('partner.localhost', {
      '/frame': `<script>fetch('/from-frame'); new Worker('/worker.js')</script>`,
      '/worker.js': script("fetch('/from-worker')"),
      '/from-frame': 'frame',
      '/from-worker': 'worker',
    });
    const tab = await browser.openTab(only('shop.localhost', 'partner.localhost'));
    const calls: DataCall[] = [];
    tab.onDataCall((call) => calls.push(call));
    await tab.navigate(sites.at('shop.localhost', '/packed'));
    await expect.poll(() => tab.title(), { timeout: 20_000 }).toBe('Grüße and more');
    await expect.poll(() => calls.length, { timeout: 20_000 }).toBe(2);
    const found = await Promise.all(calls.map(async ({ url, body }) => [new URL(url).pathname, String(await body())]));
    expect(Object.fromEntries(found)).toEqual({ '/from-frame': 'frame', '/from-worker': 'worker' });
    await tab.close();
  });

  it('closes a tab whose page has crashed', async () => {
    const tab = await browser.openTab(anywhere);
    void tab.navigate('chrome://crash').catch(() => {});
    await expect.poll(() => tab.isOpen(), { timeout: 20_000 }).toBe(false);
  });

  it.each([
    { beside: 'alone', isBesideAnother: false, service: '/service-1.js' },
    { beside: 'beside a tab that may go anywhere', isBesideAnother: true, service: '/service-2.js' },
  ])(
    'loads nothing from another site, in whichever way a page tries: $beside [BRW-025]',
    async ({ isBesideAnother, service }) => {
      const { port } = sites;
      sites.serve('shop.localhost', {
        '/escape': escaping(port, service),
        '/to-other': redirectTo(sites.at('other.localhost', '/redirected')),
        '/worker.js': script(
          workerWork(port, 'worker', "Promise.allSettled(settled).then(() => postMessage('done'));"),
        ),
        '/shared.js': script(
          workerWork(
            port,
            'shared-worker',
            "onconnect = ({ ports }) => Promise.allSettled(settled).then(() => ports[0].postMessage('done'));",
          ),
        ),
        [service]: script(
          workerWork(port, 'service-worker', 'oninstall = (event) => event.waitUntil(Promise.allSettled(settled));'),
        ),
      });
      const beside = isBesideAnother ? await browser.openTab(anywhere) : null;
      await beside?.navigate(sites.at('third.localhost'));
      const tab = await browser.openTab(only('shop.localhost'));
      await tab.navigate(sites.at('shop.localhost', '/escape'));
      await expect.poll(() => tab.title(), { timeout: 20_000 }).toBe('tried');
      expect(sites.seen.filter((each) => each.startsWith('other.'))).toEqual([]);
      expect(sites.seen).toContain('shop.localhost/worker.js');
      expect(sites.seen).toContain(`shop.localhost${service}`);
      await tab.close();
      await beside?.close();
    },
  );

  it('keeps the page if a link leads to a blocked page or another site, and reports why', async () => {
    sites.serve('shop.localhost', {
      '/links': `<title>Links</title><a id=closed href="/closed/x">Closed</a><a id=away href="${sites.at('other.localhost')}">Away</a>
        <button onclick="history.pushState({}, '', '/closed/pushed')">Push</button><iframe src="/closed/frame"></iframe>`,
    });
    const tab = await browser.openTab(only('shop.localhost'));
    const refusals: RequestRefusal[] = [];
    tab.onRefused((refusal) => refusals.push(refusal));
    await tab.navigate(sites.at('shop.localhost', '/links'));
    await tab.until(() => tab.readiness() === 'loaded', soon());
    for (const selector of ['#closed', '#away']) {
      const spot = await tab.run('spotOf', [{ selector }]);
      if (!spot.found) throw new Error(spot.why);
      await tab.clickAt(spot.x, spot.y);
    }
    await tab.until(() => refusals.length === 3, soon());
    expect([await tab.title(), tab.url()]).toEqual(['Links', sites.at('shop.localhost', '/links')]);
    const spot = await tab.run('spotOf', [{ text: 'push' }]);
    if (!spot.found) throw new Error(spot.why);
    await tab.clickAt(spot.x, spot.y).catch(() => {});
    await expect.poll(() => tab.isOpen()).toBe(false);
    expect(refusals).toEqual([
      { kind: 'page', page: { host: 'shop.localhost', path: '/closed/frame' }, isWholePage: false },
      { kind: 'page', page: { host: 'shop.localhost', path: '/closed/x' }, isWholePage: true },
      { kind: 'site', host: 'other.localhost', isWholePage: true },
      { kind: 'page', page: { host: 'shop.localhost', path: '/closed/pushed' }, isWholePage: true },
    ]);
    expect(sites.seen).toEqual(['shop.localhost/links']);
  });

  it('continues after a dialog or a hanging script', async () => {
    sites.serve('shop.localhost', {
      '/asks': `<title>no</title><script>alert('x'); document.title = String(confirm('sure?'));</script>`,
      '/hangs': '<script>for (;;);</script>',
    });
    const tab = await browser.openTab(only('shop.localhost'));
    await tab.navigate(sites.at('shop.localhost', '/asks'));
    await tab.until(() => tab.readiness() === 'loaded', soon());
    expect(await tab.title()).toBe('false');
    void tab.navigate(sites.at('shop.localhost', '/hangs')).catch(() => {});
    await expect.poll(() => sites.seen).toContain('shop.localhost/hangs');
    const unanswered = expect(tab.title()).rejects.toThrow('ended');
    await tab.close();
    await unanswered;
  });

  it('keeps cookies across starts, and starts again after it was killed', async () => {
    const home = await makeComputerFolders(dataDir, 2);
    const first = await start(home);
    sites.serve('shop.localhost', {
      '/sign-in': (_request, response) => response.setHeader('set-cookie', 'kept=1; Max-Age=3600').end('In'),
    });
    const tab = await first.openTab(only('shop.localhost'));
    await tab.navigate(sites.at('shop.localhost', '/sign-in'));
    await first.close();
    expect(first.isRunning()).toBe(false);

    const second = await start(home);
    expect(await second.cookies()).toMatchObject([{ name: 'kept', domain: 'shop.localhost', isOfHostAlone: true }]);
    const held = await second.openTab(only('shop.localhost'));
    const asked = held.until(() => false, soon());
    const [pid] = await browsersUnder(home.browser);
    process.kill(pid as number, 'SIGKILL');
    await expect(asked).rejects.toThrow('closed');
    await second.ended;
    await expect(second.openTab(anywhere)).rejects.toThrow('ended');
    // As a killed process leaves it.
    await symlink('computer-3', join(home.browser, 'SingletonLock'));

    const third = await start(home);
    expect(await third.cookies()).toHaveLength(1);
    await third.close();
  });

  it('reaches no private address unless the operator allows it', async () => {
    const shut = browserStarter({ executable, allowPrivate: false, log: pino({ level: 'silent' }) });
    const alone = await shut(await makeComputerFolders(dataDir, 3));
    const tab = await alone.openTab(anywhere);
    for (const host of ['shop.localhost', '127.0.0.1', 'localhost']) {
      await tab.navigate(sites.at(host));
      await tab.until(() => tab.readiness() === 'loaded', soon());
      expect(tab.status()).toBe(502);
    }
    expect((await tab.navigate('file:///etc/passwd')).error).not.toBeNull();
    expect(sites.seen).toEqual([]);
    await alone.close();
  });

  it('has no variable of the server’s environment, and makes no forbidden system call [CMP-182] [BRW-181]', async () => {
    const folder = join(dataDir, 'stand-in');
    const standIn = join(folder, 'chromium');
    await mkdir(folder, { mode: 0o755 });
    const looks = `cat /proc/*/environ | tr '\\0' '\\n'; cat /proc/self/oom_score_adj; grep Seccomp: /proc/self/status`;
    await writeFile(standIn, `#!/bin/sh\n(${looks}) >/home/browser/seen 2>&1\n`, { mode: 0o755 });
    const home = await makeComputerFolders(dataDir, 5);
    process.env.VESTRA_CANARY = 'of-the-server';
    const spying = browserStarter({ executable: standIn, allowPrivate: true, log: pino({ level: 'silent' }) });
    await expect(spying(home)).rejects.toThrow('did not start');
    delete process.env.VESTRA_CANARY;
    const seen = await readFile(join(home.browser, 'seen'), 'utf8');
    expect(seen).toMatch(/HOME=\/home\/browser[\s\S]*\n1000\nSeccomp:\t2\n$/);
    expect(seen).not.toMatch(/CANARY|of-the-server/);
  });

  it('is limited in site storage, profile size and memory [BRW-182]', async () => {
    const limits = { profile: { bytes: 64 * megabyte, files: 5_000 }, memoryBytes: 550 * megabyte };
    const settings = { allowPrivate: true, log: pino({ level: 'silent' }), limits };
    const home = await makeComputerFolders(dataDir, 6);
    const standIn = join(dataDir, 'filling', 'chromium');
    await mkdir(join(dataDir, 'filling'), { mode: 0o755 });
    const fills = 'mkdir -p Default/IndexedDB; echo x >Default/Cookies; cat /dev/zero >Default/IndexedDB/page';
    await writeFile(standIn, `#!/bin/sh\n${fills}\n`, { mode: 0o755 });
    // A page that took over the browser can write anything, but does not get far.
    await expect(browserStarter({ ...settings, executable: standIn })(home)).rejects.toThrow('did not start');
    expect((await measureFolder(home.browser)).bytes).toBeLessThan(1024 * megabyte);
    await emptyIfTooLarge(home.browser, limits.profile);
    expect(await readdir(join(home.browser, 'Default'))).toEqual(['Cookies']);

    const small = await browserStarter({ ...settings, executable })(home);
    sites.serve('shop.localhost', {
      '/store': storing,
      '/grow': '<script>const held = []; setInterval(() => held.push(new Uint8Array(1e7).fill(1)), 10);</script>',
    });
    const tab = await small.openTab(anywhere);
    await tab.navigate(sites.at('shop.localhost', '/store'));
    await expect.poll(() => tab.title(), { timeout: 20_000 }).toBe('QuotaExceededError');
    await tab.navigate(sites.at('shop.localhost', '/grow'));
    await expect.poll(() => tab.isOpen(), { timeout: 20_000 }).toBe(false);
    // The browser keeps running.
    expect((await small.openTab(anywhere)).isOpen()).toBe(true);
    await small.close();
  });

  it('reports why it cannot start', async () => {
    const none = browserStarter({ executable: '/usr/bin/false', allowPrivate: true, log: pino({ level: 'silent' }) });
    await expect(none(await makeComputerFolders(dataDir, 4))).rejects.toThrow('Chromium did not start');
    expect(await browserObstacle('/nowhere/chromium')).toContain('VESTRA_CHROMIUM');
    expect(await browserObstacle(executable)).toBeNull();
  });
});
