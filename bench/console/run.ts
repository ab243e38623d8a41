/**
 * Measures the console in Debian's Chromium, on loopback, in a company that is full. Printed; docs/benchmarks.md keeps the last run.
 *
 *   npm run bench:console                              everything but Lighthouse
 *   npm run bench:console -- --lighthouse <folder>     and Lighthouse, which is installed there the first time
 *   npm run bench:console -- --only rows               `usable`, `docs`, `steps` or `rows` alone
 *   npm run bench:console -- --only lighthouse --lighthouse <folder> [--rounds 5]
 *                                                      Lighthouse alone. Scores need a machine at rest; requests, bytes,
 *                                                      unused scripts and layout shift do not depend on time
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import type { Browser, Page } from 'playwright-core';
import { freePort } from '../processes.ts';
import { print } from '../report.ts';
import { cookieOf, enter, openBrowser, untilThere } from './browser.ts';
import { addRows, addSteps, type Company } from './company.ts';
import { withCompany } from './with-company.ts';

const lighthouseVersion = '12.8.2';
const manyRows = 100_000;
const manySteps = 5000;

const { values: given } = parseArgs({
  options: { lighthouse: { type: 'string' }, only: { type: 'string' }, rounds: { type: 'string', default: '5' } },
});

measureBundle();
await withCompany(async (company) => {
  const port = await freePort();
  const browser = await openBrowser([`--remote-debugging-port=${port}`]);
  try {
    const isAsked = (name: string) => given.only === undefined || given.only === name;
    if (isAsked('usable')) await measureUsable(browser, company);
    if (isAsked('docs')) await measureDocs(browser, company);
    if (given.lighthouse !== undefined) await measureLighthouse(company, port, resolve(given.lighthouse));
    if (isAsked('steps')) await measureSteps(browser, company);
    if (isAsked('rows')) await measureRows(browser, company);
  } finally {
    await browser.close();
  }
});
process.exit();

/** Compressed sizes of the files a browser loads before the first page and with every page. */
function measureBundle(): void {
  const folder = join(import.meta.dirname, '../../packages/web/dist/console');
  const html = readFileSync(join(folder, 'console.html'), 'utf8');
  const files = readdirSync(join(folder, 'assets'));
  const kilobytes = (names: readonly string[]) =>
    `${Math.round(names.reduce((sum, name) => sum + gzipSync(readFileSync(join(folder, 'assets', name))).byteLength, 0) / 1024)} KB`;
  print({
    what: 'scripts and styles of the first look, packed',
    measured: kilobytes(files.filter((name) => html.includes(name))),
  });
  print({ what: 'with every page', measured: kilobytes(files) });
}

/** From the first byte of the page to a heading with everything under it, in a browser that has never been here. */
async function measureUsable(browser: Browser, company: Company): Promise<void> {
  for (const [what, path] of looks(company)) {
    const took: number[] = [];
    for (let round = 0; round < 5; round++) {
      const { page, context, addressOf } = await enter(browser, company);
      if (path === null) await context.clearCookies();
      await page.addInitScript(noteUsable);
      await page.goto(path === null ? `${company.url}/console/sign-in` : addressOf(path));
      await untilThere(page);
      await page.waitForFunction(() => 'usableAfter' in window);
      took.push(await page.evaluate(() => (window as unknown as { usableAfter: number }).usableAfter));
      await context.close();
    }
    took.sort((one, other) => one - other);
    print({ what: `first byte to usable: ${what}`, measured: `${Math.round(took[2] ?? 0)} ms`, budget: '1 s' });
  }
}

/** From the request for a page to its first text, in a browser that has never been here. */
async function measureDocs(browser: Browser, { url }: Company): Promise<void> {
  for (const [what, path] of [
    ['the API reference', '/docs'],
    ['a group of the API reference', '/docs/api/conversations'],
    ['a page of the guide', '/docs/guide/getting-started'],
  ] as const) {
    const took: number[] = [];
    for (let round = 0; round < 5; round++) {
      const context = await browser.newContext();
      const page = await context.newPage();
      await page.goto(url + path);
      await page.getByRole('heading').first().waitFor();
      await page.waitForFunction(() => performance.getEntriesByName('first-contentful-paint').length > 0);
      took.push(
        await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime as number),
      );
      await context.close();
    }
    const [first = 0] = took;
    took.sort((one, other) => one - other);
    print({
      what: `request to first text: ${what}, the first time and the middle of five`,
      measured: `${Math.round(first)} ms, ${Math.round(took[2] ?? 0)} ms`,
      budget: '1.5 s',
    });
  }
}

function looks({ made }: Company): (readonly [string, string | null])[] {
  return [
    ['sign-in', null],
    ['home', '/'],
    ['a list', '/conversations'],
    ['a deployment', `/deployments/${made.deployment}`],
  ];
}

/** Runs in the page. */
function noteUsable(): void {
  const look = () => {
    const isUsable =
      document.querySelector('h1') !== null &&
      document.querySelector('[data-loading]') === null &&
      (!location.pathname.includes('/deployments/') || document.querySelector('.cm-content') !== null);
    if (!isUsable) return void requestAnimationFrame(look);
    const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
    Object.assign(window, { usableAfter: performance.now() - (navigation?.responseStart ?? 0) });
  };
  requestAnimationFrame(look);
}

async function measureLighthouse(company: Company, port: number, folder: string): Promise<void> {
  await mkdir(folder, { recursive: true });
  if (!existsSync(join(folder, 'node_modules/lighthouse')))
    execFileSync('npm', ['install', '--prefix', folder, '--no-save', `lighthouse@${lighthouseVersion}`], {
      stdio: 'ignore',
    });
  const { default: lighthouse, desktopConfig } = await import(join(folder, 'node_modules/lighthouse/core/index.js'));
  const { name, value } = await cookieOf(company);
  for (const [what, path] of looks(company)) {
    const url =
      path === null
        ? `${company.url}/console/sign-in`
        : `${company.url}/console/${company.orgId}/test${path === '/' ? '' : path}`;
    const flags = {
      port,
      output: 'json',
      logLevel: 'error',
      onlyCategories: ['performance', 'accessibility', 'best-practices'],
      ...(path !== null && { extraHeaders: { Cookie: `${name}=${value}` } }),
    };
    const runs: LighthouseRun[] = [];
    for (let round = 0; round < Number(given.rounds); round++)
      runs.push((await lighthouse(url, flags, desktopConfig)).lhr);
    const score = (run: LighthouseRun, category: string) => Math.round((run.categories[category]?.score ?? 0) * 100);
    runs.sort((one, other) => score(one, 'performance') - score(other, 'performance'));
    const middle = runs[Math.floor(runs.length / 2)] as LighthouseRun;
    const least = (category: string) => Math.min(...runs.map((run) => score(run, category)));
    print({
      what: `Lighthouse, performance (middle of ${runs.length}), accessibility, best practices: ${what}`,
      measured: `${score(middle, 'performance')}, ${least('accessibility')}, ${least('best-practices')}`,
      budget: '95',
    });
    const shownValue = (audit: string) => middle.audits[audit]?.displayValue ?? '–';
    const requests = middle.audits['network-requests']?.details?.items?.length ?? 0;
    print({
      what: `its requests, bytes, layout shift, unused scripts, work of the main thread`,
      measured: [
        requests,
        shownValue('total-byte-weight'),
        shownValue('cumulative-layout-shift'),
        shownValue('unused-javascript'),
        shownValue('mainthread-work-breakdown'),
      ].join(', '),
    });
    for (const { id, score: part, scoreDisplayMode, displayValue } of Object.values(middle.audits))
      if (part !== null && part < 0.9 && scoreDisplayMode !== 'informative')
        console.log(`    ${id} ${displayValue ?? ''}`);
  }
}

type LighthouseRun = {
  categories: Record<string, { score: number | null }>;
  audits: Record<
    string,
    {
      id: string;
      score: number | null;
      displayValue?: string;
      scoreDisplayMode: string;
      details?: { items?: unknown[] };
    }
  >;
};

async function measureSteps(browser: Browser, company: Company): Promise<void> {
  await addSteps(company, manySteps);
  const { page, context, addressOf } = await enter(browser, company);
  await page.addInitScript(noteUsable);
  await page.goto(addressOf(`/tasks/${company.made.task}`));
  await page.getByRole('list', { name: 'Steps' }).waitFor();
  const usable = await page.evaluate(() => (window as unknown as { usableAfter: number }).usableAfter);
  print({
    what: `first byte to usable: a task of ${manySteps.toLocaleString('en')} steps`,
    measured: `${Math.round(usable)} ms`,
    budget: '1 s',
  });
  const frames = await framesWhile(page, () => wheel(page, '[aria-label=Steps]', 60));
  print({ what: `its waterfall, scrolled: frames`, measured: shown(frames), budget: '16.7 ms' });
  await context.close();
}

async function measureRows(browser: Browser, company: Company): Promise<void> {
  await addRows(company, manyRows);
  const { page, context, addressOf } = await enter(browser, company);
  await page.goto(addressOf('/conversations'));
  await untilThere(page);
  const startedAt = performance.now();
  const loading = await framesWhile(page, () => toTheEnd(page));
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(0);
  print({
    what: `a list of ${manyRows.toLocaleString('en')} rows, scrolled to its end: frames`,
    measured: shown(loading),
    budget: '16.7 ms',
  });
  print({ what: 'until all of it is there', measured: `${seconds} s` });
  const frames = await framesWhile(page, () => wheel(page, '#main', 120, -4000));
  print({ what: 'and scrolled back, all of it there: frames', measured: shown(frames), budget: '16.7 ms' });
  await context.close();
}

async function toTheEnd(page: Page): Promise<void> {
  await page.evaluate(async () => {
    const main = document.getElementById('main') as HTMLElement;
    while (!/in all/.test(main.querySelector('p[role=status]')?.textContent ?? '')) {
      main.scrollTop = main.scrollHeight;
      await new Promise((resolve) => setTimeout(resolve, 30));
    }
  });
}

async function wheel(page: Page, over: string, times: number, by = 400): Promise<void> {
  const box = await page.locator(over).boundingBox();
  await page.mouse.move((box?.x ?? 0) + 200, Math.min(800, (box?.y ?? 0) + 200));
  for (let time = 0; time < times; time++) {
    await page.mouse.wheel(0, by);
    await page.waitForTimeout(16);
  }
}

/** Durations of the frames drawn while `act` ran. */
async function framesWhile(page: Page, act: () => Promise<void>): Promise<number[]> {
  await page.evaluate(() => {
    const frames: number[] = [];
    let last = performance.now();
    const note = (now: number) => {
      frames.push(now - last);
      last = now;
      if ('frames' in window) requestAnimationFrame(note);
    };
    Object.assign(window, { frames });
    requestAnimationFrame(note);
  });
  await act();
  return page.evaluate(() => {
    const { frames } = window as unknown as { frames: number[] };
    delete (window as unknown as { frames?: number[] }).frames;
    return frames.slice(1);
  });
}

function shown(frames: readonly number[]): string {
  const sorted = [...frames].sort((one, other) => one - other);
  const at = (share: number) => (sorted[Math.floor(sorted.length * share)] ?? 0).toFixed(0);
  return `p50 ${at(0.5)}, p95 ${at(0.95)}, p99 ${at(0.99)}, longest ${at(0.9999)} ms`;
}
