import { globSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { AxeResults } from 'axe-core';
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import type { ApiResponse } from '../support/server.ts';
import { type Desk, startDesk } from './interactions.fixture.ts';

type Body = ApiResponse['body'];

/** A desk, a browser, and the pages of sessions in it. */
export type PageDesk = Desk & {
  browser: Browser;
  /** The way from the browser to the server, which can be cut. */
  line: Line;
  /** Opens a session and its page. Whatever the page does that its policy forbids, or throws, is in `faults`. */
  visit: (body?: Record<string, unknown>, context?: BrowserContextOptions) => Promise<Visit>;
};

export type Visit = { page: Page; session: Body; faults: string[]; path: string };

/** `browserWords`: what the browser is started with besides. `host`: by what name of this machine it comes. */
export async function startPageDesk(
  env: Record<string, string> = {},
  browserWords: readonly string[] = [],
  host = '127.0.0.1',
): Promise<PageDesk> {
  assertBuilt();
  const line = await openLine(host);
  const desk = await startDesk({ VESTRA_PUBLIC_URL: line.url, ...env });
  line.leadTo(desk.url);
  const browser = await chromium.launch({
    executablePath: '/usr/bin/chromium-headless-shell',
    args: [
      '--no-sandbox',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
      ...browserWords,
    ],
  });
  return {
    ...desk,
    browser,
    line,
    async visit(body = {}, options = {}) {
      const { body: session } = await desk.call('POST', '/v1/sessions', { body: { chat: true, ...body } });
      const context = await browser.newContext({ locale: 'en-GB', ...options });
      const page = await context.newPage();
      const faults: string[] = [];
      page.on('pageerror', ({ message }) => faults.push(message));
      page.on('console', (line) => {
        if (/Content.Security.Policy/i.test(line.text())) faults.push(line.text());
      });
      await page.goto(session.url);
      return { page, session, faults, path: `/v1/conversations/${session.conversation_id}` };
    },
    async stop() {
      await browser.close();
      line.close();
      await desk.stop();
    },
  };
}

export const say = async ({ page }: Visit, text: string) => {
  await page.getByLabel('Message', { exact: true }).fill(text);
  await page.keyboard.press('Enter');
};

export const replies = ({ page }: Visit) => page.locator('[data-role=agent]');

type Line = { url: string; leadTo: (url: string) => void; cut: () => void; restore: () => void; close: () => void };

/** Passes bytes on. A cut line resets what is open and refuses what comes, as a lost network does. */
async function openLine(host: string): Promise<Line> {
  const open = new Set<Socket>();
  let target = 0;
  let isCut = false;
  const server = createServer((near) => {
    if (isCut) return void near.resetAndDestroy();
    const far = connect(target, '127.0.0.1');
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(one);
      one.pipe(other);
      one.on('error', () => other.destroy());
      one.on('close', () => {
        open.delete(one);
        other.destroy();
      });
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const drop = () => {
    for (const socket of open) socket.resetAndDestroy();
  };
  return {
    url: `http://${host}:${(server.address() as AddressInfo).port}`,
    leadTo(url) {
      target = Number(new URL(url).port);
    },
    cut() {
      isCut = true;
      drop();
    },
    restore() {
      isCut = false;
    },
    close() {
      drop();
      server.close();
    },
  };
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Accessibility violations found by axe, one line each with the element. */
export async function barriersOn(page: Page): Promise<string[]> {
  // Disable motion: axe would judge colours in the middle of a transition.
  await page.emulateMedia({ reducedMotion: 'reduce' });
  // Its script takes a page as long to read as the page itself.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe);
  return page.evaluate(async () => {
    // biome-ignore lint/suspicious/noExplicitAny: axe is a separate script in the page.
    const found: AxeResults = await (globalThis as any).axe.run(document, {
      resultTypes: ['violations'],
      // A third of the time, and never a barrier.
      rules: { region: { enabled: false } },
    });
    return found.violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
    );
  });
}

const packages = join(import.meta.dirname, '../../packages');

/** How many bytes a file of the built page takes on its way. */
export const gzippedSize = (name: string): number =>
  gzipSync(readFileSync(join(packages, 'web/dist/assets', name))).byteLength;

/** A test of a page that was built from other sources would say nothing. */
function assertBuilt(): void {
  const written = (path: string) => statSync(join(packages, path), { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const sources = globSync('{web/src/**/*,web/*.html,web/*.ts,react/src/**/*}', { cwd: packages });
  const newest = Math.max(...sources.map(written));
  if (Math.min(written('web/dist/session.html'), written('web/dist/embed.js')) < newest)
    throw new Error('The page is not built: run `npm run build:web` first.');
}
